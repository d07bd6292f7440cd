//! Large scores, and numbers that are not finite: as on one machine.

use attention::{Batch, Mask, Matrix, Real};
use distributed::{Engine, Fast, Plain};

use crate::cases::{Case, SIZES};
use crate::forward::{heads_apart, on_grid};

/// The same numbers within the bound, relative to the largest, and the same entries NaN or
/// infinite.
fn assert_like<T: Real>(expected: &Matrix<T>, out: &Matrix<T>, bound: f64, name: &str) {
    let finite = expected.iter().map(|x| x.to_f64()).filter(|x| x.is_finite());
    let scale = finite.fold(1.0, |largest, x| x.abs().max(largest));
    for (i, (a, b)) in expected.iter().zip(out).enumerate() {
        let (a, b) = (a.to_f64(), b.to_f64());
        let is_like = match a.is_finite() && b.is_finite() {
            true => (a - b).abs() <= bound * scale,
            false => a.is_nan() && b.is_nan() || a == b,
        };
        assert!(is_like, "{name}: entry {i} is {b}, and on one machine {a}");
    }
}

fn check<T: Real, E: Engine<T>>(case: &Case<T>, bound: f64, seed: u64) {
    let expected = case.on_one();
    for size in SIZES {
        let name = case.name(seed, size);
        assert_like(&expected, &heads_apart::<T, E>(case, size), bound, &name);
        assert_like(&expected, &on_grid::<T, E>(case, size, 1), bound, &name);
        if size.is_multiple_of(2) {
            assert_like(&expected, &on_grid::<T, E>(case, size, 2), bound, &name);
        }
    }
}

fn with<T: Real>(seed: u64, change: impl Fn(&mut Matrix<T>)) -> Case<T> {
    let case = Case::random(seed);
    let mut x = case.x.tokens().clone();
    change(&mut x);
    Case { x: Batch::new(case.x.n_sequences(), x).unwrap(), ..case }
}

/// Scores of thousands: an exponential of one is more than any float can hold.
#[test]
fn large_scores_overflow_nothing() {
    for seed in 0..12 {
        check::<f64, Plain>(&with(seed, |x| *x *= 100.0), 1e-9, seed);
        let case: Case<f64> = with(seed, |x| *x *= 100.0);
        assert!(case.on_one().iter().all(|x| x.is_finite()));
    }
    // In f32 a score of thousands has few digits left; that all is finite is what counts.
    for seed in 0..12 {
        let case: Case<f32> = with(seed, |x| *x *= 30.0);
        for size in SIZES {
            let out = on_grid::<f32, Fast>(&case, size, 1);
            assert!(out.iter().all(|x| x.is_finite()), "{}", case.name(seed, size));
        }
    }
}

/// A token that is not finite spoils the rows that see it, and no other.
#[test]
fn what_is_not_finite_goes_where_it_goes_on_one_machine() {
    for seed in 0..20 {
        let place = |x: &Matrix<f64>| 3 * x.nrows() / 5;
        let nan = |x: &mut Matrix<f64>| x.row_mut(place(x)).fill(f64::NAN);
        check::<f64, Plain>(&with(seed, nan), 1e-12, seed);
        let nan = |x: &mut Matrix<f32>| x.row_mut(3 * x.nrows() / 5).fill(f32::NAN);
        check::<f32, Plain<f32>>(&with(seed, nan), 1e-5, seed);
        check::<f32, Fast>(&with(seed, nan), 1e-5, seed);
    }
}

/// Padding that is not finite is seen by nobody.
#[test]
fn padding_that_is_not_finite_stays_padding() {
    for seed in 0..6 {
        let mut case = with(seed, |x: &mut Matrix<f32>| {
            let last = x.nrows() - 1;
            x.row_mut(last).fill(f32::INFINITY);
        });
        let (n, n_tokens) = (case.x.n_sequences(), case.n_tokens());
        case.masks = vec![Mask::FirstKeys(n_tokens - 1); n];
        check::<f32, Fast>(&case, 1e-5, seed);
        check::<f32, Plain<f32>>(&case, 1e-5, seed);
    }
}
