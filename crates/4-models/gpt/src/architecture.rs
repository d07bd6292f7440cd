//! The sizes of a model, its parameters as one list, and where each part of it lies.
//!
//! All rungs take the same list and give gradients in the same order: the tables of letters
//! and positions, sixteen parts of each block, and the last norm.

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

/// The places of W^Q, W^K, W^V, W^O, W_1 and W_2 among the parts of a block; each bias comes
/// behind its weight.
pub(crate) const WEIGHTS: [usize; 6] = [2, 4, 6, 8, 12, 14];

/// A part of the list: its name, and the rows and columns that it has there, row by row.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Part {
    /// `w_q`.
    pub name: &'static str,
    /// Rows and columns: a bias is one row.
    pub shape: (usize, usize),
}

impl Part {
    /// How many numbers it has.
    pub fn n_entries(self) -> usize {
        self.shape.0 * self.shape.1
    }
}

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

    /// Every part, in order.
    pub fn parts(self) -> Vec<Part> {
        let (d, d_ff) = (self.d_model, 4 * self.d_model);
        let norm = |gain, bias| [(gain, (1, d)), (bias, (1, d))];
        let linear = |w, b, d_in, d_out| [(w, (d_in, d_out)), (b, (1, d_out))];
        let of_block = [
            norm("norm_1.gain", "norm_1.bias"),
            linear("w_q", "b_q", d, d),
            linear("w_k", "b_k", d, d),
            linear("w_v", "b_v", d, d),
            linear("w_o", "b_o", d, d),
            norm("norm_2.gain", "norm_2.bias"),
            linear("w_1", "b_1", d, d_ff),
            linear("w_2", "b_2", d_ff, d),
        ];
        let mut parts =
            vec![("letters", (N_LETTERS, d)), ("positions", (self.n_positions, d))];
        for _ in 0..self.n_blocks {
            parts.extend(of_block.into_iter().flatten());
        }
        parts.extend(norm("last_norm.gain", "last_norm.bias"));
        parts.into_iter().map(|(name, shape)| Part { name, shape }).collect()
    }

    /// The place among the parts of a block's first; behind all blocks, that of the last norm.
    pub(crate) fn first_of(self, block: usize) -> usize {
        2 + 16 * block
    }

    /// How many parameters there are.
    pub fn n_parameters(self) -> usize {
        self.parts().into_iter().map(Part::n_entries).sum()
    }

    /// A list of that length, cut into its parts.
    pub(crate) fn cut<T>(self, mut list: &[T]) -> Vec<&[T]> {
        let one = |part: Part| list.split_off(..part.n_entries());
        self.parts().into_iter().filter_map(one).collect()
    }

    /// The same, to be written into.
    pub(crate) fn cut_mut<T>(self, mut list: &mut [T]) -> Vec<&mut [T]> {
        let one = |part: Part| list.split_off_mut(..part.n_entries());
        self.parts().into_iter().filter_map(one).collect()
    }

    /// The sizes of an attention layer, if a list of parameters fits.
    pub(crate) fn check(self, parameters: &[f64]) -> Result<Dims> {
        let dims = Dims::new(self.d_model, self.n_heads)?;
        let what = "the list of parameters";
        Error::expect_length(what, self.n_parameters(), parameters.len())?;
        Ok(dims)
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
