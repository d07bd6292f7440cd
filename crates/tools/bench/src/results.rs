//! What an implementation answers, and the file in which it does.

use std::path::Path;

use anyhow::{Result, ensure};
use attention::{Linear, Matrix, Real, max_abs_diff};
use tensors::{Existing, NewTensor, Stored, TensorFile, save};

use super::layer::bias;

/// What is compared: the output, and the gradients of the input and the parameters.
const NAMES: [&str; 6] = [
    "output",
    "grad.query",
    "grad.in_proj_weight",
    "grad.in_proj_bias",
    "grad.out_proj.weight",
    "grad.out_proj.bias",
];

/// An output, or an output and the gradients, in the order of [`NAMES`] and under
/// PyTorch's shapes: rows of `[out, in]`.
#[derive(Debug, Clone)]
pub struct Results<T: Real = f64>(Vec<Matrix<T>>);

impl<T: Real> Results<T> {
    pub fn output(output: Matrix<T>) -> Self {
        Self(vec![output])
    }

    /// # Shapes
    /// `projections` are the gradients of W^Q, W^K, W^V and W^O, `[in, out]`.
    pub fn with_gradients(
        output: Matrix<T>,
        d_x: Matrix<T>,
        [d_w_q, d_w_k, d_w_v, d_w_o]: [&Linear<T>; 4],
    ) -> Self {
        let stacked = |of: fn(&Linear<T>) -> Matrix<T>| {
            let parts = [d_w_q, d_w_k, d_w_v].map(of);
            let columns: Vec<_> =
                parts.iter().flat_map(|part| part.column_iter()).collect();
            Matrix::from_columns(&columns)
        };
        Self(vec![
            output,
            d_x,
            stacked(|linear| linear.weight.clone()).transpose(),
            stacked(bias),
            d_w_o.weight.transpose(),
            bias(d_w_o),
        ])
    }

    pub fn has_gradients(&self) -> bool {
        self.0.len() > 1
    }
}

impl<T: Stored> Results<T> {
    pub fn save(&self, file: &Path) -> Result<()> {
        let tensor = |(name, matrix): (&&str, &Matrix<T>)| {
            let (rows, columns) = matrix.shape();
            NewTensor::new(*name, &[rows, columns], [matrix])
        };
        let tensors: Vec<_> =
            NAMES.iter().zip(&self.0).map(tensor).collect::<Result<_, _>>()?;
        Ok(save(file, &tensors, Existing::Replace)?)
    }
}

impl Results {
    /// Reads what a side wrote; the numbers of each tensor matter, and its last axis.
    pub fn open(file: &Path, with_gradients: bool) -> Result<Self> {
        let file = TensorFile::open(file)?;
        let names = if with_gradients { &NAMES[..] } else { &NAMES[..1] };
        let matrix = |name: &&str| {
            let tensor = file.tensor(name)?;
            let columns = tensor.shape().last().copied().unwrap_or(1).max(1);
            let numbers = tensor.numbers()?;
            Ok(Matrix::from_row_slice(numbers.len() / columns, columns, &numbers))
        };
        Ok(Self(names.iter().map(matrix).collect::<Result<_>>()?))
    }

    /// The first of the results.
    pub fn out(&self) -> &Matrix {
        &self.0[0]
    }

    /// How far these are from a reference: `max |Δ|` of the output alone; with gradients,
    /// whose sizes differ widely, the largest `max |Δ| / max |reference|`.
    pub fn difference(&self, reference: &Self) -> Result<f64> {
        ensure!(self.0.len() == reference.0.len(), "gradients on one side only");
        let mut largest = 0f64;
        for ((found, expected), name) in self.0.iter().zip(&reference.0).zip(NAMES) {
            ensure!(
                found.shape() == expected.shape(),
                "{name} has shape {:?}, expected {:?}",
                found.shape(),
                expected.shape()
            );
            let scale = if reference.has_gradients() { expected.amax() } else { 1.0 };
            let difference = max_abs_diff(found, expected)? / scale;
            if difference.is_nan() {
                return Ok(f64::NAN);
            }
            largest = largest.max(difference);
        }
        Ok(largest)
    }
}

/// A difference, if it is within what is allowed; a NaN never is.
pub fn expect_near(difference: f64, allowed: f64) -> Result<f64> {
    ensure!(
        difference <= allowed,
        "wrong by {difference:.1e}, and {allowed:.0e} is allowed"
    );
    Ok(difference)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn results() -> Results {
        let linear = |x: f64| Linear {
            weight: Matrix::from_element(2, 2, x),
            bias: Some(vec![x; 2].into()),
        };
        let all = [1.0, 2.0, 3.0, 4.0].map(linear);
        let tokens = Matrix::from_element(3, 2, 10.0);
        Results::with_gradients(tokens.clone(), tokens, all.each_ref())
    }

    #[test]
    fn each_result_counts_as_a_share_of_its_largest_number() {
        for (i, name) in NAMES.into_iter().enumerate() {
            let (right, mut found) = (results(), results());
            found.0[i][(0, 1)] += 0.5;
            let difference = found.difference(&right).unwrap();
            let expected = 0.5 / right.0[i].amax();
            assert!((difference - expected).abs() < 1e-12, "{name}: {difference}");
            found.0[i][(0, 1)] = f64::NAN;
            assert!(found.difference(&right).unwrap().is_nan(), "{name}");
        }
    }

    #[test]
    fn another_shape_is_told_by_name() {
        let mut found = results();
        found.0[2] = Matrix::zeros(6, 1);
        let refused = found.difference(&results()).unwrap_err();
        insta::assert_snapshot!(refused, @"grad.in_proj_weight has shape (6, 1), expected (6, 2)");
    }

    #[test]
    fn files_keep_every_result() {
        let folder = tempfile::tempdir().unwrap();
        let file = folder.path().join("results");
        results().save(&file).unwrap();
        let read = Results::open(&file, true).unwrap();
        assert_eq!(read.difference(&results()).unwrap(), 0.0);
        assert_eq!(Results::open(&file, false).unwrap().0.len(), 1);
    }
}
