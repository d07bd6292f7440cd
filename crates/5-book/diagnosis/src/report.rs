//! What is said of a layer, part by part.

use serde::Serialize;

use crate::Mistakes;
use crate::step::{State, Step};

/// What it comes to, from the least to the most that is wrong.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize)]
#[serde(rename_all = "kebab-case")]
pub enum Verdict {
    /// The layer is what was meant, up to rounding.
    Right,
    /// It is, if it was computed in a way that its numbers do not show, or if rounding was as
    /// it rarely is: [`Conditional`] says which, and what it is if not.
    Condition,
    /// Mistakes of the bank explain it, or a number of the layer that is another.
    Mistake,
    /// Some tensor of it is explained by nothing.
    Unknown,
}

/// How far a tensor is from another.
#[derive(Debug, Clone, Copy, PartialEq, Serialize)]
pub struct Distance {
    /// The root of the mean of the squares.
    pub rms: f64,
    /// The largest of any entry.
    pub largest: f64,
    /// How many entries are NaN or infinite in one of the two alone; the distance is infinite
    /// where there are any.
    pub n_not_finite: usize,
    /// What rounding makes of the first, where the same is computed here.
    pub tolerance: f64,
    /// In which precision: that of the layer, or the coarsest that it may be.
    pub precision: &'static str,
    /// How much the tensor's rows differ from each other, as the first.
    pub spread: f64,
}

/// What became of one tensor of the record.
#[derive(Debug, Clone, Serialize)]
pub struct TensorReport {
    /// Which one.
    pub tensor: State,
    /// Right, explained or unknown, where it is made from the record's own tensors before it.
    pub verdict: Verdict,
    /// How far it is from what was meant; nothing where shapes differ.
    pub distance: Option<Distance>,
    /// In which precision it was computed, by its numbers.
    pub precision: &'static str,
    /// Whether it is zeros alone, which may be right, and which no mistake explains.
    pub is_zero: bool,
}

/// What is known of one step.
#[derive(Debug, Clone, Serialize)]
pub struct StepReport {
    /// Which one.
    pub step: Step,
    /// Its name.
    pub name: &'static str,
    /// The mistakes that may be in it: of the first explanation, or of its alternatives.
    pub mistakes: Vec<&'static str>,
}

/// On what it depends whether a layer is right.
#[derive(Debug, Clone, Serialize)]
pub struct Conditional {
    /// The tensor that is not right otherwise.
    pub tensor: State,
    /// "your code multiplies in bfloat16".
    pub only_if: String,
    /// What is nearest if not, in words.
    pub otherwise: Option<String>,
}

/// What was nearest of all that was tried.
#[derive(Debug, Clone, Serialize)]
pub struct Nearest {
    /// Its mistakes; none is the layer that was meant.
    pub mistakes: Mistakes,
    /// How far it is.
    pub distance: Distance,
}

/// What is called as the search goes on.
pub(crate) type OnProgress<'p> = &'p mut dyn FnMut(Progress);

/// How far the search is.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Progress {
    /// The tensor that is looked at.
    pub state: State,
    /// How many pairs of mistakes were tried.
    pub tried: usize,
    /// How many there are.
    pub total: usize,
}
