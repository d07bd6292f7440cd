//! What people write instead.

use attention::{Matrix, softmax_rows, weighted_values};

use super::{
    Divided, Input, LOOPS, best_only, exponentials, first_keys_only, largest,
    last_key_only, own_value, reference, sum_runs_on,
};
use crate::{Mistake, Section};

const FORMULA: Section = Section::new("one-head", "The formula, with shapes");
const IDEA: Section = Section::new("one-head", "The idea");
const STABLE: Section =
    Section::new("scores-softmax-scale", "A softmax that does not break");
const WRONG: Section = Section::new("scores-softmax-scale", "What people get wrong");

/// All of them.
pub(super) const ALL: &[Mistake<Input, Matrix>] = &[
    Mistake {
        name: "averages the keys",
        does: "The shares are right, and they weigh the rows of k, which are there \
            to be found by, and not those of v, which are there to be handed over",
        looks_right: "A key and its value stand in the same row, and where d_k = d_v \
            the shape is right",
        read: IDEA,
        answer: |input| weighted_values(&input.attn(), input.k.as_view()),
    },
    Mistake {
        name: "takes the value of the query's own place",
        does: "In the inner sum it reads row i of v and not row j, so that the \
            shares of query i all go to value i, which then stands there unchanged",
        looks_right: "i is the query that the loop is at, and a number comes out for \
            each feature",
        read: LOOPS,
        answer: own_value,
    },
    Mistake {
        name: "lets the queries compete for a key",
        does: "The softmax runs over the queries, so that the shares of a key sum \
            to 1 and those of a query do not",
        looks_right: "Both indices of a score are loops, and this sums over one of \
            them",
        read: WRONG,
        answer: |input| &softmax_rows(input.scores().transpose()).transpose() * &input.v,
    },
    Mistake {
        name: "does not divide the scores by √d_k",
        does: "The softmax gets the bare dot products, and rows come out too sharp",
        looks_right: "Every output is still an average of values",
        read: FORMULA,
        answer: |input| softmax_rows(&input.q * input.k.transpose()) * &input.v,
    },
    Mistake {
        name: "divides the scores by d_k and not by its root",
        does: "The spread of the scores falls to 1/√d_k, so rows come out too even",
        looks_right: "A sum of d_k products divided by d_k is their mean",
        read: FORMULA,
        answer: |input| {
            let d_k = input.q.ncols() as f64;
            softmax_rows(&input.q * input.k.transpose() / d_k) * &input.v
        },
    },
    Mistake {
        name: "keeps only what the last key adds",
        does: "It writes `out = …` where `out += …` adds up, so each key overwrites \
            the one before",
        looks_right: "Every entry is written, and the loop runs over all keys",
        read: LOOPS,
        answer: last_key_only,
    },
    Mistake {
        name: "lets the sum run on from query to query",
        does: "The sum of the exponentials is set to 0 once and not for each query, so \
            later queries are divided by too much",
        looks_right: "The first token is right",
        read: LOOPS,
        answer: sum_runs_on,
    },
    NO_MAXIMUM,
    Mistake {
        name: "starts its maximum at 0",
        does: "A fold from 0.0 never falls below it, so where all scores of a query lie \
            near −1000 every exponential becomes 0, and 0 / 0 is NaN",
        looks_right: "A sum starts at 0; but a maximum starts at −∞, f64::NEG_INFINITY, \
            or at the first score",
        read: STABLE,
        answer: |input| {
            let from_0 = |row: &[f64]| row.iter().copied().fold(0.0, f64::max);
            exponentials(&input.scores(), from_0, Divided::ByTheSum) * &input.v
        },
    },
    Mistake {
        name: "subtracts the largest absolute score",
        does: "Its maximum is over |s|, so where one score of a query lies near −900 and \
            the others near 0 every exponential becomes 0, and 0 / 0 is NaN",
        looks_right: "The exponentials are small enough, and small scores are right",
        read: STABLE,
        answer: |input| {
            let size =
                |row: &[f64]| row.iter().fold(0.0_f64, |most, s| most.max(s.abs()));
            exponentials(&input.scores(), size, Divided::ByTheSum) * &input.v
        },
    },
    Mistake {
        name: "divides by the sum of the keys so far",
        does: "It divides each exponential by the sum up to its own key, so the shares of \
            the first keys are too large, and they do not sum to 1",
        looks_right: "One loop does it all, and the last key is right",
        read: LOOPS,
        answer: |input| {
            let mut shares = exponentials(&input.scores(), largest, Divided::ByNothing);
            for mut row in shares.row_iter_mut() {
                let mut sum = 0.0;
                row.apply(|exp| {
                    sum += *exp;
                    *exp /= sum;
                });
            }
            shares * &input.v
        },
    },
    Mistake {
        name: "leaves key 0 out",
        does: "Its loop over the keys begins at 1, as after a maximum that starts at the \
            score of key 0",
        looks_right: "Each row of shares sums to 1",
        read: LOOPS,
        answer: |input| {
            let n = input.k.nrows() - 1;
            let rest = |m: &Matrix| m.rows(1, n).into_owned();
            let (q, k, v) = (input.q.clone(), rest(&input.k), rest(&input.v));
            reference(&Input { q, k, v })
        },
    },
    Mistake {
        name: "divides each row of the output by its sum",
        does: "It makes the entries of an output sum to 1. The shares sum to 1, and what \
            they average sums to anything",
        looks_right: "Something is to be divided by a sum so that a row sums to 1",
        read: LOOPS,
        answer: |input| {
            let mut out = reference(input);
            for mut row in out.row_iter_mut() {
                row /= row.sum();
            }
            out
        },
    },
    Mistake {
        name: "hands over the value of the best key alone",
        does: "It looks for the largest score and forgets the other keys",
        looks_right: "Attention sounds like picking one, and a sharp row nearly does",
        read: IDEA,
        answer: best_only,
    },
    Mistake {
        name: "does not divide by the sum of the exponentials",
        does: "Every value is weighed by the exponential of its score, and what \
            comes out is a sum and no average",
        looks_right: "Keys with large scores do count more, in the right proportion",
        read: LOOPS,
        answer: |input| {
            exponentials(&input.scores(), largest, Divided::ByNothing) * &input.v
        },
    },
    Mistake {
        name: "loops over n_q where n_kv belongs",
        does: "With fewer queries than keys it leaves keys out, and with more it \
            reads beyond the last",
        looks_right: "In self-attention there are as many queries as keys",
        read: FORMULA,
        answer: first_keys_only,
    },
    Mistake {
        name: "compares queries with values",
        does: "Its scores are those of q and v: what a token hands over decides whether it is found",
        looks_right: "Keys and values stand in the same rows, and where d_k = d_v it fits",
        read: IDEA,
        answer: |Input { q, v, .. }| {
            softmax_rows(q * v.transpose() / (q.ncols() as f64).sqrt()) * v
        },
    },
    Mistake {
        name: "leaves feature 0 out of the dot products",
        does: "Its loop over features begins at 1",
        looks_right: "The scale is right, and most of each score is there",
        read: LOOPS,
        answer: |Input { q, k, v }| {
            let rest = |m: &Matrix| m.columns(1, m.ncols() - 1).into_owned();
            softmax_rows(rest(q) * rest(k).transpose() / (q.ncols() as f64).sqrt()) * v
        },
    },
    Mistake {
        name: "compares queries with values",
        does: "Its scores are those of q and v: what a token hands over decides whether it is found",
        looks_right: "Keys and values stand in the same rows, and where d_k = d_v it fits",
        read: IDEA,
        answer: |Input { q, v, .. }| {
            let keys = v.columns(0, q.ncols());
            softmax_rows(q * keys.transpose() / (q.ncols() as f64).sqrt()) * v
        },
    },
    Mistake {
        name: "averages the keys",
        does: "It weighs the first d_v entries of each row of k, which is there to be found by",
        looks_right: "A key and its value stand in the same row, and where d_v <= d_k it runs",
        read: IDEA,
        answer: |input| input.attn() * input.k.columns(0, input.v.ncols()),
    },
    Mistake {
        name: "takes no exponential",
        does: "It divides scores by their sum, less the largest of the row or not: shares may have any size",
        looks_right: "Every row sums to 1",
        read: LOOPS,
        answer: |input| {
            let mut shares = input.scores();
            for mut row in shares.row_iter_mut() {
                let largest = row.max();
                row.add_scalar_mut(-largest);
                let sum = row.sum();
                row /= sum;
            }
            shares * &input.v
        },
    },
    Mistake {
        name: "pairs each key with the value before it",
        does: "Its scores begin at key 1 and its values at value 0, so every share goes to the neighbour",
        looks_right: "Rows of shares sum to 1",
        read: LOOPS,
        answer: |Input { q, k, v }| {
            let n = k.nrows() - 1;
            let (k, v) = (k.rows(1, n).into_owned(), v.rows(0, n).into_owned());
            reference(&Input { q: q.clone(), k, v })
        },
    },
    Mistake {
        name: "leaves the last key out",
        does: "Its loop over the keys ends one too early",
        looks_right: "Each row of shares sums to 1",
        read: LOOPS,
        answer: |Input { q, k, v }| {
            let n = k.nrows() - 1;
            let (k, v) = (k.rows(0, n).into_owned(), v.rows(0, n).into_owned());
            reference(&Input { q: q.clone(), k, v })
        },
    },
];

/// The bare formula.
const NO_MAXIMUM: Mistake<Input, Matrix> = Mistake {
    name: "does not subtract the largest score of the query",
    does: "A score of 1000 has an exponential that no f64 can hold, and ∞ / ∞ is NaN; where \
        all scores of a query lie near −1000 all exponentials are 0, and 0 / 0 is NaN too",
    looks_right: "It is the formula as it is written, and right for small scores",
    read: STABLE,
    answer: |input| exponentials(&input.scores(), |_| 0.0, Divided::ByTheSum) * &input.v,
};
