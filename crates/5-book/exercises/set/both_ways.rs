//! A sequence read from both ends, with one row per token.
//!
//! A direction reads one token after another. What it remembers is its state h, a row
//! of `hidden` entries, all 0 before it reads anything. Each token that it reads gives
//! the next state, h = tanh(x_t · W_in + h · W_hidden + b), where the h on the right is
//! the previous state. (An LSTM carries a second row along and computes more in each
//! step, but is otherwise the same.)
//!
//! `forward` reads from the first token to the last, `backward` from the last to the
//! first. Row t of the result describes token t: first the state of `forward` **after
//! it has read token t**, and to the right of that, the state of `backward` after *it*
//! has read token t.
//!
//! What must be true of the answer:
//! - changing token t changes neither the forward columns of the rows before t nor the
//!   backward columns of the rows after t;
//! - neither direction depends on the other;
//! - a single token gives a single row, and neither direction has anything to remember.
//!
//! A `Direction` has `w_in`, `[d_in, hidden]`; `w_hidden`, `[hidden, hidden]`; and
//! `bias`, `[1, hidden]`. Token t as a matrix, `[1, d_in]`, is `x.rows(t, 1)`. Do not
//! use `x.row(t)`: whatever is computed from it has one row by its type, and cannot be
//! assigned to an h that is a `Matrix`.

use std::process::ExitCode;

use exercises::{
    Matrix,
    both_ways::{self, Direction},
};

/// The states of both directions, token by token.
///
/// # Shapes
/// `x` is `[n_tokens, d_in]`, with at least one token; the result is
/// `[n_tokens, 2 · hidden]`.
// ANCHOR: answer
pub fn both_ways(x: &Matrix, forward: &Direction, backward: &Direction) -> Matrix {
    // YOURS: two readings, and where the states of each belong.
    let (n, hidden) = (x.nrows(), forward.bias.ncols());
    let mut out = Matrix::zeros(n, 2 * hidden);
    let mut h = Matrix::zeros(1, hidden);
    for t in 0..n {
        h = step(forward, x, t, &h);
        out.view_mut((t, 0), (1, hidden)).copy_from(&h);
    }
    let mut h = Matrix::zeros(1, hidden);
    for t in (0..n).rev() {
        h = step(backward, x, t, &h);
        out.view_mut((t, hidden), (1, hidden)).copy_from(&h);
    }
    out
}

fn step(direction: &Direction, x: &Matrix, t: usize, h: &Matrix) -> Matrix {
    let Direction { w_in, w_hidden, bias } = direction;
    (x.rows(t, 1) * w_in + h * w_hidden + bias).map(f64::tanh)
}
// ANCHOR_END: answer

fn main() -> ExitCode {
    both_ways::check(both_ways)
}
