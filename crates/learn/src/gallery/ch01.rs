//! The figures of chapter 1.

use super::Entry;

pub const FIGURES: [Entry; 0] = [];
