//! What goes into a layer in one call, checked once.

use attention::{Dims, Error, Mask, Matrix, Result, check_inputs};

/// Query, key and value of a batch, and its masks: what every rung is given.
///
/// Sequences of equal length lie one below the other.
#[derive(Debug, Clone, Copy)]
pub struct Inputs<'a> {
    /// The number of sequences.
    pub n_sequences: usize,
    /// `[n_sequences · n_q, d_model]`.
    pub query: &'a Matrix<f32>,
    /// `[n_sequences · n_kv, key_width]`.
    pub key: &'a Matrix<f32>,
    /// `[n_sequences · n_kv, value_width]`.
    pub value: &'a Matrix<f32>,
    /// One mask for all sequences, or one a sequence, each for `[n_q, n_kv]`.
    pub masks: &'a [Mask],
}

/// The numbers of sequences, queries and keys of one call.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Lengths {
    /// The number of sequences.
    pub n_sequences: usize,
    /// The number of queries of each sequence.
    pub n_q: usize,
    /// The number of keys of each sequence.
    pub n_kv: usize,
}

impl<'a> Inputs<'a> {
    /// Sequences that attend to themselves.
    ///
    /// # Shapes
    /// `x` is `[n_sequences · n_tokens, d_model]`.
    pub fn self_attention(
        n_sequences: usize,
        x: &'a Matrix<f32>,
        masks: &'a [Mask],
    ) -> Self {
        Self { n_sequences, query: x, key: x, value: x, masks }
    }

    /// Whether query, key and value are one matrix in memory.
    pub fn is_self_attention(&self) -> bool {
        std::ptr::eq(self.query, self.key) && std::ptr::eq(self.key, self.value)
    }

    /// The mask of sequence `s`.
    pub fn mask(&self, s: usize) -> &'a Mask {
        &self.masks[s % self.masks.len()]
    }

    /// Holds the inputs and the shape of what is to be written against a layer's sizes.
    ///
    /// # Errors
    /// [`Error::ZeroSize`], [`Error::BatchRows`], [`Error::BatchLength`],
    /// [`Error::Shape`], or what [`check_inputs`] finds.
    pub fn check(&self, dims: Dims, out: &Matrix<f32>) -> Result<Lengths> {
        let n_sequences = self.n_sequences;
        Error::expect_positive("the number of sequences", n_sequences)?;
        if ![1, n_sequences].contains(&self.masks.len()) {
            let (what, found) = ("the list of masks", self.masks.len());
            return Err(Error::BatchLength { what, expected: n_sequences, found });
        }
        check_inputs(dims, self.query, self.key, self.value, &Mask::None)?;
        for n_rows in [self.query.nrows(), self.key.nrows()] {
            if !n_rows.is_multiple_of(n_sequences) {
                return Err(Error::BatchRows { n_rows, n_sequences });
            }
        }
        let (n_q, n_kv) =
            (self.query.nrows() / n_sequences, self.key.nrows() / n_sequences);
        self.masks.iter().try_for_each(|mask| mask.check(dims.n_heads(), n_q, n_kv))?;
        Error::expect_shape("out", self.query.shape(), out.shape())?;
        Ok(Lengths { n_sequences, n_q, n_kv })
    }
}
