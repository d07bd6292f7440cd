//! What people write instead.

use attention::{Matrix, softmax_rows};

use super::{BAD, CHAPTER, Input, MASK, masked_after_softmax, zero_times_infinity};
use crate::{Mistake, Section};

const BEFORE: Section = Section::new(CHAPTER, "The mask comes before softmax");
const CAUSAL: Section = Section::new(CHAPTER, "Causal");
const FILL: Section = Section::new(BAD, "−∞ or −1e9?");
const MULTIPLY: Section = Section::new(CHAPTER, "Two ways to multiply, both wrong");
const NAN: Section = Section::new(BAD, "How far a NaN gets");
const SEVERAL: Section = Section::new(CHAPTER, "Several masks at once, and one per head");
const WRONG: Section = Section::new(CHAPTER, "What people get wrong");

/// All of them.
pub(super) const ALL: &[Mistake<Input, Matrix>] = &[
    Mistake {
        name: "masks after the softmax",
        does: "It sets the shares of blocked keys to 0 when they have already taken \
            their part, so a row sums to less than 1",
        looks_right: "Blocked keys have a share of 0, and all others lie between 0 \
            and 1",
        read: BEFORE,
        answer: masked_after_softmax,
    },
    Mistake {
        name: "sets blocked scores to 0",
        does: "It replaces or multiplies them by 0, and softmax makes of a score of 0 a \
            share like any other, since e⁰ is 1",
        looks_right: "A 0 looks like nothing, and every row sums to 1",
        read: MULTIPLY,
        answer: |input| softmax_rows(input.replaced(0.0, |i, j| input.may_attend(i, j))),
    },
    Mistake {
        name: "makes the −∞ by multiplying",
        does: "It adds a table of 0 and 1 times −∞; where the table is 0, that is \
            0 · ∞, which is NaN, and the row is lost",
        looks_right: "A table of 0 and 1, times −∞, reads like one of 0 and −∞",
        read: MULTIPLY,
        answer: zero_times_infinity,
    },
    Mistake {
        name: "replaces blocked scores by a finite number",
        does: "In a row without a key all scores are equal then, and the query attends \
            evenly to the very keys that it may not see. Be it −1e4, −1e9 or f64::MIN, \
            only −∞ is below every score",
        looks_right: "While a row has a key, and scores are far above that number, it is \
            right",
        read: FILL,
        answer: |input| softmax_rows(input.replaced(-1e9, |i, j| input.may_attend(i, j))),
    },
    Mistake {
        name: "adds a finite number to blocked scores",
        does: "In a row without a key it is added to every score, and softmax does not \
            see it: the row comes out as if there were no mask",
        looks_right: "While a row has a key it is right",
        read: FILL,
        answer: |input| {
            softmax_rows(
                input.scores_plus(|i, j| if input.may_attend(i, j) { 0.0 } else { -1e4 }),
            )
        },
    },
    Mistake {
        name: "replaces blocked scores by NaN",
        does: "NaN does not mean “nothing here”: it goes through the sum into every \
            share of its row",
        looks_right: "A blocked score is no number, and that is what NaN stands for",
        read: NAN,
        answer: |input| {
            softmax_rows(input.replaced(f64::NAN, |i, j| input.may_attend(i, j)))
        },
    },
    Mistake {
        name: "inverts the mask",
        does: "It blocks the keys that may be seen and lets the blocked ones through",
        looks_right: "Some libraries mean “blocked” by true, and every row sums \
            to 1",
        read: WRONG,
        answer: |input| input.map(|i, j| !input.may_attend(i, j)),
    },
    Mistake {
        name: "keeps a token from seeing itself",
        does: "It asks for an earlier key, `<`, where “not later” is `<=`",
        looks_right: "The future is blocked, and the triangle looks right from afar",
        read: CAUSAL,
        answer: |input| input.map(|i, j| input.causal(i, j + 1) && input.real(j)),
    },
    Mistake {
        name: "counts “not later” from the first key",
        does: "It lets query i see key j where j <= i, as if the first query stood at \
            the first key; but the last query stands at the last key",
        looks_right: "With as many queries as keys it is the same",
        read: CAUSAL,
        answer: |input| input.map(|i, j| j <= i && input.real(j)),
    },
    Mistake {
        name: "counts “not later” from the last real key",
        does: "It lets query i see key j where j <= i + n_valid − n_q, as if the last \
            query stood at the last real key and not at the last of all keys",
        looks_right: "Without padding it is the same",
        read: CAUSAL,
        answer: |input| {
            let n_q = input.scores.nrows();
            input.map(|i, j| j + n_q <= i + input.n_valid && input.real(j))
        },
    },
    Mistake {
        name: "gives the last queries no keys",
        does: "It takes the queries from n_valid on for padding and makes their rows \
            zeros. n_valid counts keys, and every query here is asked for",
        looks_right: "What padding asks is of no interest, and with as many queries as \
            keys it is padding",
        read: WRONG,
        answer: |input| input.map(|i, j| input.may_attend(i, j) && i < input.n_valid),
    },
    Mistake {
        name: "takes softmax twice",
        does: "It makes shares of the shares: what was blocked has a score of 0 the \
            second time, and gets a share",
        looks_right: "Every row sums to 1",
        read: BEFORE,
        answer: |input| softmax_rows(input.map(|i, j| input.may_attend(i, j))),
    },
    Mistake {
        name: "puts the padding on the queries",
        does: "It blocks rows from n_valid on, which keeps the padding from asking and \
            not from being read",
        looks_right: "With as many queries as keys the row is there to be blocked, and \
            no output that you keep is zeros",
        read: WRONG,
        answer: |input| input.map(|i, j| input.causal(i, j) && input.real(i)),
    },
    Mistake {
        name: "takes one key of the padding for a real one",
        does: "It lets key n_valid be seen, `<=` for `<`: with n_valid real keys, counted \
            from 0, the last is n_valid − 1",
        looks_right: "All real keys are seen, and all but one of the others are not",
        read: MASK,
        answer: |input| input.map(|i, j| input.causal(i, j) && j <= input.n_valid),
    },
    Mistake {
        name: "lets each query see its last few keys alone",
        does: "It blocks the keys that lie more than three places back as well, which \
            makes a sliding window of four, and nobody asked for one",
        looks_right: "It is a mask that many models have, and a short sequence does not \
            show it",
        read: SEVERAL,
        answer: |input| {
            let (n_q, n_kv) = input.scores.shape();
            input.map(|i, j| input.may_attend(i, j) && j + 4 > i + n_kv - n_q)
        },
    },
    Mistake {
        name: "leaves the padding mask out",
        does: "It blocks what comes later and lets the padding be read",
        looks_right: "The triangle is there, and early queries do not reach the \
            padding",
        read: SEVERAL,
        answer: |input| input.map(|i, j| input.causal(i, j)),
    },
    Mistake {
        name: "leaves the causal mask out",
        does: "It blocks the padding and lets every query see what comes later",
        looks_right: "The columns of the padding are 0, and the last row is right",
        read: SEVERAL,
        answer: |input| input.map(|_, j| input.real(j)),
    },
    Mistake {
        name: "blocks only what both masks block",
        does: "It lets a key through if one of the masks does, and each of them has \
            to",
        looks_right: "Both masks are there, and only the word between them is wrong: “or” \
            for “and”.",
        read: SEVERAL,
        answer: |input| input.map(|i, j| input.causal(i, j) || input.real(j)),
    },
    Mistake {
        name: "returns the masked scores",
        does: "It stops before softmax: −∞ where a key is blocked, and scores elsewhere",
        looks_right: "The mask is right",
        read: BEFORE,
        answer: |input| input.replaced(f64::NEG_INFINITY, |i, j| input.may_attend(i, j)),
    },
];
