//! One matrix a projection for all heads, and back.

use attention::{
    Count, Dims, HeadParameters, LayerParameters, Linear, Matrix, ParameterCount, Real,
};

/// The parameters of a layer with its heads' projections side by side.
///
/// It can only be made by [`pack`], and so its matrices fit.
#[derive(Debug, Clone, PartialEq)]
pub struct FusedParameters<T: Real = f64> {
    pub(crate) dims: Dims,
    pub(crate) w_q: Linear<T>,
    pub(crate) w_k: Linear<T>,
    pub(crate) w_v: Linear<T>,
    pub(crate) w_o: Linear<T>,
}

/// The heads' projections side by side: `W^Q = [W_1^Q | … | W_h^Q]`, K and V likewise,
/// and the biases end to end. W^O stays as it is.
///
/// # Shapes
/// h matrices `[d_model, d_k]` become one `[d_model, h · d_k]`.
// ANCHOR: pack
pub fn pack<T: Real>(parameters: &LayerParameters<T>) -> FusedParameters<T> {
    let side_by_side = |of: fn(&HeadParameters<T>) -> &Linear<T>| {
        let heads: Vec<&Linear<T>> = parameters.heads().iter().map(of).collect();
        let weights = heads.iter().flat_map(|head| head.weight.column_iter());
        let biases = heads.iter().filter_map(|head| head.bias.as_ref());
        let biases: Vec<T> = biases.flat_map(|bias| bias.iter().copied()).collect();
        Linear {
            weight: Matrix::from_columns(&weights.collect::<Vec<_>>()),
            bias: (!biases.is_empty()).then(|| biases.into()),
        }
    };
    FusedParameters {
        dims: parameters.dims(),
        w_q: side_by_side(|head| &head.w_q),
        w_k: side_by_side(|head| &head.w_k),
        w_v: side_by_side(|head| &head.w_v),
        w_o: parameters.w_o().clone(),
    }
}
// ANCHOR_END: pack

/// The heads' projections, cut out of the fused ones: the exact inverse of [`pack`].
///
/// # Shapes
/// One matrix `[d_model, h · d_k]` becomes h matrices `[d_model, d_k]`.
// ANCHOR: unpack
pub fn unpack<T: Real>(fused: &FusedParameters<T>) -> LayerParameters<T> {
    let block = |linear: &Linear<T>, i: usize, width: usize| Linear {
        weight: linear.weight.columns(i * width, width).into_owned(),
        bias: linear.bias.as_ref().map(|b| b.columns(i * width, width).into_owned()),
    };
    let (d_k, d_v) = (fused.dims.d_k(), fused.dims.d_v());
    let head = |i| HeadParameters {
        w_q: block(&fused.w_q, i, d_k),
        w_k: block(&fused.w_k, i, d_k),
        w_v: block(&fused.w_v, i, d_v),
    };
    let heads = (0..fused.dims.n_heads()).map(head).collect();
    LayerParameters::new(heads, fused.w_o.clone()).expect("packed parameters fit")
}
// ANCHOR_END: unpack

impl<T: Real> FusedParameters<T> {
    /// The sizes of the layer.
    pub fn dims(&self) -> Dims {
        self.dims
    }

    /// W^Q of all heads, `[d_model, h · d_k]`, and its bias.
    pub fn w_q(&self) -> &Linear<T> {
        &self.w_q
    }

    /// W^K of all heads, `[key_width, h · d_k]`, and its bias.
    pub fn w_k(&self) -> &Linear<T> {
        &self.w_k
    }

    /// W^V of all heads, `[value_width, h · d_v]`, and its bias.
    pub fn w_v(&self) -> &Linear<T> {
        &self.w_v
    }

    /// W^O, `[h · d_v, d_model]`, and b^O.
    pub fn w_o(&self) -> &Linear<T> {
        &self.w_o
    }

    /// The ledger of these parameters.
    pub fn count(&self) -> ParameterCount {
        let named =
            [("^Q", &self.w_q), ("^K", &self.w_k), ("^V", &self.w_v), ("^O", &self.w_o)];
        let counts =
            named.iter().flat_map(|(name, linear)| Count::of_linear(name, 1, linear));
        ParameterCount::new(counts.collect())
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use attention::{Rng, SeedableRng};

    #[test]
    fn unpacking_what_was_packed_gives_the_same_numbers() {
        let dims = Dims::with_head_sizes(6, 3, 4, 5).unwrap();
        let dims = dims.with_source_widths(7, 8).unwrap();
        for bias in [true, false] {
            let layer: LayerParameters =
                LayerParameters::random(dims, bias, &mut Rng::seed_from_u64(5));
            let fused = pack(&layer);
            assert_eq!(unpack(&fused), layer);
            assert_eq!(pack(&unpack(&fused)), fused);
        }
    }

    #[test]
    fn head_i_is_the_block_of_columns_i() {
        let dims = Dims::with_head_sizes(6, 3, 4, 5).unwrap();
        let layer: LayerParameters =
            LayerParameters::random(dims, true, &mut Rng::seed_from_u64(6));
        let fused = pack(&layer);
        assert_eq!(fused.w_k().weight.columns(8, 4), layer.heads()[2].w_k.weight);
        assert_eq!(fused.w_v().weight.columns(5, 5), layer.heads()[1].w_v.weight);
    }
}
