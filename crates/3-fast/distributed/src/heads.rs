//! Heads apart: a layer is a sum over heads.

use std::ops::Range;

use attention::{
    Batch, Dims, Gradients, InputGradients, LayerParameters, Linear, Mask, Matrix, Real,
    RowVector,
};

use crate::engine::is_one;
use crate::{Engine, Group, Result, masks, share};

/// The layer of some heads: their W_i^Q, W_i^K, W_i^V and the rows of W^O that read them,
/// without b^O. `None` for an empty range.
///
/// ```text
/// MultiHead = Σ_i head_i W_i^O + b^O
/// ```
///
/// Nothing in a term needs another term. A part is itself a layer, and any stage can compute
/// it; the sum over all parts, and b^O once, is the whole.
///
/// # Errors
/// Heads that the layer does not have.
// ANCHOR: heads_of
pub fn heads_of<T: Real>(
    layer: &LayerParameters<T>,
    heads: Range<usize>,
) -> Result<Option<LayerParameters<T>>> {
    let (n_heads, d_v) = (layer.dims().n_heads(), layer.dims().d_v());
    if heads.end > n_heads {
        attention::Error::expect_length("the layer's list of heads", heads.end, n_heads)?;
    }
    if heads.is_empty() {
        return Ok(None);
    }
    let rows = layer.w_o().weight.rows(heads.start * d_v, heads.len() * d_v);
    let w_o = Linear { weight: rows.into_owned(), bias: None };
    Ok(Some(LayerParameters::new(layer.heads()[heads].to_vec(), w_o)?))
}
// ANCHOR_END: heads_of

/// A layer whose heads are shared out among the ranks of a group: every rank has all tokens
/// and some heads, and one all-reduce makes the sum.
///
/// A rank without heads, where there are more ranks than heads, takes part with zeros.
///
/// ```
/// use attention::{Batch, Dims, LayerParameters, Mask, Rng, SeedableRng, random_matrix};
/// use distributed::{Group, HeadsApart, Plain, Threads};
///
/// let rng = &mut Rng::seed_from_u64(1);
/// let layer: LayerParameters = LayerParameters::random(Dims::new(12, 3)?, true, rng);
/// let x = Batch::new(1, random_matrix(5, 12, 1.0, rng))?;
/// let outs = Threads::run(2, |group| {
///     let mut part: HeadsApart<f64, Plain> = HeadsApart::new(&layer, group)?;
///     part.forward(group, [&x; 3], &[Mask::Causal])
/// })?;
/// assert_eq!(outs[0], outs[1]); // to the last digit
/// # Ok::<(), distributed::Error>(())
/// ```
///
/// # Source
/// Shoeybi et al. 2019, "Megatron-LM", section 3.
#[derive(Debug, Clone)]
pub struct HeadsApart<T: Real, E> {
    dims: Dims,
    heads: Range<usize>,
    engine: Option<E>,
    b_o: Option<RowVector<T>>,
}

/// What a backward pass gives one rank: the gradients of its own heads' parameters, and
/// those of b^O and of the inputs, which every rank has.
#[derive(Debug, Clone, PartialEq)]
pub struct HeadGradients<T: Real = f64> {
    /// This rank's heads, as a range of all.
    pub heads: Range<usize>,
    /// The columns of W^Q, W^K and W^V and the rows of W^O that belong to these heads;
    /// `None` for a rank without heads.
    pub parameters: Option<[Linear<T>; 4]>,
    /// The gradient of b^O, where there is one.
    pub d_b_o: Option<RowVector<T>>,
    /// The gradients of the inputs, summed over all ranks.
    pub d_inputs: InputGradients<T>,
}

impl<T: Real, E: Engine<T>> HeadsApart<T, E> {
    /// This rank's part of a layer.
    ///
    /// # Errors
    /// None for a layer that exists.
    pub fn new(layer: &LayerParameters<T>, group: &impl Group<T>) -> Result<Self> {
        let heads = share(layer.dims().n_heads(), group.size(), group.rank());
        let engine = heads_of(layer, heads.clone())?.map(|part| E::new(&part));
        Ok(Self { dims: layer.dims(), heads, engine, b_o: layer.w_o().bias.clone() })
    }

    /// This rank's heads, as a range of all.
    pub fn heads(&self) -> Range<usize> {
        self.heads.clone()
    }

    /// The layer's output, on every rank.
    ///
    /// # Shapes
    /// Query, key and value, the same on every rank, and one mask for all sequences, or one
    /// a sequence. The result is `[n_sequences · n_q, d_model]`.
    ///
    /// # Errors
    /// What [`check_batch`](attention::check_batch) finds, and what communication does.
    // ANCHOR: forward
    pub fn forward<G: Group<T>>(
        &mut self,
        group: &mut G,
        inputs: [&Batch<T>; 3],
        masks: &[Mask],
    ) -> Result<Matrix<T>> {
        let [query, key, value] = inputs;
        attention::check_batch(self.dims, query, key, value, masks)?;
        let masks = self.masks(masks);
        let mut out = match &mut self.engine {
            Some(engine) => engine.forward(inputs, &masks)?,
            None => Matrix::zeros(query.tokens().nrows(), self.dims.d_model()),
        };
        group.all_reduce(out.as_mut_slice())?;
        add_bias(&mut out, self.b_o.as_ref());
        Ok(out)
    }
    // ANCHOR_END: forward

    /// The gradients of what this rank has.
    ///
    /// `d_out` is known to every rank, and so is what its heads did; only the gradients of
    /// the inputs are sums over all heads, and cost one more all-reduce (three, where query,
    /// key and value are different inputs).
    ///
    /// # Shapes
    /// As [`forward`](Self::forward); `d_out` is `[n_sequences · n_q, d_model]`, the same on
    /// every rank.
    ///
    /// # Errors
    /// As [`forward`](Self::forward); a `d_out` of another shape.
    pub fn backward<G: Group<T>>(
        &mut self,
        group: &mut G,
        inputs: [&Batch<T>; 3],
        masks: &[Mask],
        d_out: &Matrix<T>,
    ) -> Result<HeadGradients<T>> {
        let [query, key, value] = inputs;
        attention::check_batch(self.dims, query, key, value, masks)?;
        let expected = (query.tokens().nrows(), self.dims.d_model());
        attention::Error::expect_shape("d_out", expected, d_out.shape())?;
        let masks = self.masks(masks);
        let part = self.engine.as_mut().map(|it| it.backward(inputs, &masks, d_out));
        let (parameters, mut d_inputs) = match part.transpose()? {
            Some(Gradients { d_w_q, d_w_k, d_w_v, d_w_o, d_inputs }) => {
                (Some([d_w_q, d_w_k, d_w_v, d_w_o]), d_inputs)
            }
            None => (None, zeros_like(inputs)),
        };
        match &mut d_inputs {
            InputGradients::SelfAttention { d_x } => {
                group.all_reduce(d_x.as_mut_slice())?
            }
            InputGradients::CrossAttention { d_query, d_key, d_value } => {
                for each in [d_query, d_key, d_value] {
                    group.all_reduce(each.as_mut_slice())?;
                }
            }
        }
        let d_b_o = self.b_o.as_ref().map(|_| sum_of_rows(d_out));
        Ok(HeadGradients { heads: self.heads(), parameters, d_b_o, d_inputs })
    }

    fn masks(&self, masks: &[Mask]) -> Vec<Mask> {
        masks.iter().map(|mask| masks::of_heads(mask, self.heads())).collect()
    }
}

/// `out + b`, the bias on every row.
pub(crate) fn add_bias<T: Real>(out: &mut Matrix<T>, bias: Option<&RowVector<T>>) {
    let Some(bias) = bias else { return };
    for (mut feature, &b) in out.column_iter_mut().zip(bias.iter()) {
        feature.add_scalar_mut(b);
    }
}

/// As a product with ones: added in several lanes, it keeps more digits.
pub(crate) fn sum_of_rows<T: Real>(d_out: &Matrix<T>) -> RowVector<T> {
    let ones = Matrix::from_element(d_out.nrows(), 1, T::one());
    d_out.tr_mul(&ones).column(0).transpose()
}

/// What a rank without heads adds to the gradients of the inputs.
fn zeros_like<T: Real>(inputs: [&Batch<T>; 3]) -> InputGradients<T> {
    let zeros = |batch: &Batch<T>| {
        let (n_rows, n_columns) = batch.tokens().shape();
        Matrix::zeros(n_rows, n_columns)
    };
    if is_one(inputs) {
        return InputGradients::SelfAttention { d_x: zeros(inputs[0]) };
    }
    let [d_query, d_key, d_value] = inputs.map(zeros);
    InputGradients::CrossAttention { d_query, d_key, d_value }
}
