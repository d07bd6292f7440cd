//! Which query may attend to which key.

mod check;

use std::borrow::Cow;

use crate::{Matrix, Real};

/// Which query may attend to which key, and what is added to a score where it may.
///
/// Everywhere in this workspace **true means "may attend"**. PyTorch's masks mean the
/// opposite (True = blocked); they are inverted where files are read.
///
/// A query that may attend to no key gets a row of zeros and a head output of zeros.
/// Others do otherwise: PyTorch gives NaN, and code that fills with −1e9 gives a uniform
/// row over exactly the keys it was told to ignore. Zeros say "nothing was read", stay
/// finite, and leave W^O's bias as the output.
///
/// # Two alignments of causality
/// Where there are as many queries as keys they are the same. Where there are not, the
/// field means two things by "causal":
///
/// ```
/// use attention::Mask;
///
/// // The last query sees every key: queries that go on where cached keys end.
/// assert_eq!(Mask::Causal.picture(2, 4), "xxx.\nxxxx\n");
/// // The first query sees the first key alone: PyTorch's `is_causal=True`.
/// assert_eq!(Mask::CausalTopLeft.picture(2, 4), "x...\nxx..\n");
/// ```
///
/// # Causality and padding together
/// Each mask in [`Mask::All`] is asked by itself. So [`Mask::Causal`] aligns to **all** keys
/// that there are, the padding among them, and not to the keys that another mask leaves:
///
/// ```
/// use attention::Mask;
///
/// let both = |causal| Mask::All(vec![causal, Mask::FirstKeys(3)]);
/// // As many queries as keys, as in self-attention on padded sentences: what one means.
/// assert_eq!(both(Mask::Causal).picture(4, 4), "x...\nxx..\nxxx.\nxxx.\n");
/// // Two queries on 3 real keys and 2 of padding: the first sees what the last should.
/// assert_eq!(both(Mask::Causal).picture(2, 5), "xxx..\nxxx..\n");
/// // Aligned to the 3 real keys it would be this, and must be said key by key.
/// let last_two = attention::Matrix::from_fn(2, 5, |i, j| j <= i + (3 - 2));
/// assert_eq!(Mask::Allowed(last_two).picture(2, 5), "xx...\nxxx..\n");
/// ```
///
/// # Numbers that are added
/// Softmax does not change if all scores of a row become larger or smaller by the same
/// number. So what is added counts beside the rest of its row only, and [`row`](Self::row)
/// gives it with the largest number of the row taken away. A row of −1e9 throughout is
/// then a row of zeros, in f32 as in f64; added to a score as it stands, it would leave an
/// f32 no digits for the score. What is too low for f32 beside the largest of its row has
/// share 0 in either precision.
///
/// # Source
/// Vaswani et al. 2017, section 3.2.3; source 004 for padding.
/// Differs: source 004 fills with −1e9 where this blocks.
// ANCHOR: kinds
#[derive(Debug, Clone, PartialEq, Default)]
pub enum Mask {
    /// Every query attends to every key.
    #[default]
    None,
    /// No query sees the future: query i attends to key j where
    /// `j <= i + (n_kv − n_q)`, so that the last query sees every key.
    Causal,
    /// The same counted from the first query: query i attends to key j where `j <= i`.
    CausalTopLeft,
    /// Only the first so many keys may be attended to; what comes after them is padding.
    FirstKeys(usize),
    /// Every query may attend to key j where entry j is true.
    Keys(Vec<bool>),
    /// Entry `[i, j]` says whether query i may attend to key j.
    Allowed(Matrix<bool>),
    /// Entry `[i, j]` is added to the scaled score; −∞ blocks.
    Additive(Matrix<f64>),
    /// All of these at once: a key is seen if every mask lets it be seen.
    All(Vec<Mask>),
    /// One mask per head.
    PerHead(Vec<Mask>),
}
// ANCHOR_END: kinds

impl Mask {
    /// What is added to the score of query i and key j: `None` if i may not attend to j.
    ///
    /// This is the definition; everything else about masks follows from it.
    ///
    /// ```
    /// use attention::Mask;
    ///
    /// let lengths = (2, 3); // n_q, n_kv
    /// let mask = Mask::Keys(vec![true, false, true]);
    /// assert_eq!(mask.added((0, 1), lengths), None);
    /// assert_eq!(mask.added((0, 2), lengths), Some(0.0));
    /// ```
    ///
    /// # Shapes
    /// `i < n_q`, `j < n_kv`.
    ///
    /// # Panics
    /// Unless the mask passed [`Mask::check`] for one head and these lengths.
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
            Self::CausalTopLeft => open(j <= i),
            Self::FirstKeys(n_open) => open(j < *n_open),
            Self::Keys(keys) => open(keys[j]),
            Self::Allowed(allowed) => open(allowed[(i, j)]),
            Self::Additive(scores) => Some(scores[(i, j)]).filter(|s| s.is_finite()),
            Self::All(masks) => masks.iter().try_fold(0.0, |sum, mask| {
                // Two very low numbers are a very low number, and do not block.
                Some((sum + mask.added((i, j), (n_q, n_kv))?).clamp(f64::MIN, f64::MAX))
            }),
            Self::PerHead(masks) => masks[0].added((i, j), (n_q, n_kv)),
        }
    }
    // ANCHOR_END: added

    /// What is added to the scores of query i, key by key, less the largest of it: `None`
    /// for a key that i may not attend to.
    ///
    /// ```
    /// use attention::{Mask, Matrix};
    ///
    /// let blocked = f64::NEG_INFINITY;
    /// let mask = Mask::Additive(Matrix::from_row_slice(1, 3, &[-1e9, blocked, -1e9 - 2.0]));
    /// assert_eq!(mask.row(0, (1, 3)), [Some(0.0), None, Some(-2.0)]);
    /// ```
    ///
    /// # Shapes
    /// `i < n_q`; the result has `n_kv` entries.
    ///
    /// # Panics
    /// Unless the mask passed [`Mask::check`] for one head and these lengths.
    pub fn row(&self, i: usize, (n_q, n_kv): (usize, usize)) -> Vec<Option<f64>> {
        let added = (0..n_kv).map(|j| self.added((i, j), (n_q, n_kv)));
        let largest = self.largest_of_row(i, (n_q, n_kv));
        added.map(|added| Some(added? - largest)).collect()
    }

    /// The largest number that is added to a score of query i; 0 if i may attend to nothing.
    ///
    /// ```
    /// use attention::{Mask, Matrix};
    ///
    /// let added = Mask::Additive(Matrix::from_row_slice(2, 2, &[-3.0, -2.0, -7.0, 5.0]));
    /// let mask = Mask::All(vec![Mask::Causal, added]);
    /// assert_eq!(mask.largest_of_row(0, (2, 2)), -3.0); // the key at −2 lies ahead
    /// assert_eq!(mask.largest_of_row(1, (2, 2)), 5.0);
    /// ```
    ///
    /// # Panics
    /// Unless the mask passed [`Mask::check`] for one head and these lengths.
    pub fn largest_of_row(&self, i: usize, (n_q, n_kv): (usize, usize)) -> f64 {
        if !self.adds_numbers() {
            return 0.0;
        }
        let added = (0..n_kv).filter_map(|j| self.added((i, j), (n_q, n_kv)));
        added.reduce(f64::max).unwrap_or(0.0)
    }

    /// Whether anything but 0 may be added to a score.
    pub fn adds_numbers(&self) -> bool {
        match self {
            Self::Additive(_) => true,
            Self::All(masks) | Self::PerHead(masks) => {
                masks.iter().any(Self::adds_numbers)
            }
            Self::None | Self::Causal | Self::CausalTopLeft => false,
            Self::FirstKeys(_) | Self::Keys(_) | Self::Allowed(_) => false,
        }
    }

    /// The scores with this mask on them: blocked ones are −∞, whatever they were before
    /// (a NaN too), so that softmax gives them weight 0. To the others is added what
    /// [`row`](Self::row) says.
    ///
    /// # Shapes
    /// `scores` is `[n_q, n_kv]`.
    ///
    /// # Panics
    /// Unless the mask passed [`Mask::check`] for one head and these lengths.
    // ANCHOR: apply
    pub fn apply<T: Real>(&self, mut scores: Matrix<T>) -> Matrix<T> {
        if matches!(self, Self::None) {
            return scores;
        }
        let shape = scores.shape();
        let largest: Vec<_> =
            (0..shape.0).map(|i| self.largest_of_row(i, shape)).collect();
        for j in 0..shape.1 {
            for i in 0..shape.0 {
                scores[(i, j)] = match self.added((i, j), shape) {
                    Some(added) => scores[(i, j)] + T::of(added - largest[i]),
                    None => T::of(f64::NEG_INFINITY),
                };
            }
        }
        scores
    }
    // ANCHOR_END: apply

    /// The mask that head `head` sees.
    ///
    /// # Panics
    /// If there is one mask a head, and none for this one.
    pub fn of_head(&self, head: usize) -> Cow<'_, Mask> {
        match self {
            Self::PerHead(masks) => masks[head].of_head(head),
            Self::All(masks) if masks.iter().any(Self::differs_by_head) => {
                Cow::Owned(Self::All(
                    masks.iter().map(|mask| mask.of_head(head).into_owned()).collect(),
                ))
            }
            Self::None | Self::Causal | Self::CausalTopLeft => Cow::Borrowed(self),
            Self::FirstKeys(_) | Self::Keys(_) => Cow::Borrowed(self),
            Self::Allowed(_) | Self::Additive(_) | Self::All(_) => Cow::Borrowed(self),
        }
    }

    /// The mask as text, a line a query: `x` for a key that it may attend to, `.` for one
    /// that it may not.
    ///
    /// # Panics
    /// Unless the mask passed [`Mask::check`] for one head and these lengths.
    pub fn picture(&self, n_q: usize, n_kv: usize) -> String {
        let cell =
            |i, j| if self.added((i, j), (n_q, n_kv)).is_some() { 'x' } else { '.' };
        let line = |i| (0..n_kv).map(|j| cell(i, j)).chain(['\n']).collect::<String>();
        (0..n_q).map(line).collect()
    }

    fn differs_by_head(&self) -> bool {
        match self {
            Self::PerHead(_) => true,
            Self::All(masks) => masks.iter().any(Self::differs_by_head),
            Self::None | Self::Causal | Self::CausalTopLeft => false,
            Self::FirstKeys(_) | Self::Keys(_) => false,
            Self::Allowed(_) | Self::Additive(_) => false,
        }
    }
}

#[cfg(test)]
mod tests;
