//! Mistakes in what a head gets: the wrong tokens, or the wrong parameters.
//!
//! One is missing, since it is none: **leave out b^K, and nothing changes.** Key j becomes
//! `k_j + b^K`, so the score of query i grows by `q_i · b^K / √d_k`. That is the same
//! number for every key of row i, and softmax does not see a number that is added to a
//! whole row. A test holds it.

use attention::{Attended, HeadParameters, Linear, Matrix};

use super::steps::{apply, apply_bare, side_by_side};
use super::{Input, Steps};
use crate::{Mistake, Section};

const LENS: Section = Section::new("a-lens-per-head", "A lens, not a slice");
const HEADS: Section = Section::new("a-lens-per-head", "The heads in code");
const VIEWS: Section = Section::new(
    "one-matrix-many-heads",
    "What others do: view (or reshape), then transpose",
);
const ANOTHER: Section = Section::new("masks", "Attending to another sequence");
const FORMULA: Section = Section::new("one-head", "The formula, with shapes");
const BIASES: Section = Section::new("counting", "One number, two meanings");

/// One set of parameters for all heads.
pub const HEAD_0: Mistake<Input, Attended> = Mistake {
    name: "gives every head the parameters of head 0",
    does: "It computes the same head h times, so all maps are alike",
    looks_right: "Head 0 is right, and every shape is",
    read: HEADS,
    answer: |input| {
        let project = |input: &Input, _| (Steps::RIGHT.project)(input, 0);
        Steps { project, ..Steps::RIGHT }.run(input)
    },
};

/// The input cut up.
pub const SLICES: Mistake<Input, Attended> = Mistake {
    name: "cuts the tokens into slices, one per head",
    does: "Head i sees only its slice of the features, through the rows of its matrices \
        that belong to them",
    looks_right: "“The width is divided among the heads” is true of what a head writes, not \
        of what it reads",
    read: LENS,
    answer: |input| Steps { project: slices, ..Steps::RIGHT }.run(input),
};

fn slices(input: &Input, i: usize) -> [Matrix; 3] {
    let slice = |linear: &Linear, x: &Matrix| {
        let width = x.ncols() / input.parameters.heads().len();
        let rest = Linear {
            weight: linear.weight.rows(i * width, width).into_owned(),
            bias: linear.bias.clone(),
        };
        apply(&rest, &x.columns(i * width, width).into_owned())
    };
    let head = &input.parameters.heads()[i];
    [
        slice(&head.w_q, &input.query),
        slice(&head.w_k, &input.key),
        slice(&head.w_v, &input.value),
    ]
}

/// `view(h, n, d_k)` at once.
pub const VIEW: Mistake<Input, Attended> = Mistake {
    name: "cuts the wide projection into heads without the transpose",
    does: "It reads the numbers row by row as (heads, tokens, features), so a head gets all \
        features of a few tokens",
    looks_right: "The count of numbers is right, and so is every shape",
    read: VIEWS,
    answer: |input| Steps { project: view, ..Steps::RIGHT }.run(input),
};

fn view(input: &Input, i: usize) -> [Matrix; 3] {
    let cut = |of: fn(&HeadParameters) -> &Linear, x: &Matrix| {
        let heads = input.parameters.heads().iter();
        let wide =
            side_by_side(&heads.map(|head| apply(of(head), x)).collect::<Vec<_>>());
        let (n_tokens, d) = (x.nrows(), of(&input.parameters.heads()[0]).d_out());
        Matrix::from_fn(n_tokens, d, |token, c| {
            let at = (i * n_tokens + token) * d + c;
            wide[(at / wide.ncols(), at % wide.ncols())]
        })
    };
    [
        cut(|head| &head.w_q, &input.query),
        cut(|head| &head.w_k, &input.key),
        cut(|head| &head.w_v, &input.value),
    ]
}

/// One sequence for all three.
pub const SELF_ATTENTION: Mistake<Input, Attended> = Mistake {
    name: "takes keys and values from query",
    does: "It projects query three times and never looks at key and value",
    looks_right: "In self-attention the three are the same tokens",
    read: ANOTHER,
    answer: |input| {
        let Input { query, .. } = input;
        let input = Input { key: query.clone(), value: query.clone(), ..input.clone() };
        Steps::RIGHT.run(&input)
    },
};

/// One sequence for keys and values.
pub const VALUES_FROM_KEY: Mistake<Input, Attended> = Mistake {
    name: "takes the values from key",
    does: "It sends key, and not value, through W^V",
    looks_right: "Key and value are often the same tokens, and both have n_kv rows",
    read: ANOTHER,
    answer: |input| {
        Steps::RIGHT.run(&Input { value: input.key.clone(), ..input.clone() })
    },
};

/// K where V belongs.
pub const KEYS_AS_VALUES: Mistake<Input, Attended> = Mistake {
    name: "averages keys instead of values",
    does: "The map is right, and then it weighs what a token is found by, not what it \
        gives",
    looks_right: "With d_k = d_v both have the same shape",
    read: FORMULA,
    answer: |input| {
        let project = |input: &Input, i| {
            let [q, k, _] = (Steps::RIGHT.project)(input, i);
            [q, k.clone(), k]
        };
        Steps { project, ..Steps::RIGHT }.run(input)
    },
};

/// b^V forgotten.
pub const NO_VALUE_BIAS: Mistake<Input, Attended> = Mistake {
    name: "forgets b^V",
    does: "Values are projected without their bias, and each row of shares hands on what \
        is missing",
    looks_right: "All maps are right, and with biases of 0 the output is",
    read: BIASES,
    answer: |input| {
        let project = |input: &Input, i: usize| {
            let [q, k, _] = (Steps::RIGHT.project)(input, i);
            [q, k, apply_bare(&input.parameters.heads()[i].w_v, &input.value)]
        };
        Steps { project, ..Steps::RIGHT }.run(input)
    },
};

/// b^Q, b^K and b^V forgotten.
pub const NO_HEAD_BIASES: Mistake<Input, Attended> = Mistake {
    name: "forgets the biases of the heads",
    does: "It multiplies by W^Q, W^K and W^V and adds neither b^Q nor b^V (b^K would change \
        nothing)",
    looks_right: "Every shape is right, and with biases of 0 the numbers are",
    read: BIASES,
    answer: |input| Steps { project: without_biases, ..Steps::RIGHT }.run(input),
};

/// A head's projections with no bias.
pub fn without_biases(input: &Input, i: usize) -> [Matrix; 3] {
    let head = &input.parameters.heads()[i];
    [
        apply_bare(&head.w_q, &input.query),
        apply_bare(&head.w_k, &input.key),
        apply_bare(&head.w_v, &input.value),
    ]
}

/// q_i · v_j.
pub const QUERIES_WITH_VALUES: Mistake<Input, Attended> = Mistake {
    name: "compares queries with values",
    does: "Its scores are those of q_i and v_i: what a token hands over decides whether it is \
        found",
    looks_right: "Keys and values stand in the same rows, and where d_k = d_v it fits",
    read: FORMULA,
    answer: |input| {
        let steps = Steps {
            project: |input, i| {
                let [q, _, v] = (Steps::RIGHT.project)(input, i);
                [q, v.clone(), v]
            },
            ..Steps::RIGHT
        };
        steps.run(input)
    },
};
