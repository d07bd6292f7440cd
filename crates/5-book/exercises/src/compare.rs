//! How two answers differ.

use attention::Matrix;

use crate::outcome::Outcome;
use crate::{Parts, Place, Untyped};

/// The first way in which an answer differs from the right one.
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
        /// Which matrix.
        part: usize,
        /// Where, in words.
        place: String,
        /// The number.
        found: f64,
        /// What it should be.
        expected: f64,
        /// Whether it is behind the outputs, which are right.
        is_behind: bool,
    },
}

/// The first difference from the right answer to a case, row by row as a person reads; `None`
/// if both are the same to within the tolerance. NaN is the same as NaN.
pub fn first_difference(
    shown: &Untyped,
    case: usize,
    found: &[Matrix],
    right: &[Matrix],
) -> Option<Difference> {
    let n_parts = right.len();
    if found.len() != n_parts {
        let [found, expected] = [found.len(), n_parts].map(shown.count);
        return Some(Difference::Parts { found, expected });
    }
    for (part, (found, right)) in found.iter().zip(right).enumerate() {
        if found.shape() != right.shape() {
            let asked = (shown.asked_for)(part, right);
            let part = (n_parts > 1).then(|| (shown.label)(part, n_parts));
            let (found, expected) = (found.shape(), right.shape());
            return Some(Difference::Shape { part, found, expected, asked });
        }
    }
    let tolerance = tolerance(shown.tolerance, right);
    for (part, (found, right)) in found.iter().zip(right).enumerate() {
        for row in 0..right.nrows() {
            for column in 0..right.ncols() {
                let (found, expected) = (found[(row, column)], right[(row, column)]);
                if !same(found, expected, tolerance) {
                    let place = (shown.place)(case, Place { part, row, column });
                    let is_behind = part + shown.n_behind >= n_parts;
                    use Difference::Entry;
                    return Some(Entry { part, place, found, expected, is_behind });
                }
            }
        }
    }
    None
}

/// Whether an answer has the shape of the right one and no NaN where that has none: numbers
/// that can tell what was computed.
pub fn has_numbers(shown: &Untyped, answer: &[Matrix], right: &[Matrix]) -> bool {
    let n_nan = |parts: &[Matrix]| parts.iter().flatten().filter(|x| x.is_nan()).count();
    (shown.is_list || same_shapes(answer, right)) && n_nan(answer) <= n_nan(right)
}

/// Whether two answers have matrices of the same shapes.
pub fn same_shapes(a: &[Matrix], b: &[Matrix]) -> bool {
    a.len() == b.len() && a.iter().zip(b).all(|(a, b)| a.shape() == b.shape())
}

/// Whether two answers are the same to within a tolerance, which is a fraction of the largest
/// number of the second.
pub fn same_answer(a: &[Matrix], b: &[Matrix], fraction: f64) -> bool {
    let tolerance = tolerance(fraction, b);
    let same_entries = |(a, b): (&Matrix, &Matrix)| {
        a.iter().zip(b.iter()).all(|(&a, &b)| same(a, b, tolerance))
    };
    same_shapes(a, b) && a.iter().zip(b).all(same_entries)
}

/// Whether a call came to what is kept of a wrong answer: the same, or a panic each.
pub fn same_outcome(found: &Outcome<Vec<Matrix>>, kept: &Parts, fraction: f64) -> bool {
    match (found, kept) {
        (Outcome::Value(found), Some(kept)) => {
            same_answer(&thinned(found), kept, fraction)
        }
        (Outcome::Panicked(_), None) => true,
        _ => false,
    }
}

/// An outcome in which the last matrices, which count only where all before them are right,
/// are taken from the right answer where these are not.
pub fn normalised(
    outcome: Outcome<Vec<Matrix>>,
    right: &[Matrix],
    n_behind: usize,
    fraction: f64,
) -> Outcome<Vec<Matrix>> {
    let Outcome::Value(mut parts) = outcome else { return outcome };
    let first = parts.len().saturating_sub(n_behind);
    if n_behind > 0 && parts.len() == right.len() {
        let is_right = same_answer(&parts[..first], &right[..first], fraction);
        if !is_right {
            parts[first..].clone_from_slice(&right[first..]);
        }
    }
    Outcome::Value(parts)
}

/// What is kept of a wrong answer: of a matrix of more than 1,024 entries every eighth column,
/// which tells it from any other as well.
pub fn thinned(parts: &[Matrix]) -> Vec<Matrix> {
    let thin = |matrix: &Matrix| match matrix.len() {
        0..=1024 => matrix.clone(),
        _ => matrix.columns_with_step(0, matrix.ncols().div_ceil(8), 7).into_owned(),
    };
    parts.iter().map(thin).collect()
}

/// In f32 a number may be infinite that is not in f64.
pub(crate) fn same(a: f64, b: f64, tolerance: f64) -> bool {
    let both_nan = a.is_nan() && b.is_nan();
    both_nan || a as f32 == b as f32 || (a - b).abs() <= tolerance
}

/// By how much an entry may differ: a fraction of the largest of all.
pub(crate) fn tolerance(fraction: f64, right: &[Matrix]) -> f64 {
    fraction * right.iter().map(largest).fold(1.0, f64::max)
}

fn largest(matrix: &Matrix) -> f64 {
    matrix.iter().map(|x| x.abs()).filter(|x| x.is_finite()).fold(0.0, f64::max)
}
