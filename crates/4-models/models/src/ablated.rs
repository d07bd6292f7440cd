//! Models without some of their heads, and with all of them again.

#[cfg(feature = "fast")]
use ablation::HeadOfLayer;
use attention::{Real, RowVector};
use variants::VariantAttention;

use crate::decoders::study::ablated_layer;
use crate::head::{Head, Part};
use crate::{Error, Result, decoders, translators};

/// A model whose layers of attention can be exchanged.
pub trait Attentions<T: Real> {
    /// How many layers there are of a part of the model.
    ///
    /// # Errors
    /// [`Error::HeadName`] and [`Error::PartName`] for a part that it has not: that of this
    /// head.
    fn n_layers(&self, head: Head) -> Result<usize>;

    /// The layer of a head, if it is there.
    fn attention(&mut self, head: Head) -> Option<&mut VariantAttention<T>>;
}

impl<T: Real> Attentions<T> for decoders::AsRead<T> {
    fn n_layers(&self, head: Head) -> Result<usize> {
        expect_no_part(head)?;
        Ok(self.blocks.len())
    }

    fn attention(&mut self, head: Head) -> Option<&mut VariantAttention<T>> {
        Some(&mut self.blocks.get_mut(head.layer)?.attention.function)
    }
}

impl<T: Real> Attentions<T> for translators::AsRead<T> {
    fn n_layers(&self, head: Head) -> Result<usize> {
        match head.part {
            Some(Part::Source) => Ok(self.encoder.blocks.len()),
            Some(Part::Written | Part::Cross) => Ok(self.decoder.blocks.len()),
            None => Err(Error::PartName { name: head.to_string() }),
        }
    }

    fn attention(&mut self, head: Head) -> Option<&mut VariantAttention<T>> {
        let side = match head.part? {
            Part::Source => &mut self.encoder,
            Part::Written | Part::Cross => &mut self.decoder,
        };
        let block = side.blocks.get_mut(head.layer)?;
        match head.part {
            Some(Part::Cross) => block.cross.as_mut().map(|cross| &mut cross.function),
            _ => Some(&mut block.attention.function),
        }
    }
}

/// The places of heads in a model with one stack of layers.
#[cfg(feature = "fast")]
pub(crate) fn places(heads: &[Head]) -> Result<Vec<HeadOfLayer>> {
    let place = |&head: &Head| expect_no_part(head).map(|()| head.place());
    heads.iter().map(place).collect()
}

fn expect_no_part(head: Head) -> Result<()> {
    match head.part {
        None => Ok(()),
        Some(_) => Err(Error::HeadName { name: head.to_string() }),
    }
}

/// Layers as they were with all heads, each by one of its heads.
#[derive(Debug, Clone, PartialEq)]
pub struct Whole<T: Real = f64>(Vec<(Head, VariantAttention<T>)>);

impl<T: Real> Default for Whole<T> {
    fn default() -> Self {
        Self(Vec::new())
    }
}

impl<T: Real> Whole<T> {
    /// Puts the layers back.
    pub fn put_back(self, model: &mut impl Attentions<T>) {
        exchange(model, self.0);
    }

    /// Makes these heads put out zeros, and all others what they did before.
    pub(crate) fn switch_off(
        &mut self,
        model: &mut impl Attentions<T>,
        heads: &[Head],
    ) -> Result<()> {
        std::mem::take(self).put_back(model);
        *self = ablate(model, heads, |_| None)?;
        Ok(())
    }
}

/// Makes some heads put out the same for every token from now on: zeros, or their means, which
/// are `[d_v]` each. Gives the layers as they were.
///
/// # Errors
/// [`Error::Sizes`] for a layer or a head that is not there; as [`Attentions::n_layers`]; the
/// model is then as it was.
pub fn ablate<T: Real>(
    model: &mut impl Attentions<T>,
    heads: &[Head],
    mean: impl Fn(Head) -> Option<RowVector<T>>,
) -> Result<Whole<T>> {
    heads.iter().try_for_each(|&head| model.n_layers(head).map(drop))?;
    let mut layers: Vec<_> = heads.iter().map(|&it| Head { head: 0, ..it }).collect();
    layers.sort_unstable();
    layers.dedup();
    let mut less = Vec::new();
    for layer in layers {
        let (index, n) = (layer.layer, model.n_layers(layer)?);
        let missing = attention::Error::NoSuchIndex { what: "layer", index, n };
        let attention = model.attention(layer).ok_or(missing)?;
        let here = heads.iter().filter(|&&it| Head { head: 0, ..it } == layer);
        let here: Vec<_> = here.map(|&it| (it.head, mean(it))).collect();
        for &(head, _) in &here {
            let n_heads = attention.sizes().dims.n_heads();
            attention::Error::expect_index("head", head, n_heads)?;
        }
        less.push((layer, ablated_layer(attention, &here)?));
    }
    Ok(Whole(exchange(model, less)))
}

/// Layers that replace others, which are given back.
fn exchange<T: Real>(
    model: &mut impl Attentions<T>,
    layers: Vec<(Head, VariantAttention<T>)>,
) -> Vec<(Head, VariantAttention<T>)> {
    let each = layers.into_iter().filter_map(|(layer, other)| {
        let attention = model.attention(layer)?;
        Some((layer, std::mem::replace(attention, other)))
    });
    each.collect()
}
