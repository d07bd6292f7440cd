//! The figures of chapter 6.

use super::Entry;

pub const FIGURES: [Entry; 0] = [];
