//! A mistake as data.

use catalogue::LayerMistake;
use serde::ser::SerializeStruct;
use serde::{Serialize, Serializer};

use crate::recipe::{Packing, Recipe};
use crate::step::{State, Step};
use crate::{Intent, Record};

/// What a layer must have for a mistake to be possible in it.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub(crate) enum Need {
    Packed,
    PackedByHeads,
    PackedInBlocks,
    Rotary,
    NoRotary,
    SharedKeys,
    OwnScale,
    Cap,
    Causal,
    NoCausal,
    Padding,
    Pairs,
    Mask,
    GivenMask,
    Bias,
    OutputBias,
    Output,
    Batch,
    Heads,
    Cross,
    Norms,
    Window,
    Band,
    Slopes,
    Sinks,
    Offset,
    Cached,
    Listed,
    Map,
}

impl Need {
    /// Whether this layer has it.
    fn is_met(self, record: &Record, intent: &Intent) -> bool {
        let weights = &record.weights;
        let masks = &record.masks;
        let has_pairs = masks.pairs.is_some() || masks.added.is_some();
        let is_causal = intent.causal.is_some();
        match self {
            Self::Packed => weights.packed.is_some(),
            Self::PackedByHeads => {
                weights.packed.is_some() && intent.packing == Packing::HeadByHead
            }
            Self::PackedInBlocks => {
                weights.packed.is_some() && intent.packing != Packing::HeadByHead
            }
            Self::Rotary => intent.rotary.is_some(),
            Self::NoRotary => intent.rotary.is_none(),
            Self::SharedKeys => intent.n_kv_heads < intent.n_heads,
            Self::OwnScale => intent.scale.is_some_and(|scale| {
                let d_k = weights.projections[0].d_out() / intent.n_heads;
                (scale * (d_k as f64).sqrt() - 1.0).abs() > 1e-6
            }),
            Self::Cap => intent.cap.is_some(),
            Self::Causal => is_causal,
            Self::NoCausal => !is_causal,
            Self::Padding => masks.padding.is_some(),
            Self::Pairs => has_pairs,
            Self::GivenMask => masks.padding.is_some() || has_pairs,
            Self::Mask => {
                is_causal
                    || intent.window.is_some()
                    || masks.padding.is_some()
                    || has_pairs
            }
            Self::Bias => weights.projections.iter().any(|linear| linear.bias.is_some()),
            Self::OutputBias => {
                weights.output.as_ref().is_some_and(|linear| linear.bias.is_some())
            }
            Self::Output => weights.output.is_some(),
            Self::Batch => record.batch() > 1,
            Self::Heads => intent.n_heads > 1,
            Self::Cross => record.inputs[0] != record.inputs[1],
            Self::Norms => weights.norms.is_some(),
            Self::Window => intent.window.is_some(),
            Self::Band => intent.window.is_some() || masks.has_bands(),
            Self::Slopes => intent.slopes.is_some(),
            Self::Sinks => weights.sinks.is_some(),
            Self::Offset => {
                intent.positions.is_some() || intent.first_query(record.lengths()) != 0
            }
            Self::Cached => intent.first_query(record.lengths()) > 0,
            Self::Listed => intent.positions.is_some(),
            Self::Map => record.tensors.contains_key(&State::Attn),
        }
    }
}

/// One step done otherwise than it was meant. What is said of it stands in the catalogue.
#[derive(Debug, Clone, Copy)]
pub struct Mistake {
    /// Its name for programs: `merged-without-transpose`.
    pub id: &'static str,
    /// The step that is done otherwise.
    pub step: Step,
    pub(crate) needs: &'static [Need],
    /// Whether it is tried alone, and never with another: what is rare, since each pair takes
    /// time.
    pub(crate) is_alone: bool,
    pub(crate) change: fn(&mut Recipe),
}

impl Mistake {
    /// What is said of it.
    ///
    /// # Panics
    /// If the catalogue does not know it: a test sees that it knows all of the bank.
    pub fn entry(&self) -> &'static LayerMistake {
        catalogue::layer_mistake(self.id).expect("the catalogue knows every mistake")
    }

    /// Several by their names.
    pub fn names(mistakes: &[&Self]) -> String {
        let names: Vec<&str> =
            mistakes.iter().map(|it| it.entry().name.as_str()).collect();
        names.join(", and ")
    }

    /// Whether it is possible in this layer.
    pub fn is_possible(&self, record: &Record, intent: &Intent) -> bool {
        self.needs.iter().all(|need| need.is_met(record, intent))
    }

    /// The recipe with this mistake.
    pub fn applied(&self, recipe: Recipe) -> Recipe {
        let mut recipe = recipe;
        (self.change)(&mut recipe);
        recipe
    }
}

/// With all that is said of it.
impl Serialize for Mistake {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        let entry = self.entry();
        let mut fields = serializer.serialize_struct("Mistake", 10)?;
        fields.serialize_field("id", self.id)?;
        fields.serialize_field("step", &self.step)?;
        fields.serialize_field("name", &entry.name)?;
        fields.serialize_field("does", &entry.does)?;
        fields.serialize_field("plausible", &entry.looks_right)?;
        fields.serialize_field("pytorch", &entry.pytorch)?;
        fields.serialize_field("jax", &entry.jax)?;
        fields.serialize_field("candle", &entry.candle)?;
        fields.serialize_field("chapter", &entry.chapter)?;
        fields.serialize_field("report", &entry.report)?;
        fields.end()
    }
}

impl PartialEq for Mistake {
    fn eq(&self, other: &Self) -> bool {
        self.id == other.id
    }
}

impl Eq for Mistake {}
