//! From ids to vectors, and back to logits.

use attention::{Matrix, Real};
use variants::SoftCap;

/// From ids to what enters the first block.
#[derive(Debug, Clone, PartialEq)]
pub struct Embedding<T: Real = f64> {
    /// E, one **column** per token, `[d_model, n_vocabulary]`. So the same matrix is the
    /// unembedding where the two are tied, and a model of 135 million weights does not hold
    /// a fifth of them twice.
    pub tokens: Matrix<T>,
    /// What tokens are multiplied by.
    pub scale: f64,
    /// P, `[n_positions, d_model]`, in a model that has such a table.
    pub positions: Option<Matrix<T>>,
    /// How many positions there are.
    pub n_positions: usize,
}

impl<T: Real> Embedding<T> {
    /// `scale · E[id] + P[position]` of tokens of which the first stands at `first`.
    ///
    /// # Shapes
    /// `[n_tokens, d_model]`.
    ///
    /// # Errors
    /// [`attention::Error`] for no tokens; [`attention::Error::Token`]; [`attention::Error::TooLong`].
    pub fn forward(
        &self,
        ids: &[usize],
        first: usize,
    ) -> Result<Matrix<T>, attention::Error> {
        let end = first.saturating_add(ids.len());
        self.forward_at(ids, &(first..end).collect::<Vec<_>>())
    }

    /// The same, with a position per token.
    ///
    /// # Shapes and errors
    /// As [`forward`](Self::forward); [`attention::Error`] for another number of positions.
    pub fn forward_at(
        &self,
        ids: &[usize],
        places: &[usize],
    ) -> Result<Matrix<T>, attention::Error> {
        let what = "the list of positions";
        attention::Error::expect_positive("the number of tokens", ids.len())?;
        attention::Error::expect_length(what, ids.len(), places.len())?;
        expect_ids(ids, self.tokens.ncols())?;
        let n_tokens = places.iter().max().map_or(0, |last| last.saturating_add(1));
        let n_rows = self.positions.as_ref().map_or(self.n_positions, Matrix::nrows);
        let n_positions = self.n_positions.min(n_rows);
        if n_tokens > n_positions {
            return Err(attention::Error::TooLong { n_tokens, n_positions });
        }
        let scale = T::of(self.scale);
        Ok(Matrix::from_fn(ids.len(), self.tokens.nrows(), |row, feature| {
            let token = scale * self.tokens[(feature, ids[row])];
            match &self.positions {
                None => token,
                Some(positions) => token + positions[(places[row], feature)],
            }
        }))
    }
}

/// Refuses ids that the vocabulary does not have.
pub(crate) fn expect_ids(ids: &[usize], n_vocabulary: usize) -> attention::Result<()> {
    match ids.iter().position(|&id| id >= n_vocabulary) {
        None => Ok(()),
        Some(position) => {
            let id = ids[position];
            Err(attention::Error::Token { position, id, n_vocabulary })
        }
    }
}

/// From vectors to a logit for each token of the vocabulary.
#[derive(Debug, Clone, PartialEq)]
pub struct Unembedding<T: Real = f64> {
    /// One column per token, `[d_model, n_vocabulary]`; `None` where it is the embedding.
    pub tokens: Option<Matrix<T>>,
    /// A bound for logits.
    pub soft_cap: Option<SoftCap>,
}

impl<T: Real> Unembedding<T> {
    /// `x E`, within the bound.
    ///
    /// # Shapes
    /// `x` is `[n_tokens, d_model]`, the result `[n_tokens, n_vocabulary]`.
    ///
    /// # Errors
    /// [`attention::Error::Shape`] if `x` has another width.
    pub fn forward(
        &self,
        x: &Matrix<T>,
        embedding: &Embedding<T>,
    ) -> attention::Result<Matrix<T>> {
        let tokens = self.tokens.as_ref().unwrap_or(&embedding.tokens);
        let (what, expected) =
            ("the input of the unembedding", (x.nrows(), tokens.nrows()));
        attention::Error::expect_shape(what, expected, x.shape())?;
        let logits = match x.nrows() {
            // Column by column, as the table lies in memory.
            1 => tokens.tr_mul(&x.transpose()).transpose(),
            _ => x * tokens,
        };
        Ok(match &self.soft_cap {
            None => logits,
            Some(cap) => cap.apply(logits),
        })
    }

    /// The columns of some tokens, `[d_model, n]`.
    ///
    /// # Panics
    /// If the vocabulary does not have one of them.
    pub(crate) fn of(&self, tokens: &[usize], embedding: &Embedding<T>) -> Matrix<T> {
        self.tokens.as_ref().unwrap_or(&embedding.tokens).select_columns(tokens)
    }
}
