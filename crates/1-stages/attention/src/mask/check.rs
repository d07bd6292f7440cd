//! Whether a mask fits the layer and the lengths that it is used with.

use super::Mask;
use crate::{Error, Matrix, Result};

/// How many masks may stand within each other. Nobody means more than a few; and what
/// recurses through masks must not run out of stack.
const MOST_LEVELS: usize = 64;

impl Mask {
    /// Compares the mask with the layer and the lengths that it is used with.
    ///
    /// ```
    /// use attention::Mask;
    ///
    /// let (n_heads, n_q, n_kv) = (8, 4, 6);
    /// assert!(Mask::Keys(vec![true; 6]).check(n_heads, n_q, n_kv).is_ok());
    /// let refused = Mask::FirstKeys(7).check(n_heads, n_q, n_kv).unwrap_err();
    /// let text = "the mask lets the first 7 keys be seen and there are only 6";
    /// assert_eq!(refused.to_string(), text);
    /// ```
    ///
    /// # Errors
    /// [`Error::Shape`], [`Error::Length`], [`Error::MaskHeads`],
    /// [`Error::MaskFirstKeys`], [`Error::MaskScore`] or [`Error::MaskDepth`], with the
    /// numbers that do not fit.
    pub fn check(&self, n_heads: usize, n_q: usize, n_kv: usize) -> Result<()> {
        self.check_level(MOST_LEVELS, n_heads, (n_q, n_kv))
    }

    fn check_level(
        &self,
        levels_left: usize,
        n_heads: usize,
        (n_q, n_kv): (usize, usize),
    ) -> Result<()> {
        let within = |masks: &[Self]| {
            let levels_left = levels_left
                .checked_sub(1)
                .ok_or(Error::MaskDepth { most: MOST_LEVELS })?;
            let each = |mask: &Self| mask.check_level(levels_left, n_heads, (n_q, n_kv));
            masks.iter().try_for_each(each)
        };
        match self {
            Self::None | Self::Causal | Self::CausalTopLeft => Ok(()),
            Self::FirstKeys(n_open) if *n_open > n_kv => {
                Err(Error::MaskFirstKeys { n_open: *n_open, n_kv })
            }
            Self::FirstKeys(_) => Ok(()),
            Self::Keys(keys) => {
                Error::expect_length("the mask of keys", n_kv, keys.len())
            }
            Self::Allowed(allowed) => {
                Error::expect_shape("the mask", (n_q, n_kv), allowed.shape())
            }
            Self::Additive(scores) => {
                Error::expect_shape("the additive mask", (n_q, n_kv), scores.shape())?;
                check_scores(scores)
            }
            Self::PerHead(masks) if masks.len() != n_heads => {
                Err(Error::MaskHeads { n_masks: masks.len(), n_heads })
            }
            Self::All(masks) | Self::PerHead(masks) => within(masks),
        }
    }
}

fn check_scores(scores: &Matrix<f64>) -> Result<()> {
    let (n_q, n_kv) = scores.shape();
    for query in 0..n_q {
        for key in 0..n_kv {
            let score = scores[(query, key)];
            if score.is_nan() || score == f64::INFINITY {
                return Err(Error::MaskScore { query, key, score });
            }
        }
    }
    Ok(())
}
