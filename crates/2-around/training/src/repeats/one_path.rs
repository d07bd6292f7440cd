//! Ablation of one path: a head of the first layer is missing where one kind of reader reads
//! it, and nowhere else.

use ablation::{Directions, Replacement};
use attention::{Batch, Error, Mask, Matrix, Result, Rng};

use super::predictor::largest;
use super::{Predictor, Sequences};

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
