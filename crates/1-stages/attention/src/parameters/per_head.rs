//! The parameters of a layer, head by head.

use rand::Rng;

use crate::{Count, Dims, Error, Linear, Matrix, ParameterCount, Real, Result};

/// What one head knows: its own W_i^Q, W_i^K and W_i^V, with their biases.
///
/// Each takes the **whole** token, `d_model` wide, and not a slice of it.
#[derive(Debug, Clone, PartialEq)]
pub struct HeadParameters<T: Real = f64> {
    /// W_i^Q, `[d_model, d_k]`, and b_i^Q.
    pub w_q: Linear<T>,
    /// W_i^K, `[d_model, d_k]`, and b_i^K.
    pub w_k: Linear<T>,
    /// W_i^V, `[d_model, d_v]`, and b_i^V.
    pub w_v: Linear<T>,
}

impl<T: Real> HeadParameters<T> {
    /// Random parameters of one head of a layer of these sizes.
    pub fn random(dims: Dims, bias: bool, rng: &mut impl Rng) -> Self {
        Self {
            w_q: Linear::random(dims.d_model(), dims.d_k(), bias, rng),
            w_k: Linear::random(dims.key_width(), dims.d_k(), bias, rng),
            w_v: Linear::random(dims.value_width(), dims.d_v(), bias, rng),
        }
    }

    /// The sizes of a layer with this head alone.
    ///
    /// # Errors
    /// [`Error::Shape`] if queries and keys would differ in width.
    pub fn dims(&self) -> Result<Dims> {
        let Self { w_q, w_k, w_v } = self;
        let k_shape = (w_k.d_in(), w_q.d_out());
        Error::expect_shape("w_k", k_shape, w_k.weight.shape())?;
        Dims::with_head_sizes(w_q.d_in(), 1, w_q.d_out(), w_v.d_out())?
            .with_source_widths(w_k.d_in(), w_v.d_in())
    }

    /// The three projections under their names.
    pub fn projections(&self) -> [(&'static str, &Linear<T>); 3] {
        [("w_q", &self.w_q), ("w_k", &self.w_k), ("w_v", &self.w_v)]
    }

    /// The same parameters in another precision.
    pub fn cast<U: Real>(&self) -> HeadParameters<U> {
        HeadParameters {
            w_q: self.w_q.cast(),
            w_k: self.w_k.cast(),
            w_v: self.w_v.cast(),
        }
    }
}

/// The parameters of a whole layer: `h` heads and the W^O that mixes them.
///
/// A value of this type is proof that they fit together; [`LayerParameters::dims`] says
/// how. Every stage is built from one, so that stages can be given the same numbers.
///
/// ```
/// use attention::{Dims, LayerParameters, Rng, SeedableRng};
///
/// let rng = &mut Rng::seed_from_u64(1);
/// let layer: LayerParameters = LayerParameters::random(Dims::new(256, 8)?, true, rng);
/// assert_eq!(layer.heads()[0].w_q.weight.shape(), (256, 32));
/// assert_eq!(layer.w_o_of_head(1), layer.w_o().weight.rows(32, 32));
/// # Ok::<(), attention::Error>(())
/// ```
#[derive(Debug, Clone, PartialEq)]
pub struct LayerParameters<T: Real = f64> {
    dims: Dims,
    heads: Vec<HeadParameters<T>>,
    w_o: Linear<T>,
}

impl<T: Real> LayerParameters<T> {
    /// A layer from its heads and W^O.
    ///
    /// # Shapes
    /// Every head has the shapes of the first; `w_o` is `[h · d_v, d_model]`.
    ///
    /// # Errors
    /// [`Error::ZeroSize`] without heads, [`Error::Shape`] for a matrix that does not
    /// fit, [`Error::MixedBiases`] where only some heads have a bias.
    pub fn new(heads: Vec<HeadParameters<T>>, w_o: Linear<T>) -> Result<Self> {
        Error::expect_positive("n_heads", heads.len())?;
        let one = heads[0].dims()?;
        let dims =
            Dims::with_head_sizes(one.d_model(), heads.len(), one.d_k(), one.d_v())?
                .with_source_widths(one.key_width(), one.value_width())?;
        for (i, head) in heads.iter().enumerate() {
            check_like_first(i, head, &heads[0])?;
        }
        let w_o_shape = (dims.concat_width(), dims.d_model());
        Error::expect_shape("w_o", w_o_shape, w_o.weight.shape())?;
        w_o.check_bias("w_o")?;
        Ok(Self { dims, heads, w_o })
    }

    /// A layer whose parts are known to fit.
    pub(super) fn of_fitting(
        dims: Dims,
        heads: Vec<HeadParameters<T>>,
        w_o: Linear<T>,
    ) -> Self {
        Self { dims, heads, w_o }
    }

    /// Random parameters of a layer of these sizes.
    pub fn random(dims: Dims, bias: bool, rng: &mut impl Rng) -> Self {
        let head = |_| HeadParameters::random(dims, bias, rng);
        let heads = (0..dims.n_heads()).map(head).collect();
        let w_o = Linear::random(dims.concat_width(), dims.d_model(), bias, rng);
        Self { dims, heads, w_o }
    }

    /// The sizes of the layer.
    pub fn dims(&self) -> Dims {
        self.dims
    }

    /// The heads in order.
    pub fn heads(&self) -> &[HeadParameters<T>] {
        &self.heads
    }

    /// W^O, `[h · d_v, d_model]`, and b^O.
    pub fn w_o(&self) -> &Linear<T> {
        &self.w_o
    }

    /// W_i^O, the rows of W^O that read head `i`, `[d_v, d_model]`.
    ///
    /// # Panics
    /// Unless `i < n_heads`.
    pub fn w_o_of_head(&self, i: usize) -> Matrix<T> {
        let d_v = self.dims.d_v();
        self.w_o.weight.rows(i * d_v, d_v).into_owned()
    }

    /// The ledger of these parameters: each matrix once, with the number of heads that
    /// have one.
    // ANCHOR: count
    pub fn count(&self) -> ParameterCount {
        let n_heads = self.heads.len();
        let mut counts = Vec::new();
        for (name, linear) in self.heads[0].projections() {
            let letter = name[2..].to_uppercase();
            counts.extend(Count::of_linear(&format!("_i^{letter}"), n_heads, linear));
        }
        counts.extend(Count::of_linear("^O", 1, &self.w_o));
        ParameterCount::of_parts(counts)
    }
    // ANCHOR_END: count

    /// The same parameters in another precision.
    pub fn cast<U: Real>(&self) -> LayerParameters<U> {
        LayerParameters {
            dims: self.dims,
            heads: self.heads.iter().map(HeadParameters::cast).collect(),
            w_o: self.w_o.cast(),
        }
    }
}

fn check_like_first<T: Real>(
    i: usize,
    head: &HeadParameters<T>,
    first: &HeadParameters<T>,
) -> Result<()> {
    for ((name, linear), (_, of_first)) in
        head.projections().into_iter().zip(first.projections())
    {
        let what = format!("{name} of head {i}");
        Error::expect_shape(&what, of_first.weight.shape(), linear.weight.shape())?;
        linear.check_bias(&what)?;
        if linear.bias.is_some() != of_first.bias.is_some() {
            let of_first = of_first.bias.is_some();
            return Err(Error::MixedBiases { matrix: name, head: i, of_first });
        }
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{Rng, SeedableRng};

    fn layer() -> LayerParameters {
        let dims = Dims::with_head_sizes(6, 3, 4, 5).unwrap();
        LayerParameters::random(dims, true, &mut Rng::seed_from_u64(1))
    }

    #[test]
    fn a_layer_knows_its_sizes_from_its_matrices() {
        let LayerParameters { dims, heads, w_o } = layer();
        assert_eq!(LayerParameters::new(heads, w_o).unwrap().dims(), dims);
    }

    #[test]
    fn heads_that_do_not_fit_are_refused_with_their_numbers() {
        let refused = |change: &dyn Fn(&mut LayerParameters)| {
            let mut layer = layer();
            change(&mut layer);
            LayerParameters::new(layer.heads, layer.w_o).unwrap_err().to_string()
        };
        insta::assert_snapshot!(refused(&|l| l.heads.clear()), @"n_heads is 0, and must be at least 1");
        insta::assert_snapshot!(refused(&|l| l.heads[2].w_v.weight = Matrix::zeros(6, 4)), @"w_v of head 2 has shape (6, 4), expected (6, 5)");
        insta::assert_snapshot!(refused(&|l| l.heads[0].w_k.weight = Matrix::zeros(6, 3)), @"w_k has shape (6, 3), expected (6, 4)");
        insta::assert_snapshot!(refused(&|l| l.heads[1].w_q.bias = None), @"w_q of head 0 has a bias and w_q of head 1 has none: either every head has one or none");
        insta::assert_snapshot!(refused(&|l| l.w_o.weight = Matrix::zeros(6, 6)), @"w_o has shape (6, 6), expected (15, 6)");
        insta::assert_snapshot!(refused(&|l| l.w_o.bias = Some(vec![0.0; 5].into())), @"the bias of w_o has shape (1, 5), expected (1, 6)");
        insta::assert_snapshot!(refused(&|l| l.heads[1].w_v.bias = Some(vec![0.0; 6].into())), @"the bias of w_v of head 1 has shape (1, 6), expected (1, 5)");
    }

    #[test]
    fn w_o_is_its_heads_blocks_one_above_the_other() {
        let layer = layer();
        let last = layer.w_o_of_head(2);
        assert_eq!(last[(0, 0)], layer.w_o().weight[(10, 0)]);
        assert_eq!(last.shape(), (5, 6));
    }
}
