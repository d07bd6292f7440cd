//! What the backward pass gives.

use attention::{
    Dims, Error, HeadParameters, LayerParameters, Linear, Matrix, Real, Result,
};

/// The gradients of a fused layer's parameters and inputs, each of the shape of what it
/// is the gradient of.
///
/// Gradients of a batch are sums over its sequences where sequences share something: the
/// parameters.
#[derive(Debug, Clone, PartialEq)]
pub struct Gradients<T: Real = f64> {
    pub(crate) dims: Dims,
    /// Of W^Q, `[d_model, h · d_k]`, and its bias.
    pub d_w_q: Linear<T>,
    /// Of W^K, `[key_width, h · d_k]`, and its bias. In exact arithmetic the bias's is
    /// zero: it adds `q_i · b` to every score of query i, and softmax does not see what
    /// is added to a whole row.
    pub d_w_k: Linear<T>,
    /// Of W^V, `[value_width, h · d_v]`, and its bias.
    pub d_w_v: Linear<T>,
    /// Of W^O, `[h · d_v, d_model]`, and its bias.
    pub d_w_o: Linear<T>,
    /// Of the queries' tokens, `[n_sequences · n_q, d_model]`.
    pub d_query: Matrix<T>,
    /// Of the keys' tokens, `[n_sequences · n_kv, key_width]`.
    pub d_key: Matrix<T>,
    /// Of the values' tokens, `[n_sequences · n_kv, value_width]`.
    pub d_value: Matrix<T>,
}

impl<T: Real> Gradients<T> {
    /// The gradient of tokens that were query, key and value at once: all three ways add
    /// up, `d_x = d_query + d_key + d_value`.
    ///
    /// # Shapes
    /// The result is `[n_sequences · n_tokens, d_model]`.
    ///
    /// # Errors
    /// [`Error::Shape`] if the three differ in shape, and so cannot have been one matrix.
    pub fn d_x(&self) -> Result<Matrix<T>> {
        let shape = self.d_query.shape();
        Error::expect_shape("d_key", shape, self.d_key.shape())?;
        Error::expect_shape("d_value", shape, self.d_value.shape())?;
        let mut d_x = &self.d_query + &self.d_key;
        d_x += &self.d_value;
        Ok(d_x)
    }

    /// The gradients of the four projections, in the order W^Q, W^K, W^V, W^O.
    pub fn projections(&self) -> [&Linear<T>; 4] {
        [&self.d_w_q, &self.d_w_k, &self.d_w_v, &self.d_w_o]
    }

    /// The same numbers head by head: packing moves parameters and changes none, so
    /// **the gradient of the packed parameters is the packing of the heads' gradients**,
    /// and this cuts it up again as [`fused_heads::unpack`] cuts up the parameters.
    ///
    /// # Errors
    /// [`Error::Shape`] if a matrix was replaced by one of another shape.
    pub fn per_head(&self) -> Result<LayerParameters<T>> {
        cut_into_heads(self.dims, self.projections())
    }
}

/// A layer's four projections, of which the first three are cut into heads.
pub(crate) fn cut_into_heads<T: Real>(
    dims: Dims,
    [w_q, w_k, w_v, w_o]: [&Linear<T>; 4],
) -> Result<LayerParameters<T>> {
    let (h, d_k, d_v) = (dims.n_heads(), dims.d_k(), dims.d_v());
    let of_heads = [("w_q", w_q, d_k), ("w_k", w_k, d_k), ("w_v", w_v, d_v)];
    for (what, linear, width) in of_heads {
        let expected = (linear.d_in(), h * width);
        Error::expect_shape(what, expected, linear.weight.shape())?;
        if let Some(bias) = &linear.bias {
            Error::expect_shape(
                format!("the bias of {what}"),
                (1, h * width),
                bias.shape(),
            )?;
        }
    }
    let block = |linear: &Linear<T>, i: usize, width: usize| Linear {
        weight: linear.weight.columns(i * width, width).into_owned(),
        bias: linear.bias.as_ref().map(|b| b.columns(i * width, width).into_owned()),
    };
    let head = |i| HeadParameters {
        w_q: block(w_q, i, d_k),
        w_k: block(w_k, i, d_k),
        w_v: block(w_v, i, d_v),
    };
    LayerParameters::new((0..h).map(head).collect(), w_o.clone())
}

#[cfg(test)]
mod tests {
    use crate::Pass;
    use attention::{
        Dims, LayerParameters, Mask, Matrix, Rng, SeedableRng, random_matrix,
    };
    use fused_heads::{FusedAttention, pack};

    #[test]
    fn packing_the_heads_gradients_gives_those_of_the_packed_parameters() {
        let rng = &mut Rng::seed_from_u64(1);
        let dims = Dims::with_head_sizes(6, 3, 4, 5).unwrap();
        for bias in [true, false] {
            let parameters = LayerParameters::random(dims, bias, rng);
            let layer = FusedAttention::new(&parameters);
            let x: Matrix = random_matrix(4, 6, 1.0, rng);
            let pass = Pass::self_attend(&layer, &x, &Mask::None).unwrap();
            let d = pass.backward(&random_matrix(4, 6, 1.0, rng)).unwrap();
            let packed = pack(&d.per_head().unwrap());
            let again = [packed.w_q(), packed.w_k(), packed.w_v(), packed.w_o()];
            assert_eq!(again, d.projections());
        }
    }

    #[test]
    fn what_was_not_one_matrix_has_no_common_gradient() {
        let rng = &mut Rng::seed_from_u64(2);
        let parameters = LayerParameters::random(Dims::new(6, 3).unwrap(), true, rng);
        let layer = FusedAttention::new(&parameters);
        let [x, source] = [4, 5].map(|n| random_matrix::<f64>(n, 6, 1.0, rng));
        let pass = Pass::forward(&layer, &x, &source, &source, &Mask::None).unwrap();
        let mut d = pass.backward(&x).unwrap();
        insta::assert_snapshot!(d.d_x().unwrap_err(), @"d_key has shape (5, 6), expected (4, 6)");
        d.d_w_v.weight = Matrix::zeros(6, 5);
        insta::assert_snapshot!(d.per_head().unwrap_err(), @"w_v has shape (6, 5), expected (6, 6)");
    }
}
