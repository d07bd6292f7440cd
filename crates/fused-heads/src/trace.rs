//! The shapes of one fused pass.

use attention::{
    Mask, Matrix, MultiHeadAttention, Real, Result, ShapeStep, ShapeTrace, check_inputs,
};

use crate::layer::attend;
use crate::{FusedAttention, FusedParameters};

impl<T: Real> FusedAttention<T> {
    /// The shapes of one self-attention pass over `x`, from the matrices that it makes.
    ///
    /// # Shapes
    /// `x` is `[n_tokens, d_model]`.
    ///
    /// # Errors
    /// As [`MultiHeadAttention::forward`].
    pub fn trace(&self, x: &Matrix<T>) -> Result<ShapeTrace> {
        check_inputs(self.dims(), x, x, x, &Mask::None)?;
        let FusedParameters { dims, w_q, w_k, w_v, w_o } = self.parameters();
        let (h, n_tokens) = (dims.n_heads(), x.nrows());

        let mut project = Vec::new();
        let mut per_head = Vec::new();
        let mut heads = Vec::new();
        for (name, linear) in [("Q", w_q), ("K", w_k), ("V", w_v)] {
            let all = linear.forward(x)?; // [n_tokens, h · d]
            let width = linear.d_out() / h;
            let head = all.columns(0, width).into_owned(); // [n_tokens, d]
            let from = [x.shape(), linear.weight.shape()];
            let formula = format!("{name} = X · W^{name}");
            project.push(ShapeStep::product(formula, from, all.shape()));
            let formula = format!("{name}_i = {name}[:, {width}·i .. {width}·(i + 1)]");
            per_head.push(ShapeStep::piece(formula, all.shape(), head.shape()));
            heads.push(head);
        }

        let [q, k, v] = [&heads[0], &heads[1], &heads[2]];
        let (head, attn) = attend(q.as_view(), k.as_view(), v.as_view(), &Mask::None);
        let scores = format!("scores_i = Q_i · K_i^T / √{}", dims.d_k());
        let k_t = (k.ncols(), k.nrows());
        per_head.extend([
            ShapeStep::product(scores, [q.shape(), k_t], attn.shape()),
            ShapeStep::same("A_i = softmax(scores_i)", attn.shape()),
            ShapeStep::product(
                "head_i = A_i · V_i",
                [attn.shape(), v.shape()],
                head.shape(),
            ),
        ]);

        let concat = Matrix::zeros(n_tokens, h * head.ncols());
        let out = w_o.forward(&concat)?;
        let joined = format!("concat = [head_0; …; head_{}]", h - 1);
        let mixed = [concat.shape(), w_o.weight.shape()];
        Ok(ShapeTrace::default()
            .part("Once for all heads:", project)
            .part(format!("For each head i of {h}, counted from 0:"), per_head)
            .part(
                "Then once:",
                vec![
                    ShapeStep::joined(joined, h, head.shape(), concat.shape()),
                    ShapeStep::product("output = concat · W^O", mixed, out.shape()),
                ],
            ))
    }
}
