//! What functions check first, and the errors if it is not so.

use super::{Error, Result, Shape};

impl Error {
    /// Compares a shape with the one that is expected.
    ///
    /// # Errors
    /// [`Error::Shape`] with both shapes if they differ.
    pub fn expect_shape(
        what: impl Into<String>,
        expected: Shape,
        found: Shape,
    ) -> Result<()> {
        if expected == found {
            return Ok(());
        }
        Err(Self::Shape { what: what.into(), expected, found })
    }

    /// Compares the length of a list with the one that is expected.
    ///
    /// # Errors
    /// [`Error::Length`] with both lengths if they differ.
    pub fn expect_length(
        what: impl Into<String>,
        expected: usize,
        found: usize,
    ) -> Result<()> {
        if expected == found {
            return Ok(());
        }
        Err(Self::Length { what: what.into(), expected, found })
    }

    /// Refuses an index, counted from 0, that is not below `n`. `what` is counted, in the
    /// singular.
    ///
    /// # Errors
    /// [`Error::NoSuchIndex`] with the range that there is.
    ///
    /// ```
    /// let error = attention::Error::expect_index("head", 9, 8).unwrap_err();
    /// assert_eq!(error.to_string(), "there are 8 heads, 0 to 7: head 9 does not exist");
    /// ```
    pub fn expect_index(what: &'static str, index: usize, n: usize) -> Result<()> {
        if index < n {
            return Ok(());
        }
        Err(Self::NoSuchIndex { what, index, n })
    }

    /// Refuses a size of 0.
    ///
    /// # Errors
    /// [`Error::ZeroSize`] if it is 0.
    pub fn expect_positive(what: &'static str, size: usize) -> Result<()> {
        if size > 0 {
            return Ok(());
        }
        Err(Self::ZeroSize { what })
    }

    /// Refuses a number that is 0, negative, infinite or NaN.
    ///
    /// # Errors
    /// [`Error::NotPositive`] with the number.
    pub fn expect_above_zero(what: &'static str, value: f64) -> Result<()> {
        if value.is_finite() && value > 0.0 {
            return Ok(());
        }
        Err(Self::NotPositive { what, value })
    }

    /// Refuses a list that has not one entry per head.
    ///
    /// # Errors
    /// [`Error::PerHead`] with both numbers.
    pub fn expect_per_head(
        what: &'static str,
        found: usize,
        n_heads: usize,
    ) -> Result<()> {
        if found == n_heads {
            return Ok(());
        }
        Err(Self::PerHead { what, found, n_heads })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_index_that_nothing_has_is_refused_with_the_range_that_there_is() {
        let refused = |n| Error::expect_index("token", 3, n).unwrap_err().to_string();
        assert_eq!(refused(3), "there are 3 tokens, 0 to 2: token 3 does not exist");
        assert_eq!(refused(1), "there is one token, number 0: token 3 does not exist");
        assert_eq!(refused(0), "there is no token: token 3 does not exist");
        assert_eq!(Error::expect_index("token", 3, 4), Ok(()));
    }
}
