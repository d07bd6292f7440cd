//! What is trained: an embedding, blocks of attention, an unembedding.

use attention::{
    Batch, Dims, Error, LayerParameters, Linear, Mask, Matrix, PackedParameters, Result,
    Rng, random_matrix,
};
use block::{Block, Embedding, Norms, Positions, Stack, StackPass, Sublayer};
use fused_heads::FusedAttention;
use gradients::Entries;

use super::{Mistakes, Repeats, Sequences};

/// What a predictor is built of.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Architecture {
    /// The number of blocks.
    pub n_layers: usize,
    /// The number of heads of each.
    pub n_heads: usize,
    /// `d_k` and `d_v` of each head.
    pub d_head: usize,
    /// The width of a token.
    pub d_model: usize,
    /// Whether a learned vector for its position is added to each token.
    pub positions: bool,
    /// Whether each block adds to what it read.
    pub residual: bool,
}

impl Architecture {
    /// Two blocks of four heads, 16 wide, on tokens 64 wide.
    pub const TWO_LAYERS: Self = Self {
        n_layers: 2,
        n_heads: 4,
        d_head: 16,
        d_model: 64,
        positions: true,
        residual: true,
    };

    /// Two blocks of two heads on tokens 32 wide, for [`Repeats::small`].
    pub const SMALL: Self = Self { n_heads: 2, d_model: 32, ..Self::TWO_LAYERS };

    /// One block with as many heads: as many weights as [two](Self::TWO_LAYERS), and 64
    /// numbers less, the bias of the other W^O.
    pub const ONE_WIDE_LAYER: Self = Self::TWO_LAYERS.in_one_layer();

    /// One block with four times as many heads.
    pub const ONE_LAYER_OF_32: Self = Self { n_heads: 32, ..Self::ONE_WIDE_LAYER };

    /// One block on tokens that are four times as wide.
    pub const ONE_LAYER_ON_256: Self = Self { d_model: 256, ..Self::ONE_WIDE_LAYER };

    /// All heads in one block.
    pub const fn in_one_layer(self) -> Self {
        Self { n_layers: 1, n_heads: self.n_layers * self.n_heads, ..self }
    }
}

/// A model of what comes next: embedding, attention with residuals, unembedding.
///
/// Attention only: no norm and no feed-forward layer, so whatever it can do, heads do.
/// In `f32`, as [`Model`](crate::one_layer::Model).
#[derive(Debug, Clone, PartialEq)]
pub struct Predictor {
    /// From ids to vectors.
    pub embedding: Embedding<f32>,
    /// The blocks.
    pub stack: Stack<FusedAttention<f32>, f32>,
    /// From what comes out to a logit for each token, `[d_model, n_vocabulary]`.
    pub unembedding: Linear<f32>,
}

gradients::entries!([] f32, Predictor: embedding, stack, unembedding);

impl Predictor {
    /// Random parameters.
    ///
    /// # Errors
    /// [`attention::Error`] for a size of 0.
    pub fn random(built: Architecture, task: &Repeats, rng: &mut Rng) -> Result<Self> {
        let Architecture { n_heads, d_head, d_model, .. } = built;
        Error::expect_positive("the number of layers", built.n_layers)?;
        Error::expect_positive("the size of the vocabulary", task.n_vocabulary)?;
        let dims = Dims::with_head_sizes(d_model, n_heads, d_head, d_head)?;
        let mut embedding = Embedding::random(task.n_vocabulary, d_model, rng);
        if built.positions {
            let table = random_matrix(task.n_tokens, d_model, 1.0, rng);
            embedding.positions = Positions::Learned(table);
        }
        let blocks = (0..built.n_layers).map(|_| {
            let parameters = LayerParameters::random(dims, true, rng);
            let attention = FusedAttention::new(&parameters);
            let mut attention = Sublayer::new(attention, Norms::none());
            attention.residual = built.residual;
            Block::new(attention, None)
        });
        let stack = Stack { blocks: blocks.collect(), last_norm: None };
        let unembedding = Linear::random(d_model, task.n_vocabulary, true, rng);
        Ok(Self { embedding, stack, unembedding })
    }

    /// The attention of block l.
    pub(super) fn layer(&self, l: usize) -> &PackedParameters<f32> {
        self.stack.blocks[l].attention.function.parameters()
    }

    /// The number of parameters, by what holds them: embedding, blocks, unembedding.
    pub fn n_parameters(&self) -> [usize; 3] {
        let Self { embedding, stack, unembedding } = self;
        [embedding.n_entries(), stack.n_entries(), unembedding.n_entries()]
    }

    /// A pass through the blocks; no token sees what comes after it.
    ///
    /// # Errors
    /// [`attention::Error`] for tokens that the model does not have.
    pub fn pass(&self, read: &Sequences) -> Result<StackPass<'_, f32>> {
        let x = self.embedding.forward(&read.ids, read.n_tokens)?;
        let x = Batch::new(read.n_sequences(), x)?;
        StackPass::forward(&self.stack, &x, &[Mask::Causal])
    }

    /// The logits of what comes next, `[n_sequences · n_tokens, n_vocabulary]`.
    pub(crate) fn logits(&self, read: &Sequences) -> Result<Matrix<f32>> {
        self.unembedding.forward(self.pass(read)?.out())
    }

    /// The logits if the heads' outputs were changed on the way: `change` gets the number
    /// of each block and its concatenation, `[n_sequences · n_tokens, h · d_v]`.
    pub(crate) fn logits_with(
        &self,
        read: &Sequences,
        mut change: impl FnMut(usize, Matrix<f32>) -> Matrix<f32>,
    ) -> Result<Matrix<f32>> {
        let mut x = self.embedding.forward(&read.ids, read.n_tokens)?;
        for (l, block) in self.stack.blocks.iter().enumerate() {
            let around = block.attention.forward(&x, |layer, inner| {
                let inner = Batch::new(read.n_sequences(), inner.clone())?;
                let pass = layer.pass_batch(&inner, &inner, &inner, &[Mask::Causal])?;
                let concat = change(l, pass.concat);
                Ok((layer.parameters().w_o().forward(&concat)?, ()))
            })?;
            x = around.out;
        }
        self.unembedding.forward(&x)
    }

    /// The wrong answers among those that can be known.
    ///
    /// # Errors
    /// As [`pass`](Self::pass).
    pub fn mistakes(&self, read: &Sequences) -> Result<Mistakes> {
        Ok(read.mistakes(&largest(&self.logits(read)?)))
    }

    /// The share of right answers among those that can be known.
    ///
    /// # Errors
    /// As [`pass`](Self::pass).
    pub fn score(&self, read: &Sequences) -> Result<f64> {
        Ok(read.score(&largest(&self.logits(read)?)))
    }
}

/// The id with the largest logit, row by row.
pub(crate) fn largest(logits: &Matrix<f32>) -> Vec<usize> {
    let of_row = |row: usize| {
        let logit = |id: usize| logits[(row, id)];
        (1..logits.ncols())
            .fold(0, |best, id| if logit(id) > logit(best) { id } else { best })
    };
    (0..logits.nrows()).map(of_row).collect()
}
