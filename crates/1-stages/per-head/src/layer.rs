//! h heads in matrices, concatenated and mixed.

use attention::{
    Attended, Dims, Error, LayerParameters, Mask, Matrix, MultiHeadAttention,
    ParameterCount, Real, Result, ShapeStep, ShapeTrace, check_inputs,
};
use single_head::{HeadPass, attend};

/// Multi-head attention with explicit matrices for each head.
///
/// ```
/// use attention::{Dims, LayerParameters, Mask, MultiHeadAttention, Rng, SeedableRng};
/// use per_head::{PerHeadAttention, concat};
///
/// let rng = &mut Rng::seed_from_u64(1);
/// let parameters = LayerParameters::random(Dims::new(8, 2)?, true, rng);
/// let layer: PerHeadAttention = PerHeadAttention::new(parameters);
/// let x = attention::random_matrix(5, 8, 1.0, rng);
///
/// let heads = layer.heads(&x, &x, &x, &Mask::Causal)?;
/// assert_eq!(heads[1].attn[(0, 0)], 1.0); // the first token sees itself alone
/// let concat = concat(heads.iter().map(|head| &head.out))?; // [5, 2 · 4]
/// let out = layer.parameters().w_o().forward(&concat)?;
/// assert_eq!(out, layer.self_attend(&x, &Mask::Causal)?.out);
/// # Ok::<(), attention::Error>(())
/// ```
#[derive(Debug, Clone, PartialEq)]
pub struct PerHeadAttention<T: Real = f64> {
    parameters: LayerParameters<T>,
}

impl<T: Real> PerHeadAttention<T> {
    /// The layer with these parameters.
    pub fn new(parameters: LayerParameters<T>) -> Self {
        Self { parameters }
    }

    /// The parameters of the layer.
    pub fn parameters(&self) -> &LayerParameters<T> {
        &self.parameters
    }

    /// Every head's pass, with all that it computes on the way.
    ///
    /// # Shapes
    /// As [`MultiHeadAttention::forward`]; one [`HeadPass`] a head.
    ///
    /// # Errors
    /// As [`MultiHeadAttention::forward`].
    // ANCHOR: heads
    pub fn heads(
        &self,
        query: &Matrix<T>,
        key: &Matrix<T>,
        value: &Matrix<T>,
        mask: &Mask,
    ) -> Result<Vec<HeadPass<T>>> {
        check_inputs(self.parameters.dims(), query, key, value, mask)?;
        let heads = self.parameters.heads().iter().enumerate();
        heads.map(|(i, head)| attend(head, query, key, value, &mask.of_head(i))).collect()
    }
    // ANCHOR_END: heads

    /// The shapes of one self-attention pass over `x`, from the matrices that it makes.
    ///
    /// # Shapes
    /// `x` is `[n_tokens, d_model]`.
    ///
    /// # Errors
    /// As [`MultiHeadAttention::forward`].
    pub fn trace(&self, x: &Matrix<T>) -> Result<ShapeTrace> {
        let heads = self.heads(x, x, x, &Mask::None)?;
        let concat = concat(heads.iter().map(|head| &head.out))?; // [n_tokens, h · d_v]
        let w_o = self.parameters.w_o();
        let out = w_o.forward(&concat)?; // [n_tokens, d_model]
        let (h, one) = (heads.len(), heads[0].out.shape());
        let joined = format!("concat = [head_1 | … | head_{h}]");
        let mixed = [concat.shape(), w_o.weight.shape()];
        Ok(ShapeTrace::default()
            .part(format!("For each head i of {h}:"), heads[0].shapes([x.shape(); 3]))
            .part(
                "Then once:",
                vec![
                    ShapeStep::joined(joined, h, one, concat.shape()),
                    ShapeStep::product("output = concat · W^O", mixed, out.shape()),
                ],
            ))
    }
}

impl<T: Real> MultiHeadAttention<T> for PerHeadAttention<T> {
    fn name(&self) -> &'static str {
        "per-head"
    }

    fn dims(&self) -> Dims {
        self.parameters.dims()
    }

    fn parameter_count(&self) -> ParameterCount {
        self.parameters.count()
    }

    fn forward(
        &self,
        query: &Matrix<T>,
        key: &Matrix<T>,
        value: &Matrix<T>,
        mask: &Mask,
    ) -> Result<Attended<T>> {
        // ANCHOR: forward
        let heads = self.heads(query, key, value, mask)?;
        let concat = concat(heads.iter().map(|head| &head.out))?; // [n_q, h · d_v]
        let out = self.parameters.w_o().forward(&concat)?; // [n_q, d_model]
        Ok(Attended { out, attn: heads.into_iter().map(|head| head.attn).collect() })
        // ANCHOR_END: forward
    }
}

/// `Concat(head_1, …, head_h)`: the heads' outputs side by side.
///
/// # Shapes
/// Every head's output is `[n_q, d_v]`, the result `[n_q, h · d_v]`; head i fills the
/// columns `i · d_v .. (i + 1) · d_v`. Without heads it is `[0, 0]`.
///
/// # Errors
/// [`Error::Shape`] for the first head of another shape than head 0.
///
/// # Examples
/// ```
/// use attention::Matrix;
///
/// let heads = [1.0, 2.0].map(|x| Matrix::from_element(3, 4, x));
/// let concat = per_head::concat(&heads)?;
/// assert_eq!(concat.shape(), (3, 2 * 4));
/// assert_eq!(concat.columns(4, 4), heads[1]);
/// # Ok::<(), attention::Error>(())
/// ```
// ANCHOR: concat
pub fn concat<'a, T: Real>(
    heads: impl IntoIterator<Item = &'a Matrix<T>>,
) -> Result<Matrix<T>> {
    let heads: Vec<_> = heads.into_iter().collect();
    let (n_q, d_v) = heads.first().map_or((0, 0), |head| head.shape());
    let mut concat = Matrix::zeros(n_q, heads.len() * d_v);
    for (i, head) in heads.iter().enumerate() {
        Error::expect_shape(format!("head {i}"), (n_q, d_v), head.shape())?;
        concat.columns_mut(i * d_v, d_v).copy_from(head);
    }
    Ok(concat)
}
// ANCHOR_END: concat

#[cfg(test)]
mod tests {
    use super::*;
    use attention::{Linear, Rng, SeedableRng, random_matrix};

    fn layer() -> LayerParameters {
        let dims = Dims::with_head_sizes(6, 3, 4, 5).unwrap();
        LayerParameters::random(dims, true, &mut Rng::seed_from_u64(1))
    }

    #[test]
    fn head_i_fills_its_own_columns() {
        let x = random_matrix(4, 6, 1.0, &mut Rng::seed_from_u64(2));
        let layer = PerHeadAttention::new(layer());
        let heads = layer.heads(&x, &x, &x, &Mask::None).unwrap();
        let concat = concat(heads.iter().map(|head| &head.out)).unwrap();
        assert_eq!(concat.shape(), (4, 15));
        assert_eq!(concat.columns(5, 5), heads[1].out);
    }

    #[test]
    fn a_head_that_w_o_does_not_read_changes_nothing() {
        let x = random_matrix(4, 6, 1.0, &mut Rng::seed_from_u64(3));
        let parameters = layer();
        let mut w_o: Linear = parameters.w_o().clone();
        w_o.weight.rows_mut(5, 5).fill(0.0); // W_1^O
        let mut heads = parameters.heads().to_vec();
        let out = |heads: &[_]| {
            let layer = LayerParameters::new(heads.to_vec(), w_o.clone()).unwrap();
            PerHeadAttention::new(layer).self_attend(&x, &Mask::None).unwrap().out
        };
        let before = out(&heads);
        heads[1].w_v.weight.fill(7.0);
        assert_eq!(out(&heads), before);
        heads[2].w_v.weight.fill(7.0);
        assert_ne!(out(&heads), before);
    }

    #[test]
    fn without_heads_there_is_nothing_to_concatenate() {
        assert_eq!(concat::<f64>(&[]).unwrap().shape(), (0, 0));
    }

    #[test]
    fn heads_of_two_shapes_are_refused_with_both() {
        let heads = [3, 3, 2].map(|d_v| Matrix::<f64>::zeros(4, d_v));
        insta::assert_snapshot!(concat(&heads).unwrap_err(), @"head 2 has shape (4, 2), expected (4, 3)");
    }
}
