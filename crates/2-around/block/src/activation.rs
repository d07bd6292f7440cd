//! What stands between the two projections of a feed-forward layer.

use attention::{Matrix, Real};

/// A function of one number, without which two projections in a row are one projection.
///
/// # Source
/// Vaswani et al. 2017, section 3.3 (ReLU); Hendrycks and Gimpel 2016 (GELU and its
/// approximation); Elfwing et al. 2017 (SiLU).
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum Activation {
    /// `max(0, x)`, the paper's.
    Relu,
    /// `x · Φ(x)`, Φ being the share of a normal distribution that lies below x: GELU.
    #[default]
    Gelu,
    /// GELU by `tanh`, which differs from it by less than 5 · 10⁻⁴: what GPT-2 computes.
    GeluTanh,
    /// `x / (1 + e^−x)`, x times its share in (0, 1): SiLU, or Swish, as in Llama.
    Silu,
    /// x as it is: a control, to see what the others are for.
    None,
}

/// √(2/π).
const ROOT: f64 = 0.797_884_560_802_865_4;

/// The weight of x³ in the approximation.
const CUBIC: f64 = 0.044_715;

impl Activation {
    /// What Hugging Face's settings call those that [`named`](Self::named) knows.
    pub const NAMES: &str =
        "gelu, gelu_new, gelu_fast, gelu_pytorch_tanh, silu, swish or relu";

    /// The one of this name in Hugging Face's settings, such as `gelu_new`.
    pub fn named(name: &str) -> Option<Self> {
        match name {
            "gelu" | "gelu_python" => Some(Self::Gelu),
            "gelu_new" | "gelu_fast" | "gelu_accurate" => Some(Self::GeluTanh),
            "gelu_pytorch_tanh" | "gelu_python_tanh" => Some(Self::GeluTanh),
            "silu" | "swish" => Some(Self::Silu),
            "relu" => Some(Self::Relu),
            _ => None,
        }
    }

    /// Its value at `x`.
    ///
    /// ```
    /// use block::Activation;
    ///
    /// assert_eq!(Activation::Relu.of(-2.0), 0.0);
    /// assert!((Activation::Gelu.of(-2.0_f64) - -0.045_500).abs() < 1e-6);
    /// ```
    pub fn of<T: Real>(self, x: T) -> T {
        let x = x.to_f64();
        T::of(match self {
            Self::Relu => x.max(0.0),
            Self::Gelu => x * share_below(x),
            Self::GeluTanh => 0.5 * x * (1.0 + inner(x).tanh()),
            Self::Silu => x * logistic(x),
            Self::None => x,
        })
    }

    /// Its slope at `x`; at 0, where ReLU has none, ReLU's is 0.
    pub fn slope<T: Real>(self, x: T) -> T {
        let x = x.to_f64();
        T::of(match self {
            Self::Relu if x > 0.0 => 1.0,
            Self::Relu => 0.0,
            Self::Gelu => share_below(x) + x * density(x),
            Self::GeluTanh => {
                let t = inner(x).tanh();
                let d_inner = ROOT * (1.0 + 3.0 * CUBIC * x * x);
                0.5 * (1.0 + t) + 0.5 * x * (1.0 - t * t) * d_inner
            }
            Self::Silu => {
                let share = logistic(x);
                share + x * share * (1.0 - share)
            }
            Self::None => 1.0,
        })
    }

    /// Its value at every entry.
    pub fn forward<T: Real>(self, x: &Matrix<T>) -> Matrix<T> {
        x.map(|x| self.of(x))
    }

    /// `d_x = d_y ⊙ slope(x)`, entry by entry.
    ///
    /// # Panics
    /// If the two differ in shape.
    pub fn backward<T: Real>(self, x: &Matrix<T>, d_y: &Matrix<T>) -> Matrix<T> {
        x.zip_map(d_y, |x, d| self.slope(x) * d)
    }
}

/// Φ(x) = (1 + erf(x / √2)) / 2; by `erfc`, which keeps its digits far below 0.
fn share_below(x: f64) -> f64 {
    0.5 * libm::erfc(-x * std::f64::consts::FRAC_1_SQRT_2)
}

/// φ(x), the slope of Φ.
fn density(x: f64) -> f64 {
    0.5 * ROOT * (-0.5 * x * x).exp()
}

/// 1 / (1 + e^−x).
fn logistic(x: f64) -> f64 {
    1.0 / (1.0 + (-x).exp())
}

/// What the approximation takes the `tanh` of.
fn inner(x: f64) -> f64 {
    ROOT * (x + CUBIC * x * x * x)
}

#[cfg(test)]
mod tests {
    use super::*;

    const ALL: [Activation; 4] =
        [Activation::Relu, Activation::Gelu, Activation::GeluTanh, Activation::Silu];

    /// By Python's `math.erfc`, `math.tanh` and `math.exp`.
    #[test]
    #[allow(clippy::unreadable_literal)]
    fn values_are_those_of_another_library() {
        let of_python: [(f64, f64, f64); 5] = [
            (-3.0, -0.004049694094890287, -0.0036373920817729943),
            (-0.5, -0.15426876936299344, -0.15428599017485606),
            (0.0, 0.0, 0.0),
            (1.0, 0.8413447460685429, 0.8411919906082768),
            (2.5, 2.4844758366855597, 2.484915733910001),
        ];
        for (x, exact, tanh) in of_python {
            assert!((Activation::Gelu.of(x) - exact).abs() < 1e-15, "{x}");
            assert!((Activation::GeluTanh.of(x) - tanh).abs() < 1e-15, "{x}");
        }
        for (x, silu) in [(-3.0_f64, -0.14227761953270035), (1.0, 0.7310585786300049)] {
            assert!((Activation::Silu.of(x) - silu).abs() < 1e-15, "{x}");
        }
    }

    #[test]
    fn slopes_are_central_differences() {
        for activation in ALL.into_iter().chain([Activation::None]) {
            for i in -40..40 {
                let x = f64::from(i) * 0.1 + 0.05;
                let h = 1e-5;
                let difference =
                    (activation.of(x + h) - activation.of(x - h)) / (2.0 * h);
                let slope = activation.slope(x);
                assert!((slope - difference).abs() < 1e-9, "{activation:?} at {x}");
            }
        }
    }

    #[test]
    fn far_from_zero_it_is_zero_or_x() {
        for activation in ALL {
            let (low, high) = (activation.of(-40.0_f64), activation.of(40.0_f64));
            assert!(low.abs() < 1e-15 && high == 40.0, "{activation:?}: {low} {high}");
            assert_eq!(activation.slope(40.0_f32), 1.0);
        }
    }
}
