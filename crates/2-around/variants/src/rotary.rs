//! Rotary positions: a query and a key are rotated by their positions.
//!
//! The line `scores_ij = q_i · k_j` becomes `(R_i q_i) · (R_j k_j)`, where `R_t` rotates two
//! entries at a time by the angle t · frequency. Rotating both by the same angle changes no
//! product, so the score depends on where i and j stand by i − j alone.
//!
//! **Why.** Positions that are added to tokens are mixed with what tokens say, and none was
//! learned beyond the longest text of the training. **Buys** relative positions in every
//! layer, for two products per entry, and no parameters. **Costs** that slow pairs of
//! entries, which hardly turn within the texts of the training, meet new angles in longer
//! ones.

use attention::{Error, Matrix, Real, Result};

/// Which two entries of a head are rotated together.
///
/// Both are in use, and a file does not say which it means. A permutation of W^Q's and
/// W^K's columns turns one into the other; read with the wrong one, a model says nonsense.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Pairing {
    /// Entry p with entry p + n/2: GPT-NeoX, and what transformers makes of all others.
    Halves,
    /// Entry 2p with entry 2p + 1: the paper, and GGUF files of the Llama family.
    Pairs,
}

/// Rotary positions (RoPE).
///
/// ```
/// use attention::Matrix;
/// use variants::{Pairing, Rotary};
///
/// let rotary = Rotary::new(Pairing::Pairs, 2, 10_000.0)?;
/// let mut x = Matrix::from_row_slice(2, 2, &[1.0, 0.0, 1.0, 0.0]);
/// rotary.rotate(&mut x, 2, &[0, 1])?;
/// assert_eq!(x.row(0).iter().copied().collect::<Vec<_>>(), [1.0, 0.0]); // not at 0
/// assert_eq!(x[(1, 0)], 1f64.cos()); // by one radian at 1
/// # Ok::<(), attention::Error>(())
/// ```
///
/// # Source
/// Su et al. 2021, "RoFormer", equations 15 and 34. Differs: rotated may be only the first
/// entries of a head (GPT-NeoX: a quarter), and they may be paired by halves.
#[derive(Debug, Clone, PartialEq)]
pub struct Rotary {
    /// Which entries are rotated together.
    pub pairing: Pairing,
    /// Radians per position of each pair; entries beyond these pairs stay as they are.
    pub frequencies: Vec<f64>,
    /// What rotated entries are multiplied by too: 1, but for files whose positions are
    /// stretched by YaRN (Peng et al. 2023, section 3.4).
    pub amplitude: f64,
}

impl Rotary {
    /// Rotates the first `n_rotated` entries of a head, pair p by `base^(−2p / n_rotated)`
    /// per position.
    ///
    /// # Errors
    /// [`Error::NotPairs`] for an odd number, or 0; [`Error::NotPositive`] for the base.
    pub fn new(pairing: Pairing, n_rotated: usize, base: f64) -> Result<Self> {
        if n_rotated == 0 || !n_rotated.is_multiple_of(2) {
            return Err(Error::NotPairs { n_rotated });
        }
        Error::expect_above_zero("the base of the rotary frequencies", base)?;
        let frequency = |p| base.powf(-2.0 * p as f64 / n_rotated as f64);
        let frequencies = (0..n_rotated / 2).map(frequency).collect();
        Ok(Self { frequencies, ..Self::still(pairing) })
    }

    /// Rotates nothing: what other frequencies are put into.
    pub fn still(pairing: Pairing) -> Self {
        Self { pairing, frequencies: Vec::new(), amplitude: 1.0 }
    }

    /// How many entries of a head are rotated.
    pub fn n_rotated(&self) -> usize {
        2 * self.frequencies.len()
    }

    /// The two entries of pair p.
    // ANCHOR: pair
    pub fn pair(&self, p: usize) -> [usize; 2] {
        match self.pairing {
            Pairing::Halves => [p, p + self.frequencies.len()],
            Pairing::Pairs => [2 * p, 2 * p + 1],
        }
    }
    // ANCHOR_END: pair

    /// Rotates heads that lie side by side, each `d_k` wide: queries or keys.
    ///
    /// # Shapes
    /// `x` is `[n, n_heads · d_k]`, with a position per row.
    ///
    /// # Errors
    /// [`Error::Length`] if a head has fewer entries than are rotated, or for another
    /// number of positions.
    // ANCHOR: rotate
    pub fn rotate<T: Real>(
        &self,
        x: &mut Matrix<T>,
        d_k: usize,
        positions: &[i64],
    ) -> Result<()> {
        let n_rotated = self.n_rotated();
        if n_rotated > d_k || !x.ncols().is_multiple_of(d_k) {
            let what = "a head to be rotated".to_owned();
            return Err(Error::Length { what, expected: n_rotated, found: d_k });
        }
        Error::expect_length("the list of positions", x.nrows(), positions.len())?;
        for (row, &position) in positions.iter().enumerate() {
            for (p, frequency) in self.frequencies.iter().enumerate() {
                let (sin, cos) = (position as f64 * frequency).sin_cos();
                let (sin, cos) =
                    (T::of(self.amplitude * sin), T::of(self.amplitude * cos));
                for first in (0..x.ncols()).step_by(d_k) {
                    let [a, b] = self.pair(p).map(|entry| first + entry);
                    let (x_a, x_b) = (x[(row, a)], x[(row, b)]);
                    x[(row, a)] = x_a * cos - x_b * sin;
                    x[(row, b)] = x_a * sin + x_b * cos;
                }
            }
        }
        Ok(())
    }
    // ANCHOR_END: rotate

    pub(crate) fn check(&self, d_k: usize) -> Result<()> {
        let n_rotated = self.n_rotated();
        if n_rotated > d_k {
            return Err(Error::Rotated { n_rotated, d_k });
        }
        Ok(())
    }
}
