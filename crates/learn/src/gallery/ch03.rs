//! The figures of chapter 3.

use super::Entry;

pub const FIGURES: [Entry; 0] = [];
