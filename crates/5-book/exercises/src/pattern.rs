//! How wrong numbers are related to the right ones, where no mistake is named.

use attention::Matrix;

use crate::compare::{same, same_shapes, tolerance};

/// What an answer has in common with the right one.
#[derive(Debug, Clone, Copy, PartialEq)]
pub enum Pattern {
    /// Every entry is so many times the right one; 0 if all are 0.
    Multiple(f64),
    /// Some entries are 0, and all others are right.
    LeftAtZero,
    /// Rows are columns, and columns rows.
    Transposed,
    /// Every row is right, and some stand in place of others.
    RowsMoved,
    /// Every column is right, and some stand in place of others.
    ColumnsMoved,
    /// Every matrix is right, and some stand in place of others.
    PartsMoved,
}

impl Pattern {
    /// The first that holds of these two, which have the same shapes and are not the same.
    pub fn of(found: &[Matrix], expected: &[Matrix], fraction: f64) -> Option<Self> {
        let off = tolerance(fraction, expected);
        // Of counts and choices, none is related to another.
        if off == 0.0 {
            return None;
        }
        if !same_shapes(found, expected) {
            return None;
        }
        if let Some(factor) = common_factor(found, expected) {
            return Some(Self::Multiple(factor));
        }
        let equal = |a: &Matrix, b: &Matrix| {
            a.shape() == b.shape() && a.iter().zip(b).all(|(a, b)| same(*a, *b, off))
        };
        let each = |is_so: &dyn Fn(&Matrix, &Matrix) -> bool| {
            found.iter().zip(expected).all(|(found, expected)| is_so(found, expected))
        };
        let left_at_zero = |found: &Matrix, expected: &Matrix| {
            found.iter().zip(expected).all(|(f, e)| *f == 0.0 || same(*f, *e, off))
        };
        if each(&left_at_zero) {
            Some(Self::LeftAtZero)
        } else if each(&|found, expected| equal(found, &expected.transpose())) {
            Some(Self::Transposed)
        } else if each(&|found, expected| moved(&rows(found), &rows(expected), equal)) {
            Some(Self::RowsMoved)
        } else if each(&|found, expected| {
            moved(&columns(found), &columns(expected), equal)
        }) {
            Some(Self::ColumnsMoved)
        } else {
            moved(found, expected, equal).then_some(Self::PartsMoved)
        }
    }

    /// What two patterns have in common.
    pub fn and(self, other: Self) -> Option<Self> {
        match (self, other) {
            (Self::Multiple(a), Self::Multiple(b)) if (a == 0.0) == (b == 0.0) => {
                Some(self)
            }
            (Self::Multiple(0.0), Self::LeftAtZero)
            | (Self::LeftAtZero, Self::Multiple(0.0)) => Some(Self::LeftAtZero),
            _ => (self == other).then_some(self),
        }
    }

    /// What the answer does, behind `your answer`.
    pub fn summary(self) -> String {
        match self {
            Self::Multiple(0.0) => "is 0 everywhere".into(),
            Self::Multiple(factor) => format!("is {factor:.4} times the reference"),
            Self::LeftAtZero => "leaves entries at 0".into(),
            Self::Transposed => "is the transpose of what was asked".into(),
            Self::RowsMoved => "has the right rows in other places".into(),
            Self::ColumnsMoved => "has the right columns in other places".into(),
            Self::PartsMoved => "has the right matrices in another order".into(),
        }
    }

    /// What to look for.
    pub fn advice(self) -> &'static str {
        match self {
            Self::Multiple(0.0) => "a result that is computed and never written",
            Self::Multiple(_) => {
                "a factor that is missing, doubled or upside down, or a sign"
            }
            Self::LeftAtZero => {
                "a loop that begins too late, ends too early, or goes over another length. \
                 All entries that are not 0 are right"
            }
            Self::Transposed => "two indices, or two factors, that are exchanged",
            Self::RowsMoved | Self::ColumnsMoved | Self::PartsMoved => {
                "the place that each is written to. All of them are right"
            }
        }
    }
}

fn rows(matrix: &Matrix) -> Vec<Matrix> {
    (0..matrix.nrows()).map(|row| matrix.rows(row, 1).into_owned()).collect()
}

fn columns(matrix: &Matrix) -> Vec<Matrix> {
    (0..matrix.ncols()).map(|column| matrix.columns(column, 1).into_owned()).collect()
}

/// Whether these are the others in another order, each once. One alone cannot move.
fn moved(
    found: &[Matrix],
    expected: &[Matrix],
    equal: impl Fn(&Matrix, &Matrix) -> bool,
) -> bool {
    let mut left: Vec<&Matrix> = expected.iter().collect();
    expected.len() > 1
        && found.iter().all(|found| {
            let place = left.iter().position(|expected| equal(found, expected));
            place.map(|place| left.swap_remove(place)).is_some()
        })
}

/// The number by which all of `found` is a multiple of `expected`, if there is one; 0 if
/// all of it is 0.
fn common_factor(found: &[Matrix], expected: &[Matrix]) -> Option<f64> {
    let entries = |parts: &[Matrix]| -> Vec<f64> {
        parts.iter().flat_map(|part| part.iter().copied().collect::<Vec<_>>()).collect()
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

#[cfg(test)]
mod tests {
    use std::slice;

    use super::*;

    #[test]
    fn what_two_answers_have_in_common() {
        let right = Matrix::from_fn(3, 3, |i, j| (1 + 3 * i + j * j) as f64);
        let of = |found: Matrix| Pattern::of(&[found], slice::from_ref(&right), 1e-4);
        assert_eq!(of(&right * -0.5), Some(Pattern::Multiple(-0.5)));
        let mut cut = right.clone();
        cut.row_mut(2).fill(0.0);
        assert_eq!(of(cut.clone()), Some(Pattern::LeftAtZero));
        cut[(0, 0)] += 1.0;
        assert_eq!(of(cut), None);
        assert_eq!(of(right.transpose()), Some(Pattern::Transposed));
        let mut swapped = right.clone();
        swapped.swap_rows(0, 2);
        assert_eq!(of(swapped), Some(Pattern::RowsMoved));
        let mut swapped = right.clone();
        swapped.swap_columns(0, 1);
        assert_eq!(of(swapped), Some(Pattern::ColumnsMoved));
        assert_eq!(
            of(Matrix::from_rows(&[right.row(0), right.row(0), right.row(1)])),
            None
        );
        let heads = vec![right.clone(), right.map(|x| x + 1.0)];
        let reversed = heads.iter().rev().cloned().collect::<Vec<_>>();
        assert_eq!(Pattern::of(&reversed, &heads, 1e-4), Some(Pattern::PartsMoved));
    }
}
