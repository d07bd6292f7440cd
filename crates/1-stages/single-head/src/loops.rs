//! One head, token by token: the definition.

use attention::{HeadParameters, Linear, Mask, Matrix, Real, Result, check_inputs};

use crate::HeadPass;

/// One head in plain loops: every query scores every key, the scores become shares, the
/// values are averaged.
///
/// `out_i = Σ_j a_ij v_j`, `a_ij = exp(s_ij) / Σ_j exp(s_ij)`, `s_ij = q_i · k_j / √d_k`
///
/// # Shapes
/// `query` is `[n_q, d_model]`, `key` and `value` are `[n_kv, …]` as wide as the head's
/// matrices are high. [`HeadPass`] gives the shapes that come out.
///
/// # Errors
/// Sizes that do not fit, as [`check_inputs`] finds them.
///
/// # Source
/// Vaswani et al. 2017, equation 1, one entry at a time.
///
/// # Examples
/// ```
/// use attention::{HeadParameters, Linear, Mask, Matrix};
///
/// // A head whose queries are all zero: every key gets the same share.
/// let linear = |weight| Linear::new(weight, None);
/// let head = HeadParameters {
///     w_q: linear(Matrix::zeros(2, 1))?,
///     w_k: linear(Matrix::from_element(2, 1, 1.0))?,
///     w_v: linear(Matrix::identity(2, 2))?,
/// };
/// let x = Matrix::from_row_slice(3, 2, &[0.0, 6.0, 2.0, 0.0, 4.0, 3.0f64]);
/// let pass = single_head::attend_in_loops(&head, &x, &x, &x, &Mask::None)?;
/// assert_eq!(pass.attn.shape(), (3, 3));
/// assert!((pass.out[(0, 1)] - 3.0).abs() < 1e-15); // the mean of 6, 0 and 3
/// # Ok::<(), attention::Error>(())
/// ```
// ANCHOR: loops
pub fn attend_in_loops<T: Real>(
    head: &HeadParameters<T>,
    query: &Matrix<T>,
    key: &Matrix<T>,
    value: &Matrix<T>,
    mask: &Mask,
) -> Result<HeadPass<T>> {
    let dims = head.dims()?;
    check_inputs(dims, query, key, value, mask)?;
    let (n_q, n_kv) = (query.nrows(), key.nrows());
    let sqrt_d_k = T::of(dims.d_k() as f64).sqrt();

    let q = project_each_token(&head.w_q, query); // [n_q, d_k]
    let k = project_each_token(&head.w_k, key); // [n_kv, d_k]
    let v = project_each_token(&head.w_v, value); // [n_kv, d_v]

    let mut scores = Matrix::zeros(n_q, n_kv);
    let mut attn = Matrix::zeros(n_q, n_kv);
    let mut out = Matrix::zeros(n_q, dims.d_v());
    for i in 0..n_q {
        // How well does each key answer query i?
        let mask_row = mask.row(i, (n_q, n_kv));
        let mut masked = vec![T::of(f64::NEG_INFINITY); n_kv];
        for j in 0..n_kv {
            let mut dot = T::zero();
            for c in 0..dims.d_k() {
                dot += q[(i, c)] * k[(j, c)];
            }
            scores[(i, j)] = dot / sqrt_d_k;
            if let Some(added) = mask_row[j] {
                masked[j] = scores[(i, j)] + T::of(added);
            }
        }

        // Scores become shares, and shares an average of the values.
        for (j, share) in softmax(&masked).into_iter().enumerate() {
            attn[(i, j)] = share;
            if share == T::zero() {
                continue; // do not add 0 · v[j]: where v[j] is NaN, 0 · v[j] is NaN too
            }
            for c in 0..dims.d_v() {
                out[(i, c)] += share * v[(j, c)];
            }
        }
    }
    Ok(HeadPass { q, k, v, scores, attn, out })
}
// ANCHOR_END: loops

/// `x_i · W + b` for one token after the other.
fn project_each_token<T: Real>(linear: &Linear<T>, x: &Matrix<T>) -> Matrix<T> {
    let mut projected = Matrix::zeros(x.nrows(), linear.d_out());
    for i in 0..x.nrows() {
        for to in 0..linear.d_out() {
            let mut sum = linear.bias.as_ref().map_or(T::zero(), |bias| bias[to]);
            for from in 0..linear.d_in() {
                sum += x[(i, from)] * linear.weight[(from, to)];
            }
            projected[(i, to)] = sum;
        }
    }
    projected
}

/// The shares of one query; a score of −∞ is a key that may not be attended to.
fn softmax<T: Real>(scores: &[T]) -> Vec<T> {
    let minus_infinity = T::of(f64::NEG_INFINITY);
    let mut largest = minus_infinity;
    for &score in scores {
        if score > largest {
            largest = score;
        }
    }
    if largest == minus_infinity {
        largest = T::zero(); // nothing to attend to: every weight is exp(−∞) = 0
    }
    let mut sum = T::zero();
    for &score in scores {
        sum += (score - largest).exp();
    }
    if sum == T::zero() {
        sum = T::one();
    }
    scores.iter().map(|&score| (score - largest).exp() / sum).collect()
}
