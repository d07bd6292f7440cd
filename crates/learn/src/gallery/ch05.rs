//! The figures of chapter 5.

use super::Entry;

pub const FIGURES: [Entry; 0] = [];
