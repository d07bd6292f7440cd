//! How it writes.

use std::process::ExitCode;

use attention::Matrix;

use crate::array::Several;
use crate::{Answer, Array, Arrays, Case, Exercise, Place, arrays};

/// The likeliest letters that have a probability of p together.
pub mod top_p {
    use super::*;

    /// Logits, a temperature, and what the nucleus has to reach.
    pub struct Input {
        logits: Vec<f64>,
        temperature: f64,
        p: f64,
    }

    arrays!(Input: logits, temperature, p);

    pub(crate) static EXERCISE: Exercise<Input, Vec<f64>> =
        Exercise::new("top_p", cases, |_, Place { column, .. }| {
            format!("the probability of letter {column}")
        });

    /// Checks what gives the probabilities of the letters, those of the nucleus above 0.
    pub fn check(
        answer: fn(logits: &[f64], temperature: f64, p: f64) -> Vec<f64>,
    ) -> ExitCode {
        EXERCISE.check(move |Input { logits, temperature, p }| {
            answer(logits, *temperature, *p)
        })
    }

    /// No sum comes near to p, but where it is p exactly.
    fn cases(_: u64) -> Vec<Case<Input>> {
        let case = |logits: &[f64], temperature: f64, p: f64| Case {
            sizes: format!("logits {logits:?}, temperature {temperature}, p {p}"),
            square: false,
            input: Input { logits: logits.to_vec(), temperature, p },
        };
        vec![
            case(&[0.5, 2.0, -1.0, 1.5, 0.0], 1.0, 0.8),
            case(&[0.2, 1.0, -1.0, 0.6, 0.0, 0.9], 2.0, 0.7),
            case(&[3.0, -0.5, 0.3, 0.1], 1.0, 0.6),
            case(&[0.0, 0.0, 0.0, 0.0], 1.0, 0.5),
            case(&[0.1, 0.8, 0.4, -0.6, 0.8], 0.5, 0.9),
            case(&[1.0, 2.0, 1.9995, 1.998], 0.001, 0.7),
            case(&[0.0, 0.0], 1.0, 1.0),
        ]
    }
}

/// One step of beam search.
pub mod beam {
    use super::*;

    /// The beginning of a name.
    #[derive(Debug, Clone, PartialEq)]
    pub struct Beam {
        /// Its letters, without the 0 in front; the last one is 0 if it has ended.
        pub letters: Vec<usize>,
        /// The sum of their log-probabilities.
        pub sum: f64,
    }

    impl Several for Beam {}

    impl Arrays for Beam {
        fn arrays(&self, name: &str) -> Vec<Array> {
            let letters = self.letters.arrays(&format!("{name}.letters"));
            [letters, self.sum.arrays(&format!("{name}.sum"))].concat()
        }
    }

    /// So many letters are compared; what is none is −1.
    const N_COMPARED: usize = 6;

    impl Answer for Vec<Beam> {
        const IS_LIST: bool = true;

        fn parts(&self) -> Vec<Matrix> {
            let row = |Beam { letters, sum }: &Beam| {
                let letter = |column| letters.get(column).map_or(-1.0, |&id| id as f64);
                Matrix::from_fn(1, N_COMPARED + 1, |_, column| match column {
                    N_COMPARED => *sum,
                    _ => letter(column),
                })
            };
            self.iter().map(row).collect()
        }

        fn count(n_parts: usize) -> String {
            match n_parts {
                1 => "1 beam".into(),
                n => format!("{n} beams"),
            }
        }

        fn label(part: usize, _: usize) -> String {
            format!("beam {part} (counted from 0)")
        }
    }

    /// Beams, what may come after each, how many to keep, and how much a length counts.
    pub struct Input {
        beams: Vec<Beam>,
        log_p: Matrix,
        k: usize,
        alpha: f64,
    }

    arrays!(Input: beams, log_p, k, alpha);

    pub(crate) static EXERCISE: Exercise<Input, Vec<Beam>> =
        Exercise::new("beam", cases, |_, Place { part, column, .. }| match column {
            N_COMPARED => format!("kept beam {part} has the right letters; its sum"),
            _ => format!("kept beam {part}, letter {column} (−1 for none)"),
        });

    /// Checks what gives the k best of all beams continued, the best first.
    pub fn check(
        answer: fn(beams: &[Beam], log_p: &Matrix, k: usize, alpha: f64) -> Vec<Beam>,
    ) -> ExitCode {
        EXERCISE.check(move |Input { beams, log_p, k, alpha }| {
            answer(beams, log_p, *k, *alpha)
        })
    }

    fn case(
        beams: &[(&[usize], f64)],
        p: &[&[f64]],
        k: usize,
        alpha: f64,
    ) -> Case<Input> {
        let each = beams.iter().map(|(letters, sum)| format!("{letters:?} {sum}"));
        let each = each.collect::<Vec<_>>().join(", ");
        let rows: Vec<f64> = p.concat().iter().map(|p| p.ln()).collect();
        let beam = |&(letters, sum): &(&[usize], f64)| {
            let letters = letters.to_vec();
            Beam { letters, sum }
        };
        Case {
            sizes: format!("the beams {each}; k {k}, alpha {alpha}"),
            square: false,
            input: Input {
                beams: beams.iter().map(beam).collect(),
                log_p: Matrix::from_row_slice(p.len(), p[0].len(), &rows),
                k,
                alpha,
            },
        }
    }

    /// No two scores come near to each other, but where they are equal.
    fn cases(_: u64) -> Vec<Case<Input>> {
        vec![
            case(&[(&[], 0.0)], &[&[0.1, 0.4, 0.3, 0.2]], 2, 1.0),
            case(
                &[(&[2, 1], -1.2), (&[1, 3], -1.6)],
                &[&[0.3, 0.45, 0.2, 0.05], &[0.6, 0.1, 0.1, 0.2]],
                3,
                0.7,
            ),
            case(
                &[(&[0], -1.1), (&[3, 0], -1.6), (&[3, 2], -2.0)],
                &[
                    &[0.35, 0.45, 0.15, 0.05],
                    &[0.55, 0.05, 0.05, 0.35],
                    &[0.15, 0.3, 0.5, 0.05],
                ],
                3,
                1.0,
            ),
            case(
                &[(&[1, 3, 3], -2.4), (&[3, 2, 0], -3.3), (&[0], -0.8)],
                &[
                    &[0.45, 0.4, 0.05, 0.1],
                    &[0.4, 0.25, 0.1, 0.25],
                    &[0.1, 0.4, 0.15, 0.35],
                ],
                3,
                0.3,
            ),
            case(
                &[(&[3, 1, 3, 1], -3.4), (&[2, 2, 3, 1], -3.7), (&[2, 3, 2, 0], -4.2)],
                &[
                    &[0.45, 0.35, 0.05, 0.15],
                    &[0.5, 0.15, 0.1, 0.25],
                    &[0.05, 0.2, 0.2, 0.55],
                ],
                2,
                0.5,
            ),
            case(
                &[(&[3, 0], -2.1), (&[3, 3, 2, 2], -3.4), (&[0], -0.9)],
                &[
                    &[0.45, 0.15, 0.15, 0.25],
                    &[0.3, 0.2, 0.45, 0.05],
                    &[0.55, 0.1, 0.3, 0.05],
                ],
                3,
                1.0,
            ),
            case(
                &[(&[1], -1.5), (&[2], -1.5)],
                &[&[0.25, 0.25, 0.25, 0.25], &[0.25, 0.25, 0.25, 0.25]],
                3,
                0.6,
            ),
        ]
    }
}
