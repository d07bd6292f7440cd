//! A state dict with an input, as a file holds them, and what comes out.

use attention::{Matrix, Real};
use model_files::Unused;
use tensors::{NewTensor, Stored, TensorFile};

use super::file::{is_parameter, prefix_in, prefixes};
use super::{Lstm, LstmOutput, State, names};
use crate::{Error, Result};

/// An LSTM and sequences for it: a file's state dict under PyTorch's names, with `input`
/// (batch, n, d_in), and perhaps `h_0` and `c_0`
/// (n_layers · n_directions, batch, hidden). What stands before the state dict's names, as
/// in `lstm.weight_ih_l0`, is taken off; where the file has several LSTMs, it says which.
///
/// Sequences of different length end in padding, and `lengths` (batch) says where: then each
/// is read to its end, as with `pack_padded_sequence`, and rows of `output` behind it are
/// zeros.
///
/// One sequence without a batch, `input` (n, d_in), is one sequence.
#[derive(Debug, Clone, PartialEq)]
pub struct Case<T: Real = f64> {
    /// The LSTM.
    pub lstm: Lstm<T>,
    /// The sequences.
    pub input: Vec<Matrix<T>>,
    /// Where each begins, if not at zeros.
    pub start: Option<Vec<State<T>>>,
    is_batch: bool,
}

impl<T: Real> Case<T> {
    /// What a case holds and is not used, and why that changes nothing; `prefix` is as in
    /// [`read`](Self::read).
    ///
    /// # Errors
    /// [`Error::File`](crate::Error::File) for a tensor or metadata that would change the
    /// result and is not read.
    pub fn unused(file: &TensorFile, prefix: Option<&str>) -> Result<Vec<Unused>> {
        let prefix = prefix_in(file, prefix)?;
        let lstm: Lstm<T> = Lstm::from_file(file, &prefix)?;
        let mut unused = names::unused(file, (&prefix, &prefixes(file)), is_parameter)?;
        unused.extend(names::notes(file, &lstm)?);
        Ok(unused)
    }

    /// Reads a case: its one LSTM, or that with the prefix.
    ///
    /// # Errors
    /// As [`Lstm::from_file`] and [`unused`](Self::unused);
    /// [`Error::File`](crate::Error::File) for an `input`, `h_0`, `c_0` or `lengths` that is
    /// missing or does not fit; [`Error::NotFiniteTensor`](crate::Error::NotFiniteTensor).
    pub fn read(file: &TensorFile, prefix: Option<&str>) -> Result<Self> {
        Self::unused(file, prefix)?;
        let lstm: Lstm<T> = Lstm::from_file(file, &prefix_in(file, prefix)?)?;
        let tensor = file.tensor("input")?;
        let d_in = lstm.d_in();
        let (n_sequences, is_batch) = match *tensor.shape() {
            [n_sequences, _, width] if width == d_in => (n_sequences, true),
            [_, width] if width == d_in => (1, false),
            _ => {
                let expected = format!("(batch, n, {d_in})");
                return Err(tensor.shape_error(&expected).into());
            }
        };
        let mut input: Vec<Matrix<T>> = tensor.matrices()?.iter().map(cast).collect();
        if file.contains("lengths") {
            for (x, n) in
                input.iter_mut().zip(lengths(file, n_sequences, tensor.shape())?)
            {
                *x = x.rows(0, n).into_owned();
            }
        }
        for (s, x) in input.iter().enumerate() {
            expect_finite(file, "input", s, x)?;
        }
        let rows = lstm.layers().len() * lstm.n_directions();
        let of_state = |name: &str| -> Result<Vec<Matrix<T>>> {
            let (tensor, hidden) = (file.tensor(name)?, lstm.hidden());
            match is_batch {
                true => tensor.expect_shape(&[rows, n_sequences, hidden])?,
                false => tensor.expect_shape(&[rows, hidden])?,
            }
            let numbers: Vec<T> = tensor.numbers_as()?;
            let entry = |s: usize, r: usize, j: usize| {
                numbers[(r * n_sequences + s) * hidden + j]
            };
            let of = |s| {
                let state = Matrix::from_fn(rows, hidden, |r, j| entry(s, r, j));
                expect_finite(file, name, s, &state).map(|()| state)
            };
            (0..n_sequences).map(of).collect()
        };
        let has_start = file.contains("h_0") || file.contains("c_0");
        let start = has_start.then(|| -> Result<Vec<State<T>>> {
            let pairs = of_state("h_0")?.into_iter().zip(of_state("c_0")?);
            Ok(pairs.map(|(h, c)| State { h, c }).collect())
        });
        Ok(Self { lstm, input, start: start.transpose()?, is_batch })
    }

    /// What the LSTM makes of each sequence.
    ///
    /// # Errors
    /// As [`Lstm::forward`].
    pub fn run(&self) -> Result<Vec<LstmOutput<T>>> {
        let start = |s: usize| self.start.as_ref().and_then(|start| start.get(s));
        let each = self.input.iter().enumerate();
        each.map(|(s, x)| Ok(self.lstm.forward(x, start(s))?)).collect()
    }
}

impl<T: Stored> Case<T> {
    /// `output`, `h_n` and `c_n` in PyTorch's shapes (batch_first).
    ///
    /// # Errors
    /// As [`run`](Self::run).
    pub fn outputs(&self) -> Result<[NewTensor; 3]> {
        let reads = self.run()?;
        let width = reads.first().map_or(0, |read| read.output.ncols());
        let n = reads.iter().map(|read| read.output.nrows()).max().unwrap_or(0);
        let (rows, hidden) = reads.first().map_or((0, 0), |read| read.h_n.shape());
        // [n_layers · n_directions, batch, hidden]: a matrix per layer and direction.
        let states = |of: fn(&LstmOutput<T>) -> &Matrix<T>| -> Vec<Matrix<T>> {
            let row = |r: usize| {
                Matrix::from_fn(reads.len(), hidden, |s, j| of(&reads[s])[(r, j)])
            };
            (0..rows).map(row).collect()
        };
        let (batch, state) = match self.is_batch {
            true => (vec![reads.len(), n, width], vec![rows, reads.len(), hidden]),
            false => (vec![n, width], vec![rows, hidden]),
        };
        // Zeros behind the end of a sequence that is shorter than others.
        let padded =
            |read: &LstmOutput<T>| read.output.clone().resize(n, width, T::zero());
        let output: Vec<Matrix<T>> = reads.iter().map(padded).collect();
        Ok([
            NewTensor::new("output", &batch, &output)?,
            NewTensor::new("h_n", &state, &states(|read| &read.h_n))?,
            NewTensor::new("c_n", &state, &states(|read| &read.c_n))?,
        ])
    }
}

/// Refuses NaN and infinity, of which an LSTM makes NaN at all later tokens.
fn expect_finite<T: Real>(
    file: &TensorFile,
    tensor: &str,
    sequence: usize,
    rows: &Matrix<T>,
) -> Result<()> {
    let is_finite = |row: usize| rows.row(row).iter().all(|x| x.is_finite());
    match (0..rows.nrows()).find(|&row| !is_finite(row)) {
        None => Ok(()),
        Some(row) => Err(Error::NotFiniteTensor {
            file: file.name().to_string(),
            tensor: tensor.to_string(),
            sequence,
            row,
        }),
    }
}

/// How many tokens of each sequence are real.
fn lengths(file: &TensorFile, n_sequences: usize, input: &[usize]) -> Result<Vec<usize>> {
    let tensor = file.tensor("lengths")?;
    tensor.expect_shape(&[n_sequences])?;
    let longest = input[input.len() - 2];
    let length = |(sequence, found): (usize, i128)| {
        let length = usize::try_from(found).ok().filter(|n| (1..=longest).contains(n));
        length.ok_or_else(|| model_files::Error::SequenceLength {
            file: file.name().to_string(),
            sequence,
            found,
            longest,
        })
    };
    let lengths = tensor.integers()?.into_iter().enumerate().map(length);
    Ok(lengths.collect::<Result<_, _>>()?)
}

fn cast<T: Real>(matrix: &Matrix) -> Matrix<T> {
    matrix.map(T::of)
}
