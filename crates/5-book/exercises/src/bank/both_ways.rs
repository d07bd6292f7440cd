//! A sequence read from both ends, and every row about one token.

use std::process::ExitCode;

use attention::Matrix;

pub use super::directions::Direction;
use super::directions::Input;
use super::inputs;
use crate::{Case, Exercise, Section};

mod mistakes;

/// What the reader writes: from tokens, `[n_tokens, d_in]`, the states of both directions,
/// `[n_tokens, 2 · hidden]`.
pub type BothWays = fn(x: &Matrix, forward: &Direction, backward: &Direction) -> Matrix;

/// Checks an answer.
pub fn check(answer: BothWays) -> ExitCode {
    EXERCISE.check(move |input| answer(&input.x, &input.forward, &input.backward))
}

const BOTH: Section = Section::new("sensors", "The remaining useful life of an engine");

/// The right answer, with the state before the step in these directions.
fn before(input: &Input, [forward, backward]: [bool; 2]) -> Matrix {
    let right = input.right();
    let (n, hidden) = (input.x.nrows(), input.forward.hidden());
    Matrix::from_fn(n, 2 * hidden, |t, j| {
        let row = match j < hidden {
            true if forward => t.checked_sub(1),
            false if backward => (t + 1 < n).then_some(t + 1),
            _ => Some(t),
        };
        row.map_or(0.0, |row| right[(row, j)])
    })
}

/// The exercise.
pub static EXERCISE: Exercise<Input, Matrix> = Exercise {
    name: "both_ways",
    title: "Reading both ways",
    read: BOTH,
    begin: "three tokens: in which order does each direction read them, and in which step \
        does the backward one read token 0? Which row does that state belong to?",
    print: "the token that each step reads, and the row that its state goes to",
    passed: "Each row is about one token: to the left what came up to it, to the right what \
        comes from it on.",
    cases,
    reference: Input::right,
    mistakes: mistakes::ALL,
    place: |input, place| {
        let hidden = input.forward.hidden();
        let (direction, entry) = match place.column < hidden {
            true => ("forward", place.column),
            false => ("backward", place.column - hidden),
        };
        format!("token {}, entry {entry} of the {direction} state", place.row)
    },
};

fn cases() -> Vec<Case<Input>> {
    let direction = |d_in: usize, hidden: usize, seed: u64| Direction {
        w_in: inputs::matrix(d_in, hidden, seed) * 0.7,
        w_hidden: inputs::matrix(hidden, hidden, seed + 1) * 0.7,
        bias: inputs::matrix(1, hidden, seed + 2) * 0.5,
    };
    let case = |n_tokens: usize, d_in: usize, hidden: usize, seed: u64| Case {
        sizes: format!("{n_tokens} tokens, d_in {d_in}, hidden {hidden}"),
        square: d_in == hidden,
        input: Input {
            x: inputs::matrix(n_tokens, d_in, seed),
            forward: direction(d_in, hidden, seed + 1),
            backward: direction(d_in, hidden, seed + 4),
        },
    };
    vec![case(3, 2, 2, 10), case(5, 3, 2, 20), case(4, 2, 3, 30), case(1, 3, 4, 40)]
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::Verdict;
    use crate::bank::directions::{join, reversed};

    /// Each state by its definition, from the state at its neighbour.
    #[test]
    fn a_recursion_is_right() {
        fn up_to(t: usize, x: &Matrix, of: &Direction) -> Matrix {
            let before = if t == 0 { of.zeros() } else { up_to(t - 1, x, of) };
            of.step(x, t, &before)
        }
        fn from(t: usize, x: &Matrix, of: &Direction) -> Matrix {
            let is_last = t + 1 == x.nrows();
            of.step(x, t, &if is_last { of.zeros() } else { from(t + 1, x, of) })
        }
        let by_recursion = |Input { x, forward, backward }: &Input| {
            let both = |t| join(up_to(t, x, forward), from(t, x, backward));
            let rows: Vec<_> =
                (0..x.nrows()).map(|t| both(t).row(0).into_owned()).collect();
            Matrix::from_rows(&rows)
        };
        assert_eq!(EXERCISE.diagnose(by_recursion), Verdict::Passed);
    }

    /// Read from the other end, by the other direction: the same states, the other way round.
    #[test]
    fn both_ways_is_the_same_from_either_end() {
        for Case { input, sizes, .. } in cases() {
            let Input { x, forward, backward } = &input;
            let mirrored = Input {
                x: reversed(x),
                forward: backward.clone(),
                backward: forward.clone(),
            };
            let (right, mirrored) = (input.right(), reversed(&mirrored.right()));
            let hidden = forward.hidden();
            for half in [0, hidden] {
                let other = mirrored.columns(hidden - half, hidden);
                assert_eq!(right.columns(half, hidden), other, "{sizes}");
            }
        }
    }
}
