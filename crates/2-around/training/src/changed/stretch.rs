//! Rotary positions, stretched for texts longer than those of the training.

use attention::Result;
use variants::{Pairing, Rotary, YARN_ROUNDS, yarn_ends};

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
