//! What a family calls its tensors.

use attention::{Linear, Real};
use block::{Activation, FeedForward};
use serde::Deserialize;

use crate::Result;
use crate::reader::NormKind;

/// A family of decoders: the names of its tensors, and the norm that it uses.
#[derive(Debug, Clone, PartialEq, Eq, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Family {
    /// What `model_type` says in its `config.json`.
    pub name: &'static str,
    /// Who described it, and what computes it elsewhere.
    pub source: &'static str,
    /// What stands before the names of the model's tensors where it was saved with the
    /// unembedding on top.
    pub prefix: &'static str,
    /// The names of its tensors.
    pub names: Names,
    /// Which norm it uses.
    pub norm: NormKind,
    /// What its `config.json` has where a key is missing that no tensor's shape says.
    pub defaults: Vec<(&'static str, usize)>,
    /// Other names of keys, each with the family's own.
    pub other_names: Vec<(&'static str, &'static str)>,
}

/// The names of tensors, without `.weight` and `.bias`.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Names {
    /// `[n_vocabulary, d_model]`.
    pub tokens: &'static str,
    /// `[n_positions, d_model]`, in a family that has such a table.
    pub positions: Option<&'static str>,
    /// What stands before a block's number.
    pub block: &'static str,
    /// Within a block: W^Q, W^K and W^V.
    pub projections: Projections,
    /// W^O.
    pub out: &'static str,
    /// The norms of queries and of keys, the same in each head.
    pub qk_norm: Option<[&'static str; 2]>,
    /// The norm before attention.
    pub attention_norm: &'static str,
    /// A norm after attention, before its output is added.
    pub after_attention: Option<&'static str>,
    /// The feed-forward layer.
    pub feed_forward: Layers,
    /// The norm before it.
    pub feed_forward_norm: &'static str,
    /// A norm after it.
    pub after_feed_forward: Option<&'static str>,
    /// The norm behind the last block.
    pub last_norm: &'static str,
    /// The unembedding, `[n_vocabulary, d_model]`, without the prefix.
    pub unembedding: &'static str,
}

/// How W^Q, W^K and W^V are stored.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Projections {
    /// Each by itself, `[out, in]`.
    Apart([&'static str; 3]),
    /// As one matrix `[in, 3 · out]`: all of Q, all of K, all of V. In such a family every
    /// matrix is stored `[in, out]`.
    Joined(&'static str),
    /// As one matrix `[3 · out, in]`: Q, K and V of the first head, then of the second, ….
    PerHead(&'static str),
}

/// The matrices of a feed-forward layer.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Layers {
    /// W₁ and W₂.
    Plain(#[serde(borrow)] [&'static str; 2]),
    /// The gate, what it lets through, and the way down.
    Gated(#[serde(borrow)] [&'static str; 3]),
}

impl Layers {
    /// The layer; `linear` reads a projection by its name and its shape, `(in, out)`.
    pub(crate) fn read<T: Real>(
        self,
        activation: Activation,
        (d_model, d_ff): (usize, usize),
        linear: impl Fn(&str, (usize, usize)) -> Result<Linear<T>>,
    ) -> Result<FeedForward<T>> {
        let (up, down) = ((d_model, d_ff), (d_ff, d_model));
        Ok(match self {
            Self::Plain([inner, outer]) => {
                FeedForward::new(linear(inner, up)?, activation, linear(outer, down)?)?
            }
            Self::Gated([gate, inner, outer]) => {
                let (gate, inner) = (linear(gate, up)?, linear(inner, up)?);
                FeedForward::gated(gate, activation, inner, linear(outer, down)?)?
            }
        })
    }
}
