//! A forward pass that keeps what its backward pass needs.

use attention::{Batch, Error, Mask, Matrix, Real, Result};
use fused_heads::{FusedAttention, FusedPass};

/// One forward pass of a fused layer, with every matrix that its backward pass needs: the
/// layer's own [`FusedPass`], and what it was made of.
///
/// It borrows the layer and the inputs: the backward pass is only right with the
/// parameters of the forward pass, and while a pass lives they cannot be changed.
///
/// ```
/// use attention::{Dims, LayerParameters, Mask, Matrix, Rng, SeedableRng, random_matrix};
/// use fused_heads::FusedAttention;
/// use gradients::LayerPass;
///
/// let rng = &mut Rng::seed_from_u64(1);
/// let parameters = LayerParameters::random(Dims::new(8, 2)?, true, rng);
/// let layer = FusedAttention::new(&parameters);
/// let x: Matrix = random_matrix(5, 8, 1.0, rng);
///
/// let pass = LayerPass::self_attend(&layer, &x, &Mask::Causal)?;
/// let d_out = Matrix::from_element(5, 8, 1.0); // of the sum of all outputs
/// let gradients = pass.backward(&d_out)?;
/// assert_eq!(gradients.d_w_q.weight.shape(), (8, 8));
/// assert_eq!(gradients.d_x()?.shape(), x.shape());
/// # Ok::<(), attention::Error>(())
/// ```
#[derive(Debug, Clone)]
pub struct LayerPass<'a, T: Real = f64> {
    pub(crate) layer: &'a FusedAttention<T>,
    pub(crate) inputs: Inputs<'a, T>,
    pub(crate) fused: FusedPass<T>,
}

/// What went in.
#[derive(Debug, Clone, Copy)]
pub(crate) enum Inputs<'a, T: Real> {
    /// Tokens that attend to themselves: one gradient.
    One(&'a Matrix<T>),
    /// Query, key and value: three.
    Three([&'a Matrix<T>; 3]),
}

impl<'a, T: Real> Inputs<'a, T> {
    /// Query, key and value.
    pub(crate) fn each(&self) -> [&'a Matrix<T>; 3] {
        match *self {
            Self::One(x) => [x; 3],
            Self::Three(each) => each,
        }
    }
}

impl<'a, T: Real> LayerPass<'a, T> {
    /// The pass of one sequence. Its backward pass gives the gradients of query, key and
    /// value by themselves.
    ///
    /// # Shapes
    /// `query` is `[n_q, d_model]`, `key` is `[n_kv, key_width]`, `value` is
    /// `[n_kv, value_width]`.
    ///
    /// # Errors
    /// What [`check_inputs`](attention::check_inputs) finds.
    pub fn forward(
        layer: &'a FusedAttention<T>,
        query: &'a Matrix<T>,
        key: &'a Matrix<T>,
        value: &'a Matrix<T>,
        mask: &Mask,
    ) -> Result<Self> {
        let fused = layer.pass(query, key, value, mask)?;
        Ok(Self { layer, inputs: Inputs::Three([query, key, value]), fused })
    }

    /// The pass of one sequence that attends to itself. Its backward pass gives one
    /// gradient for the tokens, the sum of what comes by the queries, keys and values.
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
        let fused = layer.pass(x, x, x, mask)?;
        Ok(Self { layer, inputs: Inputs::One(x), fused })
    }

    /// A pass of self-attention that the layer has taken already, with its inputs: `fused`
    /// is of this layer and of these tokens, one or many sequences of them.
    ///
    /// # Shapes
    /// `x` is `[n_sequences · n_tokens, d_model]`.
    ///
    /// # Errors
    /// [`Error::Shape`](attention::Error::Shape) if the pass was of other sizes.
    pub fn taken(
        layer: &'a FusedAttention<T>,
        x: &'a Matrix<T>,
        fused: FusedPass<T>,
    ) -> Result<Self> {
        Error::expect_shape("x of the pass", fused.out.shape(), x.shape())?;
        Ok(Self { layer, inputs: Inputs::One(x), fused })
    }

    /// The same of cross-attention: the queries were of one text, keys and values of another,
    /// the memory. Its backward pass gives three gradients.
    ///
    /// # Shapes
    /// `query` is `[n_sequences · n_q, d_model]`, `memory` `[n_sequences · n_kv, key_width]`.
    ///
    /// # Errors
    /// [`Error::Shape`](attention::Error::Shape) if the pass was of other sizes.
    pub fn taken_of(
        layer: &'a FusedAttention<T>,
        query: &'a Matrix<T>,
        memory: &'a Matrix<T>,
        fused: FusedPass<T>,
    ) -> Result<Self> {
        Error::expect_shape("the query of the pass", fused.out.shape(), query.shape())?;
        let expected = (fused.k.nrows(), layer.parameters().w_k().d_in());
        Error::expect_shape("the memory of the pass", expected, memory.shape())?;
        Ok(Self { layer, inputs: Inputs::Three([query, memory, memory]), fused })
    }

    /// The pass of a batch of sequences of equal length, with three gradients for the
    /// tokens, as [`forward`](Self::forward).
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
        let fused = layer.pass_batch(query, key, value, masks)?;
        let inputs = Inputs::Three([query.tokens(), key.tokens(), value.tokens()]);
        Ok(Self { layer, inputs, fused })
    }

    /// The pass of a batch of sequences that attend to themselves, with one gradient for
    /// the tokens, as [`self_attend`](Self::self_attend).
    ///
    /// # Shapes
    /// `x` is `[n_sequences · n_tokens, d_model]`.
    ///
    /// # Errors
    /// As [`FusedAttention::forward_batch`].
    pub fn self_attend_batch(
        layer: &'a FusedAttention<T>,
        x: &'a Batch<T>,
        masks: &[Mask],
    ) -> Result<Self> {
        let fused = layer.pass_batch(x, x, x, masks)?;
        Ok(Self { layer, inputs: Inputs::One(x.tokens()), fused })
    }

    /// Every matrix that was computed on the way.
    pub fn fused(&self) -> &FusedPass<T> {
        &self.fused
    }

    /// The outputs, `[n_sequences · n_q, d_model]`.
    pub fn out(&self) -> &Matrix<T> {
        &self.fused.out
    }

    /// `attn()[s][i]` is head i's map of sequence s, `[n_q, n_kv]`.
    pub fn attn(&self) -> &[Vec<Matrix<T>>] {
        &self.fused.attn
    }

    /// The heads' outputs side by side, `[n_sequences · n_q, h · d_v]`.
    pub fn concat(&self) -> &Matrix<T> {
        &self.fused.concat
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use attention::{Dims, LayerParameters, Rng, SeedableRng};

    #[test]
    fn what_does_not_fit_is_refused_as_the_layer_refuses_it() {
        let rng = &mut Rng::seed_from_u64(2);
        let dims = Dims::new(8, 2).unwrap();
        let layer: FusedAttention =
            FusedAttention::new(&LayerParameters::random(dims, true, rng));
        let (x, narrow) = (Matrix::zeros(4, 8), Matrix::zeros(4, 7));
        let refused =
            LayerPass::forward(&layer, &x, &narrow, &x, &Mask::None).unwrap_err();
        insta::assert_snapshot!(refused, @"key has shape (4, 7), expected (4, 8)");
        let refused =
            LayerPass::self_attend(&layer, &x, &Mask::FirstKeys(5)).unwrap_err();
        insta::assert_snapshot!(refused, @"the mask lets the first 5 keys be seen and there are only 4");
        let (two, one) = (Batch::new(2, x.clone()).unwrap(), Batch::new(1, x).unwrap());
        let refused = LayerPass::forward_batch(&layer, &two, &one, &two, &[Mask::None]);
        insta::assert_snapshot!(refused.unwrap_err(), @"key has 1 sequences, expected 2");
        let masks = [Mask::None, Mask::None, Mask::None];
        let refused = LayerPass::self_attend_batch(&layer, &two, &masks).unwrap_err();
        insta::assert_snapshot!(refused, @"the list of masks has 3 entries, expected 2");
    }
}
