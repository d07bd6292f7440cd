//! Of the chapter on bad numbers.

use std::process::ExitCode;

use attention::Matrix;

use super::{place, random};
use crate::{Case, Exercise, Place, arrays};

/// A softmax under a mask, in which a query may attend to nothing.
pub mod nothing_to_attend {
    use super::*;

    /// Scaled scores, and which of them may be used. Blocked scores may be anything.
    pub struct Input {
        scores: Matrix,
        allowed: Matrix<bool>,
    }

    arrays!(Input: scores, allowed);

    pub(crate) static EXERCISE: Exercise<Input, Matrix> =
        Exercise::new("nothing_to_attend", cases, place);

    /// Checks what gives, from scaled `scores`, `[n_q, n_kv]`, and `allowed`, `[n_q, n_kv]`
    /// with true for "may attend", the map `[n_q, n_kv]`.
    pub fn check(
        answer: fn(scores: &Matrix, allowed: &Matrix<bool>) -> Matrix,
    ) -> ExitCode {
        EXERCISE.check(move |input| answer(&input.scores, &input.allowed))
    }

    fn place(input: &Input, place: Place) -> String {
        let blocked = !input.allowed[(place.row, place.column)];
        place::map(input, place) + if blocked { " (blocked)" } else { "" }
    }

    fn cases(seed: u64) -> Vec<Case<Input>> {
        // x: may attend.
        let case = |mask: &[&str], note: &str, own: u64| {
            let (n_q, n_kv) = (mask.len(), mask[0].len());
            let open = |i: usize, j: usize| mask[i].as_bytes()[j] == b'x';
            let none: Vec<_> = (0..n_q).filter(|&i| !mask[i].contains('x')).collect();
            let empty = format!("query {} may attend to nothing", none[0]);
            Case {
                sizes: format!("{n_q} queries, {n_kv} keys; {empty}{note}"),
                square: n_q == n_kv,
                input: Input {
                    scores: random::matrix(n_q, n_kv, seed + own),
                    allowed: Matrix::from_fn(n_q, n_kv, open),
                },
            }
        };
        let note = "; NaN, ∞ and 1e30 are blocked; the scores of query 4 are near −60";
        let mut bad = case(&["xx..xx", "......", ".xxx.x", "x.x.xx", "xxx.x."], note, 3);
        let scores = &mut bad.input.scores;
        (scores[(0, 2)], scores[(2, 4)], scores[(3, 1)]) =
            (f64::NAN, 1e30, f64::INFINITY);
        (scores[(1, 0)], scores[(1, 3)], scores[(1, 5)]) =
            (f64::NAN, 1e30, f64::INFINITY);
        scores.row_mut(4).add_scalar_mut(-60.0);
        let note = "; the scores of query 0 are near −800, of query 1 near 800, and those \
            of query 3 are billions below 0";
        let mut far = case(&["xx.x..", "x.xxx.", "......", "xxx...", ".xx.xx"], note, 4);
        let scores = &mut far.input.scores;
        scores.row_mut(0).add_scalar_mut(-800.0);
        scores.row_mut(1).add_scalar_mut(800.0);
        (0..3).for_each(|j| scores[(3, j)] = -3e9 - 1e9 * j as f64);
        vec![
            case(&["xx..", "....", "x.xx", "xxxx"], "", 1),
            case(&[".....", "xxx.x", "..x.."], "", 2),
            bad,
            far,
        ]
    }
}
