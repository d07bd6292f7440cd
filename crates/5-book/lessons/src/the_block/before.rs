//! A task that takes order: which token stands before this one?

use anyhow::{Context, Result};
use attention::{
    Batch, Dims, LayerParameters, Linear, Mask, Matrix, Rng, SeedableRng, random_matrix,
};
use block::{Block, Embedding, Norms, Positions, Stack, StackPass, Sublayer, sinusoidal};
use fused_heads::FusedAttention;
use gradients::{Adam, Optimiser, cross_entropy, linear_backward};
use rand::RngExt;

/// How many different tokens there are.
pub const N_VOCABULARY: usize = 8;
/// The length of a sequence.
pub const N_TOKENS: usize = 6;
/// The width of a token.
pub const D_MODEL: usize = 16;
/// How many steps a training takes.
pub const N_STEPS: usize = 250;
/// How many sequences a step sees, all new.
pub const N_SEQUENCES: usize = 8;
const RATE: f64 = 0.02;

/// A kind of position.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Kind {
    /// No positions.
    None,
    /// The paper's table.
    Sinusoidal,
    /// A table that is learned with the rest.
    Learned,
}

impl Kind {
    /// All kinds, with their names.
    pub const ALL: [(Self, &'static str); 3] = [
        (Self::None, "none"),
        (Self::Sinusoidal, "sinusoidal"),
        (Self::Learned, "learned"),
    ];
}

/// Tokens and positions, one block of attention alone, and a readout.
#[derive(Debug, Clone)]
pub struct Model {
    /// Tokens and positions.
    pub embedding: Embedding,
    /// One block, without feed-forward layer and norms.
    pub stack: Stack<FusedAttention>,
    /// A logit for each token of the vocabulary.
    pub readout: Linear,
}

gradients::entries!([] f64, Model: embedding, stack, readout);

impl Model {
    /// A model that has learned nothing yet.
    ///
    /// # Errors
    /// None; the sizes fit.
    pub fn fresh(kind: Kind, seed: u64) -> Result<Self> {
        let rng = &mut Rng::seed_from_u64(seed);
        let positions = match kind {
            Kind::None => Positions::None,
            Kind::Sinusoidal => Positions::Fixed(sinusoidal(N_TOKENS, D_MODEL)),
            Kind::Learned => {
                Positions::Learned(random_matrix(N_TOKENS, D_MODEL, 0.1, rng))
            }
        };
        let tokens = Embedding::random(N_VOCABULARY, D_MODEL, rng);
        let parameters = LayerParameters::random(Dims::new(D_MODEL, 2)?, true, rng);
        let attention = Sublayer::new(FusedAttention::new(&parameters), Norms::none());
        let readout = Linear::random(D_MODEL, N_VOCABULARY, true, rng);
        Ok(Self {
            embedding: Embedding { positions, ..tokens },
            stack: Stack { blocks: vec![Block::new(attention, None)], last_norm: None },
            readout,
        })
    }

    /// Logits for each token of stacked sequences.
    ///
    /// # Errors
    /// Tokens that the embedding does not know.
    pub fn logits(&self, ids: &[usize], n_tokens: usize) -> Result<Matrix> {
        let x = self.embedding.forward(ids, n_tokens)?;
        let x = Batch::new(ids.len() / n_tokens, x)?;
        let pass = StackPass::forward(&self.stack, &x, &[Mask::None])?;
        Ok(self.readout.forward(pass.out())?)
    }

    /// One step on these sequences.
    fn step(&mut self, ids: &[usize], adam: &mut Adam) -> Result<()> {
        let x = self.embedding.forward(ids, N_TOKENS)?;
        let x = Batch::new(ids.len() / N_TOKENS, x)?;
        let pass = StackPass::forward(&self.stack, &x, &[Mask::None])?;
        let logits = self.readout.forward(pass.out())?;
        let (rows, classes) = answers(ids);
        let loss = cross_entropy(&logits.select_rows(&rows), &classes)?;
        let mut d_logits = Matrix::zeros(logits.nrows(), logits.ncols());
        for (&row, d) in rows.iter().zip(loss.gradient.row_iter()) {
            d_logits.set_row(row, &d);
        }
        let of_readout = linear_backward(&self.readout, pass.out(), &d_logits)?;
        let of_stack = pass.backward(&of_readout.d_x)?;
        let of_embedding = self.embedding.backward(ids, N_TOKENS, of_stack.d_x())?;
        Ok(adam.step_entries(self, &(of_embedding, of_stack, of_readout.d_linear))?)
    }

    /// The part of these tokens whose largest logit is that of the token before.
    ///
    /// # Errors
    /// As [`logits`](Self::logits).
    pub fn right(&self, ids: &[usize]) -> Result<f64> {
        let logits = self.logits(ids, N_TOKENS)?;
        let (rows, classes) = answers(ids);
        let right = rows.iter().zip(&classes);
        let n_right = right
            .filter(|&(&row, &class)| logits.row(row).transpose().argmax().0 == class);
        Ok(n_right.count() as f64 / classes.len() as f64)
    }
}

/// The tokens that have one before them, and which.
fn answers(ids: &[usize]) -> (Vec<usize>, Vec<usize>) {
    let rows = (0..ids.len()).filter(|row| row % N_TOKENS != 0);
    rows.map(|row| (row, ids[row - 1])).unzip()
}

/// Sequences of random tokens, stacked.
pub fn sequences(n_sequences: usize, rng: &mut Rng) -> Vec<usize> {
    (0..n_sequences * N_TOKENS).map(|_| rng.random_range(0..N_VOCABULARY)).collect()
}

/// A model that was trained with this seed.
///
/// # Errors
/// None; the sizes fit.
pub fn trained(kind: Kind, seed: u64) -> Result<Model> {
    let mut model = Model::fresh(kind, seed)?;
    let (mut adam, rng) = (Adam::new(RATE), &mut Rng::seed_from_u64(!seed));
    for _ in 0..N_STEPS {
        model.step(&sequences(N_SEQUENCES, rng), &mut adam).context("a step")?;
    }
    Ok(model)
}
