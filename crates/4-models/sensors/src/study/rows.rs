//! What heads attend to, window by window.

use attention::Matrix;
use fused_heads::FusedAttention;

use super::WindowCase;
use crate::{N_STEPS, Remaining, Result};

/// Whose rows of a map count.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Asking {
    /// The last reading's, as for the book's windows.
    Last,
    /// All thirty, on average: the model's pool is a mean over all of them.
    All,
}

/// The shares of each head, `[n_windows, 30]`; none without attention.
///
/// # Errors
/// As [`Remaining::forward`].
pub fn rows(
    model: &Remaining<FusedAttention>,
    asked: &[WindowCase],
    asking: Asking,
) -> Result<Vec<Matrix>> {
    let mut heads: Vec<Matrix> = Vec::new();
    for (nth, WindowCase { readings, .. }) in asked.iter().enumerate() {
        let Some(attended) = model.pass(readings)?.attended else { break };
        let n_windows = asked.len();
        heads.resize(attended.attn.len(), Matrix::zeros(n_windows, N_STEPS));
        for (rows, map) in heads.iter_mut().zip(&attended.attn) {
            let row = match asking {
                Asking::Last => map.row(map.nrows() - 1).into_owned(),
                Asking::All => map.row_mean(),
            };
            rows.set_row(nth, &row);
        }
    }
    Ok(heads)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::study::asked;
    use crate::{Fleet, remaining};

    #[test]
    fn a_row_is_the_last_reading_s_or_the_mean_of_all() {
        let trained = remaining().unwrap();
        let model = trained.fused().unwrap();
        let asked = asked(&Fleet::default(), &trained.scale, 2, 1).unwrap();
        let maps = model.forward(&asked[1].readings).unwrap().attended.unwrap().attn;
        let [last, all] = [Asking::Last, Asking::All]
            .map(|asking| rows(&model, &asked, asking).unwrap());
        assert_eq!((last.len(), last[0].shape()), (8, (2, N_STEPS)));
        for head in 0..8 {
            assert_eq!(last[head].row(1), maps[head].row(29));
            let mean = maps[head].column(4).mean();
            assert!((all[head][(1, 4)] - mean).abs() < 1e-12);
        }
    }
}
