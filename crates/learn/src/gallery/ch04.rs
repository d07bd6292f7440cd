//! The figures of chapter 4.

use super::Entry;

pub const FIGURES: [Entry; 0] = [];
