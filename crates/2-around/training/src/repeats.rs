//! Tokens that repeat: what two layers can do together and one cannot.
//!
//! "… b q x e … b q x" goes on with e. To say so, a model must find the last place where x
//! stood and read what came **after** it. One head compares tokens with tokens, and the
//! one that came after x is not marked as such. Two layers do it in two steps: a head of
//! the first notes at every token which one stands before it, and a head of the second
//! looks for the token that notes x. The second is an **induction head**; what joins the two
//! is **K-composition**, since the note is read by its keys.
//!
//! [`Repeats`] draws the sequences, [`Predictor`] is embedding, [`Stack`](block::Stack) and
//! unembedding, a [`Trainer`](crate::Trainer) takes the steps, [`StackAblation`] asks of each head
//! what goes wrong without it, and [`Carried`] what it hands on. `Paths` takes every logit
//! and every score apart into the paths that it came by, [`Margins`] says which of them decide,
//! [`CompositionScores`] what the weights alone let one expect, and a [`PathEnd`] is where one
//! path alone is cut.
//! A circuit that is written by hand, all of these must find: `tests/planted.rs`.
//!
//! # Source
//! Elhage et al. 2021, "A Mathematical Framework for Transformer Circuits"; Olsson et al.
//! 2022, "In-context Learning and Induction Heads".

mod ablation;
mod carried;
mod heads;
mod learner;
mod margins;
mod paths;
mod predictor;
mod task;
#[cfg(test)]
mod tests;

pub use self::ablation::{PathEnd, StackAblation};
pub use carried::Carried;
pub use heads::HeadShares;
pub use learner::PredictorLook;
pub use margins::{Attribution, Composition, CompositionScores, Margins};

pub(crate) use predictor::largest;
pub use predictor::{Architecture, Predictor};
pub use task::{Mistakes, Repeats, Sequences};

/// Repeated tokens with two layers and with what they are compared with, on ten seeds, as
/// `seeds -- repeats` measured them.
pub const REPEATS: &str = include_str!("../data/repeats.json");
