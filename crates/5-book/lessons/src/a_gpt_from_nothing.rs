//! “A GPT from nothing”: a whole model that learns to write first names, or a reader's own
//! words, and how its next letter is chosen.

pub mod learned;
pub mod next;
pub(crate) mod training_now;

use crate::Entry;

pub(crate) const FIGURES: &[Entry] = &[
    ("gpt-guesses", next::guesses),
    ("gpt-times", learned::times),
    ("gpt-seeds", learned::of_seeds),
    ("gpt-loss", training_now::figure),
    ("gpt-next", next::figure),
];
