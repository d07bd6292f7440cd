//! From ids to what enters the first block.

use attention::{Linear, Matrix, Real};
use block::{Embedding, LayerNorm};
use model_files::Sequence;

use crate::{Error, Result};

/// `norm(E[id] + P[position] + S[type])`, and where the embeddings are narrower than the
/// blocks a projection.
#[derive(Debug, Clone, PartialEq)]
pub struct Embeddings<T: Real = f64> {
    /// E, without positions: where they begin is the family's.
    pub tokens: Embedding<T>,
    /// P, `[n_positions, d_embedding]`.
    pub positions: Matrix<T>,
    /// The id of padding, behind which positions begin; without, they begin at 0.
    pub padding: Option<usize>,
    /// S, `[n_types, d_embedding]`.
    pub types: Option<Matrix<T>>,
    /// The norm.
    pub norm: LayerNorm<T>,
    /// `[d_embedding, d_model]`.
    pub projection: Option<Linear<T>>,
}

impl<T: Real> Embeddings<T> {
    /// What enters the first block, `hidden.0`.
    ///
    /// # Shapes
    /// `[n_tokens, d_model]`.
    ///
    /// # Errors
    /// [`Error::Sizes`] for no tokens, too many, or one that the vocabulary has not;
    /// [`Error::Type`]; [`Error::Files`] if there is not one type per token.
    ///
    /// # Source
    /// Devlin et al. 2019, section 3; the norm and the projection as in Hugging Face's
    /// models.
    pub fn forward(&self, sequence: &Sequence) -> Result<Matrix<T>> {
        let ids = &sequence.ids;
        let mut x = self.tokens.forward(ids, ids.len().max(1))?;
        for (row, position) in self.places(sequence)?.into_iter().enumerate() {
            let mut token = x.row_mut(row);
            token += self.positions.row(position);
        }
        if let Some(types) = &self.types {
            self.add_types(types, sequence, &mut x)?;
        }
        let x = self.norm.forward(&x)?;
        Ok(match &self.projection {
            Some(projection) => projection.forward(&x)?,
            None => x,
        })
    }

    fn add_types(
        &self,
        types: &Matrix<T>,
        sequence: &Sequence,
        x: &mut Matrix<T>,
    ) -> Result<()> {
        let n_tokens = x.nrows();
        let expected = (types.nrows(), x.ncols());
        attention::Error::expect_shape("the table of types", expected, types.shape())?;
        sequence.expect_one_each("the list of types", sequence.types.len(), n_tokens)?;
        for (position, &found) in sequence.types.iter().enumerate() {
            let n_types = types.nrows();
            if found >= n_types {
                return Err(Error::Type { position, found, n_types });
            }
            let mut token = x.row_mut(position);
            token += types.row(found);
        }
        Ok(())
    }

    /// The row of P for each token: what the sequence says, or counted.
    fn places(&self, sequence: &Sequence) -> Result<Vec<usize>> {
        let Some(given) = &sequence.positions else { return self.counted(&sequence.ids) };
        let (n_tokens, n_positions) = (sequence.n_tokens(), self.positions.nrows());
        sequence.expect_one_each("the list of positions", given.len(), n_tokens)?;
        match given.iter().find(|place| **place >= n_positions) {
            None => Ok(given.clone()),
            Some(&last) => {
                let n_tokens = last.saturating_add(1);
                Err(attention::Error::TooLong { n_tokens, n_positions }.into())
            }
        }
    }

    /// Padding has its own row, which is before all others.
    fn counted(&self, ids: &[usize]) -> Result<Vec<usize>> {
        let first = self.padding.map_or(0, |padding| padding + 1);
        let mut next = first;
        let place = |&id: &usize| match self.padding == Some(id) {
            true => id,
            false => {
                next += 1;
                next - 1
            }
        };
        let places: Vec<usize> = ids.iter().map(place).collect();
        let n_rows = self.positions.nrows();
        if next > n_rows {
            let (n_tokens, n_positions) = (next - first, n_rows.saturating_sub(first));
            return Err(attention::Error::TooLong { n_tokens, n_positions }.into());
        }
        Ok(places)
    }
}
