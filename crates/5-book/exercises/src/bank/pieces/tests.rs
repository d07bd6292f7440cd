//! Other ways to write it, and what nobody has listed.

use super::*;
use crate::{Difference, Verdict};

/// What is said of an answer that is wrong in a known way.
fn named(answer: fn(&[Piece]) -> Vec<f64>) -> &'static str {
    let Verdict::Mistake { mistake, .. } = EXERCISE.diagnose(|it| answer(&it.pieces))
    else {
        return "";
    };
    EXERCISE.mistakes[mistake].name
}

fn passes(answer: fn(&[Piece]) -> Vec<f64>) {
    assert_eq!(EXERCISE.diagnose(|input| answer(&input.pieces)), Verdict::Passed);
}

/// As a ring merges: the last piece first, and l and o kept from step to step.
#[test]
fn piece_by_piece_in_another_order_passes() {
    passes(|pieces| {
        let mut all = pieces[pieces.len() - 1].clone();
        for next in pieces[..pieces.len() - 1].iter().rev() {
            if next.l == 0.0 {
                continue;
            }
            let m = all.m.max(next.m);
            let (ours, theirs) = ((all.m - m).exp(), (next.m - m).exp());
            all.m = m;
            all.l = ours * all.l + theirs * next.l;
            all.o =
                all.o.iter().zip(&next.o).map(|(a, b)| ours * a + theirs * b).collect();
        }
        all.o.iter().map(|o| if all.l == 0.0 { 0.0 } else { o / all.l }).collect()
    });
}

/// The log-sum-exp of each piece, m + ln l, and a softmax of those, in f32.
#[test]
fn averages_weighed_by_log_sum_exp_pass() {
    passes(|pieces| {
        let lse: Vec<f32> = pieces.iter().map(|p| (p.m + p.l.ln()) as f32).collect();
        let most = lse.iter().copied().fold(f32::MIN, f32::max);
        let weights: Vec<f32> = lse.iter().map(|x| (x - most).exp()).collect();
        let sum: f32 = weights.iter().sum();
        let mut out = vec![0.0; pieces[0].o.len()];
        for (piece, weight) in pieces.iter().zip(&weights).filter(|(p, _)| p.l > 0.0) {
            for (out, o) in out.iter_mut().zip(&piece.o) {
                *out += f64::from(weight / sum) * o / piece.l;
            }
        }
        out
    });
}

/// Divided after each merge, and multiplied by l again before the next.
#[test]
fn an_average_that_is_taken_back_passes() {
    passes(|pieces| {
        let (mut lse, mut out) = (f64::NEG_INFINITY, vec![0.0; pieces[0].o.len()]);
        for piece in pieces.iter().filter(|piece| piece.l > 0.0) {
            let of_piece = piece.m + piece.l.ln();
            let share = 1.0 / (1.0 + (lse - of_piece).exp());
            for (out, o) in out.iter_mut().zip(&piece.o) {
                *out += share * (o / piece.l - *out);
            }
            let larger = lse.max(of_piece);
            lse = larger + ((lse - larger).exp() + (of_piece - larger).exp()).ln();
        }
        out
    });
}

/// 0 / 0 where a piece saw nothing hides no other slip.
#[test]
fn a_mistake_that_divides_by_0_too_is_named() {
    let mean = |pieces: &[Piece]| {
        let of_c = |c: usize| {
            pieces.iter().map(|p| p.o[c] / p.l).sum::<f64>() / pieces.len() as f64
        };
        (0..pieces[0].o.len()).map(of_c).collect()
    };
    assert_eq!(named(mean), "takes the mean of the pieces' outputs");
}

#[test]
fn a_wrong_length_and_a_panic_are_told_and_not_guessed_at() {
    for answer in [(|_| Vec::new()) as Merged, |_| vec![f64::NAN; 9], |_| vec![0.0]] {
        let verdict = EXERCISE.diagnose(|input| answer(&input.pieces));
        let Verdict::Unknown { difference: Difference::Shape { .. }, .. } = verdict
        else {
            panic!("{verdict:?}");
        };
    }
    let verdict = EXERCISE.diagnose(|input| input.pieces[1].o.clone());
    assert!(matches!(verdict, Verdict::Unknown { .. }), "{verdict:?}");
    let verdict = EXERCISE.diagnose(|input| vec![f64::NAN; input.d_v()]);
    assert!(matches!(verdict, Verdict::Unknown { .. }), "{verdict:?}");
    let verdict = EXERCISE.diagnose(|input| vec![0.0; input.d_v()]);
    assert!(matches!(verdict, Verdict::Unknown { .. }), "{verdict:?}");
}

/// Three slips that are like listed ones, and are none of them.
#[test]
fn what_is_not_listed_is_not_accused() {
    fn weighed(
        pieces: &[Piece],
        factor: impl Fn(f64) -> f64,
        finish: fn(f64, f64) -> f64,
    ) -> Vec<f64> {
        let factors: Vec<f64> = pieces.iter().map(|piece| factor(piece.m)).collect();
        let sum = |of: &dyn Fn(&Piece) -> f64| -> f64 {
            pieces.iter().zip(&factors).map(|(piece, f)| f * of(piece)).sum()
        };
        let l = sum(&|piece| piece.l);
        (0..pieces[0].o.len()).map(|c| finish(sum(&|piece| piece.o[c]), l)).collect()
    }
    fn largest(pieces: &[Piece]) -> f64 {
        pieces.iter().map(|piece| piece.m).fold(f64::MIN, f64::max)
    }
    fn divided(o: f64, l: f64) -> f64 {
        if l == 0.0 { 0.0 } else { o / l }
    }
    let with_one_more = |pieces: &[Piece]| {
        let m = largest(pieces);
        weighed(pieces, |x| (x - m).exp(), |o, l| o / (l + 1.0))
    };
    let clamped = |pieces: &[Piece]| weighed(pieces, |x| x.min(700.0).exp(), divided);
    let in_pairs = |pieces: &[Piece]| {
        let pairs = if pieces.len() > 1 { pieces.len() / 2 * 2 } else { 1 };
        let m = largest(&pieces[..pairs]);
        weighed(&pieces[..pairs], |x| (x - m).exp(), divided)
    };
    for answer in [with_one_more as Merged, clamped, in_pairs] {
        assert_eq!(named(answer), "");
    }
}
