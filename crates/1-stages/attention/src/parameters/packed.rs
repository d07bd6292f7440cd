//! One matrix a projection for all heads, and back.

use crate::{
    Count, Dims, Error, HeadParameters, LayerParameters, Linear, Matrix, ParameterCount,
    Real, Result,
};

/// The parameters of a layer with its heads' projections side by side:
/// `W^Q = [W_1^Q | … | W_h^Q]`, K and V likewise, and the biases end to end.
///
/// These are the same numbers as [`LayerParameters`] in another layout:
/// [`LayerParameters::pack`] puts the heads together, [`unpack`](Self::unpack) takes them
/// apart, and neither computes anything. A value of this type is proof that its matrices
/// fit together.
///
/// ```
/// use attention::{Dims, LayerParameters, Rng, SeedableRng};
///
/// let rng = &mut Rng::seed_from_u64(1);
/// let layer: LayerParameters = LayerParameters::random(Dims::new(256, 8)?, true, rng);
/// let packed = layer.pack();
/// assert_eq!(packed.w_q().weight.shape(), (256, 8 * 32));
/// assert_eq!(packed.w_q().weight.columns(3 * 32, 32), layer.heads()[3].w_q.weight);
/// assert_eq!(packed.unpack(), layer);
/// # Ok::<(), attention::Error>(())
/// ```
#[derive(Debug, Clone, PartialEq)]
pub struct PackedParameters<T: Real = f64> {
    dims: Dims,
    w_q: Linear<T>,
    w_k: Linear<T>,
    w_v: Linear<T>,
    w_o: Linear<T>,
}

// ANCHOR: pack
impl<T: Real> LayerParameters<T> {
    /// The heads' projections side by side: `W^Q = [W_1^Q | … | W_h^Q]`, K and V
    /// likewise, and the biases end to end. W^O stays as it is.
    ///
    /// # Shapes
    /// h matrices `[d_model, d_k]` become one `[d_model, h · d_k]`.
    pub fn pack(&self) -> PackedParameters<T> {
        let side_by_side = |of: fn(&HeadParameters<T>) -> &Linear<T>| {
            let heads: Vec<&Linear<T>> = self.heads().iter().map(of).collect();
            let weights = heads.iter().flat_map(|head| head.weight.column_iter());
            let biases = heads.iter().filter_map(|head| head.bias.as_ref());
            let biases: Vec<T> = biases.flat_map(|bias| bias.iter().copied()).collect();
            Linear {
                weight: Matrix::from_columns(&weights.collect::<Vec<_>>()),
                bias: (!biases.is_empty()).then(|| biases.into()),
            }
        };
        PackedParameters {
            dims: self.dims(),
            w_q: side_by_side(|head| &head.w_q),
            w_k: side_by_side(|head| &head.w_k),
            w_v: side_by_side(|head| &head.w_v),
            w_o: self.w_o().clone(),
        }
    }
}
// ANCHOR_END: pack

impl<T: Real> PackedParameters<T> {
    /// Projections for all heads of a layer of these sizes, in the order W^Q, W^K, W^V,
    /// W^O.
    ///
    /// # Shapes
    /// `[d_model, h · d_k]`, `[key_width, h · d_k]`, `[value_width, h · d_v]` and
    /// `[h · d_v, d_model]`.
    ///
    /// # Errors
    /// [`Error::Shape`] for a weight or a bias that does not fit.
    pub fn new(dims: Dims, projections: [Linear<T>; 4]) -> Result<Self> {
        let (h, d_model) = (dims.n_heads(), dims.d_model());
        let shapes = [
            ("w_q", (d_model, h * dims.d_k())),
            ("w_k", (dims.key_width(), h * dims.d_k())),
            ("w_v", (dims.value_width(), h * dims.d_v())),
            ("w_o", (dims.concat_width(), d_model)),
        ];
        for (linear, (what, shape)) in projections.iter().zip(shapes) {
            Error::expect_shape(what, shape, linear.weight.shape())?;
            linear.check_bias(what)?;
        }
        let [w_q, w_k, w_v, w_o] = projections;
        Ok(Self { dims, w_q, w_k, w_v, w_o })
    }

    /// The heads' projections, cut out of the packed ones: the exact inverse of
    /// [`LayerParameters::pack`].
    ///
    /// # Shapes
    /// One matrix `[d_model, h · d_k]` becomes h matrices `[d_model, d_k]`.
    // ANCHOR: unpack
    pub fn unpack(&self) -> LayerParameters<T> {
        let block = |linear: &Linear<T>, i: usize, width: usize| Linear {
            weight: linear.weight.columns(i * width, width).into_owned(),
            bias: linear.bias.as_ref().map(|b| b.columns(i * width, width).into_owned()),
        };
        let (d_k, d_v) = (self.dims.d_k(), self.dims.d_v());
        let head = |i| HeadParameters {
            w_q: block(&self.w_q, i, d_k),
            w_k: block(&self.w_k, i, d_k),
            w_v: block(&self.w_v, i, d_v),
        };
        let heads = (0..self.dims.n_heads()).map(head).collect();
        LayerParameters::of_fitting(self.dims, heads, self.w_o.clone())
    }
    // ANCHOR_END: unpack

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

    /// The four projections, in the order W^Q, W^K, W^V, W^O.
    pub fn projections(&self) -> [&Linear<T>; 4] {
        [&self.w_q, &self.w_k, &self.w_v, &self.w_o]
    }

    /// The four projections, to be changed and put together again by
    /// [`PackedParameters::new`].
    pub fn into_projections(self) -> [Linear<T>; 4] {
        [self.w_q, self.w_k, self.w_v, self.w_o]
    }

    /// The entries of the four projections, to be changed in place: weight and bias of
    /// W^Q, of W^K, of W^V and of W^O, each column by column. No shape can change.
    pub fn entries_mut(&mut self) -> Vec<&mut [T]> {
        [&mut self.w_q, &mut self.w_k, &mut self.w_v, &mut self.w_o]
            .into_iter()
            .flat_map(Linear::entries_mut)
            .collect()
    }

    /// The ledger of these parameters.
    pub fn count(&self) -> ParameterCount {
        let named = ["^Q", "^K", "^V", "^O"].into_iter().zip(self.projections());
        ParameterCount::of_parts(
            named.flat_map(|(name, linear)| Count::of_linear(name, 1, linear)),
        )
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{Rng, SeedableRng};

    fn layer(bias: bool) -> LayerParameters {
        let dims = Dims::with_head_sizes(6, 3, 4, 5).unwrap();
        let dims = dims.with_source_widths(7, 8).unwrap();
        LayerParameters::random(dims, bias, &mut Rng::seed_from_u64(5))
    }

    #[test]
    fn unpacking_what_was_packed_gives_the_same_numbers() {
        for layer in [layer(true), layer(false)] {
            let packed = layer.pack();
            assert_eq!(packed.unpack(), layer);
            assert_eq!(packed.unpack().pack(), packed);
            let (dims, projections) = (packed.dims(), packed.clone().into_projections());
            assert_eq!(PackedParameters::new(dims, projections).unwrap(), packed);
        }
    }

    #[test]
    fn head_i_is_the_block_of_columns_i() {
        let layer = layer(true);
        let packed = layer.pack();
        assert_eq!(packed.w_k().weight.columns(8, 4), layer.heads()[2].w_k.weight);
        assert_eq!(packed.w_v().weight.columns(5, 5), layer.heads()[1].w_v.weight);
    }

    #[test]
    fn projections_that_do_not_fit_are_refused_with_their_numbers() {
        let packed = layer(true).pack();
        let refused = |change: &dyn Fn(&mut [Linear; 4])| {
            let mut projections = packed.clone().into_projections();
            change(&mut projections);
            PackedParameters::new(packed.dims(), projections).unwrap_err()
        };
        insta::assert_snapshot!(refused(&|p| p[0].weight = Matrix::zeros(6, 11)), @"w_q has shape (6, 11), expected (6, 12)");
        insta::assert_snapshot!(refused(&|p| p[1].weight = Matrix::zeros(6, 12)), @"w_k has shape (6, 12), expected (7, 12)");
        insta::assert_snapshot!(refused(&|p| p[2].bias = Some(vec![0.0; 12].into())), @"the bias of w_v has shape (1, 12), expected (1, 15)");
        insta::assert_snapshot!(refused(&|p| p.swap(0, 3)), @"w_q has shape (15, 6), expected (6, 12)");
    }

    #[test]
    fn every_entry_can_be_changed_in_place() {
        for layer in [layer(true), layer(false)] {
            let mut packed = layer.pack();
            let n: usize = packed.entries_mut().iter().map(|part| part.len()).sum();
            assert_eq!(n, packed.count().total());
            packed.entries_mut().iter_mut().for_each(|part| part.fill(2.0));
            for linear in packed.projections() {
                let bias = linear.bias.iter().flat_map(|bias| bias.iter());
                assert!(linear.weight.iter().chain(bias).all(|&x| x == 2.0));
            }
        }
    }
}
