//! The last rung as a stage: what a whole model can have as its attention.

use std::sync::{Mutex, PoisonError};

use attention::{
    Attended, Dims, LayerParameters, Mask, Matrix, MultiHeadAttention, ParameterCount,
    Result,
};

use crate::{Inputs, Packed, Rung};

/// [`Packed`] under the trait that every stage meets.
///
/// A rung keeps memory between calls and a stage is only looked at, so calls of one layer
/// wait for each other.
///
/// ```
/// use attention::{Dims, LayerParameters, Mask, MultiHeadAttention, Rng, SeedableRng};
/// use kernels::PackedStage;
///
/// let rng = &mut Rng::seed_from_u64(1);
/// let parameters = LayerParameters::random(Dims::new(8, 2)?, true, rng);
/// let x = attention::random_matrix(5, 8, 1.0, rng);
/// let with_maps = PackedStage::new(&parameters).self_attend(&x, &Mask::None)?;
/// let without = PackedStage::without_maps(&parameters).self_attend(&x, &Mask::None)?;
/// assert_eq!((with_maps.attn.len(), without.attn.len()), (2, 0));
/// assert_eq!(with_maps.out, without.out);
/// # Ok::<(), attention::Error>(())
/// ```
#[derive(Debug)]
pub struct PackedStage {
    layer: Mutex<Packed>,
    makes_maps: bool,
}

impl PackedStage {
    /// A layer that gives maps, as every stage does.
    pub fn new(parameters: &LayerParameters<f32>) -> Self {
        Self { layer: Mutex::new(Packed::new(parameters)), makes_maps: true }
    }

    /// A layer whose results have no maps, which it then need not make.
    pub fn without_maps(parameters: &LayerParameters<f32>) -> Self {
        Self { makes_maps: false, ..Self::new(parameters) }
    }

    /// Memory that a panic left behind is written anew by the next pass.
    fn with_layer<R>(&self, f: impl FnOnce(&mut Packed) -> R) -> R {
        f(&mut self.layer.lock().unwrap_or_else(PoisonError::into_inner))
    }

    fn run(&self, inputs: &Inputs<'_>) -> Result<Attended<f32>> {
        let mut out = Matrix::zeros(inputs.query().nrows(), self.dims().d_model());
        let attn = self.with_layer(|layer| {
            if self.makes_maps {
                let maps = layer.forward_with_maps(inputs, &mut out)?;
                Ok(maps.into_iter().flatten().collect())
            } else {
                layer.forward(inputs, &mut out).map(|()| Vec::new())
            }
        })?;
        Ok(Attended { out, attn })
    }
}

impl MultiHeadAttention<f32> for PackedStage {
    fn name(&self) -> &'static str {
        "packed"
    }

    fn dims(&self) -> Dims {
        self.with_layer(|layer| layer.dims())
    }

    fn parameter_count(&self) -> ParameterCount {
        self.with_layer(|layer| layer.parameters.count())
    }

    fn forward(
        &self,
        query: &Matrix<f32>,
        key: &Matrix<f32>,
        value: &Matrix<f32>,
        mask: &Mask,
    ) -> Result<Attended<f32>> {
        let masks = std::slice::from_ref(mask);
        self.run(&Inputs::cross_attention(1, query, key, value, masks))
    }

    fn self_attend(&self, x: &Matrix<f32>, mask: &Mask) -> Result<Attended<f32>> {
        self.run(&Inputs::self_attention(1, x, std::slice::from_ref(mask)))
    }
}
