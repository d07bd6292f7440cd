//! How two answers differ.

use attention::Matrix;

use crate::outcome::Outcome;
use crate::{Answer, Place};

/// The first way in which an answer differs from the reference.
#[derive(Debug, Clone, PartialEq)]
pub enum Difference {
    /// It panicked.
    Panic {
        /// What the panic said.
        message: String,
        /// File and line.
        at: String,
    },
    /// The wrong number of matrices.
    Parts {
        /// How many there are, in words.
        found: String,
        /// How many there should be.
        expected: String,
    },
    /// A matrix of another shape.
    Shape {
        /// Which matrix, if there are several.
        part: Option<String>,
        /// Its shape.
        found: (usize, usize),
        /// The shape that it should have.
        expected: (usize, usize),
        /// What was expected, in words, where that is no shape.
        asked: Option<&'static str>,
    },
    /// Another number.
    Entry {
        /// Where, in words.
        place: String,
        /// The number.
        found: f64,
        /// What it should be.
        expected: f64,
    },
}

/// The first difference, row by row as a person reads; `None` if both are the same to
/// within the tolerance. NaN is the same as NaN. `name` says what an entry is called.
pub fn first_difference<O: Answer>(
    found: &O,
    expected: &O,
    name: impl Fn(Place) -> String,
) -> Option<Difference> {
    let (found_parts, expected_parts) = (found.parts(), expected.parts());
    let n_parts = expected_parts.len();
    if found_parts.len() != n_parts {
        let (found, expected) = (found.n_parts(), expected.n_parts());
        return Some(Difference::Parts { found, expected });
    }
    let pairs = || found_parts.iter().zip(&expected_parts).enumerate();
    for (part, (found, reference)) in pairs() {
        if found.shape() != reference.shape() {
            let asked = expected.asked_for(part);
            let part = (n_parts > 1).then(|| expected.part_name(part));
            let (found, expected) = (found.shape(), reference.shape());
            return Some(Difference::Shape { part, found, expected, asked });
        }
    }
    let tolerance = tolerance::<O>(&expected_parts);
    for (part, (found, expected)) in pairs() {
        for row in 0..expected.nrows() {
            for column in 0..expected.ncols() {
                let (found, expected) = (found[(row, column)], expected[(row, column)]);
                if !same(found, expected, tolerance) {
                    let place = name(Place { part, row, column });
                    return Some(Difference::Entry { place, found, expected });
                }
            }
        }
    }
    None
}

/// Whether an answer has the shape of the reference and no NaN where that has none: numbers
/// that can tell what was computed.
pub fn has_numbers<O: Answer>(answer: &O, reference: &O) -> bool {
    let n_nan =
        |answer: &O| answer.parts().iter().flatten().filter(|x| x.is_nan()).count();
    same_shapes(answer, reference) && n_nan(answer) <= n_nan(reference)
}

/// Whether two answers have matrices of the same shapes; lists may differ in length.
pub fn same_shapes<O: Answer>(a: &O, b: &O) -> bool {
    let shapes =
        |answer: &O| answer.parts().iter().map(Matrix::shape).collect::<Vec<_>>();
    O::IS_LIST || shapes(a) == shapes(b)
}

/// Whether two answers are the same to within the tolerance.
pub fn same_answer<O: Answer>(a: &O, b: &O) -> bool {
    first_difference(a, b, |_| String::new()).is_none()
}

/// Whether two calls came to the same: the same answer, or a panic each.
pub fn same_outcome<O: Answer>(a: &Outcome<O>, b: &Outcome<O>) -> bool {
    match (a, b) {
        (Outcome::Value(a), Outcome::Value(b)) => same_answer(a, b),
        (Outcome::Panicked(_), Outcome::Panicked(_)) => true,
        _ => false,
    }
}

pub(crate) fn same(a: f64, b: f64, tolerance: f64) -> bool {
    a == b || (a.is_nan() && b.is_nan()) || (a - b).abs() <= tolerance
}

/// By how much an entry may differ: a share of the largest of all.
pub(crate) fn tolerance<O: Answer>(expected: &[Matrix]) -> f64 {
    O::TOLERANCE * expected.iter().map(largest).fold(1.0, f64::max)
}

fn largest(matrix: &Matrix) -> f64 {
    matrix.iter().map(|x| x.abs()).filter(|x| x.is_finite()).fold(0.0, f64::max)
}
