//! The steps of a layer, and the tensors that they make.

use serde::{Serialize, Serializer};

/// A step of a layer, in order.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize)]
#[serde(rename_all = "kebab-case")]
pub enum Step {
    /// Which axis is which, and which input is which.
    Inputs,
    /// Which columns of a packed W are whose.
    Packing,
    /// q, k and v, with their biases.
    Projections,
    /// From q, k and v to heads.
    Split,
    /// Norms of queries and keys.
    Norms,
    /// Rotary positions.
    Positions,
    /// Key heads that query heads share.
    Sharing,
    /// Queries compared with keys.
    Scores,
    /// What scores are divided by.
    Scale,
    /// The bound of scores.
    Cap,
    /// What scores lose by distance.
    Slopes,
    /// Which keys are open, and what becomes of the others.
    Mask,
    /// From scores to attention weights.
    Softmax,
    /// The average of values.
    Values,
    /// From heads to one matrix.
    Merge,
    /// W^O and its bias.
    Output,
    /// What is added behind.
    Addition,
}

impl Step {
    /// All of them, in order.
    pub const ALL: [Self; 17] = [
        Self::Inputs,
        Self::Packing,
        Self::Projections,
        Self::Split,
        Self::Norms,
        Self::Positions,
        Self::Sharing,
        Self::Scores,
        Self::Scale,
        Self::Cap,
        Self::Slopes,
        Self::Mask,
        Self::Softmax,
        Self::Values,
        Self::Merge,
        Self::Output,
        Self::Addition,
    ];

    /// What it is called.
    pub fn name(self) -> &'static str {
        match self {
            Self::Inputs => "inputs",
            Self::Packing => "packing",
            Self::Projections => "projections",
            Self::Split => "split into heads",
            Self::Norms => "norms of queries and keys",
            Self::Positions => "rotary positions",
            Self::Sharing => "shared keys",
            Self::Scores => "scores",
            Self::Scale => "scale",
            Self::Cap => "cap",
            Self::Slopes => "slopes",
            Self::Mask => "mask",
            Self::Softmax => "softmax",
            Self::Values => "values",
            Self::Merge => "merge of heads",
            Self::Output => "W^O",
            Self::Addition => "what is added",
        }
    }
}

/// A tensor of the layer, in the order in which a layer computes them.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum State {
    /// q before the split, `[n_q, h · d_k]` a sequence.
    Query,
    /// k before the split, `[n_kv, h_kv · d_k]`.
    Key,
    /// v before the split, `[n_kv, h_kv · d_v]`.
    Value,
    /// q of each head, `[n_q, d_k]`, normed and rotated where the layer does so.
    HeadQuery,
    /// k of each query head, `[n_kv, d_k]`, normed and rotated where the layer does so.
    HeadKey,
    /// v of each query head, `[n_kv, d_v]`.
    HeadValue,
    /// Scores divided and bounded, before slopes, masks and sinks, `[n_q, n_kv]` a head.
    Scores,
    /// Attention weights, `[n_q, n_kv]` a head.
    Attn,
    /// What each head gives, `[n_q, d_v]`.
    Heads,
    /// Heads side by side, `[n_q, h · d_v]` a sequence.
    Concat,
    /// The output, `[n_q, d_model]` a sequence.
    Output,
}

impl State {
    /// All of them, in order.
    pub const ALL: [Self; 11] = [
        Self::Query,
        Self::Key,
        Self::Value,
        Self::HeadQuery,
        Self::HeadKey,
        Self::HeadValue,
        Self::Scores,
        Self::Attn,
        Self::Heads,
        Self::Concat,
        Self::Output,
    ];

    /// What files call it.
    pub fn name(self) -> &'static str {
        match self {
            Self::Query => "q",
            Self::Key => "k",
            Self::Value => "v",
            Self::HeadQuery => "q of each head",
            Self::HeadKey => "k of each head",
            Self::HeadValue => "v of each head",
            Self::Scores => "scores",
            Self::Attn => "attn",
            Self::Heads => "heads",
            Self::Concat => "concat",
            Self::Output => "output",
        }
    }

    /// The step whose result it is.
    pub fn step(self) -> Step {
        match self {
            Self::Query | Self::Key | Self::Value => Step::Projections,
            Self::HeadQuery | Self::HeadKey | Self::HeadValue => Step::Positions,
            Self::Scores => Step::Scale,
            Self::Attn => Step::Softmax,
            Self::Heads => Step::Values,
            Self::Concat => Step::Merge,
            Self::Output => Step::Addition,
        }
    }

    /// Whether there is a matrix a head, and not a matrix a sequence.
    pub fn is_per_head(self) -> bool {
        (Self::HeadQuery..=Self::Heads).contains(&self)
    }
}

impl Serialize for State {
    fn serialize<S: Serializer>(
        &self,
        serializer: S,
    ) -> std::result::Result<S::Ok, S::Error> {
        serializer.serialize_str(self.name())
    }
}
