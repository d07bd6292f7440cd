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

/// Of a row, over that of the whole.
const FACTOR_OF_ROWS: f64 = 3.0;

impl Level {
    /// Those that numbers of this kind may be of, the finest first.
    pub fn all(stored: Precision) -> Vec<Self> {
        let exact = |computing| Self { computing, factor: 32.0, is_jittered: false };
        let coarse = |computing| Self { computing, factor: 4.0, is_jittered: false };
        let rounded = |computing| Self { computing, factor: 4.0, is_jittered: true };
        use Precision::{BF16, BrainProducts, F16, F32, F64, TF32};
        match stored {
            F16 => vec![coarse(F32), rounded(F16), coarse(BF16)],
            BF16 => vec![coarse(F32), rounded(BF16)],
            F64 => {
                let mut levels = vec![exact(F64)];
                levels.extend(Self::all(F32));
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

    /// Whether rounding explains a difference, `slack` times as large.
    pub fn explains(
        &self,
        difference: &Difference,
        error: &Difference,
        slack: f64,
    ) -> bool {
        let factor = self.factor * slack;
        difference.rms <= factor * error.rms
            && difference.row <= factor * FACTOR_OF_ROWS * error.row.max(error.rms)
    }
}
