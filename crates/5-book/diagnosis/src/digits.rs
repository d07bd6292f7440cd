//! What the numbers of a tensor show: by their digits, that they were rounded when they were
//! printed, as pasted ones are; by their bits, in which precision they were computed.

use attention::Matrix;

use crate::Precision;
use crate::precision::Rounding;

/// So many numbers are at least needed to tell.
const FEWEST: usize = 3;

/// So many bits at least must be zeros that need not be: by chance, one tensor of 4,000.
const FEWEST_BITS: f64 = 12.0;

/// The digits that the numbers of a tensor show, where they are fewer than their kind has.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Digits {
    /// The most behind the point.
    pub decimals: i32,
    /// The most from the first that is not 0.
    pub significant: i32,
}

impl Digits {
    /// Those of a tensor; nothing where some number has all digits of its kind, or all are
    /// whole.
    pub fn of(tensor: &[Matrix], stored: Precision) -> Option<Self> {
        Self::of_numbers(tensor.iter().flat_map(|m| m.iter().copied()), stored)
    }

    /// The same of numbers one after the other.
    pub fn of_numbers(all: impl Iterator<Item = f64>, stored: Precision) -> Option<Self> {
        // A number of so many digits may be any number of its kind.
        let most = match stored {
            Precision::F64 => 15,
            Precision::F32 => 7,
            _ => return None,
        };
        let mut digits = Self { decimals: 0, significant: 0 };
        let mut count = 0;
        for x in all.filter(|x| x.is_finite() && *x != 0.0) {
            let (significant, exponent) = shortest(x, stored);
            if significant > most {
                return None;
            }
            digits.significant = digits.significant.max(significant);
            digits.decimals = digits.decimals.max(significant - 1 - exponent);
            count += 1;
        }
        (count >= FEWEST && digits.decimals > 0).then_some(digits)
    }

    /// The same of numbers that go into a layer. Those of one decimal were typed, and are
    /// what they are.
    pub fn of_input(tensor: &[Matrix], stored: Precision) -> Option<Self> {
        Self::of(tensor, stored).filter(|digits| digits.decimals > 1)
    }

    /// What the last digit of a number stands for: by its decimals, or by its digits, whichever
    /// is more, since either may be how it was printed.
    pub fn step(&self, x: f64) -> f64 {
        let fixed = 10_f64.powi(-self.decimals);
        if x == 0.0 || !x.is_finite() {
            return fixed;
        }
        let exponent = x.abs().log10().floor() as i32;
        fixed.max(10_f64.powi(exponent - self.significant + 1))
    }

    /// How far the printed numbers of a tensor are at most from what they were.
    pub fn error(&self, tensor: &[Matrix]) -> f64 {
        let numbers = tensor.iter().flat_map(|m| m.iter()).filter(|x| x.is_finite());
        self.step(numbers.fold(0.0, |most, x| x.abs().max(most))) / 2.0
    }

    /// In words.
    pub fn words(&self) -> String {
        let Self { decimals, significant } = self;
        format!("at most {significant} digits, and {decimals} behind the point")
    }
}

/// How many digits the shortest text has that is read as this number, and the power of ten of
/// the first.
fn shortest(x: f64, stored: Precision) -> (i32, i32) {
    let text = match stored {
        // Of a tensor of another kind it may be beyond what this one has.
        Precision::F32 if (x as f32).is_finite() => format!("{:e}", x as f32),
        _ => format!("{x:e}"),
    };
    let (number, exponent) = text.split_once('e').expect("an exponent");
    let digits = number.bytes().filter(u8::is_ascii_digit).count();
    (digits as i32, exponent.parse().expect("a whole exponent"))
}

/// What the bits of a tensor say of a way of computing.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Standing {
    /// Its numbers are of it, or of a coarser one.
    Shown,
    /// They may be of it; nothing in them says so.
    Possible,
    /// It cannot have written some of them.
    Excluded,
}

/// What a tensor's bits say of this way of computing, where the reader says `asked`.
pub(crate) fn standing(
    computing: Precision,
    tensor: &[Matrix],
    stored: Precision,
    asked: Option<Precision>,
) -> Standing {
    use Precision::{BF16, BrainProducts, F16, F32, F64, TF32};
    if asked.is_some_and(|asked| computing.step() <= asked.step()) {
        return Standing::Shown;
    }
    let of = |kind| of_kind(kind, tensor, stored);
    match (computing, stored) {
        (F64, _) => Standing::Shown,
        (F32, F64) if of(F32) == Standing::Excluded => Standing::Excluded,
        (F32, _) | (F16, F16) | (BF16, BF16) => Standing::Shown,
        (F16 | BF16, _) => of(computing),
        // Their sums are of float32, and no bit tells how factors were rounded.
        (TF32 | BrainProducts, _) if of(F32) == Standing::Excluded => Standing::Excluded,
        (TF32 | BrainProducts, _) => Standing::Possible,
    }
}

/// Whether all numbers are of this kind, up to the digits that they were printed with, and
/// how much that says.
fn of_kind(kind: Precision, tensor: &[Matrix], stored: Precision) -> Standing {
    let digits = Digits::of(tensor, stored);
    let mut numbers: Vec<f64> = tensor.iter().flat_map(|m| m.iter().copied()).collect();
    numbers.retain(|x| x.is_finite() && *x != 0.0);
    numbers.sort_by(f64::total_cmp);
    numbers.dedup();
    let mut bits = 0.0;
    for x in numbers {
        let fine = x.abs() * stored.step();
        let printed = digits.map_or(0.0, |digits| digits.step(x));
        let apart = (kind.round(x, Rounding::Nearest) - x).abs();
        if apart > printed / 2.0 + if printed > 0.0 { fine } else { 0.0 } {
            return Standing::Excluded;
        }
        bits += (x.abs() * kind.step() / fine.max(printed)).log2().max(0.0);
    }
    if bits >= FEWEST_BITS { Standing::Shown } else { Standing::Possible }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn of(numbers: &[f64], stored: Precision) -> Option<(i32, i32)> {
        let digits = Digits::of_numbers(numbers.iter().copied(), stored)?;
        Some((digits.decimals, digits.significant))
    }

    #[test]
    fn digits_are_those_that_are_shown() {
        let fixed = [0.1235, -12.3, 0.0, 0.0021];
        assert_eq!(of(&fixed, Precision::F64), Some((4, 4)));
        assert_eq!(of(&fixed.map(|x| f64::from(x as f32)), Precision::F32), Some((4, 4)));
        let scientific = [1.2345e-4, 3.21e2, -5.4321];
        assert_eq!(of(&scientific, Precision::F64), Some((8, 5)));
        let digits = Digits::of_numbers(scientific.into_iter(), Precision::F64).unwrap();
        assert!((digits.step(321.0) - 1e-2).abs() < 1e-12);
        assert!((digits.step(1.2e-4) - 1e-8).abs() < 1e-18);
        assert_eq!(
            of(&[1e300, 0.5, 0.25], Precision::F32),
            of(&[1e300, 0.5, 0.25], Precision::F64)
        );
        // All digits, whole numbers, and too few of them show nothing.
        assert_eq!(of(&[0.1f32.sqrt().into(), 0.5, 0.25], Precision::F32), None);
        assert_eq!(of(&[1.0, 2.0, 300.0], Precision::F64), None);
        assert_eq!(of(&[0.25, 0.5], Precision::F64), None);
    }

    fn standing_of(computing: Precision, numbers: &[f64], stored: Precision) -> Standing {
        let tensor = [Matrix::from_row_slice(1, numbers.len(), numbers)];
        standing(computing, &tensor, stored, None)
    }

    #[test]
    fn bits_show_the_precision_or_exclude_it() {
        use Precision::{BF16, BrainProducts, F16, F32, F64, TF32};
        let full = [0.1, 1.0 / 3.0, 0.7].map(|x| f64::from(x as f32));
        assert_eq!(standing_of(BF16, &full, F32), Standing::Excluded);
        assert_eq!(standing_of(TF32, &full, F32), Standing::Possible);
        assert_eq!(standing_of(F32, &full, F64), Standing::Shown);
        let brain = [0.1, 1.0 / 3.0, 0.7].map(|x| BF16.round(x, Rounding::Nearest));
        assert_eq!(standing_of(BF16, &brain, F32), Standing::Shown);
        // Sums of bfloat16 products are of float32.
        assert_eq!(standing_of(BrainProducts, &brain, F32), Standing::Possible);
        // Three bits a number are not enough of three numbers.
        assert_eq!(standing_of(BF16, &brain, F16), Standing::Possible);
        // Sums in float64 are no float32 products, of whatever factors.
        assert_eq!(standing_of(TF32, &[0.1, 1.0 / 3.0], F64), Standing::Excluded);
        assert_eq!(standing_of(F64, &[0.1], F64), Standing::Shown);
        assert_eq!(standing_of(F16, &[0.1236, 2.71], F32), Standing::Excluded);
    }

    #[test]
    fn printed_numbers_may_be_of_a_coarser_kind() {
        let brain = |x| Precision::BF16.round(x, Rounding::Nearest);
        let printed = |x: f64| format!("{:.4}", brain(x)).parse().expect("a number");
        let numbers: Vec<f64> = [0.123, 0.777, -0.456, 0.913].map(printed).to_vec();
        assert_eq!(
            standing_of(Precision::BF16, &numbers, Precision::F64),
            Standing::Shown
        );
        let other = [0.1236, 0.7774, -0.4561, 0.9133];
        assert_eq!(
            standing_of(Precision::BF16, &other, Precision::F64),
            Standing::Excluded
        );
    }
}
