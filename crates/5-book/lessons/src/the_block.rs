//! “The block”: what stands around attention. Each part is taken away, and what breaks is
//! measured.

pub mod agree;
pub mod before;
pub mod cost;
pub mod deep;
pub mod depth;
pub mod loudness;
mod neither;
mod norms;
pub mod order;
pub mod places;

use crate::Entry;

pub(crate) const FIGURES: &[Entry] = &[
    ("token-before", order::figure),
    ("two-norms", norms::figure),
    ("block-depth", depth::figure),
    ("both-or-neither", neither::figure),
    ("block-ledger", cost::figure),
];
