//! What people write instead.

use attention::Matrix;

use super::{Input, SEE};
use crate::bank::readings::{Moments, by_extremes, moments, of_column, standard};
use crate::{Mistake, Section};

const WRONG: Section = Section::new("sensors", "The remaining useful life of an engine");

/// All of them.
pub(super) const ALL: &[Mistake<Input, Matrix>] = &[
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
    divides_by_1(|input| input.divided(|m| if m.spread == 0.0 { 1.0 } else { m.spread })),
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
        answer: |input| input.each(|x, m| if m.changes() { standard(x, m) } else { x }),
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
                if is_said { (input.test[(i, sensor)] - m.mean) / m.spread } else { 0.0 }
            })
        },
    },
    asks_two_readings(|input| input.unless_equal(|n| [0, n - 1])),
    asks_two_readings(|input| input.unless_equal(|_| [0, 1])),
    Mistake {
        name: "takes a small change for none",
        does: "It sets a threshold of its own, and a sensor whose units are large, so \
            that it changes by little, becomes 0 everywhere",
        looks_right: "It catches a spread that rounding left above 0, and sensors in \
            usual units are right",
        read: SEE,
        answer: |input| {
            input.each(|x, m| if m.spread > 1e-4 { standard(x, m) } else { 0.0 })
        },
    },
    shrinks_small_changes(|input| input.guarded(|x, m| (x - m.mean) / (m.spread + 1e-6))),
    shrinks_small_changes(|input| {
        input.guarded(|x, m| (x - m.mean) / m.spread.max(1e-3))
    }),
    shrinks_small_changes(|input| {
        input.guarded(|x, m| (x - m.mean) / (m.spread.powi(2) + 1e-8).sqrt())
    }),
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
];

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

/// The first with the last, or two neighbours.
const fn asks_two_readings(answer: fn(&Input) -> Matrix) -> Mistake<Input, Matrix> {
    Mistake {
        name: "asks two readings whether a sensor changes",
        does: "It compares two of the training readings. A sensor that reads the same in \
            these two and something else between becomes 0 everywhere",
        looks_right: "Readings of a sensor that changes are seldom equal",
        read: SEE,
        answer,
    }
}

/// Added or as a floor, where constant sensors are known by their readings.
const fn shrinks_small_changes(answer: fn(&Input) -> Matrix) -> Mistake<Input, Matrix> {
    Mistake {
        name: "keeps the spread of a sensor that changes away from 0",
        does: "It adds a small number to the spread, or takes at least such a number. A \
            sensor whose spread is as small as that comes out too small",
        looks_right: "Constant sensors are right, and so are those with a usual spread",
        read: SEE,
        answer,
    }
}
