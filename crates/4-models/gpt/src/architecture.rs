//! The sizes of a model, and what fits them.

use attention::{Dims, Error, Result};
use rand::{Rng, RngExt};

use crate::scalars::{D_MODEL, N_HEADS, N_LETTERS, N_POSITIONS};

/// The sizes of a model. Its feed-forward layers are four times as wide as a letter.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Architecture {
    /// The width of a letter.
    pub d_model: usize,
    /// The number of heads of each block.
    pub n_heads: usize,
    /// The number of blocks.
    pub n_blocks: usize,
    /// The number of positions: a name has one letter less at most.
    pub n_positions: usize,
}

/// The loss of some names, and the gradient of each parameter.
pub type Gradients = (f64, Vec<f64>);

impl Architecture {
    /// That of [`scalars`](crate::scalars): one block of four heads, 16 numbers a letter.
    pub const SMALL: Self = Self {
        d_model: D_MODEL,
        n_heads: N_HEADS,
        n_blocks: 1,
        n_positions: N_POSITIONS,
    };

    /// One that is better than counting threes, and is trained in seconds.
    pub const LARGER: Self =
        Self { d_model: 32, n_heads: 4, n_blocks: 2, n_positions: 16 };

    /// The sizes of an attention layer.
    ///
    /// # Errors
    /// [`Error::NotDivisible`] if the width cannot be divided among the heads;
    /// [`Error::ZeroSize`].
    pub fn dims(self) -> Result<Dims> {
        Dims::new(self.d_model, self.n_heads)
    }

    /// Parameters before any training: random ones, gains of 1 and biases of 0. Those of
    /// [`SMALL`](Self::SMALL) are those of [`scalars::parameters`](crate::scalars::parameters).
    pub fn parameters(self, rng: &mut impl Rng) -> Vec<f64> {
        let mut parameters = Vec::new();
        for part in self.parts() {
            parameters.extend((0..part.n_entries()).map(|_| match part.name {
                name if name.ends_with("gain") => 1.0,
                name if name.ends_with("bias") || name.starts_with("b_") => 0.0,
                _ => rng.random_range(-0.14..0.14),
            }));
        }
        parameters
    }

    /// Whether a list of parameters fits.
    pub(crate) fn check(self, parameters: &[f64]) -> Result<()> {
        self.dims()?;
        let what = "the list of parameters";
        Error::expect_length(what, self.n_parameters(), parameters.len())
    }

    /// Whether it is [`SMALL`](Self::SMALL), for which some rungs are written.
    pub(crate) fn check_small(self) -> Result<()> {
        let small = Self::SMALL;
        let sizes = [
            ("a letter", small.d_model, self.d_model),
            ("the list of a block's heads", small.n_heads, self.n_heads),
            ("the list of blocks", small.n_blocks, self.n_blocks),
            ("the table of positions", small.n_positions, self.n_positions),
        ];
        let check = |(what, expected, size)| Error::expect_length(what, expected, size);
        sizes.into_iter().try_for_each(check)
    }
}

/// Whether there are names, and each fits so many positions.
pub(crate) fn check_names(names: &[Vec<usize>], n_positions: usize) -> Result<()> {
    Error::expect_positive("the number of names", names.len())?;
    for name in names {
        let n_tokens = name.len().saturating_sub(1);
        Error::expect_positive("the number of letters and ends to be guessed", n_tokens)?;
        if n_tokens > n_positions {
            return Err(Error::TooLong { n_tokens, n_positions });
        }
        if let Some(position) = name.iter().position(|&id| id >= N_LETTERS) {
            let (id, n_vocabulary) = (name[position], N_LETTERS);
            return Err(Error::Token { position, id, n_vocabulary });
        }
    }
    Ok(())
}
