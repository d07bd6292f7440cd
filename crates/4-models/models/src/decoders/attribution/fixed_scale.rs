//! A norm whose scale is held.

use attention::{Matrix, Real, RowVector};

use block::Norm;

/// A norm with its scale held at what it is for one token: linear in the token, but for a
/// bias.
pub(super) struct FixedScaleNorm {
    /// `gain / root(x)`, `[d_model]`.
    scale: RowVector,
    /// Whether the token's mean is taken away before.
    takes_mean: bool,
    bias: Option<RowVector>,
}

impl FixedScaleNorm {
    /// `x` is `[1, d_model]`.
    pub fn of<T: Real>(norm: &Norm<T>, x: &Matrix) -> Self {
        let (gain, eps, bias) = match norm {
            Norm::Layer(norm) => (&norm.gain, norm.eps, Some(norm.bias.map(T::to_f64))),
            Norm::Rms(norm) | Norm::RmsInF32(norm) => (&norm.gain, norm.eps, None),
        };
        let takes_mean = bias.is_some();
        let mean = if takes_mean { x.mean() } else { 0.0 };
        let squares = x.add_scalar(-mean).norm_squared() / x.len() as f64;
        Self { scale: gain.map(T::to_f64) / (squares + eps).sqrt(), takes_mean, bias }
    }

    /// Directions d before the norm along which a token has the product that it has with
    /// `behind` after it: `x · d = (norm(x) − bias) · behind`.
    ///
    /// # Shapes
    /// `[d_model, n]`, the result too.
    pub fn before(&self, behind: &Matrix) -> Matrix {
        let mut before = behind.clone();
        for mut direction in before.column_iter_mut() {
            direction.component_mul_assign(&self.scale.transpose());
            if self.takes_mean {
                direction.add_scalar_mut(-direction.mean());
            }
        }
        before
    }

    /// What the bias adds along n directions.
    pub fn bias_along(&self, behind: &Matrix) -> Vec<f64> {
        match &self.bias {
            None => vec![0.0; behind.ncols()],
            Some(bias) => (bias * behind).iter().copied().collect(),
        }
    }
}
