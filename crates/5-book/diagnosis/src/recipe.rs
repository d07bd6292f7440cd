//! A layer as a recipe: one choice for each step.

#![allow(missing_docs)] // a choice without a word is what its name says

mod before_scores;
mod from_scores;
mod kinds;

pub use before_scores::{
    Activation, Axes, Packing, Product, Projection, Role, Rotary, Sharing, Split,
};
pub use from_scores::{
    Addition, Cap, Causal, Fill, Masking, Merge, Mixing, MixingProduct, Scale,
    Similarity, Softmax, Values,
};
pub use kinds::{Norms, Sinks, Slopes, Window};

use crate::step::State;

macro_rules! recipe {
    ($($(#[$doc:meta])* $choice:ident: $kind:ty = $meant:expr,)*) => {
        /// What is done at each step of a layer. [`Recipe::RIGHT`] does what was meant; a
        /// [`Mistake`](crate::Mistake) changes a choice.
        ///
        /// The choices stand in the order of the steps, so a tensor of the layer depends on those
        /// before it alone ([`Recipe::before`]).
        #[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
        pub struct Recipe {
            $($(#[$doc])* pub $choice: $kind,)*
        }

        impl Recipe {
            /// Everything as it was meant.
            pub const RIGHT: Self = Self { $($choice: $meant),* };
        }
    };
}

recipe! {
    /// Which axis of the input the sequences lie along.
    axes: Axes = Axes::Meant,
    /// How the columns of a packed W are given to q, k and v.
    packing: Packing = Packing::Meant,
    /// The projections to q, k and v.
    projections: [Projection; 3] = Projection::RIGHT,
    /// What is done to what a projection gives.
    activation: Activation = Activation::None,
    /// How q, k and v become heads.
    split: Split = Split::Meant,
    /// How queries and keys are normed.
    norms: Norms = Norms::Meant,
    /// How positions rotate queries and keys.
    rotary: Rotary = Rotary::Meant,
    /// Which keys and values a query head reads, where there are fewer of them.
    sharing: Sharing = Sharing::Meant,
    /// How a query is compared with a key.
    similarity: Similarity = Similarity::Product,
    /// What scores are divided by.
    scale: Scale = Scale::Meant,
    /// How scores are bounded.
    cap: Cap = Cap::Meant,
    /// What is added to scores by distance.
    slopes: Slopes = Slopes::Meant,
    /// Which keys a causal mask leaves.
    causal: Causal = Causal::Meant,
    /// Which keys a window leaves.
    window: Window = Window::Meant,
    /// How a padding mask is put on.
    padding: Masking = Masking::Meant,
    /// How a mask of queries and keys is put on.
    pairs: Masking = Masking::Meant,
    /// What becomes of the scores of blocked keys.
    fill: Fill = Fill::MinusInfinity,
    /// What becomes of sinks.
    sinks: Sinks = Sinks::Meant,
    /// What makes attention weights of scores.
    softmax: Softmax = Softmax::OverKeys,
    /// How many keys, or columns of a head, are a tile, where that shows; 0 is the largest
    /// power of 2 that leaves more than one tile.
    tile: usize = 0,
    /// What the attention weights average.
    values: Values = Values::Average,
    /// How heads are put side by side.
    merge: Merge = Merge::Meant,
    /// The projection of the merged heads.
    mixing: Mixing = Mixing::RIGHT,
    /// What is done with the output.
    addition: Addition = Addition::Nothing,
}

impl Recipe {
    /// The same with every choice forgotten that a tensor does not depend on: two recipes
    /// with one of these compute the same tensor.
    pub fn before(&self, state: State) -> Self {
        let [q, k, v] = self.projections;
        let [no_q, no_k, no_v] = Projection::RIGHT;
        let Self { axes, packing, activation, split, norms, rotary, sharing, .. } = *self;
        let activation = activation.of_projections();
        let flat = Self { axes, packing, activation, ..Self::RIGHT };
        let heads = Self { split, norms, rotary, sharing, ..flat };
        let scores = Self { similarity: self.similarity, scale: self.scale, ..heads };
        let attn = Self {
            activation,
            values: Values::Average,
            merge: Merge::Meant,
            mixing: Mixing::RIGHT,
            addition: Addition::Nothing,
            ..*self
        };
        let of = |projections, rest: Self| Self { projections, ..rest };
        match state {
            State::Query => of([q, no_k, no_v], flat),
            State::Key => of([no_q, k, no_v], flat),
            State::Value => of([no_q, no_k, v], flat),
            State::HeadQuery => {
                of([q, no_k, no_v], Self { sharing: Sharing::Meant, ..heads })
            }
            State::HeadKey => of([no_q, k, no_v], heads),
            State::HeadValue => {
                of([no_q, no_k, v], Self { norms: Norms::Meant, ..heads })
            }
            State::Scores => of([q, k, no_v], Self { cap: self.cap, ..scores }),
            State::Attn => of([q, k, no_v], attn),
            State::Heads => Self { values: self.values, ..of([q, k, v], attn) },
            State::Concat => {
                Self { values: self.values, merge: self.merge, ..of([q, k, v], attn) }
            }
            State::Output => *self,
        }
    }

    /// Whether a sequence's numbers depend on those of others.
    pub fn mixes_sequences(&self) -> bool {
        self.axes == Axes::Exchanged
            || self.softmax == Softmax::OverBatch
            || self.merge == Merge::HeadsBeforeBatch
    }

    /// Whether it depends on how many keys or columns are a tile.
    pub(crate) fn is_tiled(&self) -> bool {
        let is_softmax = matches!(
            self.softmax,
            Softmax::ZeroFilled
                | Softmax::SumNotRescaled
                | Softmax::OutputNotRescaled
                | Softmax::OutputDivided
        );
        let is_mask = matches!(self.fill, Fill::LastTileToo | Fill::FirstTileAlone);
        is_softmax || is_mask || self.values == Values::FirstTile
    }

    /// Whether a row of the output depends on one row of the heads' queries alone, so that
    /// a few rows can be computed without the others.
    pub(crate) fn keeps_rows(&self) -> bool {
        let softmax = !matches!(self.softmax, Softmax::OverQueries | Softmax::OverMap);
        let merge = !matches!(self.merge, Merge::View | Merge::WrongAxes);
        let scores = self.similarity != Similarity::Transposed;
        let split = self.split != Split::AcrossHeads;
        let values = matches!(self.values, Values::Average | Values::FirstTile);
        self.axes == Axes::Meant && softmax && merge && scores && split && values
    }
}
