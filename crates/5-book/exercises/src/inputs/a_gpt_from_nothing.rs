//! Of the chapter on a GPT from nothing: how it is trained.

use std::process::ExitCode;

use attention::{Mask, Matrix};

use super::random;
use crate::array::Several;
use crate::{Answer, Array, Arrays, Case, Exercise, Place, arrays};

mod writing;

pub use writing::*;

/// The gradient of a table that reads letters and writes them.
pub mod tied_weights {
    use super::*;

    /// The letters that were read, and what belongs to either use of the table.
    pub struct Input {
        ids: Vec<usize>,
        d_rows: Matrix,
        hidden: Matrix,
        d_logits: Matrix,
    }

    arrays!(Input: ids, d_rows, hidden, d_logits);

    /// What the reader writes.
    pub type TiedWeights =
        fn(ids: &[usize], d_rows: &Matrix, hidden: &Matrix, d_logits: &Matrix) -> Matrix;

    pub(crate) static EXERCISE: Exercise<Input, Matrix> =
        Exercise::new("tied_weights", cases, |_, Place { row, column, .. }| {
            format!("the row of letter {row}, feature {column}")
        });

    /// Checks what gives the gradient of the table, `[n_letters, d_model]`.
    pub fn check(answer: TiedWeights) -> ExitCode {
        EXERCISE.check(move |Input { ids, d_rows, hidden, d_logits }| {
            answer(ids, d_rows, hidden, d_logits)
        })
    }

    fn cases(seed: u64) -> Vec<Case<Input>> {
        let case = |ids: &[usize], n_letters: usize, d_model: usize, own: u64| Case {
            sizes: format!("the letters {ids:?} of {n_letters}, d_model {d_model}"),
            square: n_letters == d_model,
            input: Input {
                ids: ids.to_vec(),
                d_rows: random::matrix(ids.len(), d_model, seed + own),
                hidden: random::matrix(ids.len(), d_model, seed + own + 1),
                d_logits: random::matrix(ids.len(), n_letters, seed + own + 2),
            },
        };
        vec![
            case(&[0, 3, 1], 5, 4, 1),
            case(&[0, 2, 2, 1, 2], 4, 3, 4),
            case(&[1, 3, 1, 0], 4, 4, 7),
        ]
    }
}

/// The mean loss of names that are filled up to one length.
pub mod padded_loss {
    use super::*;

    /// Of each name the logits and the ids, padding included.
    pub struct Input {
        logits: Vec<Matrix>,
        ids: Vec<Vec<usize>>,
    }

    arrays!(Input: logits, ids);

    impl Several for Vec<usize> {}

    pub(crate) static EXERCISE: Exercise<Input, f64> =
        Exercise::new("padded_loss", cases, |_, _| "the loss".into());

    /// Checks what gives the mean loss, in nats, of `logits`, `[length, n_letters]` a name, and
    /// `length` ids a name.
    pub fn check(answer: fn(logits: &[Matrix], ids: &[Vec<usize>]) -> f64) -> ExitCode {
        EXERCISE.check(move |input| answer(&input.logits, &input.ids))
    }

    fn cases(seed: u64) -> Vec<Case<Input>> {
        let case = |names: &[&str], n_letters: usize, own: u64| {
            let longest = names.iter().map(|name| name.len()).max().unwrap_or(0);
            let row = |name: &&str| {
                let letters = name.bytes().map(|letter| usize::from(letter - b'a') + 1);
                let mut ids: Vec<usize> = [0].into_iter().chain(letters).collect();
                ids.resize(longest + 2, 0);
                ids
            };
            let own = (0..names.len() as u64).map(|name| seed + own + name);
            Case {
                sizes: format!("the names {}", names.join(", ")),
                square: false,
                input: Input {
                    logits: own
                        .map(|own| random::matrix(longest + 2, n_letters, own))
                        .collect(),
                    ids: names.iter().map(row).collect(),
                },
            }
        };
        vec![
            case(&["ab", "ca"], 4, 1),
            case(&["abc", "a", "da"], 5, 11),
            case(&["bb", "cabac", "a", "abca"], 4, 21),
            case(&["abba"], 3, 31),
        ]
    }
}

/// Entries that are dropped in training, and what of it the gradient sees.
pub mod dropout {
    use super::*;

    /// Some entries, the gradient of what comes of them, and which are kept.
    pub struct Input {
        x: Matrix,
        d_out: Matrix,
        keep: Matrix<bool>,
        p: f64,
        is_training: bool,
    }

    arrays!(Input: x, d_out, keep, p, is_training);

    /// What is asked for.
    #[derive(Debug, Clone, PartialEq)]
    pub struct Dropped {
        /// What comes out, `[n_rows, n_columns]`.
        pub out: Matrix,
        /// The gradient of x, `[n_rows, n_columns]`.
        pub d_x: Matrix,
    }

    impl Answer for Dropped {
        fn parts(&self) -> Vec<Matrix> {
            vec![self.out.clone(), self.d_x.clone()]
        }

        fn label(part: usize, _: usize) -> String {
            ["out", "d_x"][part].into()
        }
    }

    /// What the reader writes.
    pub type Dropout = fn(
        x: &Matrix,
        d_out: &Matrix,
        keep: &Matrix<bool>,
        p: f64,
        is_training: bool,
    ) -> Dropped;

    pub(crate) static EXERCISE: Exercise<Input, Dropped> =
        Exercise::new("dropout", cases, |_, Place { part, row, column }| {
            let what = ["out", "out is right; d_x"][part];
            format!("{what}, row {row}, column {column}")
        });

    /// Checks what gives the entries after dropout, and the gradient of those before it.
    pub fn check(answer: Dropout) -> ExitCode {
        EXERCISE.check(move |Input { x, d_out, keep, p, is_training }| {
            answer(x, d_out, keep, *p, *is_training)
        })
    }

    fn cases(seed: u64) -> Vec<Case<Input>> {
        let case = |n_rows: usize, n_columns: usize, p: f64, is_training, note, own| {
            let mode = if is_training { "training" } else { "evaluation" };
            Case {
                sizes: format!("{n_rows} × {n_columns}, p {p}, {mode}{note}"),
                square: false,
                input: Input {
                    x: random::matrix(n_rows, n_columns, seed + own).add_scalar(0.4),
                    d_out: random::matrix(n_rows, n_columns, seed + own + 1),
                    keep: Matrix::from_fn(n_rows, n_columns, |i, j| {
                        (5 * i + 3 * j) % 7 != 2 && (i + 2 * j) % 5 != 1
                    }),
                    p,
                    is_training,
                },
            }
        };
        let mut zeros = case(3, 4, 0.3, true, "; two entries of x are 0", 5);
        (zeros.input.x[(0, 1)], zeros.input.x[(2, 2)]) = (0.0, 0.0);
        let mut map = case(4, 4, 0.1, true, "; a map; nothing of its row 1 is kept", 7);
        map.input.x = random::map(4, 4, &Mask::None, seed + 9);
        map.input.keep.row_mut(1).fill(false);
        vec![
            case(2, 3, 0.2, true, "", 1),
            case(2, 3, 0.2, false, "", 3),
            zeros,
            map,
            case(3, 5, 0.5, true, "", 11),
        ]
    }
}

/// The learning rate of a step, and its gradients, clipped.
pub mod warm_up {
    use super::*;

    /// What a training is to be like.
    #[derive(Debug, Clone, Copy, PartialEq)]
    pub struct Schedule {
        /// The largest rate.
        pub peak: f64,
        /// The step that has it; with 0 there is no warm-up.
        pub n_warm: usize,
        /// The last step, whose rate is 0.
        pub n_steps: usize,
        /// The norm that the gradients of a step have at most.
        pub max_norm: f64,
    }

    impl Arrays for Schedule {
        fn arrays(&self, _: &str) -> Vec<Array> {
            [
                self.peak.arrays("peak"),
                self.n_warm.arrays("n_warm"),
                self.n_steps.arrays("n_steps"),
                self.max_norm.arrays("max_norm"),
            ]
            .concat()
        }
    }

    /// What is asked for of a step.
    #[derive(Debug, Clone, PartialEq)]
    pub struct Step {
        /// Its learning rate.
        pub rate: f64,
        /// Its gradients, clipped: a matrix for each parameter.
        pub gradients: Vec<Matrix>,
    }

    /// All steps of a training, which all have the same gradients.
    pub struct Training {
        rates: Vec<f64>,
        gradients: Vec<Matrix>,
    }

    impl Answer for Training {
        fn parts(&self) -> Vec<Matrix> {
            self.rates.parts().into_iter().chain(self.gradients.clone()).collect()
        }

        fn count(n_parts: usize) -> String {
            match n_parts.saturating_sub(1) {
                1 => "1 gradient".into(),
                n => format!("{n} gradients"),
            }
        }

        fn label(part: usize, _: usize) -> String {
            match part.checked_sub(1) {
                None => "the rates of all steps".into(),
                Some(nth) => format!("gradient {nth} (counted from 0)"),
            }
        }
    }

    /// The plan, and the gradients of each step.
    pub struct Input {
        schedule: Schedule,
        gradients: Vec<Matrix>,
    }

    arrays!(Input: schedule, gradients);

    pub(crate) static EXERCISE: Exercise<Input, Training> = Exercise::new(
        "warm_up",
        cases,
        |_, Place { part, row, column }| match part.checked_sub(1) {
            None => format!("the rate of step {}", column + 1),
            Some(nth) => format!(
                "the rates are right; clipped gradient {nth}, row {row}, column {column}"
            ),
        },
    );

    /// Checks what gives the rate of step t and its clipped gradients.
    pub fn check(
        answer: fn(t: usize, schedule: &Schedule, gradients: &[Matrix]) -> Step,
    ) -> ExitCode {
        EXERCISE.check(move |Input { schedule, gradients }| {
            let step = |t| answer(t, schedule, gradients);
            let first = step(1);
            let others = (2..=schedule.n_steps).map(|t| step(t).rate);
            Training {
                rates: [first.rate].into_iter().chain(others).collect(),
                gradients: first.gradients,
            }
        })
    }

    fn cases(seed: u64) -> Vec<Case<Input>> {
        let case = |schedule: Schedule, scale: f64, note: &str, own: u64| {
            let Schedule { peak, n_warm, n_steps, max_norm } = schedule;
            let shapes = [(2, 3), (1, 2), (3, 2)];
            let gradients = shapes.iter().zip(seed + own..);
            Case {
                sizes: format!(
                    "peak {peak}, n_warm {n_warm}, n_steps {n_steps}, max_norm {max_norm}{note}"
                ),
                square: false,
                input: Input {
                    schedule,
                    gradients: gradients
                        .map(|(&(n, m), own)| random::matrix(n, m, own) * scale)
                        .collect(),
                },
            }
        };
        let plan = |peak, [n_warm, n_steps]: [usize; 2], max_norm| Schedule {
            peak,
            n_warm,
            n_steps,
            max_norm,
        };
        vec![
            case(plan(0.6, [4, 10], 2.0), 1.0, "; long gradients", 1),
            case(plan(0.5, [2, 7], 2.5), 0.5, "; short gradients", 10),
            case(plan(0.3, [0, 5], 1.0), 0.0, "; gradients of 0", 7),
            case(plan(0.8, [3, 8], 5.0), 8.0, "; very long gradients", 4),
        ]
    }
}
