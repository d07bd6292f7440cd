//! Of the chapter on sensors.

use std::process::ExitCode;

use attention::Matrix;

use super::random;
use crate::{Answer, Array, Arrays, Case, Exercise, Place, arrays};

/// A sequence read from both ends, and every row about one token.
pub mod both_ways {
    use super::*;

    /// One direction of a recurrent layer: `h = tanh(x_t W_in + h W_hidden + b)`.
    #[derive(Debug, Clone)]
    pub struct Direction {
        /// From a token to a state, `[d_in, hidden]`.
        pub w_in: Matrix,
        /// From the state before, `[hidden, hidden]`.
        pub w_hidden: Matrix,
        /// The bias, `[1, hidden]`.
        pub bias: Matrix,
    }

    impl Arrays for Direction {
        fn arrays(&self, name: &str) -> Vec<Array> {
            let Self { w_in, w_hidden, bias } = self;
            let parts = [("w_in", w_in), ("w_hidden", w_hidden), ("bias", bias)];
            parts
                .iter()
                .flat_map(|(part, it)| it.arrays(&format!("{name}.{part}")))
                .collect()
        }
    }

    /// Tokens, and the two directions that read them.
    pub struct Input {
        x: Matrix,
        forward: Direction,
        backward: Direction,
    }

    arrays!(Input: x, forward, backward);

    pub(crate) static EXERCISE: Exercise<Input, Matrix> =
        Exercise::new("both_ways", cases, place);

    /// Checks what gives the states of both directions, `[n_tokens, 2 · hidden]`, of the tokens
    /// `x`, `[n_tokens, d_in]`.
    pub fn check(
        answer: fn(x: &Matrix, forward: &Direction, backward: &Direction) -> Matrix,
    ) -> ExitCode {
        EXERCISE.check(move |input| answer(&input.x, &input.forward, &input.backward))
    }

    fn place(input: &Input, Place { row, column, .. }: Place) -> String {
        let hidden = input.forward.bias.ncols();
        let direction = if column < hidden { "forward" } else { "backward" };
        format!("token {row}, entry {} of the {direction} state", column % hidden)
    }

    fn cases(seed: u64) -> Vec<Case<Input>> {
        let direction = |d_in: usize, hidden: usize, own: u64| Direction {
            w_in: random::matrix(d_in, hidden, seed + own) * 0.7,
            w_hidden: random::matrix(hidden, hidden, seed + own + 1) * 0.7,
            bias: random::matrix(1, hidden, seed + own + 2) * 0.5,
        };
        let case = |n_tokens: usize, d_in: usize, hidden: usize, own: u64| Case {
            sizes: match n_tokens {
                1 => format!("1 token, d_in {d_in}, hidden {hidden}"),
                n => format!("{n} tokens, d_in {d_in}, hidden {hidden}"),
            },
            square: d_in == hidden,
            input: Input {
                x: random::matrix(n_tokens, d_in, seed + own),
                forward: direction(d_in, hidden, own + 1),
                backward: direction(d_in, hidden, own + 4),
            },
        };
        vec![case(3, 2, 2, 10), case(5, 3, 2, 20), case(4, 2, 3, 30), case(1, 3, 4, 40)]
    }
}

/// All windows of engines that ran until they failed, and what remains behind each.
pub mod windows {
    use super::*;

    /// Some rows of one engine, and how long it runs on behind them.
    #[derive(Debug, Clone, Copy, PartialEq, Eq)]
    pub struct Window {
        /// The engine, counted from 0.
        pub engine: usize,
        /// The window's first row, counted from 0 over the whole file.
        pub first: usize,
        /// The engine's rows behind the window's last one, and at most 125.
        pub remaining: usize,
    }

    /// A row for each window, none of them nearly right.
    impl Answer for Vec<Window> {
        const TOLERANCE: f64 = 0.0;
        const IS_LIST: bool = true;

        fn parts(&self) -> Vec<Matrix> {
            let row = |&Window { engine, first, remaining }: &Window| {
                Matrix::from_row_slice(
                    1,
                    3,
                    &[engine, first, remaining].map(|x| x as f64),
                )
            };
            self.iter().map(row).collect()
        }

        fn count(n_parts: usize) -> String {
            match n_parts {
                1 => "1 window".into(),
                n => format!("{n} windows"),
            }
        }

        fn label(part: usize, _: usize) -> String {
            format!("window {part} (counted from 0)")
        }
    }

    /// How many rows each engine has, and how many a window.
    pub struct Input {
        lengths: Vec<usize>,
        n_steps: usize,
    }

    arrays!(Input: lengths, n_steps);

    pub(crate) static EXERCISE: Exercise<Input, Vec<Window>> =
        Exercise::new("windows", cases, |_, Place { part, column, .. }| {
            let what = ["its engine", "its first row", "what remains"][column];
            format!("window {part}, {what}")
        });

    /// Checks what gives every window of `n_steps` rows, in the order of the file.
    pub fn check(
        answer: fn(lengths: &[usize], n_steps: usize) -> Vec<Window>,
    ) -> ExitCode {
        EXERCISE.check(move |input| answer(&input.lengths, input.n_steps))
    }

    /// Nothing here is random: the numbers that matter are those at the edges.
    fn cases(_: u64) -> Vec<Case<Input>> {
        let case = |lengths: &[usize], n_steps: usize| Case {
            sizes: format!("engines of {lengths:?} rows, windows of {n_steps}"),
            square: false,
            input: Input { lengths: lengths.to_vec(), n_steps },
        };
        vec![case(&[5, 4], 3), case(&[4, 2, 3, 1, 6], 3), case(&[170, 20, 140], 30)]
    }
}

/// New readings, on the scale of those that a model learned from.
pub mod scaled {
    use super::*;

    /// Readings to learn from and readings to test with, a row each, a column per sensor.
    pub struct Input {
        train: Matrix,
        test: Matrix,
    }

    arrays!(Input: train, test);

    pub(crate) static EXERCISE: Exercise<Input, Matrix> =
        Exercise::new("scaled", cases, |_, Place { row, column, .. }| {
            format!("test reading {row}, sensor {column}")
        });

    /// Checks what gives the test readings on the training's scale, `[n_test, n_sensors]`.
    pub fn check(answer: fn(train: &Matrix, test: &Matrix) -> Matrix) -> ExitCode {
        EXERCISE.check(move |input| answer(&input.train, &input.test))
    }

    fn cases(seed: u64) -> Vec<Case<Input>> {
        let case = |n_train: usize, n_test: usize, n_sensors: usize, own: u64| Input {
            train: drifted(n_train, n_sensors, 0.0, seed + own),
            test: drifted(n_test, n_sensors, 0.7, seed + own + 1),
        };
        let sized = |what: &str, input: Input| {
            let [(n_train, n_sensors), (n_test, _)] =
                [&input.train, &input.test].map(|readings| readings.shape());
            Case {
                sizes: format!(
                    "{n_train} training and {n_test} test readings of {n_sensors} sensors{what}"
                ),
                square: n_train == n_test,
                input,
            }
        };
        let mut still = case(5, 5, 2, 3);
        still.test.column_mut(0).fill(7.5);
        // By rounding, seven times 14.62 has a mean that is not 14.62.
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
                "; sensor 0 ends as it began, sensor 1 begins with two equal readings, \
                 sensor 2 has a spread near 0.00001",
                small,
            ),
        ]
    }

    /// Random readings, `[n, n_sensors]`: each sensor around a place of its own and in units
    /// of its own, moved on by `drift` units.
    fn drifted(n: usize, n_sensors: usize, drift: f64, seed: u64) -> Matrix {
        let mut readings = random::matrix(n, n_sensors, seed);
        for (sensor, mut column) in readings.column_iter_mut().enumerate() {
            let (place, unit) =
                (7.0 - 9.0 * sensor as f64, 0.4 * 5_f64.powi(sensor as i32));
            column.apply(|x| *x = place + unit * (*x + drift));
        }
        readings
    }
}
