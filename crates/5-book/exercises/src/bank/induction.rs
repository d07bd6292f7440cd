//! The map of an induction head.

use std::process::ExitCode;

use attention::Matrix;

use super::places;
use crate::{Case, Exercise, Mistake, Section};

/// The tokens of a sequence, by number.
pub struct Input {
    ids: Vec<usize>,
}

impl Input {
    /// The map in which each token attends to one place, if any.
    fn map(&self, attends_to: impl Fn(usize) -> Option<usize>) -> Matrix {
        let n = self.ids.len();
        let mut attn = Matrix::zeros(n, n);
        for t in 0..n {
            if let Some(place) = attends_to(t).filter(|&place| place < n) {
                attn[(t, place)] = 1.0;
            }
        }
        attn
    }

    /// The earlier places where the token at `t` stood.
    fn earlier(&self, t: usize) -> impl DoubleEndedIterator<Item = usize> {
        (0..t).filter(move |&place| self.ids[place] == self.ids[t])
    }
}

/// What the reader writes: from the `ids` of n_tokens tokens, the map
/// `[n_tokens, n_tokens]`.
pub type InductionMap = fn(ids: &[usize]) -> Matrix;

/// Checks an answer.
pub fn check(answer: InductionMap) -> ExitCode {
    EXERCISE.check(move |input| answer(&input.ids))
}

const WHY: Section =
    Section::new("two-layers", "Induction heads: two heads in two layers");
const LOOK: Section = Section::new("two-layers", "Where the heads look");

/// The exercise.
pub static EXERCISE: Exercise<Input, Matrix> = Exercise {
    name: "induction",
    title: "An induction head",
    read: WHY,
    begin: "one token: where did it stand before? Take the last such place, and the token \
        after it. Then ask what your code does if there is none",
    print: "of each token, the place that it attends to",
    passed: "This is what the second layer's heads come near to, and what no head can see in \
        the tokens alone: the answer stands next to what is looked for.",
    cases,
    reference: |input| input.map(|t| input.earlier(t).next_back().map(|place| place + 1)),
    mistakes: &[
        Mistake {
            name: "attends to the last same token itself",
            does: "It finds where the token stood, and not what came after it",
            looks_right: "It is what a single head can do: compare tokens with tokens",
            read: WHY,
            answer: |input| input.map(|t| input.earlier(t).next_back()),
        },
        Mistake {
            name: "attends to the token before the last same one",
            does: "It goes one place to the left, and answers what came earlier",
            looks_right: "A head of the first layer does look to the left",
            read: WHY,
            answer: |input| input.map(|t| input.earlier(t).next_back()?.checked_sub(1)),
        },
        Mistake {
            name: "takes the first same token, and not the last",
            does: "Where a token has stood twice, it answers what came after the first time",
            looks_right: "While no token has stood there twice, the two are one",
            read: LOOK,
            answer: |input| input.map(|t| input.earlier(t).next().map(|place| place + 1)),
        },
        Mistake {
            name: "does not search the token right before",
            does: "Its range ends one too early, so of two equal tokens in a row the second \
                seems new",
            looks_right: "What came after the token before is the token at hand, and that \
                looks like nothing to attend to",
            read: WHY,
            answer: |input| {
                input.map(|t| {
                    let mut earlier = input.earlier(t).rev();
                    earlier.find(|place| place + 1 < t).map(|place| place + 1)
                })
            },
        },
        Mistake {
            name: "counts the token itself among the earlier ones",
            does: "Every token finds itself last, and attends to the one after it, which it \
                may not see",
            looks_right: "The token at hand is the same token too",
            read: WHY,
            answer: |input| input.map(|t| Some(t + 1)),
        },
        Mistake {
            name: "attends to the token before",
            does: "Every token attends to its left neighbour, whatever stands there",
            looks_right: "It is the other half of the pair: the head of the first layer",
            read: WHY,
            answer: |input| input.map(|t| t.checked_sub(1)),
        },
        Mistake {
            name: "has keys as rows",
            does: "The map is transposed: column t says what token t attends to",
            looks_right: "Every entry is there, and a square map takes both",
            read: LOOK,
            answer: |input| (EXERCISE.reference)(input).transpose(),
        },
        Mistake {
            name: "shares out among all tokens that came after a same one",
            does: "Where a token has stood twice, it blends two answers",
            looks_right: "Each row sums to 1, and while no token has stood there twice it is \
                right",
            read: LOOK,
            answer: |input| {
                let n = input.ids.len();
                let mut attn = Matrix::zeros(n, n);
                for t in 0..n {
                    let share = 1.0 / input.earlier(t).count() as f64;
                    input.earlier(t).for_each(|place| attn[(t, place + 1)] = share);
                }
                attn
            },
        },
        Mistake {
            name: "gives a token without an earlier one equal shares",
            does: "It attends evenly to what it may see, and answers with a blend",
            looks_right: "A softmax would do so: its rows sum to 1 in any case",
            read: WHY,
            answer: |input| {
                let mut attn = (EXERCISE.reference)(input);
                for t in 0..input.ids.len() {
                    if attn.row(t).sum() == 0.0 {
                        attn.view_mut((t, 0), (1, t + 1)).fill(1.0 / (t + 1) as f64);
                    }
                }
                attn
            },
        },
        Mistake {
            name: "lets a token without an earlier one attend to itself",
            does: "It puts a 1 on the diagonal where the row should be zeros",
            looks_right: "The row sums to 1 then",
            read: WHY,
            answer: |input| {
                input.map(|t| {
                    Some(input.earlier(t).next_back().map_or(t, |place| place + 1))
                })
            },
        },
        Mistake {
            name: "never lets a token attend to itself",
            does: "Of two equal tokens in a row, the second has no answer: what came after \
                the first is itself",
            looks_right: "Elsewhere what came after lies further back",
            read: WHY,
            answer: |input| {
                input.map(|t| {
                    let after = input.earlier(t).next_back()? + 1;
                    (after < t).then_some(after)
                })
            },
        },
    ],
    place: places::map,
};

fn cases() -> Vec<Case<Input>> {
    let case = |text: &str| Case {
        sizes: format!("{} tokens, {text}", text.len()),
        // A map of a sequence onto itself is always square.
        square: false,
        input: Input {
            ids: text.bytes().map(|letter| usize::from(letter - b'a')).collect(),
        },
    };
    ["mfqamfq", "abcabcabcab", "abacaab", "aabb", "a"].map(case).into()
}
