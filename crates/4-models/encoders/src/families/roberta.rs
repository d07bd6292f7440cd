//! RoBERTa: BERT that was trained for longer, and counts its positions from behind padding.

use super::bert::BERT;
use super::{Counting, Family};

/// # Source
/// Liu et al. 2019; `RobertaModel` of Hugging Face.
pub(super) const ROBERTA: Family = Family {
    name: "roberta",
    prefix: "roberta.",
    counting: Counting::BehindPadding { padding: 1 },
    ..BERT
};
