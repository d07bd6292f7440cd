//! The formula with every change, number by number: no matrices, no masks, nothing shared
//! with what it is compared with but the parameters.

use attention::{Linear, Mask, Matrix, MultiHeadAttention, max_abs_diff, random_matrix};

use super::{D_K, N_HEADS, every_change, layer, rng};
use crate::{Pairing, Rotary, VariantAttention, Window};

/// The causal output of a layer, token by token.
fn by_definition(layer: &VariantAttention, x: &Matrix) -> Matrix {
    let [w_q, w_k, w_v, w_o] = layer.projections();
    let (g, d_v) = (layer.sizes().groups.n_kv_heads(), layer.sizes().dims.d_v());
    let mut concat = Matrix::zeros(x.nrows(), N_HEADS * d_v);
    for i in 0..x.nrows() {
        for head in 0..N_HEADS {
            let shared = head * g / N_HEADS;
            let q = prepared(layer, true, &projected(w_q, x, i, head, D_K), i);
            let weight = |j: usize| {
                let k = prepared(layer, false, &projected(w_k, x, j, shared, D_K), j);
                let dot: f64 = q.iter().zip(&k).map(|(a, b)| a * b).sum();
                weight(layer, head, dot, i, j)
            };
            let weights: Vec<f64> = (0..=i).map(weight).collect();
            let sink = layer.changes().sink.as_ref();
            let nobody = sink.map_or(0.0, |sink| sink.scores[head].exp());
            let sum = nobody + weights.iter().sum::<f64>();
            for (j, weight) in weights.iter().enumerate() {
                let v = projected(w_v, x, j, shared, d_v);
                for (entry, v) in v.iter().enumerate() {
                    concat[(i, head * d_v + entry)] += weight / sum * v;
                }
            }
        }
    }
    w_o.forward(&concat).unwrap()
}

/// The entries of one head of a projected token.
fn projected(
    linear: &Linear,
    x: &Matrix,
    token: usize,
    head: usize,
    width: usize,
) -> Vec<f64> {
    let entry = |column: usize| {
        let products = (0..x.ncols()).map(|c| x[(token, c)] * linear.weight[(c, column)]);
        products.sum::<f64>() + linear.bias.as_ref().map_or(0.0, |bias| bias[column])
    };
    (head * width..).take(width).map(entry).collect()
}

fn prepared(
    layer: &VariantAttention,
    is_query: bool,
    entries: &[f64],
    at: usize,
) -> Vec<f64> {
    let changes = layer.changes();
    let mut entries = entries.to_vec();
    if let Some(norm) = &changes.norm {
        let squares = entries.iter().map(|x| x * x).sum::<f64>() / D_K as f64;
        let gains = if is_query { &norm.q } else { &norm.k };
        for (x, gain) in entries.iter_mut().zip(gains.iter()) {
            *x *= gain / (squares + norm.eps).sqrt();
        }
    }
    if let Some(rotary) = &changes.rotary {
        entries = rotated(rotary, &entries, at);
    }
    entries
}

/// Each pair of entries as a complex number, multiplied by exp(i · angle).
fn rotated(rotary: &Rotary, entries: &[f64], at: usize) -> Vec<f64> {
    let mut out = entries.to_vec();
    let n_pairs = rotary.frequencies.len();
    for (p, frequency) in rotary.frequencies.iter().enumerate() {
        let [re, im] = match rotary.pairing {
            Pairing::Halves => [p, n_pairs + p],
            Pairing::Pairs => [2 * p, 2 * p + 1],
        };
        let size = entries[re].hypot(entries[im]);
        let angle = entries[im].atan2(entries[re]) + at as f64 * frequency;
        (out[re], out[im]) = (size * angle.cos(), size * angle.sin());
    }
    out
}

/// `exp` of the score of query i and key j, before it is divided by the row's sum.
fn weight(layer: &VariantAttention, head: usize, dot: f64, i: usize, j: usize) -> f64 {
    let changes = layer.changes();
    let mut score = dot * changes.scale.unwrap_or(1.0 / (D_K as f64).sqrt());
    if changes.soft_cap.is_some() {
        score = 0.5 * (score / 0.5).tanh(); // the cap of these tests
    }
    if let Some(alibi) = &changes.alibi {
        score -= alibi.slopes[head] * (i - j) as f64;
    }
    if let Some(relative) = &changes.relative {
        // 6 buckets to 8: 0, 1, 2, then 3, 4 to 5, and 6 or more.
        let bucket = [0, 1, 2, 3, 3, 4, 5, 5, 5, 5, 5][i - j];
        score += relative.table()[(bucket, head)];
    }
    match changes.window {
        Some(Window { left: Some(left), n_sinks, .. })
            if j + left < i && j >= n_sinks =>
        {
            0.0
        }
        _ => score.exp(),
    }
}

#[test]
fn every_change_is_what_it_says() {
    let x = random_matrix(11, 10, 1.0, &mut rng());
    let mut largest = 0.0f64;
    for (name, changes) in every_change() {
        for n_kv_heads in [1, 2, 4] {
            let layer = layer(n_kv_heads, changes.clone());
            let out = layer.self_attend(&x, &Mask::Causal).unwrap().out;
            let diff = max_abs_diff(&out, &by_definition(&layer, &x)).unwrap();
            assert!(diff <= 1e-12, "{name}, {n_kv_heads}: {diff:e}");
            largest = largest.max(diff);
        }
    }
    println!("against the definition in loops: {largest:.1e}");
}
