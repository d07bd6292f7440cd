//! Head by head in plain loops, one number at a time, with the Jacobian of every row.

use std::cell::Cell;

use attention::{
    HeadParameters, LayerParameters, Linear, Mask, Matrix, Rng, SeedableRng,
    random_matrix,
};
use fused_heads::FusedAttention;
use gradients::LayerPass;
use single_head::{HeadPass, attend_in_loops};

use super::{difference, named, named_gradients};
use stages::cases::{Case, any_case, assert_close, check};

const TOLERANCE: f64 = 1e-11;

#[test]
fn the_gradient_of_the_packing_is_the_packing_of_the_gradients() {
    let largest = Cell::new(0f64);
    check("gradients_in_loops", 200, &any_case(), |case: Case| {
        let (parameters, inputs) = (case.parameters(), case.inputs());
        let [query, key, value] = &inputs;
        let d_out = random_like(query, case.seed);
        let layer = FusedAttention::new(&parameters);
        let pass = LayerPass::forward(&layer, query, key, value, &case.mask).unwrap();
        let d = pass.backward(&d_out).unwrap();

        let (of_heads, of_inputs) = in_loops(&parameters, &inputs, &case.mask, &d_out);
        let expected = named(&of_heads, of_inputs.each_ref());
        let cut = difference(&named_gradients(&d, case.dims), &expected);
        assert_close("cut into heads, and heads in loops", cut, TOLERANCE);

        let packed = of_heads.pack();
        let as_named = |linears: [&Linear; 4]| {
            let named = linears.iter().flat_map(|linear| {
                let bias = linear.bias.iter().map(|b| super::as_matrix(b.as_slice()));
                [linear.weight.clone()].into_iter().chain(bias)
            });
            named.map(|matrix| (String::new(), matrix)).collect()
        };
        let whole =
            difference(&as_named(d.projections()), &as_named(packed.projections()));
        assert_close("packed, and the packing of heads in loops", whole, TOLERANCE);
        largest.set(largest.get().max(cut).max(whole));
        Ok(())
    });
    println!("200 random layers: max |Δ| = {:.1e}", largest.get());
}

fn random_like(x: &Matrix, seed: u64) -> Matrix {
    let rng = &mut Rng::seed_from_u64(seed ^ 5);
    random_matrix(x.nrows(), x.ncols(), 1.0, rng)
}

/// The gradients of each head's own matrices and of W^O, and of the three inputs.
fn in_loops(
    parameters: &LayerParameters,
    inputs: &[Matrix; 3],
    mask: &Mask,
    d_out: &Matrix,
) -> (LayerParameters, [Matrix; 3]) {
    let [query, key, value] = inputs;
    let (dims, w_o) = (parameters.dims(), parameters.w_o());
    let (d_model, d_v) = (dims.d_model(), dims.d_v());
    let mut d_inputs = inputs.each_ref().map(|x| Matrix::zeros(x.nrows(), x.ncols()));
    let mut d_heads = Vec::new();
    let mut d_w_o = zeros_like(w_o);
    add_to_bias(&mut d_w_o, d_out);

    for (i, head) in parameters.heads().iter().enumerate() {
        let mask = mask.of_head(i);
        let pass = attend_in_loops(head, query, key, value, &mask).unwrap();
        let mut d_head = Matrix::zeros(query.nrows(), d_v);
        for t in 0..query.nrows() {
            for c in 0..d_v {
                for m in 0..d_model {
                    d_head[(t, c)] += d_out[(t, m)] * w_o.weight[(i * d_v + c, m)];
                    d_w_o.weight[(i * d_v + c, m)] += pass.out[(t, c)] * d_out[(t, m)];
                }
            }
        }
        let [d_q, d_k, d_v] = head_in_loops(&pass, &d_head);
        let [d_query, d_key, d_value] = &mut d_inputs;
        d_heads.push(HeadParameters {
            w_q: projection_in_loops(&head.w_q, query, &d_q, d_query),
            w_k: projection_in_loops(&head.w_k, key, &d_k, d_key),
            w_v: projection_in_loops(&head.w_v, value, &d_v, d_value),
        });
    }
    (LayerParameters::new(d_heads, d_w_o).unwrap(), d_inputs)
}

/// The gradients of one head's q, k and v.
fn head_in_loops(pass: &HeadPass<f64>, d_head: &Matrix) -> [Matrix; 3] {
    let HeadPass { q, k, v, attn, .. } = pass;
    let [mut d_q, mut d_k, mut d_v] =
        [q, k, v].map(|m| Matrix::zeros(m.nrows(), m.ncols()));
    let (n_q, n_kv) = attn.shape();
    let sqrt_d_k = (q.ncols() as f64).sqrt();
    for t in 0..n_q {
        let mut d_attn = vec![0.0; n_kv];
        for j in 0..n_kv {
            for c in 0..v.ncols() {
                d_attn[j] += d_head[(t, c)] * v[(j, c)];
                d_v[(j, c)] += attn[(t, j)] * d_head[(t, c)];
            }
        }
        for j in 0..n_kv {
            let mut d_score = 0.0;
            for l in 0..n_kv {
                let delta = if l == j { 1.0 } else { 0.0 };
                d_score += d_attn[l] * attn[(t, l)] * (delta - attn[(t, j)]);
            }
            for c in 0..q.ncols() {
                d_q[(t, c)] += d_score * k[(j, c)] / sqrt_d_k;
                d_k[(j, c)] += d_score * q[(t, c)] / sqrt_d_k;
            }
        }
    }
    [d_q, d_k, d_v]
}

/// The gradient of one projection; that of its input is added to `d_x`.
fn projection_in_loops(
    linear: &Linear,
    x: &Matrix,
    d_y: &Matrix,
    d_x: &mut Matrix,
) -> Linear {
    let mut d = zeros_like(linear);
    add_to_bias(&mut d, d_y);
    for t in 0..x.nrows() {
        for from in 0..linear.d_in() {
            for to in 0..linear.d_out() {
                d.weight[(from, to)] += x[(t, from)] * d_y[(t, to)];
                d_x[(t, from)] += d_y[(t, to)] * linear.weight[(from, to)];
            }
        }
    }
    d
}

fn zeros_like(linear: &Linear) -> Linear {
    let mut zeros = linear.clone();
    zeros.weight.fill(0.0);
    if let Some(bias) = &mut zeros.bias {
        bias.fill(0.0);
    }
    zeros
}

fn add_to_bias(d: &mut Linear, d_y: &Matrix) {
    if let Some(bias) = &mut d.bias {
        for t in 0..d_y.nrows() {
            for to in 0..d_y.ncols() {
                bias[to] += d_y[(t, to)];
            }
        }
    }
}
