//! A softmax in blocks with numbers that can be followed by hand, from `kernels`: live.

use anyhow::Result;
use attention::OnlineSoftmax;
use attention::{Matrix, softmax_rows, weighted_values};
use figures::{OnlineStep, OnlineSteps, online_softmax};

use crate::live::{LiveFigure, LiveView, Question, live};

/// Follows one query through the keys that its reader types, block by block.
pub(crate) const LIVE: LiveFigure<Set, Facts> =
    LiveFigure::new("online-softmax", draw, QUESTIONS);

const QUESTIONS: &[Question<Set, Facts>] = &[
    Question {
        ask: "Drag key 7's score so high that the last correction leaves less than 1 % of \
              all that came before.",
        is_answered: |set, it| set.has_blocks() && it.last_correction < 0.01,
        answer: |set| (set.step, set.keys[(0, 7)]) = (SCORES.len(), 11.0),
        found: "A score of 10,000 leaves nothing. Nor does anything overflow, though no \
                float holds 2¹⁰⁰⁰⁰: the maximum comes off before any exponential.",
    },
    Question {
        ask: "Drag the scores so that after the first block nothing is ever corrected.",
        is_answered: |set, it| set.has_blocks() && it.rises == 0,
        answer: |set| {
            let falling = [4.0, 3.0, 3.0, 2.0, 2.0, 2.0, 1.0, 1.0];
            set.step = SCORES.len();
            set.keys.row_mut(0).copy_from_slice(&falling);
        },
        found: "Let them fall: every correction after the first is then 1, for only a \
                new maximum makes it less.",
    },
    Question {
        ask: "Type values with which o / l differs from the softmax over all keys by \
              more than 0.0001.",
        is_answered: |_, it| it.difference > 1e-4,
        answer: |set| {
            let values =
                [12345.6, 9876.5, 14321.9, 11111.1, 13579.3, 7777.7, 12321.7, 14000.3];
            set.step = SCORES.len();
            set.keys.row_mut(1).copy_from_slice(&values);
        },
        found: "That is rounding: an f32 holds about seven digits, so large values err \
                by more. In exact arithmetic blocks change nothing.",
    },
];

/// e to the scores: eight keys of one query.
pub const POWERS: [f32; 8] = [2.0, 4.0, 8.0, 2.0, 16.0, 4.0, 8.0, 4.0];
/// The same scores, in units of ln 2.
const SCORES: [f64; 8] = [1.0, 2.0, 3.0, 1.0, 4.0, 2.0, 3.0, 2.0];
/// Each key's value, one number.
pub const VALUES: [f32; 8] = [10.0, 25.0, 40.0, 8.0, 16.0, 4.0, 2.0, 30.0];
/// How many keys come at a time.
const BLOCK: usize = 2;
/// What a score can be in units of ln 2, and a value.
const MOST: f64 = 15_000.0;

/// The scores above the values.
fn entries() -> Matrix {
    let entries: Vec<f64> = SCORES.into_iter().chain(VALUES.map(f64::from)).collect();
    Matrix::from_row_slice(2, SCORES.len(), &entries)
}

live! {
    struct Set {
        keys: Matrix = "Keys", matrix(["score / ln 2", "value"], 0..SCORES.len(), MOST, entries());
        step: usize = "Block", slider([1, SCORES.len()], 1, 4).played();
        block: usize = "Keys in a block", count([1, SCORES.len()], BLOCK);
    }

    struct Facts {
        /// What is kept after each block: maximum, correction, sum, output and average.
        kept: Vec<[f64; 5]>,
        /// What a softmax over all keys at once gives.
        at_once: f64,
        /// How far the blocks' is from it.
        difference: f64,
        last_correction: f64,
        /// In how many blocks after the first the maximum rose.
        rises: usize,
    }
}

impl Set {
    /// Whether there is a block after the first.
    fn has_blocks(&self) -> bool {
        self.block < SCORES.len()
    }
}

/// What is kept after each block of the first settings.
pub fn steps() -> Vec<OnlineStep> {
    let keys = Matrix::from_fn(2, POWERS.len(), |row, key| match row {
        0 => POWERS[key].ln(),
        _ => VALUES[key],
    });
    in_blocks(&keys, BLOCK)
}

/// Through f64: what an `f32::exp` makes of its last digit differs from machine to machine.
fn exp(x: f32) -> f32 {
    f64::from(x).exp() as f32
}

/// What is kept after each block; `keys` has the scores above the values.
fn in_blocks(keys: &Matrix<f32>, n_keys: usize) -> Vec<OnlineStep> {
    let mut online = OnlineSoftmax::new(1, 1);
    let block = |first: usize| {
        let n = n_keys.min(keys.ncols() - first);
        let before = online.maximum[0];
        let scores = keys.view((0, first), (1, n)).into_owned();
        let v = keys.view((1, first), (1, n)).transpose(); // [n, 1]
        let all = |numbers: &mut [f32]| numbers.iter_mut().for_each(|x| *x = exp(*x));
        online.take_in(scores, v.as_view(), all);

        let (n_seen, maximum) = (first + n, online.maximum[0]);
        let seen = (0..n_seen).map(|key| keys[(0, key)]);
        OnlineStep {
            n_seen,
            maximum: f64::from(maximum),
            correction: f64::from(exp(before - maximum)),
            counts: seen.map(|s| f64::from(exp(s - maximum))).collect(),
            sum: f64::from(online.sum[0]),
            out: f64::from(online.out[0]),
            average: f64::from(online.clone().finish()[0]),
        }
    };
    (0..keys.ncols()).step_by(n_keys).map(block).collect()
}

fn draw(set: &Set) -> Result<LiveView<Facts>> {
    let (mut keys, n_keys) = (set.keys.clone(), set.block);
    keys.row_mut(0).scale_mut(std::f64::consts::LN_2);
    let keys = keys.map(|entry| entry as f32);
    let steps = in_blocks(&keys, n_keys);
    let rows = keys.map(f64::from);
    let [scores, values] = [0, 1].map(|i| rows.row(i).into_owned());
    let title = format!(
        "A softmax in blocks of {n_keys}: when a larger score comes, what was added up \
         before is corrected by one factor"
    );
    let it = OnlineSteps {
        scores: scores.as_slice(),
        values: values.as_slice(),
        steps: &steps,
        shown: set.step.min(steps.len()) - 1,
    };
    let figure = online_softmax(title, it)?;

    let shares = softmax_rows(rows.rows(0, 1).into_owned());
    let at_once = weighted_values(&shares, rows.rows(1, 1).transpose().as_view())[0];
    let average = steps[steps.len() - 1].average;
    let difference = (average - at_once).abs();
    let rises = steps.windows(2).filter(|pair| pair[0].maximum < pair[1].maximum).count();
    let words = format!(
        "Block by block, in f32, o / l is {average:.3} at the end; a softmax over all keys \
         at once, in f64, gives {at_once:.3}. They differ by {}. The maximum rose in {rises} \
         of the {} blocks after the first.",
        small(difference),
        steps.len() - 1
    );
    let kept = steps.iter().map(|step| {
        let OnlineStep { maximum, correction, sum, out, average, .. } = *step;
        [maximum, correction, sum, out, average]
    });
    let (kept, last_correction) = (kept.collect(), steps[steps.len() - 1].correction);
    let facts = Facts { kept, at_once, difference, last_correction, rises };
    Ok(LiveView { figure, words, facts })
}

/// `8e-10`, and 0 as it is.
fn small(number: f64) -> String {
    if number == 0.0 { "0".to_owned() } else { format!("{number:.0e}") }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::gallery::tests::are_finite;
    use crate::plain::{softmax, weighted_sum};

    /// What comes out in blocks, and what at once.
    fn both(keys: &Matrix, block: usize) -> [f64; 2] {
        let shown = draw(&Set { keys: keys.clone(), step: 8, block }).unwrap();
        assert!(are_finite(&shown.facts), "{keys}: {:?}", shown.facts);
        assert!(!shown.words.contains("NaN"));
        [shown.facts.difference, shown.facts.at_once]
    }

    #[test]
    fn at_first_it_shows_the_powers_of_the_chapter() {
        let shown = LIVE.at([]).unwrap();
        let in_chapter = steps();
        assert_eq!(shown.facts.kept[0][0], in_chapter[0].maximum);
        let last = &in_chapter[in_chapter.len() - 1];
        for (count, power) in last.counts.iter().zip(POWERS) {
            assert!((count - f64::from(power) / 16.0).abs() < 1e-7);
        }
        insta::assert_snapshot!(shown.words, @"Block by block, in f32, o / l is 18.000 at the end; a softmax over all keys at once, in f64, gives 18.000. They differ by 8e-10. The maximum rose in 2 of the 3 blocks after the first.");
    }

    #[test]
    fn blocks_of_any_size_give_the_average_of_the_loops() {
        let scores = SCORES.map(|s| s * std::f64::consts::LN_2);
        let values = VALUES.map(|v| vec![f64::from(v)]);
        let [expected] = weighted_sum(&softmax(&scores), &values)[..] else { panic!() };
        for block in 1..=8 {
            let [difference, at_once] = both(&entries(), block);
            assert!((at_once - expected).abs() < 1e-6, "{at_once} and not {expected}");
            assert!(difference < 1e-5, "{block}: {difference:e}");
        }
    }

    #[test]
    fn scores_far_apart_rise_and_fall_without_overflow() {
        let far = [-MOST, MOST, -1e4, 1e4, 0.0, MOST, -MOST, 1.0];
        for scores in [far, [MOST; 8], [-MOST; 8], [0.0; 8]] {
            for values in [far, [MOST; 8], [0.0; 8]] {
                for block in [1, 2, 3, 8] {
                    let keys = Matrix::from_row_slice(2, 8, &[scores, values].concat());
                    let [difference, _] = both(&keys, block);
                    assert!(difference <= 1e-6 * MOST, "{keys}: {difference:e}");
                }
            }
        }
    }
}
