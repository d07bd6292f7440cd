//! One step of a decoder that writes, with two caches.
//!
//! A source has been read, and `memory` is the encoder's output for it, without padding.
//! The target grows by one token per step. `tokens` are all tokens so far, the newest
//! last; of the earlier ones, a step needs only what the caches hold.
//!
//! With y the newest token, `[1, d_model]`, a step computes
//! - h = y + what y reads from the target, itself included, in the attention `w.own`;
//! - out = h + what h reads from the source, in the attention `w.cross`.
//!
//! What must be true of the answer:
//! - all steps together give the same result as one pass over the whole target under a
//!   causal mask;
//! - each target token passes through W^K and W^V of `w.own` once, in its own step;
//! - each source position passes through W^K and W^V of `w.cross` once, in the first
//!   step;
//! - in the end, `caches.own` holds a row for each token, and `caches.cross` one for each
//!   position.
//!
//! `w.own.w_k.forward(&x)` projects rows (and counts them); it returns a matrix rather
//! than a `Result`. `attend(&q, &k, &v)` is softmax(q kᵀ / √d_k) v. A cache has
//! `append(&k, &v)`, which returns a `Result`, and `keys()`, `values()`, and `n_seen()`.
//! Both caches are empty before the first step.

use std::process::ExitCode;

use exercises::Matrix;
use exercises::cross_cache::{self, Caches, Decoder, attend};

/// The newest token's output; new keys and values are kept in `caches`.
///
/// # Shapes
/// `memory` is `[n_source, d_model]`, `tokens` is `[n_so_far, d_model]`, and the result
/// is `[1, d_model]`.
// ANCHOR: answer
pub fn step(
    w: &Decoder,
    memory: &Matrix,
    tokens: &Matrix,
    caches: &mut Caches,
) -> Matrix {
    // YOURS: what the newest token reads of the target, and then of the source.
    let y = tokens.rows(tokens.nrows() - 1, 1).into_owned(); // [1, d_model]
    let (k, v) = (w.own.w_k.forward(&y), w.own.w_v.forward(&y));
    caches.own.append(&k, &v).unwrap();
    let q = w.own.w_q.forward(&y);
    let h = &y + attend(&q, caches.own.keys(), caches.own.values());

    if caches.cross.n_seen() == 0 {
        let (k, v) = (w.cross.w_k.forward(memory), w.cross.w_v.forward(memory));
        caches.cross.append(&k, &v).unwrap();
    }
    let q = w.cross.w_q.forward(&h);
    &h + attend(&q, caches.cross.keys(), caches.cross.values())
}
// ANCHOR_END: answer

fn main() -> ExitCode {
    cross_cache::check(step)
}
