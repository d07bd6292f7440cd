//! A mistake as data.

use serde::Serialize;

use crate::recipe::{Packing, Recipe};
use crate::step::Step;
use crate::{Intent, Record};

/// What a layer must have for a mistake to be possible in it.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum Need {
    /// W^Q, W^K and W^V in one tensor.
    Packed,
    /// The same, head by head.
    PackedByHeads,
    /// The same, and not head by head.
    PackedInBlocks,
    /// Rotary positions.
    Rotary,
    /// No rotary positions.
    NoRotary,
    /// Fewer heads of keys than of queries.
    SharedKeys,
    /// A bound of the scores.
    Cap,
    /// A causal mask.
    Causal,
    /// No causal mask.
    NoCausal,
    /// A mask of padding.
    Padding,
    /// A mask of queries and keys.
    Pairs,
    /// Any mask.
    Mask,
    /// A mask beside a causal one.
    GivenMask,
    /// A bias of W^Q, W^K or W^V.
    Bias,
    /// A bias of W^O.
    OutputBias,
    /// W^O.
    Output,
    /// Several sequences.
    Batch,
    /// Several heads.
    Heads,
    /// Keys from elsewhere than queries.
    Cross,
}

impl Need {
    /// Whether this layer has it.
    pub fn is_met(self, record: &Record, intent: &Intent) -> bool {
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
            Self::Cap => intent.cap.is_some(),
            Self::Causal => is_causal,
            Self::NoCausal => !is_causal,
            Self::Padding => masks.padding.is_some(),
            Self::Pairs => has_pairs,
            Self::GivenMask => masks.padding.is_some() || has_pairs,
            Self::Mask => is_causal || masks.padding.is_some() || has_pairs,
            Self::Bias => weights.projections.iter().any(|linear| linear.bias.is_some()),
            Self::OutputBias => {
                weights.output.as_ref().is_some_and(|linear| linear.bias.is_some())
            }
            Self::Output => weights.output.is_some(),
            Self::Batch => record.batch() > 1,
            Self::Heads => intent.n_heads > 1,
            Self::Cross => record.inputs[0] != record.inputs[1],
        }
    }
}

/// One step done otherwise than it was meant.
#[derive(Debug, Clone, Copy, Serialize)]
pub struct Mistake {
    /// Its name for programs: `merged-without-transpose`.
    pub id: &'static str,
    /// The step that is done otherwise.
    pub step: Step,
    /// Its name.
    pub name: &'static str,
    /// What it does.
    pub does: &'static str,
    /// Why it looks right.
    pub plausible: &'static str,
    /// The line to look for, in PyTorch's words.
    pub pytorch: &'static str,
    /// The same in JAX's words, where they differ.
    pub jax: Option<&'static str>,
    /// The same in candle's words, where they differ.
    pub candle: Option<&'static str>,
    /// The chapter about it: its file without the number.
    pub chapter: &'static str,
    /// The public report that it is from, or that is nearest to it.
    pub report: Option<&'static str>,
    #[serde(skip)]
    pub(crate) needs: &'static [Need],
    #[serde(skip)]
    pub(crate) change: fn(&mut Recipe),
}

impl Mistake {
    pub(crate) const fn new(
        id: &'static str,
        step: Step,
        name: &'static str,
        change: fn(&mut Recipe),
    ) -> Self {
        Self {
            id,
            step,
            name,
            does: "",
            plausible: "",
            pytorch: "",
            jax: None,
            candle: None,
            chapter: "",
            report: None,
            needs: &[],
            change,
        }
    }

    pub(crate) const fn does(mut self, does: &'static str) -> Self {
        self.does = does;
        self
    }

    pub(crate) const fn plausible(mut self, plausible: &'static str) -> Self {
        self.plausible = plausible;
        self
    }

    pub(crate) const fn pytorch(mut self, line: &'static str) -> Self {
        self.pytorch = line;
        self
    }

    pub(crate) const fn jax(mut self, line: &'static str) -> Self {
        self.jax = Some(line);
        self
    }

    pub(crate) const fn candle(mut self, line: &'static str) -> Self {
        self.candle = Some(line);
        self
    }

    pub(crate) const fn chapter(mut self, chapter: &'static str) -> Self {
        self.chapter = chapter;
        self
    }

    pub(crate) const fn report(mut self, report: &'static str) -> Self {
        self.report = Some(report);
        self
    }

    pub(crate) const fn needs(mut self, needs: &'static [Need]) -> Self {
        self.needs = needs;
        self
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

impl PartialEq for Mistake {
    fn eq(&self, other: &Self) -> bool {
        self.id == other.id
    }
}

impl Eq for Mistake {}
