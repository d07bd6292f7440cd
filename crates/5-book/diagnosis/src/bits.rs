//! In which precision a tensor was computed, by the bits of its numbers.

use attention::Matrix;

use crate::Precision;
use crate::digits::Digits;
use crate::precision::Rounding;

/// So many bits at least must be zeros that need not be: by chance, one tensor of 4,000.
const FEWEST_BITS: f64 = 12.0;

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

    fn of(computing: Precision, numbers: &[f64], stored: Precision) -> Standing {
        let tensor = [Matrix::from_row_slice(1, numbers.len(), numbers)];
        standing(computing, &tensor, stored, None)
    }

    #[test]
    fn bits_show_the_precision_or_exclude_it() {
        use Precision::{BF16, BrainProducts, F16, F32, F64, TF32};
        let full = [0.1, 1.0 / 3.0, 0.7].map(|x| f64::from(x as f32));
        assert_eq!(of(BF16, &full, F32), Standing::Excluded);
        assert_eq!(of(TF32, &full, F32), Standing::Possible);
        assert_eq!(of(F32, &full, F64), Standing::Shown);
        let brain = [0.1, 1.0 / 3.0, 0.7].map(|x| BF16.round(x, Rounding::Nearest));
        assert_eq!(of(BF16, &brain, F32), Standing::Shown);
        // Sums of bfloat16 products are of float32.
        assert_eq!(of(BrainProducts, &brain, F32), Standing::Possible);
        // Three bits a number are not enough of three numbers.
        assert_eq!(of(BF16, &brain, F16), Standing::Possible);
        // Sums in float64 are no float32 products, of whatever factors.
        assert_eq!(of(TF32, &[0.1, 1.0 / 3.0], F64), Standing::Excluded);
        assert_eq!(of(F64, &[0.1], F64), Standing::Shown);
        assert_eq!(of(F16, &[0.1236, 2.71], F32), Standing::Excluded);
    }

    #[test]
    fn printed_numbers_may_be_of_a_coarser_kind() {
        let brain = |x| Precision::BF16.round(x, Rounding::Nearest);
        let printed = |x: f64| format!("{:.4}", brain(x)).parse().expect("a number");
        let numbers: Vec<f64> = [0.123, 0.777, -0.456, 0.913].map(printed).to_vec();
        assert_eq!(of(Precision::BF16, &numbers, Precision::F64), Standing::Shown);
        let other = [0.1236, 0.7774, -0.4561, 0.9133];
        assert_eq!(of(Precision::BF16, &other, Precision::F64), Standing::Excluded);
    }
}
