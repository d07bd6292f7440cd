//! Where a token stands.

use attention::{Error, Matrix, Real, Result};
use gradients::Entries;

/// What is added to a token's vector, so that attention can know its place.
///
/// Attention alone cannot: shuffle the tokens and the outputs are shuffled, and nothing
/// else changes.
#[derive(Debug, Clone, PartialEq)]
pub enum Positions<T: Real = f64> {
    /// Nothing.
    None,
    /// A fixed table, `[n_positions, d_model]`, as [`sinusoidal`] gives it.
    Fixed(Matrix<T>),
    /// A table that is learned with all else, `[n_positions, d_model]`.
    Learned(Matrix<T>),
}

impl<T: Real> Positions<T> {
    /// The table, if there is one.
    pub fn table(&self) -> Option<&Matrix<T>> {
        match self {
            Self::None => None,
            Self::Fixed(table) | Self::Learned(table) => Some(table),
        }
    }

    /// Adds each position's row to the token that stands there, in stacked
    /// sequences of `n_tokens`.
    ///
    /// # Shapes
    /// `x` is `[n_sequences · n_tokens, d_model]`.
    ///
    /// # Errors
    /// [`Error::TooLong`] if there are more tokens than positions; [`Error`] if the
    /// table is of another width.
    pub fn add_to(&self, x: &mut Matrix<T>, n_tokens: usize) -> Result<()> {
        let Some(table) = self.table() else { return Ok(()) };
        let n_positions = table.nrows();
        if n_tokens > n_positions {
            return Err(Error::TooLong { n_tokens, n_positions });
        }
        let expected = (n_positions, x.ncols());
        Error::expect_shape("the table of positions", expected, table.shape())?;
        for (row, mut token) in x.row_iter_mut().enumerate() {
            token += table.row(row % n_tokens);
        }
        Ok(())
    }
}

/// The entries of a table that is learned.
impl<T: Real> Entries<T> for Positions<T> {
    fn entries(&self) -> Vec<&[T]> {
        match self {
            Self::Learned(table) => vec![table.as_slice()],
            Self::None | Self::Fixed(_) => Vec::new(),
        }
    }

    fn entries_mut(&mut self) -> Vec<&mut [T]> {
        match self {
            Self::Learned(table) => vec![table.as_mut_slice()],
            Self::None | Self::Fixed(_) => Vec::new(),
        }
    }
}

/// The paper's table of positions: column 2i is `sin(p / 10000^(2i / d_model))` and column
/// 2i + 1 the cosine of the same angle. Each pair of columns is the hand of a clock, the
/// first fast, the last slow.
///
/// # Shapes
/// The result is `[n_positions, d_model]`.
///
/// # Source
/// Vaswani et al. 2017, section 3.5.
///
/// ```
/// let table = block::sinusoidal::<f64>(3, 4);
/// assert_eq!(table.row(0).iter().collect::<Vec<_>>(), [&0.0, &1.0, &0.0, &1.0]);
/// assert_eq!(table[(2, 2)], (2.0f64 / 100.0).sin());
/// ```
pub fn sinusoidal<T: Real>(n_positions: usize, d_model: usize) -> Matrix<T> {
    Matrix::from_fn(n_positions, d_model, |position, column| {
        let pair = (column / 2) as f64;
        let angle = position as f64 / 10_000_f64.powf(2.0 * pair / d_model as f64);
        T::of(if column % 2 == 0 { angle.sin() } else { angle.cos() })
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn each_sequence_counts_from_zero() {
        let table = Matrix::from_row_slice(3, 2, &[1.0, 10.0, 2.0, 20.0, 3.0, 30.0]);
        let mut x = Matrix::zeros(4, 2);
        Positions::Learned(table).add_to(&mut x, 2).unwrap();
        let expected = [1.0, 10.0, 2.0, 20.0, 1.0, 10.0, 2.0, 20.0];
        assert_eq!(x, Matrix::from_row_slice(4, 2, &expected));
    }

    #[test]
    fn a_step_rotates_every_pair_by_one_angle_wherever_it_is_taken() {
        let table = sinusoidal::<f64>(40, 16);
        for pair in 0..8 {
            let hand = |p: usize| (table[(p, 2 * pair + 1)], table[(p, 2 * pair)]);
            let rotation = |p: usize| {
                let ((c0, s0), (c1, s1)) = (hand(p), hand(p + 5));
                (c0 * c1 + s0 * s1, c0 * s1 - s0 * c1)
            };
            let ((c, s), (c_far, s_far)) = (rotation(0), rotation(30));
            assert!((c - c_far).abs() + (s - s_far).abs() < 1e-13);
        }
    }

    #[test]
    fn too_many_tokens_are_refused_with_both_numbers() {
        let positions = Positions::Fixed(sinusoidal::<f64>(3, 4));
        let refused = |rows, columns| {
            positions.add_to(&mut Matrix::zeros(rows, columns), rows).unwrap_err()
        };
        insta::assert_snapshot!(refused(4, 4), @"the text has 4 tokens, and the model has 3 positions");
        insta::assert_snapshot!(refused(2, 5), @"the table of positions has shape (3, 4), expected (3, 5)");
    }
}
