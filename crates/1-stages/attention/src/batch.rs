//! Sequences of equal length, stacked.

use crate::{Attended, Error, Matrix, Real, Result, View};

/// Sequences of equal length, stacked in one matrix.
///
/// A batch needs no third dimension: a projection treats every token alike, so it may as
/// well see all tokens of all sequences at once.
///
/// ```
/// use attention::{Batch, Matrix};
///
/// let sequences = [1.0, 2.0].map(|x| Matrix::from_element(3, 4, x));
/// let batch = Batch::stack(&sequences)?;
/// assert_eq!((batch.n_sequences(), batch.n_tokens()), (2, 3));
/// assert_eq!(batch.tokens().shape(), (2 * 3, 4));
/// assert_eq!(batch.sequence(1), sequences[1]);
/// # Ok::<(), attention::Error>(())
/// ```
#[derive(Debug, Clone, PartialEq)]
pub struct Batch<T: Real = f64> {
    n_sequences: usize,
    tokens: Matrix<T>,
}

impl<T: Real> Batch<T> {
    /// A batch from sequences that are stacked already.
    ///
    /// # Shapes
    /// `tokens` is `[n_sequences · n_tokens, width]`.
    ///
    /// # Errors
    /// [`Error::ZeroSize`] without sequences; [`Error::BatchRows`] if the rows cannot be
    /// shared out evenly.
    pub fn new(n_sequences: usize, tokens: Matrix<T>) -> Result<Self> {
        Error::expect_positive("the number of sequences", n_sequences)?;
        let n_rows = tokens.nrows();
        if !n_rows.is_multiple_of(n_sequences) {
            return Err(Error::BatchRows { n_rows, n_sequences });
        }
        Ok(Self { n_sequences, tokens })
    }

    /// A batch from sequences, all of the first one's shape.
    ///
    /// # Errors
    /// [`Error::ZeroSize`] without sequences; [`Error::Shape`] for the first that differs.
    pub fn stack(sequences: &[Matrix<T>]) -> Result<Self> {
        Error::expect_positive("the number of sequences", sequences.len())?;
        let (n_tokens, width) = sequences[0].shape();
        let mut tokens = Matrix::zeros(sequences.len() * n_tokens, width);
        for (s, sequence) in sequences.iter().enumerate() {
            let what = format!("sequence {s} of the batch");
            Error::expect_shape(what, (n_tokens, width), sequence.shape())?;
            tokens.rows_mut(s * n_tokens, n_tokens).copy_from(sequence);
        }
        Ok(Self { n_sequences: sequences.len(), tokens })
    }

    /// The number of sequences.
    pub fn n_sequences(&self) -> usize {
        self.n_sequences
    }

    /// The number of tokens of each sequence.
    pub fn n_tokens(&self) -> usize {
        self.tokens.nrows() / self.n_sequences
    }

    /// All tokens, `[n_sequences · n_tokens, width]`.
    pub fn tokens(&self) -> &Matrix<T> {
        &self.tokens
    }

    /// The tokens of sequence `s`, `[n_tokens, width]`.
    ///
    /// # Panics
    /// Unless `s < n_sequences`.
    pub fn sequence(&self, s: usize) -> View<'_, T> {
        self.tokens.rows(s * self.n_tokens(), self.n_tokens())
    }
}

/// What a layer gives back for a batch.
///
/// ```
/// use attention::{Batch, BatchAttended, Matrix};
///
/// let maps = || vec![Matrix::from_element(3, 3, 1.0 / 3.0)];
/// let out = Batch::new(2, Matrix::zeros(2 * 3, 4))?;
/// let attended = BatchAttended { out, attn: vec![maps(), maps()] };
/// assert_eq!(attended.into_sequences()[1].out.shape(), (3, 4));
/// # Ok::<(), attention::Error>(())
/// ```
#[derive(Debug, Clone, PartialEq)]
pub struct BatchAttended<T: Real = f64> {
    /// The outputs, `[n_sequences · n_q, d_model]`.
    pub out: Batch<T>,
    /// `attn[s][i]` is head i's map of sequence s, `[n_q, n_kv]`.
    pub attn: Vec<Vec<Matrix<T>>>,
}

impl<T: Real> BatchAttended<T> {
    /// The sequences one by one; maps of more sequences than there are outputs are left
    /// out.
    pub fn into_sequences(self) -> Vec<Attended<T>> {
        let Self { out, attn } = self;
        let one = |(s, attn)| Attended { out: out.sequence(s).into_owned(), attn };
        (0..out.n_sequences()).zip(attn).map(one).collect()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn sequences_come_back_as_they_went_in() {
        let (a, b) = (Matrix::from_element(2, 3, 1.0), Matrix::from_element(2, 3, 2.0));
        let batch = Batch::stack(&[a.clone(), b.clone()]).unwrap();
        assert_eq!((batch.n_sequences(), batch.n_tokens()), (2, 2));
        assert_eq!(batch.sequence(0), a);
        assert_eq!(batch.sequence(1), b);
    }

    #[test]
    fn sequences_that_do_not_fit_are_refused_with_their_numbers() {
        let zeros = Matrix::<f64>::zeros;
        insta::assert_snapshot!(Batch::new(3, zeros(8, 2)).unwrap_err(), @"8 rows cannot be cut into 3 sequences of equal length");
        insta::assert_snapshot!(Batch::new(0, zeros(8, 2)).unwrap_err(), @"the number of sequences is 0, and must be at least 1");
        insta::assert_snapshot!(Batch::stack(&[zeros(2, 3), zeros(3, 3)]).unwrap_err(), @"sequence 1 of the batch has shape (3, 3), expected (2, 3)");
    }
}
