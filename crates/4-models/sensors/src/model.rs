//! The model: sensors in, a remaining life out, everything on the way kept.

mod file;
#[cfg(test)]
mod tests;
mod trace;

use attention::{Linear, Mask, Matrix, MultiHeadAttention, Real};
use block::{Positions, Sublayer};
use fused_heads::FusedAttention;

use crate::{CAP, Lstm, LstmOutput, Pool, Result};

pub use file::Trained;

/// How readings become tokens, with weights.
#[derive(Debug, Clone, PartialEq)]
pub enum Tokens<T: Real = f64> {
    /// An LSTM.
    Lstm(Lstm<T>),
    /// A linear map per reading, and positions.
    Linear(Linear<T>, Positions<T>),
}

/// A model of remaining life. Its attention is any [`MultiHeadAttention`].
///
/// ```text
/// X = BiLSTM(readings)              (30, 14) → (30, 256)
/// Y = norm(X + MultiHead(X))        (30, 256)
/// remaining life = 125 · (mean(Y) w + b)
/// ```
#[derive(Debug, Clone, PartialEq)]
pub struct Remaining<A, T: Real = f64> {
    /// How readings become tokens.
    pub tokens: Tokens<T>,
    /// Attention, its residual and its norm, if there are any.
    pub attention: Option<Sublayer<A, T>>,
    /// How tokens become one vector.
    pub pool: Pool,
    /// From one vector to one number, `[d_model, 1]`.
    pub head: Linear<T>,
}

/// One pass of a window, step by step.
#[derive(Debug, Clone, PartialEq)]
pub struct ModelPass<T: Real = f64> {
    /// What the LSTM made, if there is one: `output` is `[30, 256]`.
    pub read: Option<LstmOutput<T>>,
    /// The tokens that attention gets, `[30, 256]`.
    pub x: Matrix<T>,
    /// What attention does with them.
    pub attended: Option<AttentionPass<T>>,
    /// The vector of the window, `[1, 256]`.
    pub pooled: Matrix<T>,
    /// The remaining life in cycles; judged as [`capped`](crate::capped).
    pub remaining: T,
}

/// Attention's part of a pass.
#[derive(Debug, Clone, PartialEq)]
pub struct AttentionPass<T: Real = f64> {
    /// A map per head, each `[30, 30]`.
    pub attn: Vec<Matrix<T>>,
    /// The layer's output, `[30, 256]`.
    pub out: Matrix<T>,
    /// With the residual, `[30, 256]`.
    pub sum: Matrix<T>,
    /// Behind the norm, `[30, 256]`.
    pub norm: Matrix<T>,
}

impl<A: MultiHeadAttention<T>, T: Real> Remaining<A, T> {
    /// The life that remains behind a window.
    ///
    /// # Shapes
    /// `window` is `[n, n_sensors]`, on the scale of the training; n was 30 there.
    ///
    /// # Errors
    /// [`Error::Sizes`](crate::Error::Sizes) for a window of another width.
    // ANCHOR: forward
    pub fn forward(&self, window: &Matrix<T>) -> Result<ModelPass<T>> {
        let (x, read) = self.tokens.of(window)?; // [30, 256]
        let attended = match &self.attention {
            None => None,
            Some(sublayer) => {
                let around = sublayer.forward(&x, |layer, x| {
                    let attended = layer.self_attend(x, &Mask::None)?;
                    Ok((attended.out.clone(), attended))
                })?;
                let (sum, kept, norm) = (around.sum().clone(), around.kept, around.out);
                Some(AttentionPass { attn: kept.attn, out: kept.out, sum, norm })
            }
        };
        let last = attended.as_ref().map_or(&x, |steps| &steps.norm);
        let pooled = self.pooled(last, read.as_ref()); // [1, 256]
        let output = self.head.forward(&pooled)?; // [1, 1]
        attention::Error::expect_shape("the output of the head", (1, 1), output.shape())?;
        let remaining = output[(0, 0)] * T::of(CAP);
        Ok(ModelPass { read, x, attended, pooled, remaining })
    }
    // ANCHOR_END: forward

    fn pooled(&self, tokens: &Matrix<T>, read: Option<&LstmOutput<T>>) -> Matrix<T> {
        let mean = || Matrix::from_rows(&[tokens.row_mean()]);
        match (self.pool, read) {
            (Pool::Mean, _) | (Pool::Ends, None) => mean(),
            (Pool::Ends, Some(read)) => {
                // Direction after direction, as they lie in the output's columns.
                let ends = read.h_n.transpose();
                let row = ends.iter().copied().collect::<Vec<T>>();
                Matrix::from_row_slice(1, row.len(), &row)
            }
        }
    }
}

impl Remaining<FusedAttention> {
    /// [`forward`](Self::forward), compiled here: a generic function is compiled where it is
    /// called, and figures are compiled to be small and not to be fast.
    ///
    /// # Errors
    /// As [`forward`](Self::forward).
    pub fn pass(&self, window: &Matrix) -> Result<ModelPass> {
        self.forward(window)
    }

    /// The tokens that attention gets, `[30, 256]`: a pass up to there, compiled here.
    ///
    /// # Errors
    /// As [`forward`](Self::forward).
    pub fn tokens(&self, window: &Matrix) -> Result<Matrix> {
        Ok(self.tokens.of(window)?.0)
    }
}

impl<T: Real> Tokens<T> {
    fn of(&self, window: &Matrix<T>) -> Result<(Matrix<T>, Option<LstmOutput<T>>)> {
        match self {
            Self::Lstm(lstm) => {
                let read = lstm.forward(window, None)?;
                Ok((read.output.clone(), Some(read)))
            }
            Self::Linear(linear, positions) => {
                let mut x = linear.forward(window)?;
                positions.add_to(&mut x, window.nrows())?;
                Ok((x, None))
            }
        }
    }
}
