//! What every stage is: a layer that attends.

use crate::{Dims, Error, Mask, Matrix, ParameterCount, Real, Result, max_abs_diff};

/// What a layer gives back: the output, and what each head attended to.
#[derive(Debug, Clone, PartialEq)]
pub struct Attended<T: Real = f64> {
    /// `MultiHead(query, key, value)`, `[n_q, d_model]`.
    pub out: Matrix<T>,
    /// One attention map a head, each `[n_q, n_kv]`: row i says how query i spreads its
    /// attention, and sums to 1 (or is all zeros if i may attend to nothing).
    pub attn: Vec<Matrix<T>>,
}

impl<T: Real> Attended<T> {
    /// The largest difference between two results, outputs and maps alike; NaN if there
    /// is a NaN.
    ///
    /// # Shapes
    /// Both have as many heads, queries and keys.
    ///
    /// # Errors
    /// [`Error::Length`] or [`Error::Shape`] if they do not.
    pub fn max_abs_diff(&self, other: &Self) -> Result<f64> {
        Error::expect_length("the list of maps", self.attn.len(), other.attn.len())?;
        let mut differences = vec![max_abs_diff(&self.out, &other.out)?];
        for (a, b) in self.attn.iter().zip(&other.attn) {
            differences.push(max_abs_diff(a, b)?);
        }
        // `f64::max` would drop a NaN.
        let larger = |a: f64, b| if a.is_nan() || a > b { a } else { b };
        Ok(differences.into_iter().fold(0.0, larger))
    }
}

/// Multi-head attention, however it is computed.
///
/// Every stage of the workspace meets this trait, so that one test can hold all of them
/// to the same numbers.
pub trait MultiHeadAttention<T: Real = f64> {
    /// What this way of computing it is called.
    fn name(&self) -> &'static str;

    /// The sizes of the layer.
    fn dims(&self) -> Dims;

    /// The ledger of the parameters that this layer holds.
    fn parameter_count(&self) -> ParameterCount;

    /// `Concat(head_1, …, head_h) W^O`, `head_i = Attention(query W_i^Q, key W_i^K,
    /// value W_i^V)`.
    ///
    /// # Shapes
    /// `query` is `[n_q, d_model]`, `key` is `[n_kv, key_width]`, `value` is
    /// `[n_kv, value_width]`, the output `[n_q, d_model]`.
    ///
    /// # Errors
    /// What [`check_inputs`](crate::check_inputs) finds.
    ///
    /// # Source
    /// Vaswani et al. 2017, section 3.2.2.
    fn forward(
        &self,
        query: &Matrix<T>,
        key: &Matrix<T>,
        value: &Matrix<T>,
        mask: &Mask,
    ) -> Result<Attended<T>>;

    /// Self-attention: query, key and value are the same tokens.
    ///
    /// # Shapes
    /// `x` is `[n_tokens, d_model]`, the output too.
    ///
    /// # Errors
    /// As [`forward`](Self::forward).
    fn self_attend(&self, x: &Matrix<T>, mask: &Mask) -> Result<Attended<T>> {
        self.forward(x, x, x, mask)
    }
}

/// A stage that is only known when the program runs.
impl<T: Real> MultiHeadAttention<T> for Box<dyn MultiHeadAttention<T>> {
    fn name(&self) -> &'static str {
        (**self).name()
    }

    fn dims(&self) -> Dims {
        (**self).dims()
    }

    fn parameter_count(&self) -> ParameterCount {
        (**self).parameter_count()
    }

    fn forward(
        &self,
        query: &Matrix<T>,
        key: &Matrix<T>,
        value: &Matrix<T>,
        mask: &Mask,
    ) -> Result<Attended<T>> {
        (**self).forward(query, key, value, mask)
    }
}
