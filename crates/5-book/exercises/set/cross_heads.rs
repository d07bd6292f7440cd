//! The cross-attention of a decoder, for a batch.
//!
//! `y` holds the target tokens written so far, and `memory` is the encoder's output for
//! the sources. Both are stored sequence by sequence: the first n_target rows of `y`
//! belong to sequence 0, and so do the first n_source rows of `memory`. Sources are
//! padded to n_source positions: the first `n_valid[s]` of source s (at least one) are
//! real; the rest is padding, which no query may read. All target tokens are real.
//!
//! What must be true of the answer:
//! - the result has a row for each row of `y`, read from the source of the same sequence;
//! - a batch of one sequence, cut to its length, gives the same rows;
//! - exchanging two real positions of a source changes nothing, because what is read is
//!   an average.
//!
//! `layer.heads()` are the heads, each with `w_q`, `w_k` and `w_v`, and `layer.w_o()`
//! mixes their outputs, set side by side. `forward(x)` applies a projection and returns a
//! `Result`. `Mask::FirstKeys(n).apply(scores)` blocks all keys but the first n, and
//! `softmax_rows` converts scores to attention weights; both take the matrix by value.
//! There is no residual and no norm.

use std::process::ExitCode;

use exercises::{LayerParameters, Mask, Matrix, cross_heads, softmax_rows};

/// What each target token reads from its source.
///
/// # Shapes
/// `y` is `[n_sequences · n_target, d_model]`, `memory` is
/// `[n_sequences · n_source, d_model]`, and `n_valid` has `n_sequences` entries; the
/// result is `[n_sequences · n_target, d_model]`.
// ANCHOR: answer
pub fn cross_heads(
    layer: &LayerParameters,
    y: &Matrix,
    memory: &Matrix,
    n_valid: &[usize],
) -> Matrix {
    // YOURS: y asks and the memory answers, head by head and sequence by sequence.
    let n_sequences = n_valid.len();
    let (n_target, n_source) = (y.nrows() / n_sequences, memory.nrows() / n_sequences);
    let mut concat = Matrix::zeros(y.nrows(), layer.w_o().d_in()); // [.., h · d_v]
    for (i, w) in layer.heads().iter().enumerate() {
        let q = w.w_q.forward(y).unwrap(); // [n_sequences · n_target, d_k]
        let k = w.w_k.forward(memory).unwrap(); // [n_sequences · n_source, d_k]
        let v = w.w_v.forward(memory).unwrap(); // [n_sequences · n_source, d_v]
        let (sqrt_d_k, d_v) = ((q.ncols() as f64).sqrt(), v.ncols());
        for (s, &n) in n_valid.iter().enumerate() {
            let q_s = q.rows(s * n_target, n_target);
            let k_s = k.rows(s * n_source, n_source);
            let v_s = v.rows(s * n_source, n_source);
            let scores = q_s * k_s.transpose() / sqrt_d_k; // [n_target, n_source]
            let attn = softmax_rows(Mask::FirstKeys(n).apply(scores));
            let place = (s * n_target, i * d_v);
            concat.view_mut(place, (n_target, d_v)).copy_from(&(attn * v_s));
        }
    }
    layer.w_o().forward(&concat).unwrap()
}
// ANCHOR_END: answer

fn main() -> ExitCode {
    cross_heads::check(cross_heads)
}
