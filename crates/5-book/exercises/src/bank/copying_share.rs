//! How much of a head's attention goes to what came after an earlier copy of a token.

use std::process::ExitCode;

use attention::{Mask, Matrix};

use super::inputs;
use crate::{Case, Exercise, Mistake, Section};

/// A causal map, and the tokens by number.
pub struct Input {
    attn: Matrix,
    ids: Vec<usize>,
}

impl Input {
    fn n(&self) -> usize {
        self.ids.len()
    }

    /// The earlier places where the token at `i` stood.
    fn earlier(&self, i: usize) -> Vec<usize> {
        (0..i).filter(|&j| self.ids[j] == self.ids[i]).collect()
    }

    fn entry(&self, i: usize, j: usize) -> f64 {
        if j < self.n() { self.attn[(i, j)] } else { 0.0 }
    }

    /// The mean of `of(i, earlier places)` over the queries that have earlier places.
    fn mean(&self, of: impl Fn(usize, &[usize]) -> f64) -> f64 {
        mean_of((0..self.n()).filter_map(|i| {
            let earlier = self.earlier(i);
            (!earlier.is_empty()).then(|| of(i, &earlier))
        }))
    }

    /// The mean over these queries of what goes to the key after each earlier place.
    fn right(&self) -> f64 {
        self.mean(|i, earlier| earlier.iter().map(|&j| self.entry(i, j + 1)).sum())
    }

    fn n_knowing(&self) -> f64 {
        (0..self.n()).filter(|&i| !self.earlier(i).is_empty()).count() as f64
    }
}

/// 0 where there is nothing to take the mean of.
fn mean_of(terms: impl Iterator<Item = f64>) -> f64 {
    let terms: Vec<f64> = terms.collect();
    terms.iter().sum::<f64>() / terms.len().max(1) as f64
}

/// What the reader writes: from a map `[n, n]` and n ids, a share.
pub type CopyingShare = fn(attn: &Matrix, ids: &[usize]) -> f64;

/// Checks an answer.
pub fn check(answer: CopyingShare) -> ExitCode {
    EXERCISE.check(move |input| answer(&input.attn, &input.ids))
}

const COPY: Section =
    Section::new("a-model-that-writes", "Induction heads in a real model");
const WHY: Section =
    Section::new("two-layers", "Induction heads: two heads in two layers");

/// The exercise.
pub static EXERCISE: Exercise<Input, f64> = Exercise {
    name: "copying_share",
    title: "How much a head copies",
    read: COPY,
    begin: "the text `a b a b` and its third token: where did a stand before, and what came \
        after it? Which entry of the map is that, and which tokens have no such entry?",
    print: "of each query, the keys that count and their shares",
    passed: "A perfect induction head has 1. What a head without a preference has depends \
        on the text, so it is the control.",
    cases,
    reference: Input::right,
    mistakes: &[
        Mistake {
            name: "counts what goes to the same token",
            does: "It adds up entries (i, j), where the token stood before, and not what came \
                after it",
            looks_right: "It is what a single head can do: compare tokens with tokens",
            read: WHY,
            answer: |input| {
                input.mean(|i, earlier| earlier.iter().map(|&j| input.entry(i, j)).sum())
            },
        },
        Mistake {
            name: "counts what goes to the token before",
            does: "It adds up entries (i, j − 1), which tell what came earlier",
            looks_right: "A head of the layer below does look one to the left",
            read: WHY,
            answer: |input| {
                input.mean(|i, earlier| {
                    let before = earlier.iter().filter_map(|j| j.checked_sub(1));
                    before.map(|j| input.entry(i, j)).sum()
                })
            },
        },
        Mistake {
            name: "counts only the last earlier place",
            does: "Where a token has stood twice, the head may copy from either, and half of \
                what it copies is left out",
            looks_right: "While no token has stood there twice, it is right",
            read: COPY,
            answer: |input| {
                input.mean(|i, earlier| {
                    earlier.last().map_or(0.0, |j| input.entry(i, j + 1))
                })
            },
        },
        Mistake {
            name: "counts only the first earlier place",
            does: "It stops at the first match, and what is copied from later ones is left \
                out",
            looks_right: "While no token has stood there twice, it is right",
            read: COPY,
            answer: |input| input.mean(|i, earlier| input.entry(i, earlier[0] + 1)),
        },
        Mistake {
            name: "takes the mean over all queries",
            does: "It divides by n, though a token that is new has nothing to copy, so a text \
                with many new tokens makes every head look worse. To count a token among its \
                own earlier ones does the same",
            looks_right: "The sum is right, and new tokens add 0 to it",
            read: COPY,
            answer: |input| input.right() * input.n_knowing() / input.n() as f64,
        },
        Mistake {
            name: "divides by the number of earlier places",
            does: "For each query it takes a mean over its earlier places, though their \
                shares belong to one row and add up",
            looks_right: "While no token has stood there twice, it is right",
            read: COPY,
            answer: |input| {
                input.mean(|i, earlier| {
                    mean_of(earlier.iter().map(|&j| input.entry(i, j + 1)))
                })
            },
        },
        Mistake {
            name: "takes the mean over pairs",
            does: "It divides by the number of pairs of equal tokens, so a perfect head has \
                less than 1 where a token comes three times",
            looks_right: "While no token has stood there twice, there are as many pairs as \
                queries",
            read: COPY,
            answer: |input| {
                let pairs = (0..input.n()).flat_map(|i| {
                    let after = input.earlier(i).into_iter().map(|j| j + 1);
                    after.map(move |key| input.entry(i, key))
                });
                mean_of(pairs)
            },
        },
        Mistake {
            name: "sums and takes no mean",
            does: "It adds up the shares of all queries, which grow with the text",
            looks_right: "With one query that can know, it is right",
            read: COPY,
            answer: |input| input.right() * input.n_knowing(),
        },
        Mistake {
            name: "swaps rows and columns",
            does: "It reads entry (j + 1, i): what the earlier token gave to the later one. \
                A causal map has zeros there",
            looks_right: "A square map takes both",
            read: COPY,
            answer: |input| {
                input.mean(|i, earlier| {
                    earlier.iter().map(|&j| input.attn[(j + 1, i)]).sum()
                })
            },
        },
        Mistake {
            name: "counts later places as well",
            does: "A token that comes again later counts as one that can know, though it may \
                not look there",
            looks_right: "The sum is right, since a causal map gives nothing to the future",
            read: COPY,
            answer: |input| {
                mean_of((0..input.n()).filter_map(|i| {
                    let others = (0..input.n()).filter(|&j| j != i);
                    let same: Vec<usize> =
                        others.filter(|&j| input.ids[j] == input.ids[i]).collect();
                    let share = same.iter().map(|&j| input.entry(i, j + 1)).sum();
                    (!same.is_empty()).then_some(share)
                }))
            },
        },
        Mistake {
            name: "leaves out a doubled token",
            does: "Of two equal tokens in a row, what came after the first is the second \
                itself, and that entry is left out",
            looks_right: "A token that attends to itself does not seem to copy",
            read: COPY,
            answer: |input| {
                input.mean(|i, earlier| {
                    let after = earlier.iter().map(|j| j + 1).filter(|&key| key < i);
                    after.map(|key| input.entry(i, key)).sum()
                })
            },
        },
        Mistake {
            name: "counts how often the largest share is a copy's",
            does: "Each query adds 1 or 0: a head that gives 0.4 to the copy everywhere may \
                look perfect, or useless",
            looks_right: "It is what a map shows at a glance, and a perfect head has 1",
            read: COPY,
            answer: |input| {
                input.mean(|i, earlier| {
                    let most = input.attn.row(i).transpose().imax();
                    f64::from(u8::from(earlier.iter().any(|j| j + 1 == most)))
                })
            },
        },
        Mistake {
            name: "counts every key that holds what comes next",
            does: "It looks up the token after the query, which no head has seen, and adds \
                up all places where that token stood",
            looks_right: "In a text that repeats as it was, most of these keys are the same",
            read: COPY,
            answer: |input| {
                input.mean(|i, _| {
                    let Some(next) = input.ids.get(i + 1) else { return 0.0 };
                    let keys = (0..=i).filter(|&j| input.ids[j] == *next);
                    keys.map(|j| input.entry(i, j)).sum()
                })
            },
        },
        Mistake {
            name: "takes the mean over the queries that copy",
            does: "It leaves out queries that can know and give such keys nothing, and those \
                are what makes a head bad at it",
            looks_right: "After softmax hardly any share is exactly 0",
            read: COPY,
            answer: |input| {
                let copied = |i: usize| {
                    let shares =
                        input.earlier(i).into_iter().map(|j| input.entry(i, j + 1));
                    shares.sum::<f64>()
                };
                mean_of((0..input.n()).map(copied).filter(|&share| share > 0.0))
            },
        },
        Mistake {
            name: "takes the largest share and not the sum",
            does: "Where a token has stood twice, the head may copy from either, and only \
                the larger of the two counts",
            looks_right: "While no token has stood there twice, it is right",
            read: COPY,
            answer: |input| {
                input.mean(|i, earlier| {
                    earlier.iter().map(|&j| input.entry(i, j + 1)).fold(0.0, f64::max)
                })
            },
        },
        Mistake {
            name: "divides 0 by 0 where no token comes twice",
            does: "No query can know, the mean has no terms, and NaN comes out",
            looks_right: "Any longer text has a token that comes twice",
            read: COPY,
            answer: |input| match input.n_knowing() {
                0.0 => f64::NAN,
                _ => input.right(),
            },
        },
        Mistake {
            name: "keeps only what the last query adds",
            does: "It writes `=` where `+=` adds up, so each query overwrites the one before",
            looks_right: "Every query has its term",
            read: COPY,
            answer: |input| {
                let last = (0..input.n()).rfind(|&i| !input.earlier(i).is_empty());
                last.map_or(0.0, |i| {
                    input.earlier(i).iter().map(|&j| input.entry(i, j + 1)).sum::<f64>()
                        / input.n_knowing()
                })
            },
        },
        Mistake {
            name: "never looks at place 0",
            does: "Its search for earlier places begins at 1, so what came after the first token is never copied",
            looks_right: "A token at place 0 is one of many",
            read: COPY,
            answer: |input| {
                let terms = (1..input.n()).filter_map(|i| {
                    let earlier: Vec<usize> =
                        input.earlier(i).into_iter().filter(|&j| j > 0).collect();
                    (!earlier.is_empty())
                        .then(|| earlier.iter().map(|&j| input.entry(i, j + 1)).sum())
                });
                mean_of(terms)
            },
        },
    ],
    place: |_, _| "the share".into(),
};

fn cases() -> Vec<Case<Input>> {
    let case = |text: &str, seed: u64| Case {
        sizes: format!("{} tokens, {text}", text.len()),
        // A map of a sequence onto itself is always square.
        square: false,
        input: Input {
            attn: inputs::map(text.len(), text.len(), &Mask::Causal, seed),
            ids: text.bytes().map(|letter| usize::from(letter - b'a')).collect(),
        },
    };
    let mut cut = case("abcab", 5);
    cut.sizes += ", query 3 gives nothing to key 1";
    let left = 1.0 - std::mem::take(&mut cut.input.attn[(3, 1)]);
    cut.input.attn.row_mut(3).unscale_mut(left);
    vec![
        case("abcab", 1),
        case("abacaabda", 2),
        case("mfqamfqmfqb", 3),
        case("abcd", 4),
        cut,
    ]
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::Verdict;

    /// The map times a matrix that has a 1 wherever a share counts.
    #[test]
    fn a_matrix_of_what_counts_is_right() {
        let by_matrix = |input: &Input| {
            let n = input.n();
            let counts = Matrix::from_fn(n, n, |i, key| {
                let is_copy = key >= 1 && key <= i && input.ids[key - 1] == input.ids[i];
                f64::from(u8::from(is_copy))
            });
            let shares = counts.component_mul(&input.attn);
            let knowing = counts.row_iter().filter(|row| row.sum() > 0.0).count();
            if knowing == 0 { 0.0 } else { shares.sum() / knowing as f64 }
        };
        assert_eq!(EXERCISE.diagnose(by_matrix), Verdict::Passed);
    }

    /// What `induction` makes attends to nothing else.
    #[test]
    fn a_perfect_induction_head_has_a_share_of_1() {
        for Case { mut input, sizes, .. } in cases().into_iter().take(3) {
            let n = input.n();
            input.attn = Matrix::from_fn(n, n, |i, key| {
                let after = input.earlier(i).last().map(|last| last + 1);
                f64::from(u8::from(after == Some(key)))
            });
            assert_eq!(input.right(), 1.0, "{sizes}");
        }
    }
}
