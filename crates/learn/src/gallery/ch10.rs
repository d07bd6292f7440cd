//! The figures of chapter 10.

use super::Entry;

pub const FIGURES: [Entry; 0] = [];
