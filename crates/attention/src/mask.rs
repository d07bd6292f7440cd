//! Which query may attend to which key.

use std::borrow::Cow;

use crate::{Error, Matrix, Real, Result};

/// Which query may attend to which key, and what is added to a score where it may.
///
/// Everywhere in this workspace **true means "may attend"**. PyTorch's masks mean the
/// opposite (True = blocked); they are turned round where files are read.
///
/// A query that may attend to no key gets a row of zeros and a head output of zeros.
/// Others do otherwise: PyTorch gives NaN, and code that fills with −1e9 gives a uniform
/// row over exactly the keys it was told to ignore. Zeros say "nothing was read", stay
/// finite, and leave W^O's bias as the output.
///
/// # Source
/// Vaswani et al. 2017, section 3.2.3; source 004 for padding.
/// Differs: source 004 fills with −1e9 where this blocks.
// ANCHOR: kinds
#[derive(Debug, Clone, PartialEq, Default)]
#[non_exhaustive]
pub enum Mask {
    /// Every query attends to every key.
    #[default]
    None,
    /// No query sees the future: query i attends to key j where
    /// `j <= i + (n_kv − n_q)`, so that the last query sees every key.
    Causal,
    /// Only the first so many keys may be attended to; what comes after them is padding.
    FirstKeys(usize),
    /// Entry `[i, j]` says whether query i may attend to key j.
    Allowed(Matrix<bool>),
    /// Entry `[i, j]` is added to the scaled score; −∞ blocks.
    Additive(Matrix<f64>),
    /// All of these at once: a key is seen if every mask lets it be seen.
    All(Vec<Mask>),
    /// One mask a head.
    PerHead(Vec<Mask>),
}
// ANCHOR_END: kinds

impl Mask {
    /// A mask on keys alone: every query may attend to key j where `allowed[j]` is true.
    ///
    /// # Shapes
    /// `allowed` has `n_kv` entries; the mask is for `n_q` queries.
    pub fn keys(n_q: usize, allowed: &[bool]) -> Self {
        Self::Allowed(Matrix::from_fn(n_q, allowed.len(), |_, j| allowed[j]))
    }

    /// What is added to the score of query i and key j: `None` if i may not attend to j.
    ///
    /// This is the definition; everything else about masks follows from it.
    ///
    /// # Shapes
    /// `i < n_q`, `j < n_kv`, and the mask passed [`Mask::check`] for one head.
    // ANCHOR: added
    pub fn added(
        &self,
        (i, j): (usize, usize),
        (n_q, n_kv): (usize, usize),
    ) -> Option<f64> {
        let open = |may_attend: bool| may_attend.then_some(0.0);
        match self {
            Self::None => open(true),
            Self::Causal => open(j + n_q <= i + n_kv),
            Self::FirstKeys(n_open) => open(j < *n_open),
            Self::Allowed(allowed) => open(allowed[(i, j)]),
            Self::Additive(scores) => Some(scores[(i, j)]).filter(|s| s.is_finite()),
            Self::All(masks) => {
                masks.iter().map(|mask| mask.added((i, j), (n_q, n_kv))).sum()
            }
            Self::PerHead(masks) => masks[0].added((i, j), (n_q, n_kv)),
        }
    }
    // ANCHOR_END: added

    /// The scores with this mask on them: blocked ones are −∞, whatever they were before
    /// (a NaN too), so that softmax gives them weight 0.
    ///
    /// # Shapes
    /// `scores` is `[n_q, n_kv]`, and the mask passed [`Mask::check`] for one head.
    // ANCHOR: apply
    pub fn apply<T: Real>(&self, mut scores: Matrix<T>) -> Matrix<T> {
        if *self == Self::None {
            return scores;
        }
        let shape = scores.shape();
        for j in 0..shape.1 {
            for i in 0..shape.0 {
                scores[(i, j)] = match self.added((i, j), shape) {
                    Some(added) => scores[(i, j)] + T::of(added),
                    None => T::of(f64::NEG_INFINITY),
                };
            }
        }
        scores
    }
    // ANCHOR_END: apply

    /// The mask that head `head` sees.
    pub fn of_head(&self, head: usize) -> Cow<'_, Mask> {
        match self {
            Self::PerHead(masks) => masks[head].of_head(head),
            Self::All(masks) if masks.iter().any(Self::differs_by_head) => {
                Cow::Owned(Self::All(
                    masks.iter().map(|mask| mask.of_head(head).into_owned()).collect(),
                ))
            }
            _ => Cow::Borrowed(self),
        }
    }

    /// Holds the mask against the layer and the lengths that it is used with.
    ///
    /// # Errors
    /// [`Error::Shape`], [`Error::MaskHeads`], [`Error::MaskFirstKeys`] or
    /// [`Error::MaskScore`], with the numbers that do not fit.
    pub fn check(&self, n_heads: usize, n_q: usize, n_kv: usize) -> Result<()> {
        match self {
            Self::None | Self::Causal => Ok(()),
            Self::FirstKeys(n_open) if *n_open > n_kv => {
                Err(Error::MaskFirstKeys { n_open: *n_open, n_kv })
            }
            Self::FirstKeys(_) => Ok(()),
            Self::Allowed(allowed) => {
                Error::expect_shape("the mask", (n_q, n_kv), allowed.shape())
            }
            Self::Additive(scores) => {
                Error::expect_shape("the additive mask", (n_q, n_kv), scores.shape())?;
                check_scores(scores)
            }
            Self::All(masks) => {
                masks.iter().try_for_each(|mask| mask.check(n_heads, n_q, n_kv))
            }
            Self::PerHead(masks) if masks.len() != n_heads => {
                Err(Error::MaskHeads { n_masks: masks.len(), n_heads })
            }
            Self::PerHead(masks) => {
                masks.iter().try_for_each(|mask| mask.check(n_heads, n_q, n_kv))
            }
        }
    }

    fn differs_by_head(&self) -> bool {
        match self {
            Self::PerHead(_) => true,
            Self::All(masks) => masks.iter().any(Self::differs_by_head),
            _ => false,
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

#[cfg(test)]
mod tests {
    use super::*;

    /// The mask as rows of `x` (may attend) and `.` (may not).
    fn picture(mask: &Mask, n_q: usize, n_kv: usize) -> String {
        let cell = |i, j| {
            if mask.added((i, j), (n_q, n_kv)).is_some() { 'x' } else { '.' }
        };
        (0..n_q)
            .map(|i| (0..n_kv).map(|j| cell(i, j)).collect::<String>() + "\n")
            .collect()
    }

    #[test]
    fn causal_lets_the_last_query_see_every_key() {
        insta::assert_snapshot!(picture(&Mask::Causal, 3, 5), @"
        xxx..
        xxxx.
        xxxxx
        ");
        insta::assert_snapshot!(picture(&Mask::Causal, 5, 3), @"
        ...
        ...
        x..
        xx.
        xxx
        ");
    }

    #[test]
    fn several_masks_block_what_any_of_them_blocks() {
        let both = Mask::All(vec![Mask::Causal, Mask::FirstKeys(3)]);
        insta::assert_snapshot!(picture(&both, 4, 4), @"
        x...
        xx..
        xxx.
        xxx.
        ");
    }

    #[test]
    fn blocking_wins_over_nan_and_adding_adds() {
        let scores = Matrix::from_row_slice(1, 3, &[f64::NAN, 1.0, 2.0]);
        let minus = f64::NEG_INFINITY;
        let added = Mask::Additive(Matrix::from_row_slice(1, 3, &[minus, 0.5, 0.0]));
        assert_eq!(added.apply(scores).as_slice(), [minus, 1.5, 2.0]);
    }

    #[test]
    fn a_head_sees_its_own_mask_inside_others() {
        let by_head = Mask::PerHead(vec![Mask::None, Mask::FirstKeys(1)]);
        let mask = Mask::All(vec![Mask::Causal, by_head]);
        insta::assert_snapshot!(picture(&mask.of_head(0), 2, 2), @"
        x.
        xx
        ");
        insta::assert_snapshot!(picture(&mask.of_head(1), 2, 2), @"
        x.
        x.
        ");
    }

    #[test]
    fn a_mask_that_does_not_fit_is_refused_with_its_numbers() {
        let refused = |mask: Mask| mask.check(2, 3, 4).unwrap_err().to_string();
        insta::assert_snapshot!(refused(Mask::keys(4, &[true; 4])), @"the mask has shape (4, 4), expected (3, 4)");
        insta::assert_snapshot!(refused(Mask::FirstKeys(5)), @"the mask lets the first 5 keys be seen and there are only 4");
        insta::assert_snapshot!(refused(Mask::PerHead(vec![Mask::None])), @"1 masks were given for 2 heads: give one a head");
        let nan =
            Matrix::from_fn(3, 4, |i, j| if (i, j) == (1, 2) { f64::NAN } else { 0.0 });
        insta::assert_snapshot!(refused(Mask::Additive(nan)), @"the additive mask holds NaN at query 1, key 2: entries are finite, or −∞ for a key that may not be attended to");
    }
}
