//! How two answers differ.

use attention::Matrix;

use crate::outcome::Outcome;
use crate::{Answer, Place};

/// The first way in which an answer differs from another.
#[derive(Debug, Clone, PartialEq)]
pub enum Mismatch {
    /// It is another number of matrices.
    Parts {
        /// How many there are, in words.
        found: String,
        /// How many there should be.
        expected: String,
    },
    /// A matrix has another shape.
    Shape {
        /// Which, in words, if there are several.
        part: Option<String>,
        /// Its shape.
        found: (usize, usize),
        /// The shape that it should have.
        expected: (usize, usize),
    },
    /// An entry is another number.
    Entry {
        /// Which.
        place: Place,
        /// The number.
        found: f64,
        /// The number that it should be.
        expected: f64,
    },
}

/// The first mismatch, row by row as a person reads; `None` if both are the same to
/// within the tolerance. NaN is the same as NaN.
pub fn first_mismatch<O: Answer>(found: &O, expected: &O) -> Option<Mismatch> {
    let part_name = |part| expected.part_name(part);
    let n_parts = (found.n_parts(), expected.n_parts());
    let (found, expected) = (found.parts(), expected.parts());
    if found.len() != expected.len() {
        let (found, expected) = n_parts;
        return Some(Mismatch::Parts { found, expected });
    }
    let n_parts = expected.len();
    for (part, (found, expected)) in found.iter().zip(&expected).enumerate() {
        if found.shape() != expected.shape() {
            let part = (n_parts > 1).then(|| part_name(part));
            let (found, expected) = (found.shape(), expected.shape());
            return Some(Mismatch::Shape { part, found, expected });
        }
    }
    let tolerance = O::TOLERANCE * expected.iter().map(largest).fold(1.0, f64::max);
    for (part, (found, expected)) in found.iter().zip(&expected).enumerate() {
        for row in 0..expected.nrows() {
            for column in 0..expected.ncols() {
                let (found, expected) = (found[(row, column)], expected[(row, column)]);
                if !same(found, expected, tolerance) {
                    let place = Place { part, row, column };
                    return Some(Mismatch::Entry { place, found, expected });
                }
            }
        }
    }
    None
}

/// Whether two calls came to the same: the same answer, or a panic each.
pub fn same_outcome<O: Answer>(a: &Outcome<O>, b: &Outcome<O>) -> bool {
    match (a, b) {
        (Outcome::Value(a), Outcome::Value(b)) => first_mismatch(a, b).is_none(),
        (Outcome::Panicked(_), Outcome::Panicked(_)) => true,
        _ => false,
    }
}

/// The number by which all of `found` is a multiple of `expected`, if there is one; 0 if
/// all of it is 0.
pub fn common_factor<O: Answer>(found: &O, expected: &O) -> Option<f64> {
    let entries = |answer: &O| -> Vec<f64> {
        answer
            .parts()
            .iter()
            .flat_map(|part| part.iter().copied().collect::<Vec<_>>())
            .collect()
    };
    let (found, expected) = (entries(found), entries(expected));
    if !found.is_empty() && found.iter().all(|&f| f == 0.0) {
        return Some(0.0);
    }
    let pairs = || found.iter().zip(&expected).filter(|(_, e)| e.abs() > 1e-3);
    let (f, e) = pairs().next()?;
    let factor = f / e;
    let is_factor =
        factor.is_finite() && factor.abs() > 1e-6 && found.len() == expected.len();
    let holds = pairs().count() > 2
        && found.iter().zip(&expected).all(|(f, e)| same(*f, factor * e, 1e-4));
    (is_factor && holds).then_some(factor)
}

fn same(a: f64, b: f64, tolerance: f64) -> bool {
    a == b || (a.is_nan() && b.is_nan()) || (a - b).abs() <= tolerance
}

fn largest(matrix: &Matrix) -> f64 {
    matrix.iter().map(|x| x.abs()).filter(|x| x.is_finite()).fold(0.0, f64::max)
}
