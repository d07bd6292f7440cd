//! New readings, on the scale of those that a model learned from.

use std::process::ExitCode;

use attention::Matrix;

use super::readings::{Input, drifted};
use crate::{Case, Exercise, Section};

mod mistakes;

/// What the reader writes: the test readings on the training's scale, `[n_test, n_sensors]`.
pub type Scaled = fn(train: &Matrix, test: &Matrix) -> Matrix;

/// Checks an answer.
pub fn check(answer: Scaled) -> ExitCode {
    EXERCISE.check(move |input| answer(&input.train, &input.test))
}

const SEE: Section = Section::new("sensors", "The remaining useful life of an engine");

/// The exercise.
pub static EXERCISE: Exercise<Input, Matrix> = Exercise {
    name: "scaled",
    title: "On the training's scale",
    read: SEE,
    begin: "one sensor that read 1, 2 and 3 in the training: what are its mean and its \
        spread, and what does a test reading of 4 become?",
    print: "the mean and the spread of each sensor",
    passed: "A test reading becomes the same number whatever else is in the test set, and a \
        sensor that said nothing says nothing.",
    cases,
    reference: Input::right,
    mistakes: mistakes::ALL,
    place: |_, place| format!("test reading {}, sensor {}", place.row, place.column),
};

fn cases() -> Vec<Case<Input>> {
    let case = |n_train: usize, n_test: usize, n_sensors: usize, seed: u64| Input {
        train: drifted(n_train, n_sensors, 0.0, seed),
        test: drifted(n_test, n_sensors, 0.7, seed + 1),
    };
    let sized = |what: &str, input: Input| Case {
        sizes: format!(
            "{} training and {} test readings of {} sensors{what}",
            input.train.nrows(),
            input.test.nrows(),
            input.train.ncols()
        ),
        square: input.train.nrows() == input.test.nrows(),
        input,
    };
    let mut still = case(5, 5, 2, 3);
    still.test.column_mut(0).fill(7.5);
    let mut constant = case(7, 4, 3, 5);
    constant.train.column_mut(1).fill(100.0);
    constant.test.set_column(1, &[100.0, 101.0, 100.0, 98.0].to_vec().into());
    constant.train.column_mut(2).fill(14.62);
    constant.test.column_mut(2).fill(14.62);
    let mut small = case(6, 4, 3, 9);
    (small.train[(5, 0)], small.train[(1, 1)]) =
        (small.train[(0, 0)], small.train[(0, 1)]);
    for readings in [&mut small.train, &mut small.test] {
        readings.column_mut(2).apply(|x| *x = (*x + 11.0) * 1e-6);
    }
    vec![
        sized("", case(6, 4, 3, 1)),
        sized("; sensor 0 stands still in the test", still),
        sized("; sensors 1 and 2 do not change in the training", constant),
        sized(
            "; sensor 0 ends as it began, sensor 1 begins with two equal readings, sensor 2 \
             has a spread near 0.00001",
            small,
        ),
    ]
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::Verdict;
    use crate::bank::readings::of_column;

    /// The spread from all pairs of readings, which needs no mean.
    #[test]
    fn a_spread_from_pairs_of_readings_in_f32_is_right() {
        let by_pairs = |Input { train, test }: &Input| {
            Matrix::from_fn(test.nrows(), test.ncols(), |i, sensor| {
                let all: Vec<f32> =
                    train.column(sensor).iter().map(|&x| x as f32).collect();
                let n = all.len() as f32;
                let pairs =
                    all.iter().flat_map(|a| all.iter().map(move |b| (a - b).powi(2)));
                let spread = (pairs.sum::<f32>() / 2.0).sqrt() / n;
                let far =
                    all.iter().map(|x| test[(i, sensor)] as f32 - x).sum::<f32>() / n;
                f64::from(if spread == 0.0 { 0.0 } else { far / spread })
            })
        };
        assert_eq!(EXERCISE.diagnose(by_pairs), Verdict::Passed);
    }

    /// The inputs' point: seven times 14.62 has a mean that is not 14.62.
    #[test]
    fn rounding_gives_a_constant_sensor_a_spread() {
        let last = cases().swap_remove(2).input;
        let constant = of_column(&last.train, 2);
        assert!(!constant.changes() && constant.spread > 0.0 && constant.spread < 1e-12);
    }

    /// A second slip does not hide the first.
    #[test]
    fn a_mistake_that_divides_by_0_too_is_named() {
        let sample = |input: &Input| {
            input.each(|x, m| (x - m.mean) / m.spread * ((m.n - 1.0) / m.n).sqrt())
        };
        let Verdict::Mistake { mistake, .. } = EXERCISE.diagnose(sample) else {
            panic!("no mistake");
        };
        assert_eq!(EXERCISE.mistakes[mistake].name, "divides by n − 1");
    }
}
