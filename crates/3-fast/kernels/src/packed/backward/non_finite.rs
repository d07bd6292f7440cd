//! The backward pass for numbers that are not finite, matrix by matrix.
//!
//! Backwards, 0 times anything is 0: what was not read cannot matter, whatever number
//! stands there. A product of tiles computes 0 · NaN. So where a gradient is not finite,
//! all are computed again here, by products that leave such terms out.

use attention::{
    Gradients, InputGradients, Linear, Mask, Matrix, PackedParameters, softmax_rows,
};
use tiles::Lengths;

use crate::Inputs;

/// The gradients by the definition.
#[cold]
pub(crate) fn gradients(
    w: &PackedParameters<f32>,
    inputs: &Inputs<'_>,
    lengths: Lengths,
    d_out: &Matrix<f32>,
) -> Gradients<f32> {
    let Lengths { n_sequences, n_q, n_kv } = lengths;
    let (h, d_k, d_v) = (w.dims().n_heads(), w.dims().d_k(), w.dims().d_v());
    let apply = |linear: &Linear<f32>, x| linear.forward(x).expect("inputs were checked");
    let q = apply(w.w_q(), inputs.query); // [n_sequences · n_q, h · d_k]
    let k = apply(w.w_k(), inputs.key); // [n_sequences · n_kv, h · d_k]
    let v = apply(w.w_v(), inputs.value); // [n_sequences · n_kv, h · d_v]
    let d_concat = product(d_out, &w.w_o().weight.transpose());

    let mut concat = Matrix::zeros(q.nrows(), h * d_v);
    let [mut dq, mut dk, mut dv] =
        [&q, &k, &v].map(|m| Matrix::zeros(m.nrows(), m.ncols()));
    for s in 0..n_sequences {
        for i in 0..h {
            let of_q =
                |m: &Matrix<f32>, d| m.view((s * n_q, i * d), (n_q, d)).into_owned();
            let of_k =
                |m: &Matrix<f32>, d| m.view((s * n_kv, i * d), (n_kv, d)).into_owned();
            let mask = inputs.mask(s).of_head(i);
            let of_head =
                [of_q(&q, d_k), of_k(&k, d_k), of_k(&v, d_v), of_q(&d_concat, d_v)];
            let [head_i, dq_i, dk_i, dv_i] = attend(of_head, &mask);
            concat.view_mut((s * n_q, i * d_v), (n_q, d_v)).copy_from(&head_i);
            dq.view_mut((s * n_q, i * d_k), (n_q, d_k)).copy_from(&dq_i);
            dk.view_mut((s * n_kv, i * d_k), (n_kv, d_k)).copy_from(&dk_i);
            dv.view_mut((s * n_kv, i * d_v), (n_kv, d_v)).copy_from(&dv_i);
        }
    }

    let d_linear = |linear: &Linear<f32>, x: &Matrix<f32>, d: &Matrix<f32>| Linear {
        weight: product(&x.transpose(), d),
        bias: linear.bias.as_ref().map(|_| d.row_sum()),
    };
    let back = |linear: &Linear<f32>, d| product(d, &linear.weight.transpose());
    let (d_query, d_key, d_value) =
        (back(w.w_q(), &dq), back(w.w_k(), &dk), back(w.w_v(), &dv));
    Gradients {
        d_w_q: d_linear(w.w_q(), inputs.query, &dq),
        d_w_k: d_linear(w.w_k(), inputs.key, &dk),
        d_w_v: d_linear(w.w_v(), inputs.value, &dv),
        d_w_o: d_linear(w.w_o(), &concat, d_out),
        d_inputs: if inputs.is_self_attention() {
            InputGradients::SelfAttention { d_x: d_query + d_key + d_value }
        } else {
            InputGradients::CrossAttention { d_query, d_key, d_value }
        },
    }
}

/// One head, there and back: its output, and the gradients of q, k and v.
fn attend([q, k, v, d_head]: [Matrix<f32>; 4], mask: &Mask) -> [Matrix<f32>; 4] {
    let sqrt_d_k = (q.ncols() as f32).sqrt();
    let attn = softmax_rows(mask.apply(&q * k.transpose() / sqrt_d_k)); // [n_q, n_kv]
    let head = attention::weighted_values(&attn, v.as_view()); // [n_q, d_v]
    let d_attn = product(&d_head, &v.transpose()); // [n_q, n_kv]
    let mut d_scores = attn.clone();
    for (mut row, d_row) in d_scores.row_iter_mut().zip(d_attn.row_iter()) {
        let sum: f32 = row.iter().zip(&d_row).map(|(&a, &d)| zero_wins(a, d)).sum();
        row.zip_apply(&d_row, |a, d| *a = zero_wins(*a, d - sum));
    }
    let d_products = d_scores / sqrt_d_k;
    let dq = product(&d_products, &k);
    let dk = product(&d_products.transpose(), &q);
    let dv = product(&attn.transpose(), &d_head);
    [head, dq, dk, dv]
}

/// `a · b`, in which 0 times anything is 0.
fn product(a: &Matrix<f32>, b: &Matrix<f32>) -> Matrix<f32> {
    let mut out = Matrix::zeros(a.nrows(), b.ncols());
    for (mut out_j, b_j) in out.column_iter_mut().zip(b.column_iter()) {
        for (a_p, &b_pj) in a.column_iter().zip(&b_j) {
            out_j.zip_apply(&a_p, |sum, a_ip| *sum += zero_wins(a_ip, b_pj));
        }
    }
    out
}

fn zero_wins(a: f32, b: f32) -> f32 {
    if a == 0.0 || b == 0.0 { 0.0 } else { a * b }
}
