//! One head removed, with a control for comparison.
//!
//! `concat` holds the heads side by side, and `w_o.forward(&concat)` is the layer's
//! output, bias included. How much does that output depend on head `head`? Find out in
//! four steps:
//! - `zeroed`: the output when the head's part of `concat` is 0;
//! - `averaged`: the output when, for every token, the head's part is replaced by its
//!   mean over the tokens. What the head says about all tokens alike remains, but what it
//!   says about a single one is gone;
//! - `damage`: how far the output moves when the head is zeroed, measured as a norm,
//!   which is the root of the sum of all squared entries (`m.norm()`);
//! - `control`: how far the output moves when something else is removed that has learned
//!   nothing, but has the head's width and norm.
//!
//! The control is a random subspace of the concatenation. The d_v columns of `basis` are
//! directions of length 1 at right angles to one another, so
//! `concat * basis * basis.transpose()` is the part of `concat` in their subspace. Scale
//! that part by one factor so that its norm equals that of the head's part, and subtract
//! it.
//!
//! `m.columns(first, n)` and `m.columns_mut(first, n)` are blocks of columns, and a
//! column has `.mean()` and `.fill(x)`.

use std::process::ExitCode;

use exercises::{
    Linear, Matrix,
    ablation::{self, Ablated},
};

/// The output without a head, and the damage compared with a control's.
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
