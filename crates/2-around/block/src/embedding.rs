//! From ids to vectors, and where a token stands.

use attention::{Error, Matrix, Real, Result, Rng, random_matrix};
use gradients::Entries;

/// A table with a vector for each token of the vocabulary, and one for its position.
#[derive(Debug, Clone, PartialEq)]
pub struct Embedding<T: Real = f64> {
    /// One row per token, `[n_vocabulary, d_model]`.
    pub tokens: Matrix<T>,
    /// What tokens are multiplied by before positions are added: 1, or the paper's
    /// `√d_model`, without which the positions would be louder than the tokens.
    pub scale: f64,
    /// Where they stand.
    pub positions: Positions<T>,
}

gradients::entries!([T: Real] T, Embedding<T>: tokens, positions);

impl<T: Real> Embedding<T> {
    /// Random vectors, their entries with a spread of 1, and no positions yet.
    pub fn random(n_vocabulary: usize, d_model: usize, rng: &mut Rng) -> Self {
        let tokens = random_matrix(n_vocabulary, d_model, 1.0, rng);
        Self { tokens, scale: 1.0, positions: Positions::None }
    }

    /// `scale · E[id] + P[position]` of every token, in stacked sequences of
    /// `n_tokens`.
    ///
    /// # Shapes
    /// `ids` is `[n_sequences · n_tokens]`, the result `[n_sequences · n_tokens, d_model]`.
    ///
    /// # Errors
    /// [`Error::Token`] for an id that the table does not have; [`Error::TooLong`];
    /// [`Error`] for no tokens, or ids that cannot be cut into such sequences.
    ///
    /// # Source
    /// Vaswani et al. 2017, sections 3.4 and 3.5.
    ///
    /// ```
    /// use attention::{Rng, SeedableRng};
    /// use block::{Embedding, Positions, sinusoidal};
    ///
    /// let rng = &mut Rng::seed_from_u64(1);
    /// let positions = Positions::Fixed(sinusoidal(10, 4));
    /// let embedding = Embedding::<f64> { positions, ..Embedding::random(3, 4, rng) };
    /// let x = embedding.forward(&[2, 0, 2], 3)?;
    /// assert_ne!(x.row(0), x.row(2)); // the same token, elsewhere
    /// # Ok::<(), attention::Error>(())
    /// ```
    pub fn forward(&self, ids: &[usize], n_tokens: usize) -> Result<Matrix<T>> {
        self.check(ids, n_tokens)?;
        let scale = T::of(self.scale);
        let mut x = Matrix::from_fn(ids.len(), self.tokens.ncols(), |row, column| {
            scale * self.tokens[(ids[row], column)]
        });
        self.positions.add_to(&mut x, n_tokens)?;
        Ok(x)
    }

    /// The gradients of both tables, as an embedding: each row gathers from every place where
    /// it was read.
    ///
    /// # Shapes
    /// `d_x` is `[n_sequences · n_tokens, d_model]`.
    ///
    /// # Errors
    /// As [`forward`](Self::forward), and if `d_x` has another shape.
    pub fn backward(
        &self,
        ids: &[usize],
        n_tokens: usize,
        d_x: &Matrix<T>,
    ) -> Result<Self> {
        self.check(ids, n_tokens)?;
        let expected = (ids.len(), self.tokens.ncols());
        Error::expect_shape("the gradient of the embedding", expected, d_x.shape())?;
        let scale = T::of(self.scale);
        let mut d_tokens = Matrix::zeros(self.tokens.nrows(), self.tokens.ncols());
        for (&id, d) in ids.iter().zip(d_x.row_iter()) {
            let mut row = d_tokens.row_mut(id);
            row += d * scale;
        }
        let positions = match &self.positions {
            Positions::Learned(table) => {
                let mut d_table = Matrix::zeros(table.nrows(), table.ncols());
                for (row, d) in d_x.row_iter().enumerate() {
                    let mut position = d_table.row_mut(row % n_tokens);
                    position += d;
                }
                Positions::Learned(d_table)
            }
            Positions::None | Positions::Fixed(_) => Positions::None,
        };
        Ok(Self { tokens: d_tokens, scale: self.scale, positions })
    }

    fn check(&self, ids: &[usize], n_tokens: usize) -> Result<()> {
        Error::expect_positive("the number of tokens", n_tokens.min(ids.len()))?;
        if !ids.len().is_multiple_of(n_tokens) {
            let n_sequences = ids.len().div_ceil(n_tokens);
            return Err(Error::BatchRows { n_rows: ids.len(), n_sequences });
        }
        let n_vocabulary = self.tokens.nrows();
        match ids.iter().position(|&id| id >= n_vocabulary) {
            None => Ok(()),
            Some(position) => {
                Err(Error::Token { position, id: ids[position], n_vocabulary })
            }
        }
    }
}

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
    use attention::SeedableRng;

    fn embedding() -> Embedding {
        let rng = &mut Rng::seed_from_u64(1);
        let positions = Positions::Learned(random_matrix(4, 3, 1.0, rng));
        Embedding { scale: 2.0, positions, ..Embedding::random(5, 3, rng) }
    }

    #[test]
    fn a_row_gathers_from_every_place_where_it_was_read() {
        let embedding = embedding();
        let ids = [4, 1, 4, 0, 4, 1];
        let d_x = Matrix::from_fn(6, 3, |i, _| 10f64.powi(i as i32));
        let d = embedding.backward(&ids, 3, &d_x).unwrap();
        assert_eq!(
            d.tokens.column(0).as_slice(),
            [2000.0, 200_020.0, 0.0, 0.0, 20_202.0]
        );
        let of_positions = d.positions.table().unwrap().clone();
        assert_eq!(of_positions.column(0).as_slice(), [1001.0, 10_010.0, 100_100.0, 0.0]);
    }

    #[test]
    fn ids_that_do_not_fit_are_refused_with_their_numbers() {
        let refused = |ids: &[usize], n| embedding().forward(ids, n).unwrap_err();
        insta::assert_snapshot!(refused(&[0, 1, 5], 3), @"token 2 has id 5, and the vocabulary has 5 entries, from 0");
        insta::assert_snapshot!(refused(&[0; 5], 5), @"the text has 5 tokens, and the model has 4 positions");
        insta::assert_snapshot!(refused(&[], 3), @"the number of tokens is 0, and must be at least 1");
        insta::assert_snapshot!(refused(&[0, 1, 2], 2), @"3 rows cannot be cut into 2 sequences of equal length");
    }

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
