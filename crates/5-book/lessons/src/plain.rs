//! Attention in plain `f64` rows, as the first three chapters build it: no mask, no bias, no matrix
//! type, nothing checked. `single-head` is the same with all of that.

/// One token, or one row of a matrix.
pub type Row = Vec<f64>;

/// `out[c] = Σ_j shares[j] · values[j][c]`
#[rustfmt::skip] // in as few lines as a first look needs
// ANCHOR: weighted_sum
pub fn weighted_sum(shares: &[f64], values: &[Row]) -> Row {
    let mut out = vec![0.0; values[0].len()];
    for (share, value) in shares.iter().zip(values) {
        for c in 0..out.len() { out[c] += share * value[c]; }
    }
    out
}
// ANCHOR_END: weighted_sum

/// `q · k = Σ_c q[c] k[c]`
// ANCHOR: dot
pub fn dot(q: &[f64], k: &[f64]) -> f64 {
    q.iter().zip(k).map(|(q, k)| q * k).sum()
}
// ANCHOR_END: dot

/// `a[j] = exp(s[j] − max s) / Σ_j exp(s[j] − max s)`
// ANCHOR: softmax
pub fn softmax(scores: &[f64]) -> Row {
    let largest = scores.iter().copied().fold(f64::NEG_INFINITY, f64::max);
    let exps: Row = scores.iter().map(|score| (score - largest).exp()).collect();
    let sum: f64 = exps.iter().sum();
    exps.iter().map(|exp| exp / sum).collect()
}
// ANCHOR_END: softmax

/// One head on the tokens `x`, with the rows of its three matrices.
// ANCHOR: head
pub fn head(x: &[Row], w_q: &[Row], w_k: &[Row], w_v: &[Row]) -> Vec<Row> {
    let project = |w| x.iter().map(|token| weighted_sum(token, w)).collect();
    let (q, k, v): (Vec<Row>, Vec<Row>, Vec<Row>) =
        (project(w_q), project(w_k), project(w_v));
    let sqrt_d_k = (k[0].len() as f64).sqrt();
    let attend = |q_i: &Row| {
        let scores: Row = k.iter().map(|k_j| dot(q_i, k_j) / sqrt_d_k).collect();
        weighted_sum(&softmax(&scores), &v)
    };
    q.iter().map(attend).collect()
}
// ANCHOR_END: head
