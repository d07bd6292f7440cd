//! What goes into a layer in one call, checked once.

use attention::{Dims, Error, Mask, Matrix, Result, check_inputs};
use tiles::Lengths;

/// Query, key and value of a batch, and its masks: what every rung is given.
///
/// Sequences of equal length are stacked. The constructor says what they are
/// to each other, and so what a backward pass gives: for
/// [`self_attention`](Self::self_attention) one gradient of the tokens, for
/// [`cross_attention`](Self::cross_attention) three, of whatever numbers they are.
#[derive(Debug, Clone, Copy)]
pub struct Inputs<'a> {
    n_sequences: usize,
    is_self_attention: bool,
    pub(crate) query: &'a Matrix<f32>,
    pub(crate) key: &'a Matrix<f32>,
    pub(crate) value: &'a Matrix<f32>,
    masks: &'a [Mask],
}

impl<'a> Inputs<'a> {
    /// Sequences that attend to themselves: query, key and value are one input, and its
    /// gradient is the sum of all three paths.
    ///
    /// ```
    /// use attention::{Mask, Matrix};
    /// use kernels::Inputs;
    ///
    /// let x = Matrix::zeros(2 * 5, 8); // 2 sequences of 5 tokens
    /// let inputs = Inputs::self_attention(2, &x, &[Mask::Causal]);
    /// assert!(inputs.is_self_attention());
    /// ```
    ///
    /// # Shapes
    /// `x` is `[n_sequences · n_tokens, d_model]`; `masks` has one mask for all sequences,
    /// or one a sequence, each for `[n_tokens, n_tokens]`.
    pub fn self_attention(
        n_sequences: usize,
        x: &'a Matrix<f32>,
        masks: &'a [Mask],
    ) -> Self {
        let (query, key, value) = (x, x, x);
        Self { n_sequences, is_self_attention: true, query, key, value, masks }
    }

    /// Sequences that attend to others: query, key and value have a gradient each.
    ///
    /// ```
    /// use attention::{Mask, Matrix};
    /// use kernels::Inputs;
    ///
    /// let (x, source) = (Matrix::zeros(2 * 5, 8), Matrix::zeros(2 * 7, 8));
    /// let masks = [Mask::FirstKeys(7), Mask::FirstKeys(4)];
    /// let inputs = Inputs::cross_attention(2, &x, &source, &source, &masks);
    /// assert_eq!(*inputs.mask(1), Mask::FirstKeys(4));
    /// ```
    ///
    /// # Shapes
    /// `query` is `[n_sequences · n_q, d_model]`, `key` is `[n_sequences · n_kv,
    /// key_width]`, `value` is `[n_sequences · n_kv, value_width]`; `masks` has one mask for
    /// all sequences, or one a sequence, each for `[n_q, n_kv]`.
    pub fn cross_attention(
        n_sequences: usize,
        query: &'a Matrix<f32>,
        key: &'a Matrix<f32>,
        value: &'a Matrix<f32>,
        masks: &'a [Mask],
    ) -> Self {
        Self { n_sequences, is_self_attention: false, query, key, value, masks }
    }

    /// Whether query, key and value are one input.
    pub fn is_self_attention(&self) -> bool {
        self.is_self_attention
    }

    /// The number of sequences.
    pub fn n_sequences(&self) -> usize {
        self.n_sequences
    }

    /// `[n_sequences · n_q, d_model]`.
    pub fn query(&self) -> &'a Matrix<f32> {
        self.query
    }

    /// `[n_sequences · n_kv, key_width]`.
    pub fn key(&self) -> &'a Matrix<f32> {
        self.key
    }

    /// `[n_sequences · n_kv, value_width]`.
    pub fn value(&self) -> &'a Matrix<f32> {
        self.value
    }

    /// One mask for all sequences, or one a sequence, each for `[n_q, n_kv]`.
    pub fn masks(&self) -> &'a [Mask] {
        self.masks
    }

    /// The mask of sequence `s`.
    ///
    /// # Panics
    /// Without masks, which [`check`](Self::check) refuses.
    pub fn mask(&self, s: usize) -> &'a Mask {
        &self.masks[s % self.masks.len()]
    }

    /// Compares the inputs, and the shape of what is to be written, with a layer's sizes.
    ///
    /// # Errors
    /// [`Error::ZeroSize`], [`Error::BatchRows`], [`Error::Length`],
    /// [`Error::Shape`], or what [`check_inputs`] finds.
    pub fn check(&self, dims: Dims, out: &Matrix<f32>) -> Result<Lengths> {
        let n_sequences = self.n_sequences;
        Error::expect_positive("the number of sequences", n_sequences)?;
        if self.masks.len() != 1 {
            Error::expect_length("the list of masks", n_sequences, self.masks.len())?;
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
