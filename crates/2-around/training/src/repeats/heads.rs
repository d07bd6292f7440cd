//! Where the heads of a predictor look.

use attention::Matrix;
use block::StackPass;

use super::Sequences;

/// The mean share that each head gives to one kind of token, over all places at which
/// what comes next can be known: `[n_layers, n_heads]` each.
///
/// # Source
/// The two patterns of Olsson et al. 2022, `previous` and `after_last_same`; fixed before
/// any map was looked at.
#[derive(Debug, Clone, PartialEq)]
pub struct HeadShares {
    /// The token before.
    pub previous: Matrix,
    /// The token before, as seen from where it matters: from the tokens after the last same
    /// ones, which are those to be copied. Chosen after looking at maps.
    pub previous_copied: Matrix,
    /// The token itself.
    pub same_place: Matrix,
    /// The last place before where the same token stood.
    pub last_same: Matrix,
    /// The token after that place: what an induction head looks at.
    pub after_last_same: Matrix,
}

impl HeadShares {
    /// Measures the heads in a pass of a [`Predictor`](super::Predictor) over some sequences.
    pub fn of(pass: &StackPass<'_, f32>, read: &Sequences) -> Self {
        let n = read.n_tokens;
        let known: Vec<usize> = read.known().collect();
        let share_at = |at: fn(usize, usize) -> (usize, usize)| {
            let n_heads = pass.blocks()[0].attn()[0].len();
            Matrix::from_fn(pass.blocks().len(), n_heads, |l, i| {
                let share = |&row: &usize| {
                    let (s, t) = (row / n, row % n);
                    f64::from(pass.blocks()[l].attn()[s][i][at(t, read.periods[s])])
                };
                known.iter().map(share).sum::<f64>() / known.len().max(1) as f64
            })
        };
        Self {
            previous: share_at(|t, _| (t, t - 1)),
            previous_copied: share_at(|t, period| (t - period + 1, t - period)),
            same_place: share_at(|t, _| (t, t)),
            last_same: share_at(|t, period| (t, t - period)),
            after_last_same: share_at(|t, period| (t, t - period + 1)),
        }
    }
}
