//! The backward pass through the layer.

use attention::{
    Error, Gradients, InputGradients, Matrix, MultiHeadAttention, Real, Result, View,
};
use fused_heads::FusedPass;

use crate::pass::Inputs;
use crate::product::product;
use crate::{LayerPass, LinearGradients, linear_backward, softmax_rows_backward};

impl<T: Real> LayerPass<'_, T> {
    /// The gradients of all that this pass took, from the gradient of what it gave.
    ///
    /// The last line of the forward pass comes first. Above each line stands the line of
    /// the forward pass that it goes back through. (`d_k` and `d_v` are sizes, as always;
    /// the gradients of `q`, `k` and `v` are `dq`, `dk` and `dv`.)
    ///
    /// # Shapes
    /// `d_out` is `[n_sequences · n_q, d_model]`, the shape of [`LayerPass::out`];
    /// [`Gradients`] gives the shapes that come out.
    ///
    /// # Errors
    /// [`Error::Shape`] if `d_out` has another shape.
    ///
    /// # Source
    /// Vaswani et al. 2017, sections 3.2.1 and 3.2.2, by the chain rule.
    // ANCHOR: backward
    pub fn backward(&self, d_out: &Matrix<T>) -> Result<Gradients<T>> {
        Error::expect_shape("d_out", self.out().shape(), d_out.shape())?;
        let FusedPass { q, k, v, attn, concat, .. } = &self.fused;
        let [query, key, value] = self.inputs.each();
        let (p, dims, n_sequences) =
            (self.layer.parameters(), self.layer.dims(), attn.len());
        let (n_q, n_kv) = (q.nrows() / n_sequences, k.nrows() / n_sequences);
        let (d_k, d_v) = (dims.d_k(), dims.d_v());

        // let out = p.w_o().forward(&concat)?;
        let LinearGradients { d_linear: d_w_o, d_x: d_concat } =
            linear_backward(p.w_o(), concat, d_out)?;

        let [mut dq, mut dk, mut dv] =
            [q, k, v].map(|m| Matrix::zeros(m.nrows(), m.ncols()));
        for (s, maps) in attn.iter().enumerate() {
            for (i, attn_i) in maps.iter().enumerate() {
                let q_i = q.view((s * n_q, i * d_k), (n_q, d_k));
                let k_i = k.view((s * n_kv, i * d_k), (n_kv, d_k));
                let v_i = v.view((s * n_kv, i * d_v), (n_kv, d_v));
                // concat.view_mut((s * n_q, i * d_v), (n_q, d_v)).copy_from(&head_i.out);
                let d_head_i = d_concat.view((s * n_q, i * d_v), (n_q, d_v));
                // let head_i = attend_head(q_i, k_i, v_i, None, &mask.of_head(i))?;
                let [dq_i, dk_i, dv_i] =
                    attend_backward(q_i, k_i, v_i, attn_i, d_head_i)?;
                // let q_i = q.view((s * n_q, i * d_k), (n_q, d_k));
                dq.view_mut((s * n_q, i * d_k), (n_q, d_k)).copy_from(&dq_i);
                // let k_i = k.view((s * n_kv, i * d_k), (n_kv, d_k));
                dk.view_mut((s * n_kv, i * d_k), (n_kv, d_k)).copy_from(&dk_i);
                // let v_i = v.view((s * n_kv, i * d_v), (n_kv, d_v));
                dv.view_mut((s * n_kv, i * d_v), (n_kv, d_v)).copy_from(&dv_i);
            }
        }

        // let q = p.w_q().forward(query)?;
        let LinearGradients { d_linear: d_w_q, d_x: d_query } =
            linear_backward(p.w_q(), query, &dq)?;
        // let k = p.w_k().forward(key)?;
        let LinearGradients { d_linear: d_w_k, d_x: d_key } =
            linear_backward(p.w_k(), key, &dk)?;
        // let v = p.w_v().forward(value)?;
        let LinearGradients { d_linear: d_w_v, d_x: d_value } =
            linear_backward(p.w_v(), value, &dv)?;

        let d_inputs = match self.inputs {
            // x was query, key and value: it gathers from all three.
            Inputs::One(_) => {
                InputGradients::SelfAttention { d_x: d_query + d_key + d_value }
            }
            Inputs::Three(_) => {
                InputGradients::CrossAttention { d_query, d_key, d_value }
            }
        };
        Ok(Gradients { d_w_q, d_w_k, d_w_v, d_w_o, d_inputs })
    }
    // ANCHOR_END: backward
}

/// The backward pass through one head: the gradients of its Q, K and V from its output's.
///
/// The backward pass of [`attend_head`](attention::attend_head) with the usual scale
/// and any mask: `attn_i` is the map that came out of it.
///
/// # Shapes
/// `q_i` is `[n_q, d_k]`, `k_i` is `[n_kv, d_k]`, `v_i` is `[n_kv, d_v]`, `attn_i` is
/// `[n_q, n_kv]` and `d_head_i` is `[n_q, d_v]`; what comes out has the shapes of `q_i`, `k_i`
/// and `v_i`.
///
/// # Errors
/// [`Error::Shape`] if they do not fit.
// ANCHOR: attend_backward
pub fn attend_backward<T: Real>(
    q_i: View<'_, T>,
    k_i: View<'_, T>,
    v_i: View<'_, T>,
    attn_i: &Matrix<T>,
    d_head_i: View<'_, T>,
) -> Result<[Matrix<T>; 3]> {
    check(q_i, k_i, v_i, attn_i, d_head_i)?;
    // let out = weighted_values(&attn, v);
    let dv_i = product(attn_i.transpose().as_view(), d_head_i); // [n_kv, d_v]
    let d_attn = product(d_head_i, v_i.transpose().as_view()); // [n_q, n_kv]

    // let attn = softmax_rows(masked);
    let d_masked = softmax_rows_backward(attn_i, d_attn)?; // [n_q, n_kv]

    // let masked = mask.apply(scores.clone());
    // What is added is a constant. What is blocked has share 0, and d_masked is 0 there.
    let d_scores = d_masked;

    // None => products / T::of(q.ncols() as f64).sqrt(),
    let d_products = d_scores / T::of(q_i.ncols() as f64).sqrt(); // [n_q, n_kv]

    // let products = q * k.transpose();
    let dq_i = product(d_products.as_view(), k_i); // [n_q, d_k]
    let dk_i = product(d_products.transpose().as_view(), q_i); // [n_kv, d_k]
    Ok([dq_i, dk_i, dv_i])
}
// ANCHOR_END: attend_backward

fn check<T: Real>(
    q_i: View<'_, T>,
    k_i: View<'_, T>,
    v_i: View<'_, T>,
    attn_i: &Matrix<T>,
    d_head_i: View<'_, T>,
) -> Result<()> {
    let (n_q, n_kv) = (q_i.nrows(), k_i.nrows());
    Error::expect_shape("k_i", (n_kv, q_i.ncols()), k_i.shape())?;
    Error::expect_shape("v_i", (n_kv, v_i.ncols()), v_i.shape())?;
    Error::expect_shape("attn_i", (n_q, n_kv), attn_i.shape())?;
    Error::expect_shape("d_head_i", (n_q, v_i.ncols()), d_head_i.shape())
}
