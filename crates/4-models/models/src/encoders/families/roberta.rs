//! RoBERTa, XLM-RoBERTa and CamemBERT: BERT that was trained for longer, and counts its
//! positions from behind padding.

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

/// # Source
/// Conneau et al. 2020; `XLMRobertaModel` of Hugging Face, which is `RobertaModel`.
pub(super) const XLM_ROBERTA: Family = Family { name: "xlm-roberta", ..ROBERTA };

/// # Source
/// Martin et al. 2020; `CamembertModel` of Hugging Face, which is `RobertaModel`.
pub(super) const CAMEMBERT: Family = Family { name: "camembert", ..ROBERTA };
