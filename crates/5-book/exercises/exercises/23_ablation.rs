//! # 23 · A head taken away
//!
//! One head taken away, and a control to compare it with.
//!
//! `concat` holds the heads side by side, and `w_o.forward(&concat)` is the layer's output,
//! its bias included. How much does that output need head `head`? Find out in four steps:
//! - `zeroed`: the output when the head's part of `concat` is 0;
//! - `averaged`: the output when every token gets the head's usual part instead, its mean
//!   over the tokens. What the head says of all tokens alike stays, and what it says of each
//!   is gone;
//! - `damage`: how far the output moves when the head is zeroed, as a norm: the root of the
//!   sum of the squares of all entries, which `m.norm()` computes;
//! - `control`: how far it moves when something else is removed, which has learned nothing
//!   and is as wide and as large as the head.
//!
//! The control is a random subspace of the concatenation. The d_v columns of `basis` are
//! directions of length 1, each at right angles to the others, so
//! `concat * basis * basis.transpose()` is the part of `concat` that lies in them. Scale that
//! part by one number until its norm is that of the head's part, and subtract it.
//!
//! `m.columns(first, n)` and `m.columns_mut(first, n)` are blocks of columns, and a column
//! has `.mean()` and `.fill(x)`.
//!
//! Explained in chapter 11, “Taking a head away”.
//! Check it with `cargo learn check 23`; a hint: `cargo learn check 23 --hint`.

use std::process::ExitCode;

use exercises::{
    Linear, Matrix,
    bank::ablation::{self, Ablated},
};

/// What is left without a head, and the damage next to that of a control.
///
/// # Shapes
/// `concat` is `[n_tokens, h · d_v]`, `w_o.weight` is `[h · d_v, d_model]`, `basis` is
/// `[h · d_v, d_v]`; `zeroed` and `averaged` are `[n_tokens, d_model]`.
pub fn ablate(
    concat: &Matrix,
    w_o: &Linear,
    n_heads: usize,
    head: usize,
    basis: &Matrix,
) -> Ablated {
    // TODO: Ablated { zeroed, averaged, damage, control }.
    todo!()
}

fn main() -> ExitCode {
    ablation::check(ablate)
}
