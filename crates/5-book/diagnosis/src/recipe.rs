//! A layer as a recipe: one choice for each step.

#![allow(missing_docs)] // a choice without a word is what its type says

pub use crate::bank::heads::{Norms, Rotary, Sharing, Split};
pub use crate::bank::masks::{Causal, Fill, Masking, Window};
pub use crate::bank::outputs::{Addition, Merge, Mixing};
pub use crate::bank::projections::{Axes, Packing, Product, Projection, Role};
pub use crate::bank::scores::{Cap, Scale, Similarity, Sinks, Slopes, Softmax, Values};
use crate::step::State;

macro_rules! recipe {
    ($($(#[$doc:meta])* $choice:ident: $kind:ty = $meant:expr, from $first:ident;)*) => {
        /// What is done at each step of a layer. [`Recipe::RIGHT`] does what was meant; a
        /// [`Mistake`](crate::Mistake) changes a choice.
        #[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
        pub struct Recipe {
            $($(#[$doc])* pub $choice: $kind,)*
        }

        impl Recipe {
            /// Everything as it was meant.
            pub const RIGHT: Self = Self { $($choice: $meant),* };

            /// Everything as it was meant from the step on that makes this tensor.
            fn until(mut self, state: State) -> Self {
                $(if state < State::$first {
                    self.$choice = Self::RIGHT.$choice;
                })*
                self
            }
        }
    };
}

// In the order of the steps, each with the first tensor that depends on it.
recipe! {
    axes: Axes = Axes::Meant, from Query;
    packing: Packing = Packing::Meant, from Query;
    /// Those of q, k and v.
    projections: [Projection; 3] = Projection::RIGHT, from Query;
    /// Whether there is a ReLU on them.
    relu: bool = false, from Query;
    split: Split = Split::Meant, from HeadQuery;
    norms: Norms = Norms::Meant, from HeadQuery;
    rotary: Rotary = Rotary::Meant, from HeadQuery;
    sharing: Sharing = Sharing::Meant, from HeadQuery;
    similarity: Similarity = Similarity::Product, from Scores;
    scale: Scale = Scale::Meant, from Scores;
    cap: Cap = Cap::Meant, from Scores;
    slopes: Slopes = Slopes::Meant, from Attn;
    causal: Causal = Causal::Meant, from Attn;
    window: Window = Window::Meant, from Attn;
    /// How a padding mask is put on.
    padding: Masking = Masking::Meant, from Attn;
    /// How a mask of queries and keys is put on.
    pairs: Masking = Masking::Meant, from Attn;
    fill: Fill = Fill::MinusInfinity, from Attn;
    sinks: Sinks = Sinks::Meant, from Attn;
    softmax: Softmax = Softmax::OverKeys, from Attn;
    /// How many keys, or columns of a head, are a tile, where that shows; 0 is the largest
    /// power of 2 that leaves more than one tile.
    tile: usize = 0, from Attn;
    values: Values = Values::Average, from Heads;
    merge: Merge = Merge::Meant, from Concat;
    mixing: Mixing = Mixing::RIGHT, from Output;
    /// Whether there is a ReLU on the output.
    relu_on_output: bool = false, from Output;
    addition: Addition = Addition::Nothing, from Output;
}

impl Recipe {
    /// The same with every choice forgotten that a tensor does not depend on: two recipes
    /// with one of these compute the same tensor.
    pub fn before(&self, state: State) -> Self {
        let mut recipe = self.until(state);
        let roles = match state {
            State::Query | State::HeadQuery => 0..1,
            State::Key | State::HeadKey => 1..2,
            State::Value | State::HeadValue => 2..3,
            State::Scores | State::Attn => 0..2,
            State::Heads | State::Concat | State::Output => 0..3,
        };
        for other in (0..3).filter(|role| !roles.contains(role)) {
            recipe.projections[other] = Projection::RIGHT[other];
        }
        match state {
            State::HeadQuery => recipe.sharing = Sharing::Meant,
            State::HeadValue => recipe.norms = Norms::Meant,
            _ => (),
        }
        recipe
    }

    pub(crate) fn inputs(&mut self, of_key: Role, of_value: Role) {
        (self.projections[1].input, self.projections[2].input) = (of_key, of_value);
    }

    pub(crate) fn weights(&mut self, roles: [(usize, Role); 2]) {
        roles.into_iter().for_each(|(at, role)| self.projections[at].weight = role);
    }

    pub(crate) fn all_products(&mut self, product: Product) {
        self.projections.iter_mut().for_each(|it| it.product = product);
    }

    pub(crate) fn all_biases(&mut self, times: u8) {
        self.projections.iter_mut().for_each(|it| it.bias = times);
    }

    pub(crate) fn all_masks(&mut self, masking: Masking) {
        (self.padding, self.pairs) = (masking, masking);
    }

    /// Whether a sequence's numbers depend on those of others.
    pub fn mixes_sequences(&self) -> bool {
        self.axes == Axes::Exchanged
            || self.softmax == Softmax::OverBatch
            || self.merge == Merge::HeadsBeforeBatch
    }

    /// Whether it depends on how many keys or columns are a tile.
    pub(crate) fn is_tiled(&self) -> bool {
        use Softmax::{OutputDivided, OutputNotRescaled, SumNotRescaled, ZeroFilled};
        matches!(
            self.softmax,
            ZeroFilled | SumNotRescaled | OutputNotRescaled | OutputDivided
        ) || matches!(self.fill, Fill::LastTileToo | Fill::FirstTileAlone)
            || self.values == Values::FirstTile
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
