//! From ids to vectors.

use attention::{Error, Matrix, Real, Result, Rng, random_matrix};

use crate::Positions;

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
}
