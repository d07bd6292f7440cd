//! In which precision a layer may have been computed, and what rounding then explains.

use attention::Linear;

use crate::compare::Difference;
use crate::digits::{Standing, standing};
use crate::{Precision, Record, State};

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
    /// Whether the numbers are of it, or the reader says so; what is right at another is
    /// right on a condition.
    pub is_shown: bool,
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

/// Where factors are not rounded, sums in another order matter most: the more the longer they
/// are, and at most so.
const LONGEST: f64 = 32.0;

/// Where factors may be rounded in several ways, or numbers were when they were printed.
const COARSE: f64 = 4.0;

/// Where every step is rounded to the same few bits.
const EVEN: f64 = 2.0;

/// Where only the last step is rounded, and to far fewer bits than the sums have.
const LAST: f64 = 1.2;

/// Of a row, over that of the whole.
const FACTOR_OF_ROWS: f64 = 3.0;

impl Level {
    /// Those that may have given this tensor of a record: those that it shows, and then the
    /// others, the finest first. With few digits in what the code read, all are jittered but
    /// those that take these as they are.
    pub fn of_tensor(
        record: &Record,
        state: State,
        asked: Option<Precision>,
    ) -> Vec<Self> {
        let (tensor, stored) = (&record.tensors[&state], record.precision);
        let has_few_digits = record.has_few_digits();
        let widths = record.weights.projections.iter().map(Linear::d_in);
        let width = widths.max().unwrap_or(0);
        let mut levels = Self::of_kind(stored);
        for level in levels.iter_mut().filter(|it| !it.is_coarse()) {
            // Of sums that are one after the other, the error grows so.
            level.factor = (6.0 + (2.0 * width as f64).sqrt()).min(LONGEST);
        }
        if has_few_digits {
            let mut exact = levels.clone();
            exact.retain(|it| !it.is_coarse());
            levels.retain(|it| it.computing != Precision::F64);
            for level in &mut levels {
                (level.factor, level.is_jittered) = (COARSE, true);
            }
            levels.splice(0..0, exact);
        }
        levels.retain_mut(|level| {
            let standing = standing(level.computing, tensor, stored, asked);
            // What went in was rounded when it was printed, and not what came out.
            let is_of_digits = has_few_digits && level.computing == Precision::F32;
            level.is_shown = is_of_digits || standing == Standing::Shown;
            is_of_digits || standing != Standing::Excluded
        });
        levels.sort_by_key(|level| !level.is_shown);
        levels
    }

    /// Whether its rounding is as large as what some mistakes do.
    pub fn is_coarse(&self) -> bool {
        self.factor <= COARSE
    }

    /// The same without slack for other ways to round.
    pub fn even(&self) -> Self {
        Self { factor: self.factor.min(EVEN), ..*self }
    }

    /// What an error in float32 is to be multiplied by, where this is tried in float32.
    pub fn finest(&self) -> f64 {
        match self.computing {
            Precision::F64 => Precision::F64.step() / Precision::F32.step(),
            _ => 1.0,
        }
    }

    /// Those that may have given numbers of this kind, the finest first.
    fn of_kind(stored: Precision) -> Vec<Self> {
        use Precision::{BF16, BrainProducts, F16, F32, F64, TF32};
        let is_half = matches!(stored, F16 | BF16);
        let computing = match stored {
            F64 => Precision::ALL,
            F16 => &[F32, F16, BF16],
            BF16 => &[F32, BF16],
            _ => &Precision::ALL[1..],
        };
        let of = |&computing: &Precision| {
            let factor = match computing {
                F32 if is_half => LAST,
                F64 | F32 => LONGEST,
                TF32 | BrainProducts => COARSE,
                F16 | BF16 => EVEN,
            };
            let is_jittered = is_half && computing == stored;
            Self { computing, factor, is_jittered, is_shown: true }
        };
        computing.iter().map(of).collect()
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
