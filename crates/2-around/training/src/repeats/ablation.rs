//! What goes wrong without each head of a stack; or where a head of the first layer is missing
//! for one kind of reader, and for no other.

use ablation::{Directions, Replacement, Site};
use attention::{Batch, Error, Mask, Matrix, Result, Rng};

use super::predictor::largest;
use super::{Predictor, Sequences};

/// The score of a predictor, whole, without each head, and without random directions.
#[derive(Debug, Clone, PartialEq)]
pub struct StackAblation {
    /// The score with all heads.
    pub whole: f64,
    /// The score without head i of block l, `[n_layers, n_heads]`.
    pub ablated: Matrix,
    /// The scores without as many random directions of block l's concatenation as a head
    /// has, scaled so that the block's output misses as much as without a head:
    /// `[n_layers, N_DRAWS]`.
    pub controls: Matrix,
}

impl StackAblation {
    /// How many times random directions are drawn for each block.
    pub const N_DRAWS: usize = 10;

    /// Ablates each head in turn, and random directions.
    ///
    /// What replaces a part is what stands **at the same position** of other sequences:
    /// their mean there, or one of them.
    ///
    /// # Errors
    /// As [`Predictor::pass`].
    pub fn of(
        model: &Predictor,
        read: &Sequences,
        replacement: Replacement,
        rng: &mut Rng,
    ) -> Result<Self> {
        let concats = model.concats(read)?;
        let mut ablated = Matrix::zeros(concats.len(), model.layer(0).dims().n_heads());
        let mut controls = Matrix::zeros(concats.len(), Self::N_DRAWS);
        for (l, concat) in concats.iter().enumerate() {
            let site = model.site(l, concat, read, replacement);
            let score_less = |taken| model.score_with(l, concat - taken, read);
            let (heads, moved) = site.heads(rng);
            for (i, taken) in heads.into_iter().enumerate() {
                ablated[(l, i)] = score_less(taken)?;
            }
            for draw in 0..Self::N_DRAWS {
                controls[(l, draw)] = score_less(site.control(moved, rng).0)?;
            }
        }
        Ok(Self { whole: model.score(read)?, ablated, controls })
    }
}

impl Predictor {
    /// The score with the output of one head replaced, as [`StackAblation`] does it.
    ///
    /// # Errors
    /// [`Error::NoSuchIndex`]; as [`pass`](Self::pass).
    pub fn score_ablated(
        &self,
        [block, head]: [usize; 2],
        read: &Sequences,
        replacement: Replacement,
        rng: &mut Rng,
    ) -> Result<f64> {
        Error::expect_index("layer", block, self.stack.blocks.len())?;
        let directions = Directions::of_head(self.layer(block).dims(), head)?;
        let concat = &self.concats(read)?[block];
        let taken = self.site(block, concat, read, replacement).taken(&directions, rng);
        self.score_with(block, concat - taken, read)
    }

    /// The concatenation of each block, `[n_sequences · n_tokens, h · d_v]`.
    pub(super) fn concats(&self, read: &Sequences) -> Result<Vec<Matrix<f32>>> {
        let mut concats = Vec::new();
        self.logits_with(read, |_, concat| {
            concats.push(concat.clone());
            concat
        })?;
        Ok(concats)
    }

    /// Where the heads of a block are ablated: position by position.
    pub(super) fn site<'a>(
        &'a self,
        block: usize,
        concat: &'a Matrix<f32>,
        read: &Sequences,
        replacement: Replacement,
    ) -> Site<'a> {
        let (dims, w_o) = (self.layer(block).dims(), self.layer(block).w_o());
        Site { dims, concat, w_o, replacement, n_positions: read.n_tokens }
    }

    /// The score with another concatenation in a block.
    fn score_with(
        &self,
        block: usize,
        other: Matrix<f32>,
        read: &Sequences,
    ) -> Result<f64> {
        let mut other = Some(other);
        let logits = self.logits_with(read, |l, concat| match l == block {
            true => other.take().unwrap_or(concat),
            false => concat,
        })?;
        Ok(read.score(&largest(&logits)))
    }
}

/// Where a path that comes through a head of the first layer goes on.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum PathEnd {
    /// In the queries of the second layer.
    Queries,
    /// In its keys.
    Keys,
    /// In its values.
    Values,
    /// Past the second layer, in the logits.
    Logits,
}

impl PathEnd {
    /// All four.
    pub const ALL: [Self; 4] = [Self::Queries, Self::Keys, Self::Values, Self::Logits];

    /// Its name.
    pub fn name(self) -> &'static str {
        match self {
            Self::Queries => "queries",
            Self::Keys => "keys",
            Self::Values => "values",
            Self::Logits => "logits",
        }
    }
}

impl Predictor {
    /// The score if one reader alone reads the first layer without one of its heads, whose
    /// output is replaced by its mean at the same position. All other readers read it whole.
    ///
    /// # Errors
    /// [`attention::Error`] unless the model has two layers;
    /// [`Error::NoSuchIndex`](attention::Error::NoSuchIndex); as [`pass`](Self::pass).
    ///
    /// # Source
    /// Wang et al. 2022, "Interpretability in the Wild", section 3.1 (path patching).
    pub fn score_path_ablated(
        &self,
        head: usize,
        end: PathEnd,
        read: &Sequences,
        rng: &mut Rng,
    ) -> Result<f64> {
        Error::expect_length("the list of layers", 2, self.stack.blocks.len())?;
        let (whole, less) = self.after_first(head, read, rng)?;
        let reads = |by: PathEnd| if by == end { &less } else { &whole };
        let batch = |by| Batch::new(read.n_sequences(), reads(by).clone());
        let attention = &self.stack.blocks[1].attention;
        let [q, k, v] =
            [batch(PathEnd::Queries)?, batch(PathEnd::Keys)?, batch(PathEnd::Values)?];
        let concat = attention.function.pass_batch(&q, &k, &v, &[Mask::Causal])?.concat;
        let mut out = self.layer(1).w_o().forward(&concat)?;
        if attention.residual {
            out += reads(PathEnd::Logits);
        }
        Ok(read.score(&largest(&self.unembedding.forward(&out)?)))
    }

    /// What leaves the first layer, whole and without a head,
    /// `[n_sequences · n_tokens, d_model]` each.
    fn after_first(
        &self,
        head: usize,
        read: &Sequences,
        rng: &mut Rng,
    ) -> Result<(Matrix<f32>, Matrix<f32>)> {
        let parameters = self.layer(0);
        let directions = Directions::of_head(parameters.dims(), head)?;
        let concat = &self.concats(read)?[0];
        let taken = self.site(0, concat, read, Replacement::Mean).taken(&directions, rng);
        let mut whole = parameters.w_o().forward(concat)?;
        if self.stack.blocks[0].attention.residual {
            whole += self.embedding.forward(&read.ids, read.n_tokens)?;
        }
        let less = &whole - taken * &parameters.w_o().weight;
        Ok((whole, less))
    }
}
