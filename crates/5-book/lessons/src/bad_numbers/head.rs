//! A head as others compute it, too: with a finite fill, without rules for what is no
//! number, and in fewer bits.

use attention::{Mask, Matrix, Real, softmax_rows, weighted_values};

/// What a blocked score becomes.
#[derive(Debug, Clone, Copy, PartialEq)]
pub enum Fill {
    /// This number stands in its place.
    Replaced(f64),
    /// This number is added to it.
    Added(f64),
}

/// What numbers are stored in.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Precision {
    /// 64 bits.
    F64,
    /// 32 bits.
    F32,
    /// 16 bits, and computed in 32, as on a GPU.
    F16,
}

/// How a head is computed.
#[derive(Debug, Clone)]
pub struct Recipe {
    /// Which pairs are blocked.
    pub mask: Mask,
    /// What their scores become.
    pub fill: Fill,
    /// What every matrix is stored in.
    pub precision: Precision,
    /// Whether an empty row becomes zeros and terms of share 0 are left out, as in
    /// [`softmax_rows`] and [`weighted_values`]. Others take softmax with the maximum
    /// subtracted, and a plain product.
    pub has_rules: bool,
}

/// What came out.
#[derive(Debug, Clone)]
pub struct Computed {
    /// Filled where blocked, `[n_q, n_kv]`.
    pub scores: Matrix,
    /// `[n_q, n_kv]`.
    pub attn: Matrix,
    /// `[n_q, d_v]`.
    pub out: Matrix,
}

impl Recipe {
    /// The head of queries, keys and values.
    ///
    /// # Shapes
    /// `[n_q, d_k]`, `[n_kv, d_k]` and `[n_kv, d_v]`; the mask is for `[n_q, n_kv]`.
    pub fn compute(&self, inputs: &[Matrix; 3]) -> Computed {
        match self.precision {
            Precision::F64 => self.compute_in::<f64>(inputs, |x| x),
            Precision::F32 => self.compute_in::<f32>(inputs, |x| x),
            Precision::F16 => {
                self.compute_in::<f32>(inputs, |x| f32::of(to_f16(x.to_f64())))
            }
        }
    }

    /// Every matrix is `stored` before it is used.
    fn compute_in<T: Real>(&self, inputs: &[Matrix; 3], stored: fn(T) -> T) -> Computed {
        let [q, k, v] = inputs.each_ref().map(|input| input.map(|x| stored(T::of(x))));
        let scale = T::of(q.ncols() as f64).sqrt();
        let mut scores = (&q * k.transpose() / scale).map(stored); // [n_q, n_kv]
        let shape = scores.shape();
        for (i, j) in (0..shape.0).flat_map(|i| (0..shape.1).map(move |j| (i, j))) {
            if self.mask.added((i, j), shape).is_none() {
                scores[(i, j)] = match self.fill {
                    Fill::Replaced(fill) => stored(T::of(fill)),
                    Fill::Added(fill) => stored(scores[(i, j)] + stored(T::of(fill))),
                };
            }
        }
        let attn = match self.has_rules {
            true => softmax_rows(scores.clone()),
            false => plain_softmax(scores.clone()),
        };
        let attn = attn.map(stored); // [n_q, n_kv]
        let out = match self.has_rules {
            true => weighted_values(&attn, v.as_view()),
            false => &attn * &v,
        };
        let [scores, attn, out] =
            [scores, attn, out.map(stored)].map(|it| it.map(|x| x.to_f64()));
        Computed { scores, attn, out }
    }
}

/// Softmax with the maximum subtracted, and no rule for a row of −∞: it is NaN.
pub(super) fn plain_softmax<T: Real>(mut scores: Matrix<T>) -> Matrix<T> {
    for mut row in scores.row_iter_mut() {
        let least = T::of(f64::NEG_INFINITY);
        let largest = row.iter().fold(least, |a, &b| if b > a { b } else { a });
        row.apply(|score| *score = (*score - largest).exp());
        let sum = row.iter().fold(T::zero(), |a, &b| a + b);
        row /= sum;
    }
    scores
}

/// The nearest number with 11 binary digits and exponents from −14 to 15 (IEEE 754's
/// binary16); from 65,520 on it is infinite.
pub fn to_f16(x: f64) -> f64 {
    if x == 0.0 || !x.is_finite() {
        return x;
    }
    let exponent = x.abs().log2().floor().max(-14.0);
    let unit = 2f64.powf(exponent - 10.0);
    let rounded = (x / unit).round_ties_even() * unit;
    if rounded.abs() > 65_504.0 { f64::INFINITY.copysign(x) } else { rounded }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Values of the standard's tables, and ties to even.
    #[test]
    fn f16_has_the_standards_numbers() {
        for (x, expected) in [
            (65_504.0, 65_504.0),
            (65_519.9, 65_504.0),
            (65_520.0, f64::INFINITY),
            (-1e9, f64::NEG_INFINITY),
            (1.0 / 3.0, 0.333_251_953_125),
            (2049.0, 2048.0),
            (2051.0, 2052.0),
            (-1e4, -1e4),
            (5.960_464_477_539_063e-8, 5.960_464_477_539_063e-8),
            (1e-8, 0.0),
        ] {
            assert_eq!(to_f16(x), expected, "{x}");
        }
        assert!(to_f16(f64::NAN).is_nan());
    }
}
