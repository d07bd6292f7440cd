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
    /// By how much a right answer may differ, as a share of the largest number of the
    /// reference (and at least of 1): an answer computed in f32, or summed in another
    /// order, is right.
    const TOLERANCE: f64 = 1e-4;

    /// Whether an answer is a list, and how long it is belongs to what is asked: then a list
    /// of another length is not an answer of the wrong shape.
    const IS_LIST: bool = false;

    /// The matrices of the answer.
    fn parts(&self) -> Vec<Matrix>;

    /// How many matrices there are, in words.
    fn n_parts(&self) -> String {
        match self.parts().len() {
            1 => "1 matrix".into(),
            n => format!("{n} matrices"),
        }
    }

    /// What one of them is called, if they are several.
    fn part_name(&self, part: usize) -> String {
        format!("matrix {part} (counted from 0)")
    }

    /// What was expected in place of one of them, in words, where that is no shape.
    fn asked_for(&self, _part: usize) -> Option<&'static str> {
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

    fn part_name(&self, part: usize) -> String {
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

    fn part_name(&self, part: usize) -> String {
        ["the weight", "the bias, as a row,"][part].into()
    }

    fn asked_for(&self, part: usize) -> Option<&'static str> {
        let none = part == 1 && self.bias.is_none();
        none.then_some("None was expected, since the heads have no biases")
    }
}

/// The gradients of a projection `y = x · W + b`: of W, of b as a row, and of x.
impl Answer for (Matrix, Vec<f64>, Matrix) {
    fn parts(&self) -> Vec<Matrix> {
        let (d_w, d_b, d_x) = self;
        vec![d_w.clone(), Matrix::from_row_slice(1, d_b.len(), d_b), d_x.clone()]
    }

    fn part_name(&self, part: usize) -> String {
        ["d_w", "d_b", "d_x"][part].into()
    }
}

/// The gradients of what a head attends with: of Q, of K and of V.
impl Answer for [Matrix; 3] {
    fn parts(&self) -> Vec<Matrix> {
        self.to_vec()
    }

    fn part_name(&self, part: usize) -> String {
        ["dq", "dk", "dv"][part].into()
    }
}

/// The map of each head, then the output, in the order in which they are computed: a first
/// difference in the output says that all maps are right.
impl Answer for Attended {
    fn parts(&self) -> Vec<Matrix> {
        self.attn.iter().chain([&self.out]).cloned().collect()
    }

    fn n_parts(&self) -> String {
        match self.attn.len() {
            1 => "1 map".into(),
            n => format!("{n} maps"),
        }
    }

    fn part_name(&self, part: usize) -> String {
        if part < self.attn.len() {
            format!("the map of head {part}")
        } else {
            "the output".into()
        }
    }
}
