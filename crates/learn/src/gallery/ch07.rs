//! The figures of chapter 7.

use super::Entry;

pub const FIGURES: [Entry; 0] = [];
