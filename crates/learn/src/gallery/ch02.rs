//! The figures of chapter 2.

use super::Entry;

pub const FIGURES: [Entry; 0] = [];
