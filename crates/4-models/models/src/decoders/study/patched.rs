//! A pass that goes on from the middle of another, and heads that read from another.

use attention::{Attended, Mask, MultiHeadAttention, Real};
use block::Layers;
use variants::attended;

use super::HeadOfLayer;
use crate::Result;
use crate::decoders::decoder::AsRead;
use crate::head::lowest_layer;

/// One of the three things that a head reads tokens for.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Input {
    /// What it looks for.
    Queries,
    /// What it is found by.
    Keys,
    /// What it hands on.
    Values,
}

impl<T: Real> AsRead<T> {
    /// A pass that is another one up to block `first`: all that comes before, this model has
    /// in common with the one that `before` is a pass of.
    ///
    /// # Shapes
    /// As [`forward`](crate::decoders::Decoder::forward).
    ///
    /// # Errors
    /// [`Error::Sizes`](crate::Error::Sizes) for a pass of another number of layers.
    pub fn resumed(&self, before: &Layers<T>, first: usize) -> Result<Layers<T>> {
        let before = self.up_to(before, first)?;
        if first >= self.blocks.len() {
            return Ok(before);
        }
        self.go_on(before, |_, attention, x| attention.self_attend(x, &Mask::Causal))
    }

    /// Path patching: a pass in which some heads, and they alone, read one of their inputs
    /// from another pass over the same tokens. `whole` is this model's own pass.
    ///
    /// If the other pass is one without some heads, their work is missing on the paths that
    /// end in this input of these heads, and on no others.
    ///
    /// # Shapes
    /// As [`forward`](crate::decoders::Decoder::forward).
    ///
    /// # Errors
    /// [`Error::Sizes`](crate::Error::Sizes) for passes of another model, or for a head
    /// that is not there.
    ///
    /// # Source
    /// Wang et al. 2022, "Interpretability in the Wild", section 3.1. Differs: their sender
    /// reaches the receiver past all other attention heads; here by any way.
    // ANCHOR: patched
    pub fn patched(
        &self,
        whole: &Layers<T>,
        heads: &[HeadOfLayer],
        input: Input,
        other: &Layers<T>,
    ) -> Result<Layers<T>> {
        let first = self.lowest_layer(heads)?;
        self.up_to(other, 0)?;
        let before = self.up_to(whole, first)?;
        if heads.is_empty() {
            return Ok(before);
        }
        self.go_on(before, |layer, attention, x| {
            let mut passes = attention.steps(x, x, x, &Mask::Causal)?;
            let of_layer: Vec<usize> =
                heads.iter().filter(|(of, _)| *of == layer).map(|(_, i)| *i).collect();
            if !of_layer.is_empty() {
                let norm = &self.blocks[layer].attention.norms.before;
                let there = &other.hidden[layer];
                let normed = norm.as_ref().map(|norm| norm.forward(there)).transpose()?;
                let there = normed.as_ref().unwrap_or(there);
                let [q, k, v] = match input {
                    Input::Queries => [there, x, x],
                    Input::Keys => [x, there, x],
                    Input::Values => [x, x, there],
                };
                let from_there = attention.steps(q, k, v, &Mask::Causal)?;
                of_layer.iter().for_each(|&i| passes[i] = from_there[i].clone());
            }
            let Attended { out, attn } = attended(passes);
            Ok(Attended { out: attention.projections()[3].forward(&out)?, attn })
        })
    }
    // ANCHOR_END: patched

    /// The layers of a pass that come before block `first`.
    pub(super) fn up_to(&self, pass: &Layers<T>, first: usize) -> Result<Layers<T>> {
        self.expect_whole(pass)?;
        Ok(if first < self.blocks.len() { pass.up_to(first) } else { pass.clone() })
    }

    /// Refuses a pass of another number of layers.
    pub(crate) fn expect_whole(&self, pass: &Layers<T>) -> attention::Result<()> {
        let (what, expected) = ("the list of hidden states", self.blocks.len() + 1);
        attention::Error::expect_length(what, expected, pass.hidden.len())
    }

    /// As [`lowest_layer`], in this model.
    pub(super) fn lowest_layer(&self, heads: &[HeadOfLayer]) -> Result<usize> {
        Ok(lowest_layer(heads, [self.blocks.len(), self.config.dims().n_heads()])?)
    }
}
