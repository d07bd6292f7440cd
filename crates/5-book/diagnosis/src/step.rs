//! The steps of a layer, and the tensors that they make.

use serde::{Serialize, Serializer};

/// An enum, and beside each variant what it is called.
macro_rules! named {
    ($(#[$of_all:meta])* $all:ident { $($(#[$of_one:meta])* $one:ident = $name:literal,)* }) => {
        $(#[$of_all])*
        #[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
        pub enum $all {
            $($(#[$of_one])* $one,)*
        }

        impl $all {
            /// All of them, in order.
            pub const ALL: &[Self] = &[$(Self::$one),*];

            /// What it is called.
            pub fn name(self) -> &'static str {
                match self {
                    $(Self::$one => $name,)*
                }
            }
        }
    };
}

pub(crate) use named;

named! {
    /// A step of a layer, in order.
    #[derive(Serialize)]
    #[serde(rename_all = "kebab-case")]
    Step {
        /// Which axis is which, and which input is which.
        Inputs = "inputs",
        /// Which columns of a packed W are whose.
        Packing = "packing",
        /// q, k and v, with their biases.
        Projections = "projections",
        /// From q, k and v to heads.
        Split = "split into heads",
        /// Norms of queries and keys.
        Norms = "norms of queries and keys",
        /// Rotary positions.
        Positions = "rotary positions",
        /// Key heads that query heads share.
        Sharing = "shared keys",
        /// Queries compared with keys.
        Scores = "scores",
        /// What scores are divided by.
        Scale = "scale",
        /// The bound of scores.
        Cap = "cap",
        /// What scores lose by distance.
        Slopes = "slopes",
        /// Which keys are open, and what becomes of the others.
        Mask = "mask",
        /// From scores to attention weights.
        Softmax = "softmax",
        /// The average of values.
        Values = "values",
        /// From heads to one matrix.
        Merge = "merge of heads",
        /// W^O and its bias.
        Output = "W^O",
        /// What is added behind.
        Addition = "what is added",
    }
}

named! {
    /// A tensor of the layer, in the order in which a layer computes them.
    State {
        /// q before the split, `[n_q, h · d_k]` a sequence.
        Query = "q",
        /// k before the split, `[n_kv, h_kv · d_k]`.
        Key = "k",
        /// v before the split, `[n_kv, h_kv · d_v]`.
        Value = "v",
        /// q of each head, `[n_q, d_k]`, normed and rotated where the layer does so.
        HeadQuery = "q of each head",
        /// k of each query head, `[n_kv, d_k]`, normed and rotated where the layer does so.
        HeadKey = "k of each head",
        /// v of each query head, `[n_kv, d_v]`.
        HeadValue = "v of each head",
        /// Scores divided and bounded, before slopes, masks and sinks, `[n_q, n_kv]` a head.
        Scores = "scores",
        /// Attention weights, `[n_q, n_kv]` a head.
        Attn = "attn",
        /// What each head gives, `[n_q, d_v]`.
        Heads = "heads",
        /// Heads side by side, `[n_q, h · d_v]` a sequence.
        Concat = "concat",
        /// The output, `[n_q, d_model]` a sequence.
        Output = "output",
    }
}

impl State {
    /// Whether there is a matrix a head, and not a matrix a sequence.
    pub fn is_per_head(self) -> bool {
        (Self::HeadQuery..=Self::Heads).contains(&self)
    }
}

impl Serialize for State {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.serialize_str(self.name())
    }
}
