//! An exercise as a verdict needs it: without its types.

use attention::Matrix;

use crate::Place;

/// All that a check knows of one exercise but its types.
#[derive(Clone, Copy)]
pub struct Untyped<'a> {
    /// The name of its files.
    pub name: &'static str,
    /// By how much an entry may differ.
    pub tolerance: f64,
    /// Whether the length of a list belongs to what is asked.
    pub is_list: bool,
    /// How many matrices at the end count only where all before them are right.
    pub n_behind: usize,
    /// So many matrices, in words.
    pub count: fn(usize) -> String,
    /// What one of so many matrices is called.
    pub label: fn(usize, usize) -> String,
    /// What was expected in place of one of them, in words.
    pub asked_for: fn(usize, &Matrix) -> Option<&'static str>,
    /// How an entry is called, in a case.
    pub place: &'a dyn Fn(usize, Place) -> String,
}

impl Untyped<'_> {
    /// The same, where entries may differ by another fraction.
    pub fn with_tolerance(self, tolerance: f64) -> Self {
        Self { tolerance, ..self }
    }
}
