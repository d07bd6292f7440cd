//! A mistake as data.

use catalogue::LayerMistake;
use serde::ser::SerializeStruct;
use serde::{Serialize, Serializer};

use crate::recipe::{Packing, Recipe};
use crate::step::{State, Step};
use crate::{Intent, Record};

macro_rules! needs {
    (|$record:ident, $intent:ident| $($need:ident: $is_met:expr;)*) => {
        /// What a layer must have for a mistake to be possible in it.
        #[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
        pub(crate) enum Need {
            $($need,)*
        }

        impl Need {
            /// Whether this layer has it.
            fn is_met(self, $record: &Record, $intent: &Intent) -> bool {
                match self {
                    $(Self::$need => $is_met,)*
                }
            }
        }
    };
}

needs! { |record, intent|
    Packed: record.weights.packed.is_some();
    PackedByHeads: Need::Packed.is_met(record, intent) && intent.packing == Packing::HeadByHead;
    PackedInBlocks: Need::Packed.is_met(record, intent) && intent.packing != Packing::HeadByHead;
    Bias: record.weights.projections.iter().any(|linear| linear.bias.is_some());
    Output: record.weights.output.is_some();
    OutputBias: record.weights.output.as_ref().is_some_and(|linear| linear.bias.is_some());
    Batch: record.batch() > 1;
    Heads: intent.n_heads > 1;
    SharedKeys: intent.n_kv_heads < intent.n_heads;
    Cross: record.inputs[0] != record.inputs[1];
    Norms: record.weights.norms.is_some();
    Rotary: intent.rotary.is_some();
    NoRotary: intent.rotary.is_none();
    Offset: intent.positions.is_some() || intent.first_query(record.lengths()) != 0;
    Cached: intent.first_query(record.lengths()) > 0;
    Listed: intent.positions.is_some();
    OwnScale: intent.scale.is_some_and(|scale| {
        let d_k = record.weights.projections[0].d_out() / intent.n_heads;
        (scale * (d_k as f64).sqrt() - 1.0).abs() > 1e-6
    });
    Cap: intent.cap.is_some();
    Slopes: intent.slopes.is_some();
    Causal: intent.causal.is_some();
    NoCausal: intent.causal.is_none();
    Window: intent.window.is_some();
    Band: intent.window.is_some() || record.masks.has_bands();
    Padding: record.masks.padding.is_some();
    Pairs: record.masks.pairs.is_some() || record.masks.added.is_some();
    GivenMask: !record.masks.is_empty();
    Mask: !record.masks.is_empty() || intent.causal.is_some() || intent.window.is_some();
    Sinks: record.weights.sinks.is_some();
    Map: record.tensors.contains_key(&State::Attn);
}

/// Mistakes that a layer has together, in the order of the steps.
pub type Mistakes = Vec<&'static Mistake>;

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
        let names: Vec<_> = mistakes.iter().map(|it| it.entry().name.as_str()).collect();
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

impl Recipe {
    /// Everything as it was meant but for these mistakes.
    pub fn with(mistakes: &[&Mistake]) -> Self {
        mistakes.iter().fold(Self::RIGHT, |recipe, it| it.applied(recipe))
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
