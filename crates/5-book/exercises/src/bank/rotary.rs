//! Queries or keys, rotated by their positions.

use std::process::ExitCode;

use attention::Matrix;

use super::{inputs, places};
use crate::{Case, Exercise, Mistake, Section};

/// Heads side by side, and where each row stands.
pub struct Input {
    x: Matrix,
    n_heads: usize,
    positions: Vec<f64>,
    base: f64,
}

/// One pair of a row: its two columns, its entries there, and sine and cosine of its angle.
struct Pair {
    at: [(usize, usize); 2],
    x: [f64; 2],
    sin: f64,
    cos: f64,
}

impl Input {
    fn d(&self) -> usize {
        self.x.ncols() / self.n_heads
    }

    fn frequency(&self, p: usize) -> f64 {
        self.base.powf(-2.0 * p as f64 / self.d() as f64)
    }

    fn right(&self) -> Matrix {
        self.by(|row, p| self.angle(row, p))
    }

    /// The pairs of neighbours, by the same angles.
    fn neighbours(&self) -> Matrix {
        let mut out = self.x.clone();
        for row in 0..self.x.nrows() {
            for column in (0..self.x.ncols()).step_by(2) {
                let p = column % self.d() / 2;
                let (sin, cos) = self.angle(row, p).sin_cos();
                let [a, b] = [0, 1].map(|next| self.x[(row, column + next)]);
                out[(row, column)] = a * cos - b * sin;
                out[(row, column + 1)] = a * sin + b * cos;
            }
        }
        out
    }

    /// The right answer, with one head as it was.
    fn but_for_head(&self, head: usize) -> Matrix {
        let (mut out, d) = (self.right(), self.d());
        out.columns_mut(head * d, d).copy_from(&self.x.columns(head * d, d));
        out
    }

    /// The angle of pair p in this row.
    fn angle(&self, row: usize, p: usize) -> f64 {
        self.positions[row] * self.frequency(p)
    }

    /// By halves, each pair of a row by an angle of its own.
    fn by(&self, angle: impl Fn(usize, usize) -> f64) -> Matrix {
        self.each(angle, |Pair { at: [a, b], x, sin, cos }, out| {
            out[a] = x[0] * cos - x[1] * sin;
            out[b] = x[0] * sin + x[1] * cos;
        })
    }

    /// Each pair, by its right angle, as `write` has it.
    fn pairs(&self, write: impl Fn(Pair, &mut Matrix)) -> Matrix {
        self.each(|row, p| self.angle(row, p), write)
    }

    fn each(
        &self,
        angle: impl Fn(usize, usize) -> f64,
        write: impl Fn(Pair, &mut Matrix),
    ) -> Matrix {
        let mut out = self.x.clone();
        let (d, half) = (self.d(), self.d() / 2);
        for row in 0..self.x.nrows() {
            for column in (0..self.x.ncols()).filter(|column| column % d < half) {
                let at = [(row, column), (row, column + half)];
                let (sin, cos) = angle(row, column % d).sin_cos();
                write(Pair { at, x: at.map(|at| self.x[at]), sin, cos }, &mut out);
            }
        }
        out
    }
}

/// What the reader writes: `x`, `[n_tokens, n_heads · d]`, with each pair of entries rotated
/// by its row's position.
pub type Rotate = fn(x: &Matrix, n_heads: usize, positions: &[f64], base: f64) -> Matrix;

/// Checks an answer.
pub fn check(answer: Rotate) -> ExitCode {
    EXERCISE
        .check(move |input| answer(&input.x, input.n_heads, &input.positions, input.base))
}

const ROTARY: Section = Section::new("variants", "Rotary positions: RoPE");
const WRONG: Section = Section::new("variants", "What people get wrong");

/// The exercise.
pub static EXERCISE: Exercise<Input, Matrix> = Exercise {
    name: "rotary",
    title: "Rotated by position",
    read: ROTARY,
    begin: "a head of width 4 at position 1: which two pairs has it, and by which angle is \
        each rotated?",
    print: "the two entries of pair 0 at position 1, before and after, and their length",
    passed: "Every row keeps its length, and scores depend on the distance alone.",
    cases,
    reference: Input::right,
    mistakes: &[
        Mistake {
            name: "pairs neighbours and not halves",
            does: "It rotates entry 2p with entry 2p + 1, as the paper does and as this \
                model's weights were not trained",
            looks_right: "Lengths stay, and scores depend on the distance alone",
            read: ROTARY,
            answer: Input::neighbours,
        },
        Mistake {
            name: "takes the row for the position",
            does: "It rotates row r by r, wherever its token stands in the text",
            looks_right: "Without a cache, row and position are the same",
            read: WRONG,
            answer: |input| input.by(|row, p| row as f64 * input.frequency(p)),
        },
        Mistake {
            name: "counts positions from the end",
            does: "It gives the last row position 0, and those before it 1, 2, 3, …",
            looks_right: "Distances between rows that follow one another have the right \
                size, and the wrong sign",
            read: WRONG,
            answer: |input| {
                let last = input.x.nrows() - 1;
                input.by(|row, p| (last - row) as f64 * input.frequency(p))
            },
        },
        Mistake {
            name: "rotates clockwise",
            does: "It negates every angle, so rows at two positions differ the other way",
            looks_right: "Queries and keys that are both rotated so agree on the size of a \
                distance; only a model that was trained the other way sees its sign",
            read: ROTARY,
            answer: |input| input.by(|row, p| -input.angle(row, p)),
        },
        Mistake {
            name: "uses p / d in the exponent and not 2p / d",
            does: "Its slowest pair goes far too fast: the last frequency should be near \
                1 / base",
            looks_right: "The first pair is right, and p counts the pairs",
            read: ROTARY,
            answer: |input| {
                let d = input.d() as f64;
                input.by(|row, p| input.positions[row] * input.base.powf(-(p as f64) / d))
            },
        },
        Mistake {
            name: "rotates every pair at one speed",
            does: "It leaves the frequency out, so all pairs go round together, once in \
                about six positions",
            looks_right: "Pair 0 is right, and lengths stay",
            read: ROTARY,
            answer: |input| input.by(|row, _| input.positions[row]),
        },
        Mistake {
            name: "takes all heads for one",
            does: "It pairs entries of different heads, and frequencies fall across the \
                whole row",
            looks_right: "With one head it is right",
            read: ROTARY,
            answer: |input| {
                let (x, positions) = (input.x.clone(), input.positions.clone());
                Input { x, n_heads: 1, positions, base: input.base }.right()
            },
        },
        Mistake {
            name: "reads the first entry after it has been written",
            does: "The second entry of each pair is made from the rotated first one",
            looks_right: "The first half of each head is right",
            read: ROTARY,
            answer: |input| {
                input.pairs(|Pair { at: [a, b], x, sin, cos }, out| {
                    out[a] = x[0] * cos - x[1] * sin;
                    out[b] = out[a] * sin + x[1] * cos;
                })
            },
        },
        Mistake {
            name: "rotates one entry of each pair",
            does: "It leaves the second half of each head as it was",
            looks_right: "Rows at position 0 are right, and the first half everywhere",
            read: ROTARY,
            answer: |input| {
                input.pairs(|Pair { at: [a, _], x, sin, cos }, out| {
                    out[a] = x[0] * cos - x[1] * sin;
                })
            },
        },
        Mistake {
            name: "has two minus signs",
            does: "It subtracts in both entries, which is no rotation: lengths change",
            looks_right: "The first half of each head is right",
            read: ROTARY,
            answer: |input| {
                input.pairs(|Pair { at: [a, b], x, sin, cos }, out| {
                    out[a] = x[0] * cos - x[1] * sin;
                    out[b] = x[1] * cos - x[0] * sin;
                })
            },
        },
        Mistake {
            name: "rotates head 0 alone",
            does: "It leaves all other heads as they were, and their scores know of no \
                positions",
            looks_right: "With one head it is right",
            read: ROTARY,
            answer: |input| {
                let (mut out, d) = (input.x.clone(), input.d());
                out.columns_mut(0, d).copy_from(&input.right().columns(0, d));
                out
            },
        },
        Mistake {
            name: "has the sign of the exponent reversed",
            does: "It raises base to +2p / d, so later pairs go round faster and not slower, \
                the last one nearly base times as fast",
            looks_right: "Pair 0 is right, and so is the length of every row",
            read: ROTARY,
            answer: |input| input.by(|row, p| input.positions[row] / input.frequency(p)),
        },
        Mistake {
            name: "rounds positions down",
            does: "It makes whole numbers of them. Where positions are interpolated, as for a \
                text longer than those of the training, neighbours then stand in one place",
            looks_right: "Without interpolation every position is a whole number",
            read: ROTARY,
            answer: |input| {
                input.by(|row, p| input.positions[row].floor() * input.frequency(p))
            },
        },
        Mistake {
            name: "adds the positions",
            does: "It adds sine and cosine to the entries, as “The block” does to tokens, and \
                scores no longer depend on the distance alone",
            looks_right: "They are the same angles",
            read: ROTARY,
            answer: |input| {
                input.pairs(|Pair { at: [a, b], sin, cos, .. }, out| {
                    out[a] += sin;
                    out[b] += cos;
                })
            },
        },
        Mistake {
            name: "leaves a head as it was",
            does: "Its loop over the heads begins at 1 or ends one too early",
            looks_right: "All other heads are right",
            read: ROTARY,
            answer: |input| input.but_for_head(0),
        },
        Mistake {
            name: "leaves a head as it was",
            does: "Its loop over the heads begins at 1 or ends one too early",
            looks_right: "All other heads are right",
            read: ROTARY,
            answer: |input| input.but_for_head(input.n_heads - 1),
        },
        Mistake {
            name: "has no minus sign",
            does: "It adds in both entries, which is no rotation: lengths change",
            looks_right: "The second half of each head is right",
            read: ROTARY,
            answer: |input| {
                input.pairs(|Pair { at: [a, b], x, sin, cos }, out| {
                    out[a] = x[0] * cos + x[1] * sin;
                    out[b] = x[0] * sin + x[1] * cos;
                })
            },
        },
        Mistake {
            name: "leaves pair 0 as it was",
            does: "Its loop over the pairs begins at 1, so the fastest pair never moves",
            looks_right: "All slower pairs are right",
            read: ROTARY,
            answer: |input| {
                input.by(|row, p| if p == 0 { 0.0 } else { input.angle(row, p) })
            },
        },
    ],
    place: places::token_feature,
};

fn cases() -> Vec<Case<Input>> {
    let case = |positions: &[f64], n_heads: usize, d: usize, base: f64, seed: u64| Case {
        sizes: format!("{n_heads} heads of {d}, positions {positions:?}, base {base}"),
        square: false,
        input: Input {
            x: inputs::matrix(positions.len(), n_heads * d, seed),
            n_heads,
            positions: positions.to_vec(),
            base,
        },
    };
    vec![
        case(&[0.0, 1.0, 2.0], 1, 4, 100.0, 1),
        case(&[0.0, 6.0, 7.0, 8.0], 2, 6, 10_000.0, 2),
        case(&[40.0], 3, 4, 10_000.0, 3),
        case(&[0.5, 1.0, 1.5], 1, 4, 100.0, 4),
    ]
}

#[cfg(test)]
mod tests {
    use variants::{Pairing, Rotary};

    use super::*;
    use crate::Verdict;

    /// The crate's own, wherever positions are whole.
    #[test]
    fn the_crates_rotation_is_the_reference() {
        for Case { input, sizes, .. } in cases().into_iter().take(3) {
            let positions: Vec<i64> =
                input.positions.iter().map(|&at| at as i64).collect();
            for (pairing, expected) in
                [(Pairing::Halves, input.right()), (Pairing::Pairs, input.neighbours())]
            {
                let rotary = Rotary::new(pairing, input.d(), input.base).unwrap();
                let mut x = input.x.clone();
                rotary.rotate(&mut x, input.d(), &positions).unwrap();
                assert!((x - expected).amax() < 1e-12, "{sizes}");
            }
        }
    }

    /// Half a step at a time, as often as the position says.
    #[test]
    fn steps_one_by_one_are_right() {
        let in_steps = |input: &Input| {
            let mut x = input.x.clone();
            let (d, half) = (input.d(), input.d() / 2);
            for row in 0..x.nrows() {
                for column in (0..x.ncols()).filter(|column| column % d < half) {
                    let (sin, cos) = (input.frequency(column % d) / 2.0).sin_cos();
                    for _ in 0..(2.0 * input.positions[row]) as usize {
                        let (a, b) = (x[(row, column)], x[(row, column + half)]);
                        x[(row, column)] = a * cos - b * sin;
                        x[(row, column + half)] = a * sin + b * cos;
                    }
                }
            }
            x
        };
        assert_eq!(EXERCISE.diagnose(in_steps), Verdict::Passed);
    }
}
