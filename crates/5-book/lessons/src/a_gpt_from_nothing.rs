//! “A GPT from nothing”: a whole model that learns to write first names, and how its next
//! letter is chosen.

pub mod learned;
pub mod next;

use crate::Entry;

pub(crate) const FIGURES: &[Entry] =
    &[("gpt-loss", learned::figure), ("gpt-next", next::figure)];
