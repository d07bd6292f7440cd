//! A pass that keeps what its heads put out.

use attention::{Attended, Mask, Matrix, Real};
use block::Layers;
use variants::{VariantAttention, attended};

use crate::Result;
use crate::decoders::decoder::AsRead;

/// A pass over a text, with what every head put out.
#[derive(Debug, Clone, PartialEq)]
pub struct Pass<T: Real = f64> {
    /// The text.
    pub ids: Vec<usize>,
    /// Hidden states and maps, as [`Decoder::forward`](crate::decoders::Decoder::forward) gives them.
    pub layers: Layers<T>,
    /// The outputs of a layer's heads side by side, before W^O: `concats[l]` is
    /// `[n_tokens, h · d_v]`, and head i is its columns i · d_v to (i + 1) · d_v.
    pub concats: Vec<Matrix<T>>,
}

impl<T: Real> AsRead<T> {
    /// A pass over a text.
    ///
    /// # Shapes and errors
    /// As [`Decoder::forward`](crate::decoders::Decoder::forward).
    pub fn pass(&self, ids: &[usize]) -> Result<Pass<T>> {
        let start = Layers::new(self.embedding.forward(ids, 0)?);
        let mut concats = Vec::with_capacity(self.blocks.len());
        let layers = self.go_on_with(start, |_, concat| concats.push(concat.clone()))?;
        Ok(Pass { ids: ids.to_vec(), layers, concats })
    }

    /// The layers that are left after some; `change` may change what the heads of each put
    /// out, before W^O reads it.
    pub(crate) fn go_on_with(
        &self,
        before: Layers<T>,
        mut change: impl FnMut(usize, &mut Matrix<T>),
    ) -> Result<Layers<T>> {
        self.go_on(before, |layer, attention: &VariantAttention<T>, x| {
            let heads = attention.steps(x, x, x, &Mask::Causal)?;
            let Attended { out: mut concat, attn } = attended(heads);
            change(layer, &mut concat);
            Ok(Attended { out: attention.projections()[3].forward(&concat)?, attn })
        })
    }
}
