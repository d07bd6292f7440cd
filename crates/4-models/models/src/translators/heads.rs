//! Heads by name, and a model without some of them.

use std::fmt;

use crate::decoders::study::ablated_layer;
use attention::Real;
use variants::VariantAttention;

use crate::Result;
use crate::translators::translator::AsRead;

/// Which of the three kinds of attention a head belongs to.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub enum Part {
    /// The source, every token reading every other.
    Source,
    /// What is written, each token reading those before it.
    Written,
    /// From what is written to the source.
    Cross,
}

impl Part {
    /// All, in the order in which a model computes them.
    pub const ALL: [Self; 3] = [Self::Source, Self::Written, Self::Cross];

    /// Its name.
    pub fn name(self) -> &'static str {
        match self {
            Self::Source => "source",
            Self::Written => "written",
            Self::Cross => "cross",
        }
    }
}

/// A head: its part, its layer and its number there, from 0. `cross 1.3` is its name.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub struct Head {
    /// Whose it is.
    pub part: Part,
    /// Of the encoder's layers for [`Part::Source`], and else of the decoder's.
    pub layer: usize,
    /// Which one there.
    pub head: usize,
}

impl Head {
    /// The head of a name.
    pub fn named(name: &str) -> Option<Self> {
        let (part, numbers) = name.trim().split_once(' ')?;
        let part = Part::ALL.into_iter().find(|it| it.name() == part)?;
        let (layer, head) = numbers.split_once('.')?;
        Some(Self { part, layer: layer.parse().ok()?, head: head.parse().ok()? })
    }
}

impl fmt::Display for Head {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{} {}.{}", self.part.name(), self.layer, self.head)
    }
}

/// Layers as they were with all heads.
#[derive(Debug, Clone, PartialEq)]
pub struct Whole<T: Real = f64>(Vec<(Part, usize, VariantAttention<T>)>);

impl<T: Real> Default for Whole<T> {
    fn default() -> Self {
        Self(Vec::new())
    }
}

impl<T: Real> AsRead<T> {
    /// Makes some heads put out zeros: their part of W^O is zeros from now on. Gives the
    /// layers as they were, for [`put_back`](Self::put_back).
    ///
    /// # Errors
    /// [`Error::Sizes`](crate::Error::Sizes) for a layer or a head that is not there; the
    /// model is then as it was.
    pub fn ablate(&mut self, heads: &[Head]) -> Result<Whole<T>> {
        let mut places: Vec<_> = heads.iter().map(|it| (it.part, it.layer)).collect();
        places.sort_unstable();
        places.dedup();
        let mut less = Vec::new();
        for (part, layer) in places {
            let n = self.n_layers(part);
            let missing =
                attention::Error::NoSuchIndex { what: "layer", index: layer, n };
            let attention = self.attention(part, layer).ok_or(missing)?;
            let here = heads.iter().filter(|it| (it.part, it.layer) == (part, layer));
            let here: Vec<_> = here.map(|it| (it.head, None)).collect();
            for &(head, _) in &here {
                attention::Error::expect_index(
                    "head",
                    head,
                    attention.sizes().dims.n_heads(),
                )?;
            }
            less.push((part, layer, ablated_layer(attention, &here)?));
        }
        Ok(self.exchange(less))
    }

    /// Puts layers back as they were.
    pub fn put_back(&mut self, whole: Whole<T>) {
        self.exchange(whole.0);
    }

    fn exchange(&mut self, layers: Vec<(Part, usize, VariantAttention<T>)>) -> Whole<T> {
        let mut before = Vec::new();
        for (part, layer, other) in layers {
            if let Some(attention) = self.attention(part, layer) {
                before.push((part, layer, std::mem::replace(attention, other)));
            }
        }
        Whole(before)
    }

    fn n_layers(&self, part: Part) -> usize {
        match part {
            Part::Source => self.encoder.blocks.len(),
            Part::Written | Part::Cross => self.decoder.blocks.len(),
        }
    }

    fn attention(
        &mut self,
        part: Part,
        layer: usize,
    ) -> Option<&mut VariantAttention<T>> {
        let side = match part {
            Part::Source => &mut self.encoder,
            Part::Written | Part::Cross => &mut self.decoder,
        };
        let block = side.blocks.get_mut(layer)?;
        match part {
            Part::Cross => block.cross.as_mut().map(|cross| &mut cross.function),
            _ => Some(&mut block.attention.function),
        }
    }
}
