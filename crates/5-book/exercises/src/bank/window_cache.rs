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
        let root = (self.keys.ncols() as f64).sqrt();
        self.shares_of(root, f64::NEG_INFINITY, kept, distance)
    }

    /// The same with another divisor, and another score for what is forgotten.
    fn shares_of(
        &self,
        divisor: f64,
        forgotten: f64,
        kept: impl Fn(usize) -> bool,
        distance: impl Fn(usize) -> f64,
    ) -> Matrix {
        let mut scores = &self.q * self.keys.transpose() / divisor;
        for j in 0..self.n() {
            match kept(j) {
                true => scores[(0, j)] -= self.slope * distance(j),
                false => scores[(0, j)] = forgotten,
            }
        }
        softmax_rows(scores)
    }

    /// The right shares but for the divisor and the score of what is forgotten.
    fn with(&self, divisor: f64, forgotten: f64) -> Matrix {
        self.shares_of(divisor, forgotten, |j| self.kept(j), |j| self.distance(j))
    }

    fn d(&self) -> f64 {
        self.keys.ncols() as f64
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
const MULTIPLY: Section = Section::new("masks", "Two ways to multiply, both wrong");
const SCALE: Section = Section::new("scores-softmax-scale", "Why divide by √d_k");

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
            name: "gives forgotten keys a score of 0",
            does: "Softmax makes of a score of 0 a share like any other, since e⁰ is 1, and \
                what is gone still gets attention",
            looks_right: "A 0 looks like nothing, and all shares sum to 1",
            read: MULTIPLY,
            answer: |input| input.with(input.d().sqrt(), 0.0),
        },
        Mistake {
            name: "does not divide the products by √d",
            does: "Bare dot products outweigh the slope, and the row comes out too sharp",
            looks_right: "All shares sum to 1, and the right keys are kept",
            read: SCALE,
            answer: |input| input.with(1.0, f64::NEG_INFINITY),
        },
        Mistake {
            name: "divides the products by d and not by its root",
            does: "The slope outweighs what the keys say, and the row comes out too even",
            looks_right: "A sum of d products divided by d is their mean",
            read: SCALE,
            answer: |input| input.with(input.d(), f64::NEG_INFINITY),
        },
        Mistake {
            name: "takes nothing off the sinks for their distance",
            does: "Sinks are kept and scored as if they stood beside the new token",
            looks_right: "Sinks are special, and every key of the window is right",
            read: WRONG,
            answer: |input| {
                let distance = |j: usize| {
                    let is_near = input.distance(j) < input.window as f64;
                    if is_near || j >= input.n_sinks { input.distance(j) } else { 0.0 }
                };
                input.shares(|j| input.kept(j), distance)
            },
        },
        Mistake {
            name: "takes nothing off the sinks for their distance",
            does: "Sinks are kept and scored as if they stood beside the new token, and a \
                sink that is in the window too as well",
            looks_right: "Sinks are special, and every other key of the window is right",
            read: WRONG,
            answer: |input| {
                let distance =
                    |j| if j < input.n_sinks { 0.0 } else { input.distance(j) };
                input.shares(|j| input.kept(j), distance)
            },
        },
        Mistake {
            name: "divides the slope by √d too",
            does: "It divides the whole score, distance and all, so far keys lose √d times \
                too little",
            looks_right: "Everything that goes into softmax is divided by √d",
            read: ALIBI,
            answer: |input| {
                let root = input.d().sqrt();
                input.shares(|j| input.kept(j), |j| input.distance(j) / root)
            },
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
        Mistake {
            name: "returns the scores",
            does: "It stops before softmax",
            looks_right: "The right keys are kept, and distance is counted as it should be",
            read: WINDOWS,
            answer: |input| {
                let mut shares = input.shares(|j| input.kept(j), |j| input.distance(j));
                let products = &input.q * input.keys.transpose() / input.d().sqrt();
                for j in 0..input.n() {
                    shares[(0, j)] = if input.kept(j) {
                        products[(0, j)] - input.slope * input.distance(j)
                    } else {
                        f64::NEG_INFINITY
                    };
                }
                shares
            },
        },
        Mistake {
            name: "takes softmax twice",
            does: "It makes shares of the shares: what was forgotten has a score of 0 the second time, and gets a share",
            looks_right: "The row sums to 1",
            read: WINDOWS,
            answer: |input| {
                softmax_rows(input.shares(|j| input.kept(j), |j| input.distance(j)))
            },
        },
        Mistake {
            name: "keeps the sinks alone",
            does: "It forgets the window: only the first tokens of the text are left",
            looks_right: "A short text has no other tokens",
            read: WINDOWS,
            answer: |input| input.shares(|j| j < input.n_sinks, |j| input.distance(j)),
        },
        Mistake {
            name: "keeps one sink too many",
            does: "It asks for j <= n_sinks, and keys are counted from 0",
            looks_right: "With a window that reaches so far there is no difference",
            read: WINDOWS,
            answer: |input| {
                input.shares(
                    |j| j <= input.n_sinks || input.kept(j),
                    |j| input.distance(j),
                )
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
    vec![
        case(6, 3, 0, 0.25, 1),
        case(9, 4, 2, 0.25, 3),
        case(5, 8, 1, 0.5, 5),
        case(2, 1, 4, 0.5, 7),
    ]
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
