//! What an answer can be: matrices, one or several, or plain numbers.

use attention::{Attended, Linear, Matrix};

/// Where an entry of an answer stands.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Place {
    /// Which matrix, if the answer is several: a head, or a sequence.
    pub part: usize,
    /// Its row.
    pub row: usize,
    /// Its column.
    pub column: usize,
}

/// Something that an exercise asks for.
///
/// Every answer is read as a list of matrices, so that one comparison serves all.
pub trait Answer {
    /// By how much a right answer may differ, as a fraction of the largest number of the
    /// right one (and at least of 1): an answer computed in f32, or summed in another order,
    /// is right.
    const TOLERANCE: f64 = 1e-4;

    /// Whether an answer is a list, and how long it is belongs to what is asked: then a list
    /// of another length is not an answer of the wrong shape.
    const IS_LIST: bool = false;

    /// How many matrices at the end count only where all before them are right: of a wrong
    /// output, how many rows were computed for it says nothing.
    const N_BEHIND: usize = 0;

    /// The matrices of the answer.
    fn parts(&self) -> Vec<Matrix>;

    /// So many matrices, in words.
    fn count(n_parts: usize) -> String {
        match n_parts {
            1 => "1 matrix".into(),
            n => format!("{n} matrices"),
        }
    }

    /// What one of so many matrices is called.
    fn label(part: usize, _n_parts: usize) -> String {
        format!("matrix {part} (counted from 0)")
    }

    /// What was expected in place of one of them, in words, where that is no shape.
    fn asked_for(_part: usize, _expected: &Matrix) -> Option<&'static str> {
        None
    }
}

impl Answer for Matrix {
    fn parts(&self) -> Vec<Matrix> {
        vec![self.clone()]
    }
}

/// One matrix a head.
impl Answer for Vec<Matrix> {
    fn parts(&self) -> Vec<Matrix> {
        self.clone()
    }

    fn label(part: usize, _: usize) -> String {
        format!("the matrix of head {part}")
    }
}

/// A row.
impl Answer for Vec<f64> {
    fn parts(&self) -> Vec<Matrix> {
        vec![Matrix::from_row_slice(1, self.len(), self)]
    }
}

impl Answer for f64 {
    fn parts(&self) -> Vec<Matrix> {
        vec![Matrix::from_element(1, 1, *self)]
    }
}

/// A count, which is right or wrong and never nearly right.
impl Answer for usize {
    const TOLERANCE: f64 = 0.0;

    fn parts(&self) -> Vec<Matrix> {
        vec![Matrix::from_element(1, 1, *self as f64)]
    }
}

/// Choices, of which none is nearly right.
impl Answer for Vec<usize> {
    const TOLERANCE: f64 = 0.0;

    fn parts(&self) -> Vec<Matrix> {
        vec![Matrix::from_fn(1, self.len(), |_, column| self[column] as f64)]
    }
}

/// The weight, and the bias as a row; no bias is a row of zeros, which adds as little.
impl Answer for Linear {
    fn parts(&self) -> Vec<Matrix> {
        let bias = self.bias.as_ref().map_or(Matrix::zeros(1, self.d_out()), |bias| {
            Matrix::from_row_slice(1, bias.len(), bias.as_slice())
        });
        vec![self.weight.clone(), bias]
    }

    fn label(part: usize, _: usize) -> String {
        ["the weight", "the bias, as a row,"][part].into()
    }

    fn asked_for(part: usize, expected: &Matrix) -> Option<&'static str> {
        let none = part == 1 && expected.iter().all(|&entry| entry == 0.0);
        none.then_some("None was expected, since the heads have no biases")
    }
}

/// The map of each head, then the output, in the order in which they are computed: a first
/// difference in the output says that all maps are right.
impl Answer for Attended {
    fn parts(&self) -> Vec<Matrix> {
        self.attn.iter().chain([&self.out]).cloned().collect()
    }

    fn count(n_parts: usize) -> String {
        match n_parts.saturating_sub(1) {
            1 => "1 map".into(),
            n => format!("{n} maps"),
        }
    }

    fn label(part: usize, n_parts: usize) -> String {
        if part + 1 < n_parts {
            format!("the map of head {part}")
        } else {
            "the output".into()
        }
    }
}
