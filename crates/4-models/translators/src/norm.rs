//! The norms of encoder-decoders.

use attention::{Matrix, Real, Result as SizeResult};
use block::{LayerNorm, RmsNorm};

/// Either norm.
#[derive(Debug, Clone, PartialEq)]
pub enum Norm<T: Real = f64> {
    /// By mean and variance: Marian, BART.
    Layer(LayerNorm<T>),
    /// By the root mean square, which is computed in f32 whatever the rest is in: T5. Its own
    /// code has it so, and a model in f64 would else differ from it in the sixth digit.
    Rms(RmsNorm<T>),
}

impl<T: Real> Norm<T> {
    /// `norm(x)`.
    ///
    /// # Shapes
    /// `x` is `[n_tokens, d_model]`, the result too.
    ///
    /// # Errors
    /// [`attention::Error::Shape`] if `x` has another width.
    ///
    /// # Source
    /// Zhang and Sennrich 2019; `T5LayerNorm` of Hugging Face's transformers.
    pub fn forward(&self, x: &Matrix<T>) -> SizeResult<Matrix<T>> {
        let RmsNorm { gain, eps } = match self {
            Self::Layer(norm) => return norm.forward(x),
            Self::Rms(norm) => norm,
        };
        let expected = (x.nrows(), gain.ncols());
        attention::Error::expect_shape("the input of the norm", expected, x.shape())?;
        let mut out = x.clone();
        for mut row in out.row_iter_mut() {
            let squares = row.iter().map(|entry| (entry.to_f64() as f32).powi(2));
            let mean = in_lanes(squares) / gain.ncols() as f32;
            let factor = T::of(f64::from((mean + *eps as f32).sqrt().recip()));
            for (entry, gain) in row.iter_mut().zip(gain.iter()) {
                *entry = *gain * (*entry * factor);
            }
        }
        Ok(out)
    }
}

/// A sum in eight lanes, as vectors make it: in f32 the order is a part of the result.
fn in_lanes(entries: impl Iterator<Item = f32>) -> f32 {
    let mut lanes = [0.0; 8];
    for (i, entry) in entries.enumerate() {
        lanes[i % 8] += entry;
    }
    lanes.iter().sum()
}
