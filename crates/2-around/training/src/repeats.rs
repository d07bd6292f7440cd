//! Tokens that repeat: what two layers can do together and one cannot.
//!
//! "… b q x e … b q x" goes on with e. To say so, a model must find the last place where x
//! stood and read what came **after** it. One head compares tokens with tokens, and the
//! one that came after x is not marked as such. Two layers do it in two steps: a head of
//! the first notes at every token which one stands before it, and a head of the second
//! looks for the token that notes x. That pair is called an **induction head**.
//!
//! [`Repeats`] draws the sequences, [`Predictor`] is embedding, [`Stack`](block::Stack) and
//! unembedding, a [`Trainer`](crate::Trainer) takes the steps, [`StackAblation`] asks of each head
//! what goes wrong without it, and [`Carried`] what it hands on.
//!
//! # Source
//! Elhage et al. 2021, "A Mathematical Framework for Transformer Circuits"; Olsson et al.
//! 2022, "In-context Learning and Induction Heads".

mod ablation;
mod carried;
mod heads;
mod learner;
mod predictor;
mod task;
#[cfg(test)]
mod tests;

pub use ablation::StackAblation;
pub use carried::Carried;
pub use heads::HeadShares;
pub use learner::PredictorLook;
pub(crate) use predictor::largest;
pub use predictor::{Architecture, Predictor};
pub use task::{Repeats, Sequences};
