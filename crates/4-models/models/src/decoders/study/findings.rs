//! What was found about a real model, as it is kept.

use serde::{Deserialize, Serialize};

/// What `examples/study` measures. Losses are means in nats per token.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Findings {
    /// Three patterns of every head.
    pub heads: HeadShares,
    /// Copying heads ablated, and as many others.
    pub removed: Vec<Ablation>,
    /// Copying without the heads that look back.
    pub composed: Vec<Composed>,
    /// Copying with one path cut between those heads and the ones that copy.
    pub paths: Vec<OnePath>,
    /// Names that the text has said before; the first is well known.
    pub words: Vec<Word>,
    /// A window over a model that was trained without one.
    pub windows: Vec<Windowed>,
    /// Heads of keys and values made one.
    pub merged: Fewer,
    /// Many heads ablated.
    pub order: Order,
    /// As many heads of the same layers ablated: the order with the heads of each layer
    /// exchanged at random.
    pub shuffled: Vec<Way>,
    /// What may come after some prompts.
    pub next: Vec<Next>,
}

impl Findings {
    /// Those about SmolLM2-135M-Instruct.
    ///
    /// # Errors
    /// None; the file is in the crate.
    pub fn smollm2() -> serde_json::Result<Self> {
        serde_json::from_str(super::SMOLLM2)
    }
}

/// Mean shares of every head, layer by layer, h in each: see [`Patterns`](super::Patterns).
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct HeadShares {
    /// On random tokens that are repeated.
    pub copying: Vec<f64>,
    /// On prose.
    pub copying_prose: Vec<f64>,
    /// To the token before, on prose.
    pub previous: Vec<f64>,
    /// The same on random tokens that are repeated.
    pub previous_random: Vec<f64>,
    /// To the first token, on prose.
    pub first: Vec<f64>,
}

/// The losses without some heads.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Ablation {
    /// Which: `whole`, `copying`, `random`, `same layers`.
    pub what: String,
    /// How many.
    pub heads: usize,
    /// What replaces them: `zero` or `mean`.
    pub how: String,
    /// Of the choice, where it is random.
    pub seed: u64,
    /// On the first copy of random tokens.
    pub first: f64,
    /// On the later copies.
    pub later: f64,
    /// On prose, where that was asked.
    pub prose: Option<f64>,
}

/// What copying heads do without some others.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Composed {
    /// Which are gone: `whole`, `previous`, `previous on prose`, `random`, `same layers`.
    pub what: String,
    /// How many.
    pub heads: usize,
    /// Of the choice, where it is random.
    pub seed: u64,
    /// The mean copying share of the heads that copy.
    pub copying: f64,
    /// The loss on the later copies.
    pub later: f64,
    /// The loss on prose.
    pub prose: f64,
}

/// What copying heads do if some others are missing in what one kind of reader reads.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct OnePath {
    /// Which are missing, or where: `whole` (none are), `previous`, `same layers` (as many
    /// others), `other readers` (`previous` in the keys of heads that do not copy).
    pub what: String,
    /// How many.
    pub heads: usize,
    /// From what they are missing: `nothing`, `everywhere`, `keys`, `queries`, `values`.
    pub from: String,
    /// Of the choice, where it is random.
    pub seed: u64,
    /// The mean copying share of the heads that copy.
    pub copying: f64,
    /// The loss on the later copies.
    pub later: f64,
}

/// The loss of a name's end, where the name stands there before.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Word {
    /// The text, token by token.
    pub pieces: Vec<String>,
    /// The name's end.
    pub end: String,
    /// Its loss where the text does not say the name before.
    pub alone: f64,
    /// Its loss.
    pub whole: f64,
    /// Without the most copying heads.
    pub without: f64,
    /// Without as many random ones, seed by seed.
    pub random: Vec<f64>,
    /// The layer of the head that copies most.
    pub layer: usize,
    /// Its place there.
    pub head: usize,
    /// Its map, `[n, n]`, row by row.
    pub map: Vec<Vec<f64>>,
}

/// The loss through a window, late in long texts.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Windowed {
    /// What is kept beside the window: `whole` (there is none), `first`, `elsewhere`.
    pub what: String,
    /// The keys that a token sees, itself included.
    pub width: usize,
    /// How many tokens are kept.
    pub kept: usize,
    /// Of the choice, where it is random.
    pub seed: u64,
    /// The mean loss.
    pub loss: f64,
}

/// The loss with one head of keys and values in each layer.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Fewer {
    /// As the model is.
    pub whole: f64,
    /// Of a guess: all tokens alike.
    pub guess: f64,
    /// By the mean of the heads, and by their first.
    pub ways: Vec<MergedHeads>,
}

/// One [`Merge`](super::Merge).
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct MergedHeads {
    /// `mean` or `first`.
    pub how: String,
    /// In all layers.
    pub loss: f64,
    /// In one layer alone, layer by layer.
    pub single: Vec<f64>,
}

/// The losses without the first tenths of all heads in some orders.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Order {
    /// With all heads.
    pub whole: f64,
    /// How many tenths.
    pub tenths: Vec<usize>,
    /// What each head's ablation alone costs on the texts that set the order, head by head.
    pub costs: Vec<f64>,
    /// Each order.
    pub ways: Vec<Way>,
}

/// One order.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Way {
    /// `importance`, the least important first, `random`, or `within layers`.
    pub order: String,
    /// Of a random order.
    pub seed: Option<u64>,
    /// The loss without so many tenths.
    pub losses: Vec<f64>,
}

/// The most likely tokens after a prompt.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Next {
    /// The prompt.
    pub prompt: String,
    /// The most likely tokens, as text.
    pub pieces: Vec<String>,
    /// Their logits.
    pub logits: Vec<f64>,
    /// What all of them have together at temperature 1.
    pub share: f64,
}
