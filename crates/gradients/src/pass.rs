//! The forward pass, which keeps what the backward pass needs.

use attention::{
    Batch, Mask, Matrix, MultiHeadAttention, Real, Result, View, check_batch,
    check_inputs, softmax_rows, weighted_values,
};
use fused_heads::FusedAttention;

/// One forward pass of a fused layer, with every matrix that its backward pass needs.
///
/// It borrows the layer and the inputs: the backward pass is only right with the parameters
/// of the forward pass, and while a pass lives they cannot be changed.
///
/// ```
/// use attention::{Dims, LayerParameters, Mask, Matrix, Rng, SeedableRng, random_matrix};
/// use fused_heads::FusedAttention;
/// use gradients::Pass;
///
/// let rng = &mut Rng::seed_from_u64(1);
/// let parameters = LayerParameters::random(Dims::new(8, 2)?, true, rng);
/// let layer = FusedAttention::new(&parameters);
/// let x: Matrix = random_matrix(5, 8, 1.0, rng);
///
/// let pass = Pass::self_attend(&layer, &x, &Mask::Causal)?;
/// let d_out = Matrix::from_element(5, 8, 1.0); // of the sum of all outputs
/// let gradients = pass.backward(&d_out)?;
/// assert_eq!(gradients.d_w_q.weight.shape(), (8, 8));
/// assert_eq!(gradients.d_x()?.shape(), x.shape());
/// # Ok::<(), attention::Error>(())
/// ```
#[derive(Debug, Clone)]
pub struct Pass<'a, T: Real = f64> {
    pub(crate) layer: &'a FusedAttention<T>,
    pub(crate) query: &'a Matrix<T>,
    pub(crate) key: &'a Matrix<T>,
    pub(crate) value: &'a Matrix<T>,
    pub(crate) q: Matrix<T>,
    pub(crate) k: Matrix<T>,
    pub(crate) v: Matrix<T>,
    pub(crate) attn: Vec<Vec<Matrix<T>>>,
    pub(crate) concat: Matrix<T>,
    pub(crate) out: Matrix<T>,
}

impl<'a, T: Real> Pass<'a, T> {
    /// The pass of one sequence.
    ///
    /// # Shapes
    /// `query` is `[n_q, d_model]`, `key` is `[n_kv, key_width]`, `value` is
    /// `[n_kv, value_width]`; they may be one and the same matrix.
    ///
    /// # Errors
    /// What [`check_inputs`] finds.
    pub fn forward(
        layer: &'a FusedAttention<T>,
        query: &'a Matrix<T>,
        key: &'a Matrix<T>,
        value: &'a Matrix<T>,
        mask: &Mask,
    ) -> Result<Self> {
        check_inputs(layer.dims(), query, key, value, mask)?;
        Self::attend_all(layer, 1, [query, key, value], std::slice::from_ref(mask))
    }

    /// The pass of one sequence that attends to itself.
    ///
    /// # Shapes
    /// `x` is `[n_tokens, d_model]`.
    ///
    /// # Errors
    /// As [`forward`](Self::forward).
    pub fn self_attend(
        layer: &'a FusedAttention<T>,
        x: &'a Matrix<T>,
        mask: &Mask,
    ) -> Result<Self> {
        Self::forward(layer, x, x, x, mask)
    }

    /// The pass of a batch of sequences of equal length.
    ///
    /// # Shapes
    /// As [`FusedAttention::forward_batch`].
    ///
    /// # Errors
    /// As [`FusedAttention::forward_batch`].
    pub fn forward_batch(
        layer: &'a FusedAttention<T>,
        query: &'a Batch<T>,
        key: &'a Batch<T>,
        value: &'a Batch<T>,
        masks: &[Mask],
    ) -> Result<Self> {
        check_batch(layer.dims(), query, key, value, masks)?;
        let inputs = [query.tokens(), key.tokens(), value.tokens()];
        Self::attend_all(layer, query.n_sequences(), inputs, masks)
    }

    /// The lines of [`FusedAttention`], which here keep what they compute.
    // ANCHOR: attend_all
    fn attend_all(
        layer: &'a FusedAttention<T>,
        n_sequences: usize,
        [query, key, value]: [&'a Matrix<T>; 3],
        masks: &[Mask],
    ) -> Result<Self> {
        let (dims, p) = (layer.dims(), layer.parameters());
        let (n_q, n_kv) = (query.nrows() / n_sequences, key.nrows() / n_sequences);
        let (n_heads, d_k, d_v) = (dims.n_heads(), dims.d_k(), dims.d_v());

        let q = p.w_q().forward(query)?; // [n_sequences · n_q, h · d_k]
        let k = p.w_k().forward(key)?; // [n_sequences · n_kv, h · d_k]
        let v = p.w_v().forward(value)?; // [n_sequences · n_kv, h · d_v]

        let mut concat = Matrix::zeros(n_sequences * n_q, n_heads * d_v);
        let mut attn = vec![Vec::with_capacity(n_heads); n_sequences];
        for s in 0..n_sequences {
            let mask = &masks[s % masks.len()];
            for i in 0..n_heads {
                let q_i = q.view((s * n_q, i * d_k), (n_q, d_k));
                let k_i = k.view((s * n_kv, i * d_k), (n_kv, d_k));
                let v_i = v.view((s * n_kv, i * d_v), (n_kv, d_v));
                let (head_i, attn_i) = attend(q_i, k_i, v_i, &mask.of_head(i));
                concat.view_mut((s * n_q, i * d_v), (n_q, d_v)).copy_from(&head_i);
                attn[s].push(attn_i);
            }
        }
        let out = p.w_o().forward(&concat)?; // [n_sequences · n_q, d_model]
        Ok(Self { layer, query, key, value, q, k, v, attn, concat, out })
    }
    // ANCHOR_END: attend_all

    /// The outputs, `[n_sequences · n_q, d_model]`.
    pub fn out(&self) -> &Matrix<T> {
        &self.out
    }

    /// `attn()[s][i]` is head i's map of sequence s, `[n_q, n_kv]`.
    pub fn attn(&self) -> &[Vec<Matrix<T>>] {
        &self.attn
    }

    /// The heads' outputs side by side, `[n_sequences · n_q, h · d_v]`.
    pub fn concat(&self) -> &Matrix<T> {
        &self.concat
    }
}

/// One head on its views of Q, K and V: its output and its map.
// ANCHOR: attend
fn attend<T: Real>(
    q_i: View<'_, T>,
    k_i: View<'_, T>,
    v_i: View<'_, T>,
    mask: &Mask,
) -> (Matrix<T>, Matrix<T>) {
    let sqrt_d_k = T::of(q_i.ncols() as f64).sqrt();
    let scores = q_i * k_i.transpose() / sqrt_d_k; // [n_q, n_kv]
    let masked = mask.apply(scores); // [n_q, n_kv]
    let attn_i = softmax_rows(masked); // [n_q, n_kv]
    let head_i = weighted_values(&attn_i, v_i); // [n_q, d_v]
    (head_i, attn_i)
}
// ANCHOR_END: attend

#[cfg(test)]
mod tests {
    use super::*;
    use attention::{Dims, LayerParameters, Rng, SeedableRng, random_matrix};

    const N_Q: usize = 4;
    const N_KV: usize = 7;

    fn masks() -> Vec<Mask> {
        let some = Mask::Allowed(Matrix::from_fn(N_Q, N_KV, |i, j| (i + j) % 3 > 0));
        let blocked = |i, j| if i == j { f64::NEG_INFINITY } else { j as f64 - 2.0 };
        let additive = Mask::Additive(Matrix::from_fn(N_Q, N_KV, blocked));
        let one_a_head = [Mask::Causal, additive.clone(), Mask::FirstKeys(0)];
        vec![
            Mask::None,
            Mask::Causal,
            Mask::FirstKeys(5),
            Mask::FirstKeys(0),
            some.clone(),
            additive,
            Mask::All(vec![Mask::Causal, some]),
            Mask::PerHead(one_a_head.to_vec()),
        ]
    }

    fn is_the_fused_layer<T: Real>(bias: bool) {
        let rng = &mut Rng::seed_from_u64(1);
        let dims = Dims::with_head_sizes(8, 3, 6, 5).unwrap();
        let dims = dims.with_source_widths(9, 10).unwrap();
        let layer = FusedAttention::<T>::new(&LayerParameters::random(dims, bias, rng));
        let mut batch = |n_tokens, width| {
            Batch::new(2, random_matrix(2 * n_tokens, width, 1.0, rng)).unwrap()
        };
        let [query, key, value] = [batch(N_Q, 8), batch(N_KV, 9), batch(N_KV, 10)];
        let first = [&query, &key, &value].map(|x| x.sequence(0).into_owned());
        for mask in masks() {
            let [q, k, v] = &first;
            let pass = Pass::forward(&layer, q, k, v, &mask).unwrap();
            let seen = layer.forward(q, k, v, &mask).unwrap();
            assert_eq!(
                (pass.out(), &pass.attn()[0]),
                (&seen.out, &seen.attn),
                "{mask:?}"
            );

            for masks in [vec![mask.clone()], vec![Mask::Causal, mask.clone()]] {
                let pass = Pass::forward_batch(&layer, &query, &key, &value, &masks);
                let seen = layer.forward_batch(&query, &key, &value, &masks).unwrap();
                let pass = pass.unwrap();
                assert_eq!(
                    (pass.out(), pass.attn()),
                    (seen.out.tokens(), &seen.attn[..])
                );
            }
        }
    }

    #[test]
    fn it_is_the_fused_layer_to_the_last_digit() {
        is_the_fused_layer::<f64>(true);
        is_the_fused_layer::<f64>(false);
        is_the_fused_layer::<f32>(true);
    }

    #[test]
    fn what_does_not_fit_is_refused_as_the_layer_refuses_it() {
        let rng = &mut Rng::seed_from_u64(2);
        let dims = Dims::new(8, 2).unwrap();
        let layer: FusedAttention =
            FusedAttention::new(&LayerParameters::random(dims, true, rng));
        let (x, narrow) = (Matrix::zeros(4, 8), Matrix::zeros(4, 7));
        let refused = Pass::forward(&layer, &x, &narrow, &x, &Mask::None).unwrap_err();
        insta::assert_snapshot!(refused, @"key has shape (4, 7), expected (4, 8)");
        let refused = Pass::self_attend(&layer, &x, &Mask::FirstKeys(5)).unwrap_err();
        insta::assert_snapshot!(refused, @"the mask lets the first 5 keys be seen and there are only 4");
        let (two, one) = (Batch::new(2, x.clone()).unwrap(), Batch::new(1, x).unwrap());
        let refused = Pass::forward_batch(&layer, &two, &one, &two, &[Mask::None]);
        insta::assert_snapshot!(refused.unwrap_err(), @"key has 1 sequences, expected 2");
    }
}
