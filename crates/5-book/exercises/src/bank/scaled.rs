//! New readings, on the scale of those that a model learned from.

use std::process::ExitCode;

use attention::Matrix;

use super::readings::{
    Input, Moments, by_extremes, drifted, moments, of_column, standard,
};
use crate::{Case, Exercise, Mistake, Section};

/// What the reader writes: the test readings on the training's scale, `[n_test, n_sensors]`.
pub type Scaled = fn(train: &Matrix, test: &Matrix) -> Matrix;

/// Checks an answer.
pub fn check(answer: Scaled) -> ExitCode {
    EXERCISE.check(move |input| answer(&input.train, &input.test))
}

const SEE: Section = Section::new("sensors", "Windows, and who may see what");
const WRONG: Section = Section::new("sensors", "What people get wrong");

/// To the spread, or to the variance in its root: one small number or another.
const fn adds_a_small_number(answer: fn(&Input) -> Matrix) -> Mistake<Input, Matrix> {
    Mistake {
        name: "adds a small number to the spread",
        does: "Nothing is divided by 0, and a sensor that was constant and then moves by 1 \
            becomes as large as the small number is small",
        looks_right: "For readings like those of the training it is right, and other norms \
            do have such a number",
        read: SEE,
        answer,
    }
}

/// Constant sensors are looked for in the test, in the training, or not at all.
const fn measures_the_test(answer: fn(&Input) -> Matrix) -> Mistake<Input, Matrix> {
    Mistake {
        name: "measures the scale on the test readings",
        does: "What a reading becomes depends on the other test readings, which a model in \
            use has never seen, and a fleet that has drifted looks like one that has not",
        looks_right: "What comes out has a mean of 0 and a spread of 1, which a right answer \
            has not",
        read: WRONG,
        answer,
    }
}

/// A constant sensor becomes 0 or is scaled like the others.
const fn has_one_scale(answer: fn(&Input) -> Matrix) -> Mistake<Input, Matrix> {
    Mistake {
        name: "has one mean and one spread for all sensors",
        does: "A sensor that reads in the hundreds drowns those that read in units, whose \
            changes become next to nothing",
        looks_right: "The mean of all numbers is then 0 and their spread 1",
        read: SEE,
        answer,
    }
}

/// To 0 and 1, to −1 and 1, or around the mean.
const fn scales_by_the_extremes(answer: fn(&Input) -> Matrix) -> Mistake<Input, Matrix> {
    Mistake {
        name: "scales by the smallest and the largest reading",
        does: "It takes the distance from the smallest training reading to the largest for \
            the spread, so one spike presses all other readings together",
        looks_right: "All sensors are on one scale, and it is a usual one",
        read: SEE,
        answer,
    }
}

/// Constant sensors are looked for in all readings, in the training, or not at all.
const fn measures_both(answer: fn(&Input) -> Matrix) -> Mistake<Input, Matrix> {
    Mistake {
        name: "measures the scale on training and test together",
        does: "The test readings have a part in the mean and the spread, so the model's \
            input has seen what it is tested on",
        looks_right: "More readings give a better mean, and with a large training set \
            there is little to see",
        read: WRONG,
        answer,
    }
}

/// Constant sensors are known by their readings or by their computed spread.
const fn divides_by_the_variance(answer: fn(&Input) -> Matrix) -> Mistake<Input, Matrix> {
    Mistake {
        name: "divides by the variance and not by its root",
        does: "A sensor in units a thousand times as small comes out a thousand times as \
            large",
        looks_right: "At a spread near 1 there is little to see",
        read: SEE,
        answer,
    }
}

/// The same, or they are divided by 0.
const fn keeps_the_mean(answer: fn(&Input) -> Matrix) -> Mistake<Input, Matrix> {
    Mistake {
        name: "does not subtract the mean",
        does: "A sensor that reads 500 ± 1 becomes about 500 everywhere, and what \
            changes is lost in what does not",
        looks_right: "The spreads are 1",
        read: SEE,
        answer,
    }
}

/// Constant sensors are known by their readings or by their computed spread.
const fn divides_by_one_less(answer: fn(&Input) -> Matrix) -> Mistake<Input, Matrix> {
    Mistake {
        name: "divides by n − 1",
        does: "It estimates the spread of all readings there could be from those that \
            there are. What was asked for divides by n",
        looks_right: "It is the default of many libraries, and with ten thousand readings \
            nobody sees a difference",
        read: SEE,
        answer,
    }
}

/// By distances from the mean, or as the mean square less the squared mean.
const fn asks_for_a_spread_of_0(answer: fn(&Input) -> Matrix) -> Mistake<Input, Matrix> {
    Mistake {
        name: "asks whether the computed spread is 0",
        does: "The mean of seven times 14.62 is not quite 14.62, so the spread is not \
            quite 0, and one rounding error is divided by another",
        looks_right: "For a sensor that always reads 100 it is right",
        read: SEE,
        answer,
    }
}

/// Constant sensors are known by their readings or by their computed spread.
const fn divides_by_1(answer: fn(&Input) -> Matrix) -> Mistake<Input, Matrix> {
    Mistake {
        name: "divides a constant sensor by 1",
        does: "It takes 1 for a spread of 0. What never changed while the model learned \
            then reaches it in the sensor's own units, when it changes in the test",
        looks_right: "scikit-learn does it, and while the sensor stays as it was, \
            it gives 0",
        read: SEE,
        answer,
    }
}

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
    mistakes: &[
        measures_the_test(|input| input.measured_on(&input.test, standard)),
        measures_the_test(|input| input.guarded_on(&input.test, standard)),
        measures_the_test(|input| input.measured_on(&input.test, by_extremes)),
        measures_the_test(|input| {
            input.measured_on(&input.test, |x, m| (x - m.mean) / m.spread)
        }),
        measures_both(|input| input.measured_on(&input.together(), standard)),
        measures_both(|input| input.guarded_on(&input.together(), standard)),
        measures_both(|input| {
            input.measured_on(&input.together(), |x, m| (x - m.mean) / m.spread)
        }),
        measures_both(|input| input.measured_on(&input.together(), by_extremes)),
        Mistake {
            name: "takes the mean of the test and the spread of the training",
            does: "It moves the test readings to a mean of 0, so a drift of the whole fleet \
                is gone",
            looks_right: "The spread is right, and so is every difference between two \
                readings",
            read: SEE,
            answer: |input| {
                Matrix::from_fn(input.test.nrows(), input.test.ncols(), |i, sensor| {
                    let m = of_column(&input.train, sensor);
                    let mean = of_column(&input.test, sensor).mean;
                    standard(input.test[(i, sensor)], Moments { mean, ..m })
                })
            },
        },
        has_one_scale(|input| {
            let all = moments(input.train.iter());
            input.guarded(|x, _| (x - all.mean) / all.spread)
        }),
        has_one_scale(|input| {
            let all = moments(input.train.iter());
            input.each(|x, _| (x - all.mean) / all.spread)
        }),
        Mistake {
            name: "scales each reading by itself",
            does: "It takes mean and spread along a row, over sensors of different units, \
                and never looks at the training",
            looks_right: "It is what layer norm does with a token",
            read: SEE,
            answer: |input| {
                Matrix::from_fn(input.test.nrows(), input.test.ncols(), |i, sensor| {
                    standard(input.test[(i, sensor)], moments(input.test.row(i).iter()))
                })
            },
        },
        divides_by_the_variance(|input| {
            input.guarded(|x, m| (x - m.mean) / m.spread.powi(2))
        }),
        divides_by_the_variance(|input| {
            input.unless_zero(|x, m| (x - m.mean) / m.spread.powi(2))
        }),
        keeps_the_mean(|input| input.guarded(|x, m| x / m.spread)),
        keeps_the_mean(|input| input.unless_zero(|x, m| x / m.spread)),
        keeps_the_mean(|input| input.each(|x, m| x / m.spread)),
        Mistake {
            name: "subtracts the mean after it divides",
            does: "It computes x / spread − mean: the mean is in the sensor's units, and \
                x / spread no longer is",
            looks_right: "The spreads are 1, and at a spread of 1 it is right",
            read: SEE,
            answer: |input| input.guarded(|x, m| x / m.spread - m.mean),
        },
        Mistake {
            name: "only subtracts the mean",
            does: "Every sensor keeps its own units, and the largest of them decide",
            looks_right: "The means are 0",
            read: SEE,
            answer: |input| input.guarded(|x, m| x - m.mean),
        },
        divides_by_one_less(|input| {
            input.guarded(|x, m| (x - m.mean) / m.spread * ((m.n - 1.0) / m.n).sqrt())
        }),
        divides_by_one_less(|input| {
            input.unless_zero(|x, m| (x - m.mean) / m.spread * ((m.n - 1.0) / m.n).sqrt())
        }),
        Mistake {
            name: "sums the squares and takes no mean",
            does: "Its divisor grows with the number of readings, so what comes out shrinks",
            looks_right: "All sensors are on one scale, and only that is too small",
            read: SEE,
            answer: |input| input.guarded(|x, m| (x - m.mean) / m.spread / m.n.sqrt()),
        },
        scales_by_the_extremes(|input| {
            input.guarded(|x, m| (x - m.least) / (m.most - m.least))
        }),
        scales_by_the_extremes(|input| {
            input.guarded(|x, m| 2.0 * (x - m.least) / (m.most - m.least) - 1.0)
        }),
        scales_by_the_extremes(|input| {
            input.guarded(|x, m| (x - m.mean) / (m.most - m.least))
        }),
        Mistake {
            name: "divides by 0 where a sensor does not change",
            does: "A constant sensor has a spread of 0. 0 / 0 is NaN and 1 / 0 is ∞, and \
                both spread to all that a model makes of them",
            looks_right: "Every sensor that says something is right",
            read: SEE,
            answer: |input| input.divided(|m| m.spread),
        },
        asks_for_a_spread_of_0(|input| input.unless_zero(|x, m| (x - m.mean) / m.spread)),
        asks_for_a_spread_of_0(|input| {
            input.each(|x, m| {
                let v = m.mean_square - m.mean * m.mean;
                if v == 0.0 { 0.0 } else { (x - m.mean) / v.sqrt() }
            })
        }),
        divides_by_1(|input| input.divided(|m| if m.changes() { m.spread } else { 1.0 })),
        divides_by_1(|input| {
            input.divided(|m| if m.spread == 0.0 { 1.0 } else { m.spread })
        }),
        Mistake {
            name: "scales the training readings",
            does: "It measures on `train` and then scales `train`, and `test` is never used",
            looks_right: "The mean and the spread are those of the training",
            read: SEE,
            answer: |input| {
                let train = input.train.clone();
                Input { train: train.clone(), test: train }.right()
            },
        },
        Mistake {
            name: "leaves a constant sensor as it is",
            does: "A sensor that always reads 100 stays at 100, next to others around 0",
            looks_right: "Nothing is divided by 0",
            read: SEE,
            answer: |input| {
                input.each(|x, m| if m.changes() { standard(x, m) } else { x })
            },
        },
        Mistake {
            name: "looks in the test for sensors that do not change",
            does: "A sensor that stands still in a few test readings becomes 0, though it \
                says something, and one that the training does not know is divided by 0",
            looks_right: "Where a sensor never changes, both agree",
            read: SEE,
            answer: |input| {
                Matrix::from_fn(input.test.nrows(), input.test.ncols(), |i, sensor| {
                    let m = of_column(&input.train, sensor);
                    let is_said = of_column(&input.test, sensor).changes();
                    if is_said {
                        (input.test[(i, sensor)] - m.mean) / m.spread
                    } else {
                        0.0
                    }
                })
            },
        },
        adds_a_small_number(|input| input.divided(|m| m.spread + 1e-8)),
        adds_a_small_number(|input| input.divided(|m| m.spread + 1e-5)),
        adds_a_small_number(|input| input.divided(|m| m.spread + 1e-6)),
        adds_a_small_number(|input| input.divided(|m| m.spread + 1e-7)),
        adds_a_small_number(|input| input.divided(|m| m.spread + 1e-9)),
        adds_a_small_number(|input| input.divided(|m| m.spread + 1e-10)),
        adds_a_small_number(|input| input.divided(|m| m.spread + 1e-12)),
        adds_a_small_number(|input| input.divided(|m| (m.spread.powi(2) + 1e-5).sqrt())),
        adds_a_small_number(|input| input.divided(|m| (m.spread.powi(2) + 1e-6).sqrt())),
        adds_a_small_number(|input| input.divided(|m| (m.spread.powi(2) + 1e-8).sqrt())),
    ],
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
    vec![
        sized("", case(6, 4, 3, 1)),
        sized("; sensor 0 stands still in the test", still),
        sized("; sensors 1 and 2 do not change in the training", constant),
    ]
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::Verdict;

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
        let last = cases().pop().expect("three inputs").input;
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
