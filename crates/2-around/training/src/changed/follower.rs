//! What comes next, said by two layers that know places in one of five ways, with rotary
//! positions stretched for texts longer than those of the training.

use attention::{Batch, Dims, Linear, Mask, Matrix, Result, Rng, random_matrix};
use block::{Embedding, Positions, sinusoidal};
use gradients::{Adam, Optimiser, cross_entropy, linear_backward};
use variants::{
    Alibi, Changes, Pairing, Rotary, Sizes, VariantAttention, VariantPass, YARN_ROUNDS,
    yarn_ends,
};

use crate::Learner;
use crate::repeats::{Sequences, largest};

/// How a model knows where a token stands.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Place {
    /// It does not, but for the mask, which lets a token see more the later it comes.
    None,
    /// A vector per position is added to the token, and learned.
    Learned,
    /// The same with the fixed table of 2017.
    Sinusoidal,
    /// Queries and keys are rotated.
    Rotary,
    /// Scores fall with distance.
    Alibi,
}

impl Place {
    /// All of them, the control first.
    pub const ALL: [Self; 5] =
        [Self::None, Self::Learned, Self::Sinusoidal, Self::Rotary, Self::Alibi];

    /// What it is called.
    pub fn name(&self) -> &'static str {
        match self {
            Self::None => "none",
            Self::Learned => "learned",
            Self::Sinusoidal => "sinusoidal",
            Self::Rotary => "rotary",
            Self::Alibi => "ALiBi",
        }
    }
}

/// The base of the frequencies.
const BASE: f64 = 10_000.0;

/// How a model that was trained on short texts is made ready for longer ones.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Stretch {
    /// Not at all.
    None,
    /// Every pair is slowed.
    Interpolated,
    /// Each pair is slowed by more the slower it is.
    NtkAware,
    /// The slow pairs are.
    Yarn,
}

impl Stretch {
    /// All of them.
    pub const ALL: [Self; 4] =
        [Self::None, Self::Interpolated, Self::NtkAware, Self::Yarn];

    /// What it is called.
    pub fn name(&self) -> &'static str {
        match self {
            Self::None => "as trained",
            Self::Interpolated => "interpolated",
            Self::NtkAware => "NTK-aware",
            Self::Yarn => "YaRN",
        }
    }

    /// The rotary positions of heads of this width, for texts `factor` times as long as the
    /// `n_trained` tokens of the training.
    ///
    /// # Errors
    /// [`attention::Error`] for an odd width, or a factor that is not
    /// above 0.
    pub fn rotary(&self, d_head: usize, n_trained: usize, factor: f64) -> Result<Rotary> {
        let rotary = Rotary::new(Pairing::Halves, d_head, BASE)?;
        Ok(match self {
            Self::None => rotary,
            Self::Interpolated => rotary.interpolated(factor)?,
            Self::NtkAware => rotary.ntk_aware(factor)?,
            Self::Yarn => {
                let ends = yarn_ends(BASE, d_head, n_trained as f64, YARN_ROUNDS, true);
                rotary.yarn(ends, factor)?
            }
        })
    }
}

/// What a follower of two layers is built of.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct FollowerPlan {
    /// The number of heads of each layer.
    pub n_heads: usize,
    /// `d_k` and `d_v`.
    pub d_head: usize,
    /// The width of a token.
    pub d_model: usize,
    /// How it knows places.
    pub place: Place,
    /// How many positions it has, those of longer texts than it is trained on included.
    pub n_positions: usize,
}

impl FollowerPlan {
    /// Two layers of four heads, 16 wide, on tokens 64 wide, with a learned table for the
    /// texts of [`Repeats`](crate::repeats::Repeats).
    pub const TWO_LAYERS: Self = Self {
        n_heads: 4,
        d_head: 16,
        d_model: 64,
        place: Place::Learned,
        n_positions: 24,
    };
}

/// Attention layers with residuals between an embedding and an unembedding, as
/// [`Predictor`](crate::repeats::Predictor).
#[derive(Debug, Clone, PartialEq)]
pub struct Follower {
    embedding: Embedding<f32>,
    layers: Vec<VariantAttention<f32>>,
    unembedding: Linear<f32>,
}

gradients::entries!([] f32, Follower: embedding, layers, unembedding);

impl Follower {
    /// Random parameters.
    ///
    /// # Errors
    /// Sizes that do not fit.
    pub fn random(
        plan: FollowerPlan,
        n_vocabulary: usize,
        rng: &mut Rng,
    ) -> Result<Self> {
        let FollowerPlan { n_heads, d_head, d_model, n_positions, .. } = plan;
        let mut embedding = Embedding::random(n_vocabulary, d_model, rng);
        let mut changes = Changes::default();
        match plan.place {
            Place::None => {}
            Place::Learned => {
                let table = random_matrix(n_positions, d_model, 1.0, rng);
                embedding.positions = Positions::Learned(table);
            }
            Place::Sinusoidal => {
                embedding.positions = Positions::Fixed(sinusoidal(n_positions, d_model));
            }
            Place::Rotary => {
                changes.rotary = Some(Stretch::None.rotary(d_head, n_positions, 1.0)?);
            }
            Place::Alibi => changes.alibi = Some(Alibi::new(n_heads)?),
        }
        let dims = Dims::with_head_sizes(d_model, n_heads, d_head, d_head)?;
        let sizes = Sizes::new(dims, n_heads)?;
        let mut layer = || VariantAttention::random(sizes, true, changes.clone(), rng);
        let layers = vec![layer()?, layer()?];
        let unembedding = Linear::random(d_model, n_vocabulary, true, rng);
        Ok(Self { embedding, layers, unembedding })
    }

    /// The same model with other rotary positions in every layer.
    ///
    /// # Errors
    /// [`attention::Error`] if they do not fit its heads.
    pub fn with_rotary(&self, rotary: Rotary) -> Result<Self> {
        let changed = |layer: &VariantAttention<f32>| {
            let rotary = Some(rotary.clone());
            layer.with_changes(Changes { rotary, ..layer.changes().clone() })
        };
        let layers = self.layers.iter().map(changed).collect::<Result<_, _>>()?;
        Ok(Self { layers, ..self.clone() })
    }

    /// The share of right answers among those that can be known.
    ///
    /// # Errors
    /// As [`Learner::descend`].
    pub fn score(&self, read: &Sequences) -> Result<f64> {
        let (_, x) = self.passes(read)?;
        Ok(read.score(&largest(&self.unembedding.forward(&x)?)))
    }

    /// The passes through all layers, and the tokens behind the last.
    fn passes(
        &self,
        read: &Sequences,
    ) -> Result<(Vec<VariantPass<'_, f32>>, Matrix<f32>)> {
        let mut x = self.embedding.forward(&read.ids, read.n_tokens)?;
        let mut passes = Vec::with_capacity(self.layers.len());
        for layer in &self.layers {
            let tokens = Batch::new(read.n_sequences(), x.clone())?;
            let pass = VariantPass::forward(layer, &tokens, &tokens, &Mask::Causal)?;
            x += pass.out();
            passes.push(pass);
        }
        Ok((passes, x))
    }
}

impl Learner for Follower {
    type Examples = Sequences;
    /// The score.
    type Look = f64;

    fn descend(&mut self, read: &Sequences, adam: &mut Adam<f32>) -> Result<f32> {
        let (passes, x) = self.passes(read)?;
        let loss = cross_entropy(&self.unembedding.forward(&x)?, &read.next)?;

        let d_out = linear_backward(&self.unembedding, &x, &loss.gradient)?;
        let (mut d_x, mut d_layers) = (d_out.d_x, Vec::new());
        for pass in passes.into_iter().rev() {
            let d = pass.backward(&d_x)?;
            d_x += &d.d_query + &d.d_key;
            d_layers.push(d);
        }
        d_layers.reverse();
        let d_embedding = self.embedding.backward(&read.ids, read.n_tokens, &d_x)?;

        adam.step_entries(self, &(d_embedding, d_layers, d_out.d_linear))?;
        Ok(loss.value)
    }

    fn look(&self, test: &Sequences, _: &[f64], _: usize) -> Result<f64> {
        Follower::score(self, test)
    }

    fn score(look: &f64) -> f64 {
        *look
    }
}
