//! What a new token attends to when its cache forgets.

use std::process::ExitCode;

use attention::{Mask, Matrix, softmax_rows};
use variants::{Alibi, Changes, Groups, Positions, Window, attend};

use super::{inputs, places};
use crate::{Case, Exercise, Mistake, Section};

/// A query, the keys of the whole text, and what the cache keeps of them.
pub struct Input {
    q: Matrix,
    keys: Matrix,
    window: usize,
    n_sinks: usize,
    slope: f64,
}

impl Input {
    fn n(&self) -> usize {
        self.keys.nrows()
    }

    fn right(&self) -> Matrix {
        let window = Window::last(self.window).expect("a window");
        let changes = Changes {
            alibi: Some(Alibi { slopes: vec![self.slope] }),
            window: Some(Window { n_sinks: self.n_sinks, ..window }),
            ..Changes::default()
        };
        let views = [self.q.as_view(), self.keys.as_view(), self.keys.as_view()];
        let (one, at) = (Groups::new(1, 1).expect("a head"), Positions::new(1, self.n()));
        let heads = attend(views, one, &at, &changes, &Mask::Causal);
        heads.expect("sizes fit").remove(0).attn
    }

    /// The shares where `kept(j)` says so, each key at `distance(j)`.
    fn shares(
        &self,
        kept: impl Fn(usize) -> bool,
        distance: impl Fn(usize) -> f64,
    ) -> Matrix {
        let d = self.keys.ncols() as f64;
        let mut scores = &self.q * self.keys.transpose() / d.sqrt();
        for j in 0..self.n() {
            match kept(j) {
                true => scores[(0, j)] -= self.slope * distance(j),
                false => scores[(0, j)] = f64::NEG_INFINITY,
            }
        }
        softmax_rows(scores)
    }

    fn kept(&self, j: usize) -> bool {
        j < self.n_sinks || self.distance(j) < self.window as f64
    }

    fn distance(&self, j: usize) -> f64 {
        (self.n() - 1 - j) as f64
    }

    /// How many kept keys stand before key j.
    fn row(&self, j: usize) -> f64 {
        (0..j).filter(|&before| self.kept(before)).count() as f64
    }
}

/// What the reader writes: the new token's shares of all tokens of the text, `[1, n]`.
pub type WindowShares =
    fn(q: &Matrix, keys: &Matrix, window: usize, n_sinks: usize, slope: f64) -> Matrix;

/// Checks an answer.
pub fn check(answer: WindowShares) -> ExitCode {
    EXERCISE.check(move |input| {
        let Input { q, keys, window, n_sinks, slope } = input;
        answer(q, keys, *window, *n_sinks, *slope)
    })
}

const WINDOWS: Section = Section::new("variants", "Sliding windows and attention sinks");
const ALIBI: Section = Section::new("variants", "ALiBi");
const WRONG: Section = Section::new("variants", "What people get wrong");

/// The exercise.
pub static EXERCISE: Exercise<Input, Matrix> = Exercise {
    name: "window_cache",
    title: "A cache that forgets",
    read: WINDOWS,
    begin: "eight tokens, a window of 3, one sink: which keys does the cache still have, and \
        how far is each from the new token?",
    print: "which keys are kept, and the distance of each",
    passed: "The cache keeps what the window and the sinks say, and each key that is left \
        knows where it stood in the text.",
    cases,
    reference: Input::right,
    mistakes: &[
        Mistake {
            name: "has a window one too wide",
            does: "It keeps `window` keys and the token itself as well",
            looks_right: "“The last 3 tokens” can be read both ways; `sliding_window` counts \
                the token itself",
            read: WRONG,
            answer: |input| {
                input.shares(
                    |j| j < input.n_sinks || input.distance(j) <= input.window as f64,
                    |j| input.distance(j),
                )
            },
        },
        Mistake {
            name: "has a window one too narrow",
            does: "It takes the token itself off twice",
            looks_right: "left is window − 1, and a strict comparison takes one more",
            read: WRONG,
            answer: |input| {
                input.shares(
                    |j| {
                        let near = input.distance(j) < input.window as f64 - 1.0;
                        j < input.n_sinks || near || j + 1 == input.n()
                    },
                    |j| input.distance(j),
                )
            },
        },
        Mistake {
            name: "cuts the cache at the wrong end",
            does: "It keeps the oldest keys and drops the newest, the token's own among them",
            looks_right: "As many keys are left as should be",
            read: WINDOWS,
            answer: |input| {
                let n_kept = (0..input.n()).filter(|&j| input.kept(j)).count();
                input.shares(|j| j < n_kept, |j| input.distance(j))
            },
        },
        Mistake {
            name: "counts positions from the cache's end",
            does: "Of what is left, it counts rows: a sink seems to stand right before the \
                window, and loses too little for its distance",
            looks_right: "Without sinks it is right, since what is left follows one another",
            read: WRONG,
            answer: |input| {
                let last = input.row(input.n() - 1);
                input.shares(|j| input.kept(j), |j| last - input.row(j))
            },
        },
        Mistake {
            name: "forgets the sinks",
            does: "It keeps the window alone",
            looks_right: "While the text is no longer than the window, nothing is missing",
            read: WINDOWS,
            answer: |input| {
                input.shares(
                    |j| input.distance(j) < input.window as f64,
                    |j| input.distance(j),
                )
            },
        },
        Mistake {
            name: "forgets nothing",
            does: "It attends to the whole text",
            looks_right: "Far keys lose so much by their distance that little is left",
            read: WINDOWS,
            answer: |input| input.shares(|_| true, |j| input.distance(j)),
        },
        Mistake {
            name: "counts the sinks within the window",
            does: "It keeps so many keys in all: each sink takes a place of the window",
            looks_right: "The cache has exactly `window` rows, which is one way to build it",
            read: WINDOWS,
            answer: |input| {
                let near = input.window.saturating_sub(input.n_sinks) as f64;
                input.shares(
                    |j| {
                        j < input.n_sinks
                            || input.distance(j) < near
                            || j + 1 == input.n()
                    },
                    |j| input.distance(j),
                )
            },
        },
        Mistake {
            name: "lets far keys gain",
            does: "It adds for distance, or it subtracts slope · j, the place in the text, \
                which softmax cannot tell from that",
            looks_right: "From key to key, the steps have the right size",
            read: ALIBI,
            answer: |input| input.shares(|j| input.kept(j), |j| -input.distance(j)),
        },
        Mistake {
            name: "leaves distance out",
            does: "All kept keys are scored as if they stood side by side",
            looks_right: "With a slope of 0 it is right",
            read: ALIBI,
            answer: |input| input.shares(|j| input.kept(j), |_| 0.0),
        },
        Mistake {
            name: "multiplies forgotten shares by 0",
            does: "It runs softmax over the whole text and then drops what is forgotten, so \
                the row no longer sums to 1",
            looks_right: "What is forgotten has a share of 0",
            read: WINDOWS,
            answer: |input| {
                let mut all = input.shares(|_| true, |j| input.distance(j));
                for j in (0..input.n()).filter(|&j| !input.kept(j)) {
                    all[(0, j)] = 0.0;
                }
                all
            },
        },
    ],
    place: places::map,
};

fn cases() -> Vec<Case<Input>> {
    let case = |n: usize, window: usize, n_sinks: usize, slope: f64, seed: u64| Case {
        sizes: format!("{n} tokens, window {window}, {n_sinks} sinks, slope {slope}"),
        square: false,
        input: Input {
            q: inputs::matrix(1, 4, seed),
            keys: inputs::matrix(n, 4, seed + 1),
            window,
            n_sinks,
            slope,
        },
    };
    vec![case(6, 3, 0, 0.25, 1), case(9, 4, 2, 0.25, 3), case(5, 8, 1, 0.5, 5)]
}

#[cfg(test)]
mod tests {
    use variants::Cache;

    use super::*;
    use crate::Verdict;

    /// Token by token through a cache that forgets.
    #[test]
    fn a_cache_that_forgets_is_right() {
        let cached = |input: &Input| {
            let window = Window::last(input.window).unwrap();
            let window = Window { n_sinks: input.n_sinks, ..window };
            let mut cache: Cache = Cache::new([4, 4]).with_window(window);
            for j in 0..input.n() {
                let row = input.keys.rows(j, 1).into_owned();
                cache.append(&row, &row).unwrap();
            }
            let kept = cache.positions().to_vec();
            input.shares(|j| kept.contains(&(j as i64)), |j| input.distance(j))
        };
        assert_eq!(EXERCISE.diagnose(cached), Verdict::Passed);
    }
}
