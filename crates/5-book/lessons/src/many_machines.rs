//! “Many machines”: one layer on many machines, what its parts must tell each other, and what that
//! costs.

use crate::Entry;

pub mod explore;
pub mod measured;
pub mod paper;
mod parts;
pub mod ring;
pub mod turns;

pub(crate) const FIGURES: &[Entry] = &[
    ("slow-links", measured::figure),
    ("layer-in-parts", parts::layer),
    ("fair-parts", parts::fair),
];
