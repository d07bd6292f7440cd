//! The backward pass.

use fused_heads::FusedAttention;
use gradients::{LayerPass, linear_backward, softmax_rows_backward};

use super::*;

pub fn gradient_shape(n: &Facts) -> Result<Facts> {
    let [n, d_in, d_out] = n.wholes(["n", "d_in", "d_out"])?;
    let linear = Linear::new(tokens(d_in, d_out), None)?;
    let (x, d_y): (Matrix, Matrix) = (tokens(n, d_in), tokens(n, d_out));
    let back = linear_backward(&linear, &x, &d_y)?;
    Ok(facts![d_w = back.d_linear.weight.shape(), d_x = back.d_x.shape()])
}

pub fn softmax_backward(n: &Facts) -> Result<Facts> {
    let [a, b, d_a, d_b] = n.decimals(["a", "b", "d_a", "d_b"])?;
    let (attn, d_attn) = (
        Matrix::from_row_slice(1, 2, &[a, b]),
        Matrix::from_row_slice(1, 2, &[d_a, d_b]),
    );
    let d_scores = softmax_rows_backward(&attn, d_attn.clone())?;
    Ok(facts![dot = attn.dot(&d_attn), first = d_scores[0], second = d_scores[1]])
}

pub fn key_bias(n: &Facts) -> Result<Facts> {
    let [n_tokens, d_model, n_heads] = n.wholes(["n_tokens", "d_model", "n_heads"])?;
    let layer = FusedAttention::new(&layer(Dims::new(d_model, n_heads)?, true));
    let x: Matrix = tokens(n_tokens, d_model);
    let d_out = x.map(f64::sin);
    let back = LayerPass::self_attend(&layer, &x, &Mask::None)?.backward(&d_out)?;
    let largest = |linear: &Linear| -> Result<f64> {
        Ok(linear.bias.as_ref().context("this layer has biases")?.amax())
    };
    let [q, k, v] = [largest(&back.d_w_q)?, largest(&back.d_w_k)?, largest(&back.d_w_v)?];
    // What is left is rounding, which another processor may round in another way.
    let (k, of_keys) = rounded(k, 1e-12, "below 1e-12");
    Ok(facts![q, v, k, of_keys])
}

pub fn forgotten_scale(n: &Facts) -> Result<Facts> {
    let ([d_k], n, d_v) = (n.wholes(["d_k"])?, 5, 3);
    let [x, w_q]: [Matrix; 2] = [tokens(n, 6), tokens(6, d_k)];
    let (k, v, d_head): (Matrix, Matrix, Matrix) =
        (tokens(n, d_k), tokens(n, d_v), tokens(n, d_v).map(f64::cos));
    let (q, scale) = (&x * w_q, (d_k as f64).sqrt());
    let attn = softmax_rows(q * k.transpose() / scale);
    let d_scores = softmax_rows_backward(&attn, d_head * v.transpose())?;
    let d_w_q = |d_products: &Matrix| (x.transpose() * (d_products * &k)).norm();
    let (right, forgotten) = (d_w_q(&(&d_scores / scale)), d_w_q(&d_scores));
    Ok(facts![right, forgotten, times = forgotten / right])
}
