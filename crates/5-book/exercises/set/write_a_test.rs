//! Write a test.
//!
//! The layers are given, and you write the test. It is run on correct layers, one of them
//! in f32, and on wrong layers from exercise `whole_layer`. It **rejects** a layer by
//! panicking, for example when an `assert!` fails, and **accepts** it by returning
//! normally. Catch every wrong layer, and reject no correct one.
//!
//! `layer(&parameters, &query, &key, &value, &mask)` returns `out` and `attn`, and may be
//! called as often as you like. `random_layer(dims, seed)` makes parameters, including
//! biases, and `random_tokens(n_tokens, width, seed)` makes a sequence.
//! `max_abs_diff(&a, &b)` returns the largest difference between two matrices, or an
//! error if their shapes differ.
//!
//! `Dims::with_head_sizes(d_model, n_heads, d_k, d_v).unwrap()` makes sizes. The masks
//! are `Mask::None`, `Mask::Causal`, `Mask::FirstKeys(2)`, and `Mask::PerHead(vec![…])`,
//! which gives each head its own.
//!
//! Begin with one property, look at the score, and go on from there.

use std::process::ExitCode;

use exercises::{Attended, Dims, Mask, Matrix, max_abs_diff};
use layers::{Layer, random_layer, random_tokens};

/// Panics on a wrong layer, and returns normally on a correct one.
// ANCHOR: answer
pub fn test(layer: &Layer) {
    // YOURS: what is true of every right layer, and for no wrong one.
    let w = random_layer(Dims::with_head_sizes(7, 3, 4, 5).unwrap(), 1);
    let (query, key) = (random_tokens(4, 7, 2), random_tokens(6, 7, 3));
    let value = random_tokens(6, 7, 4);
    let mask = Mask::PerHead(vec![Mask::None, Mask::Causal, Mask::FirstKeys(0)]);
    let Attended { out, attn } = layer(&w, &query, &key, &value, &mask);

    let b_o = w.w_o().bias.clone().unwrap();
    let mut expected = Matrix::from_fn(4, 7, |_, j| b_o[j]);
    for (i, head) in w.heads().iter().enumerate() {
        let (q, k) = (head.w_q.forward(&query).unwrap(), head.w_k.forward(&key).unwrap());
        let mask_i = mask.of_head(i);
        let mut weights = Matrix::from_fn(4, 6, |a, b| {
            let open = mask_i.added((a, b), (4, 6)).is_some();
            if open { (q.row(a).dot(&k.row(b)) / 2.0).exp() } else { 0.0 } // √d_k is 2
        });
        for mut row in weights.row_iter_mut().filter(|row| row.sum() > 0.0) {
            row /= row.sum();
        }
        assert!(max_abs_diff(&attn[i], &weights).unwrap() < 1e-4, "the map of head {i}");
        expected += weights * head.w_v.forward(&value).unwrap() * w.w_o_of_head(i);
    }
    assert!(max_abs_diff(&out, &expected).unwrap() < 1e-4, "the output");
}
// ANCHOR_END: answer

fn main() -> ExitCode {
    layers::check(test)
}
