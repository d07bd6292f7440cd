//! In which precision a layer may have been computed, and what rounding then explains.

use crate::Precision;
use crate::compare::Difference;

/// One way in which it may have been computed and stored.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(crate) struct Level {
    /// The precision of the computing.
    pub computing: Precision,
    /// How many times what the same computing gives here is still rounding. Sums in another
    /// order matter most where products are exact.
    pub factor: f64,
    /// Whether parameters and inputs may have been rounded after they were used.
    pub is_jittered: bool,
}

/// What rounding does to a tensor.
#[derive(Debug, Clone, Copy, PartialEq, Default)]
pub(crate) struct RoundingError {
    /// That of the computing: the root of the mean of the squares.
    pub rms: f64,
    /// The same of the row where it is largest.
    pub row: f64,
    /// The most that printing the tensor with few digits adds to a number.
    pub digits: f64,
}

impl RoundingError {
    /// Both together.
    pub fn total(&self) -> f64 {
        self.rms + self.digits
    }
}

/// Where products are exact: sums in another order matter most.
const EXACT: f64 = 32.0;
const COARSE: f64 = 4.0;

/// Of a row, over that of the whole.
const FACTOR_OF_ROWS: f64 = 3.0;

impl Level {
    /// Those that numbers of this kind may be of, the finest first. With few digits in what
    /// the code read, all are jittered but those that take these as they are.
    pub fn all(stored: Precision, has_few_digits: bool) -> Vec<Self> {
        let mut levels = Self::of_kind(stored);
        if has_few_digits {
            let is_exact = |it: &&Self| it.factor == EXACT;
            let exact: Vec<Self> = levels.iter().filter(is_exact).copied().collect();
            levels.retain(|it| it.computing != Precision::F64);
            for level in &mut levels {
                (level.factor, level.is_jittered) = (COARSE, true);
            }
            levels.splice(0..0, exact);
        }
        levels
    }

    fn of_kind(stored: Precision) -> Vec<Self> {
        let exact = |computing| Self { computing, factor: EXACT, is_jittered: false };
        let coarse = |computing| Self { computing, factor: COARSE, is_jittered: false };
        let rounded = |computing| Self { computing, factor: COARSE, is_jittered: true };
        use Precision::{BF16, BrainProducts, F16, F32, F64, TF32};
        match stored {
            F16 => vec![coarse(F32), rounded(F16), coarse(BF16)],
            BF16 => vec![coarse(F32), rounded(BF16)],
            F64 => {
                let mut levels = vec![exact(F64)];
                levels.extend(Self::of_kind(F32));
                levels
            }
            _ => vec![
                exact(F32),
                coarse(TF32),
                coarse(BrainProducts),
                coarse(F16),
                coarse(BF16),
            ],
        }
    }

    /// The most that rounding explains, as the root of the mean of the squares.
    pub fn tolerance(&self, error: &RoundingError) -> f64 {
        self.factor * error.rms + error.digits
    }

    /// Whether rounding explains a difference, where that of the computing may be `slack` times
    /// as large.
    pub fn explains(
        &self,
        difference: &Difference,
        error: &RoundingError,
        slack: f64,
    ) -> bool {
        let factor = self.factor * slack;
        let of_row = factor * FACTOR_OF_ROWS * error.row.max(error.rms);
        difference.rms <= factor * error.rms + error.digits
            && difference.row <= of_row + error.digits
    }
}
