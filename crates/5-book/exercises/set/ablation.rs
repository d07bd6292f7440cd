//! One head taken away, and a control to compare it with.
//!
//! `concat` holds the heads side by side, and `w_o.forward(&concat)` is the layer's
//! output, its bias included. How much does that output need head `head`? Find out in
//! four steps:
//! - `zeroed`: the output when the head's part of `concat` is 0;
//! - `averaged`: the output when every token gets the head's usual part instead, its mean
//!   over the tokens. What the head says of all tokens alike stays, and what it says of
//!   each is gone;
//! - `damage`: how far the output moves when the head is zeroed, as a norm: the root of
//!   the sum of the squares of all entries, which `m.norm()` computes;
//! - `control`: how far it moves when something else is removed, which has learned
//!   nothing and is as wide and as large as the head.
//!
//! The control is a random subspace of the concatenation. The d_v columns of `basis` are
//! directions of length 1, each at right angles to the others, so
//! `concat * basis * basis.transpose()` is the part of `concat` that lies in them. Scale
//! that part by one number until its norm is that of the head's part, and subtract it.
//!
//! `m.columns(first, n)` and `m.columns_mut(first, n)` are blocks of columns, and a
//! column has `.mean()` and `.fill(x)`.

use std::process::ExitCode;

use exercises::{
    Linear, Matrix,
    ablation::{self, Ablated},
};

/// What is left without a head, and the damage next to that of a control.
///
/// # Shapes
/// `concat` is `[n_tokens, h · d_v]`, `w_o.weight` is `[h · d_v, d_model]`, `basis` is
/// `[h · d_v, d_v]`; `zeroed` and `averaged` are `[n_tokens, d_model]`.
// ANCHOR: answer
pub fn ablate(
    concat: &Matrix,
    w_o: &Linear,
    n_heads: usize,
    head: usize,
    basis: &Matrix,
) -> Ablated {
    // YOURS: Ablated { zeroed, averaged, damage, control }.
    let d_v = concat.ncols() / n_heads;
    let out = |concat: &Matrix| w_o.forward(concat).unwrap(); // [n_tokens, d_model]
    let damage = |changed: &Matrix| (out(concat) - out(changed)).norm();

    let mut zero = concat.clone();
    zero.columns_mut(head * d_v, d_v).fill(0.0);
    let mut mean = concat.clone();
    for mut feature in mean.columns_mut(head * d_v, d_v).column_iter_mut() {
        let usual = feature.mean();
        feature.fill(usual);
    }

    let of_head = concat.columns(head * d_v, d_v);
    let in_subspace = concat * basis * basis.transpose(); // [n_tokens, h · d_v]
    let removed = &in_subspace * (of_head.norm() / in_subspace.norm());
    Ablated {
        zeroed: out(&zero),
        averaged: out(&mean),
        damage: damage(&zero),
        control: damage(&(concat - removed)),
    }
}
// ANCHOR_END: answer

fn main() -> ExitCode {
    ablation::check(ablate)
}
