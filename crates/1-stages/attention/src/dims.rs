//! The sizes of a layer, checked once.

use crate::{Error, Result};

/// The sizes of a multi-head attention layer.
///
/// A value of this type is proof that they fit together: every size is at least 1, and
/// where heads share `d_model` it divides evenly. Code that takes `Dims` checks no more.
///
/// ```
/// use attention::Dims;
///
/// let dims = Dims::new(256, 8)?;
/// assert_eq!((dims.d_k(), dims.d_v()), (32, 32));
/// let dims = Dims::with_head_sizes(512, 8, 64, 32)?.with_source_widths(256, 128)?;
/// assert_eq!(dims.concat_width(), 8 * 32);
/// assert_eq!((dims.d_model(), dims.key_width(), dims.value_width()), (512, 256, 128));
/// # Ok::<(), attention::Error>(())
/// ```
///
/// # Source
/// Vaswani et al. 2017, section 3.2.2; source 003 for 256 among 8 heads.
/// Differs: key and value inputs may be narrower or wider than `d_model`, as in PyTorch.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Dims {
    d_model: usize,
    n_heads: usize,
    d_k: usize,
    d_v: usize,
    key_width: usize,
    value_width: usize,
}

impl Dims {
    /// The usual sizes: `d_k = d_v = d_model / n_heads`.
    ///
    /// # Errors
    /// [`Error::ZeroSize`]; [`Error::NotDivisible`] if heads would differ in width.
    // ANCHOR: new
    pub fn new(d_model: usize, n_heads: usize) -> Result<Self> {
        Error::expect_positive("d_model", d_model)?;
        Error::expect_positive("n_heads", n_heads)?;
        if !d_model.is_multiple_of(n_heads) {
            return Err(Error::NotDivisible { d_model, n_heads });
        }
        let width = d_model / n_heads;
        Self::with_head_sizes(d_model, n_heads, width, width)
    }
    // ANCHOR_END: new

    /// Heads of any size: `d_k` for queries and keys, `d_v` for values.
    ///
    /// # Errors
    /// [`Error::ZeroSize`] if any size is 0; [`Error::TooLarge`] if all heads together are
    /// wider than a `usize` can say.
    pub fn with_head_sizes(
        d_model: usize,
        n_heads: usize,
        d_k: usize,
        d_v: usize,
    ) -> Result<Self> {
        let sizes =
            [("d_model", d_model), ("n_heads", n_heads), ("d_k", d_k), ("d_v", d_v)];
        for (what, size) in sizes {
            Error::expect_positive(what, size)?;
        }
        for (what, size) in [("d_k", d_k), ("d_v", d_v)] {
            if n_heads.checked_mul(size).is_none() {
                let what =
                    format!("the width of all heads, n_heads {n_heads} × {what} {size},");
                return Err(Error::TooLarge { what });
            }
        }
        let (key_width, value_width) = (d_model, d_model);
        Ok(Self { d_model, n_heads, d_k, d_v, key_width, value_width })
    }

    /// The same heads on key and value inputs of other widths than `d_model`.
    ///
    /// # Errors
    /// [`Error::ZeroSize`] if a width is 0.
    pub fn with_source_widths(
        self,
        key_width: usize,
        value_width: usize,
    ) -> Result<Self> {
        Error::expect_positive("the width of the keys", key_width)?;
        Error::expect_positive("the width of the values", value_width)?;
        Ok(Self { key_width, value_width, ..self })
    }

    /// The width of a query token and of an output token.
    pub fn d_model(&self) -> usize {
        self.d_model
    }

    /// The number of heads, `h`.
    pub fn n_heads(&self) -> usize {
        self.n_heads
    }

    /// The width of one head's queries and keys.
    pub fn d_k(&self) -> usize {
        self.d_k
    }

    /// The width of one head's values and of its output.
    pub fn d_v(&self) -> usize {
        self.d_v
    }

    /// The width of a token that keys are projected from; `d_model` unless said.
    pub fn key_width(&self) -> usize {
        self.key_width
    }

    /// The width of a token that values are projected from; `d_model` unless said.
    pub fn value_width(&self) -> usize {
        self.value_width
    }

    /// The width of the concatenated heads, `h · d_v`.
    pub fn concat_width(&self) -> usize {
        self.n_heads * self.d_v
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn heads_share_the_width_of_the_model() {
        for (d_model, n_heads, d_k) in [(256, 8, 32), (512, 8, 64), (16, 16, 1)] {
            assert_eq!(Dims::new(d_model, n_heads).unwrap().d_k(), d_k);
        }
    }

    #[test]
    fn sizes_that_do_not_fit_are_refused_with_their_numbers() {
        let message = |dims: Result<Dims>| dims.unwrap_err().to_string();
        insta::assert_snapshot!(message(Dims::new(2, 4)), @"d_model 2 cannot be divided among 4 heads: 2 = 4 × 0 + 2");
        insta::assert_snapshot!(message(Dims::new(250, 8)), @"d_model 250 cannot be divided among 8 heads: 250 = 8 × 31 + 2");
        insta::assert_snapshot!(message(Dims::new(256, 0)), @"n_heads is 0, and must be at least 1");
        insta::assert_snapshot!(message(Dims::new(0, 8)), @"d_model is 0, and must be at least 1");
        insta::assert_snapshot!(message(Dims::with_head_sizes(8, 2, 0, 4)), @"d_k is 0, and must be at least 1");
        insta::assert_snapshot!(message(Dims::with_head_sizes(8, usize::MAX, 1, 2)), @"the width of all heads, n_heads 18446744073709551615 × d_v 2, is more than this machine can count");
    }
}
