//! The shapes of one fused pass.

use attention::{Mask, Matrix, MultiHeadAttention, Real, Result, ShapeStep, ShapeTrace};

use crate::{FusedAttention, FusedPass};

impl<T: Real> FusedAttention<T> {
    /// The shapes of one self-attention pass over `x`, from the matrices that it makes.
    ///
    /// # Shapes
    /// `x` is `[n_tokens, d_model]`.
    ///
    /// # Errors
    /// As [`MultiHeadAttention::forward`].
    pub fn trace(&self, x: &Matrix<T>) -> Result<ShapeTrace> {
        let FusedPass { q, k, v, scores, attn, concat, out } =
            &self.pass(x, x, x, &Mask::None)?;
        let (p, h) = (self.parameters(), self.dims().n_heads());

        let mut project = Vec::new();
        let mut per_head = Vec::new();
        let mut heads = Vec::new();
        for (name, linear, all) in
            [("Q", p.w_q(), q), ("K", p.w_k(), k), ("V", p.w_v(), v)]
        {
            let width = all.ncols() / h;
            let head = all.columns(0, width).shape(); // [n_tokens, d]
            let from = [x.shape(), linear.weight.shape()];
            let formula = format!("{name} = X · W^{name}");
            project.push(ShapeStep::product(formula, from, all.shape()));
            let formula = format!("{name}_i = {name}[:, {width}·(i − 1) .. {width}·i]");
            per_head.push(ShapeStep::piece(formula, all.shape(), head));
            heads.push(head);
        }

        let (q_i, k_i, v_i) = (heads[0], heads[1], heads[2]);
        let (scores_i, attn_i) = (scores[0][0].shape(), attn[0][0].shape());
        let head_i = concat.columns(0, concat.ncols() / h).shape();
        let formula = format!("scores_i = Q_i · K_i^T / √{}", self.dims().d_k());
        per_head.extend([
            ShapeStep::product(formula, [q_i, (k_i.1, k_i.0)], scores_i),
            ShapeStep::same("A_i = softmax(scores_i)", attn_i),
            ShapeStep::product("head_i = A_i · V_i", [attn_i, v_i], head_i),
        ]);

        let joined = format!("concat = [head_1 | … | head_{h}]");
        let mixed = [concat.shape(), p.w_o().weight.shape()];
        Ok(ShapeTrace::default()
            .part("Once for all heads:", project)
            .part(format!("For each head i of {h}:"), per_head)
            .part(
                "Then once:",
                vec![
                    ShapeStep::joined(joined, h, head_i, concat.shape()),
                    ShapeStep::product("output = concat · W^O", mixed, out.shape()),
                ],
            ))
    }
}
