//! What people write instead.

use attention::{Linear, Matrix, softmax_rows};

use super::{Input, attend, attend_with, turned, without_bias};
use crate::{Mistake, Section};

const FORMULA: Section = Section::new("one-head", "The formula, with shapes");
const IDEA: Section = Section::new("one-head", "The idea");
const SCALE: Section = Section::new("scores-softmax-scale", "Why divide by √d_k");
const SOFTMAX: Section = Section::new("scores-softmax-scale", "What people get wrong");
const WRONG: Section = Section::new("one-head", "What people get wrong");

/// All of them.
pub(super) const ALL: &[Mistake<Input, Matrix>] = &[
    Mistake {
        name: "forgets the biases",
        does: "It multiplies by the three matrices and adds nothing",
        looks_right: "The formula of the head is printed without biases, and no \
            shape shows them",
        read: FORMULA,
        answer: |Input { head, query, key, value }| {
            let [w_q, w_k, w_v] = [&head.w_q, &head.w_k, &head.w_v].map(without_bias);
            attend([(&w_q, query), (&w_k, key), (&w_v, value)])
        },
    },
    Mistake {
        name: "makes keys and values from the query's tokens",
        does: "It gives one input to all three projections, and never reads key and \
            value",
        looks_right: "In self-attention they are the same tokens",
        read: FORMULA,
        answer: |Input { head, query, .. }| {
            attend([(&head.w_q, query), (&head.w_k, query), (&head.w_v, query)])
        },
    },
    Mistake {
        name: "makes the keys from the query's tokens",
        does: "It applies W^K to query, so each query is compared with the queries, \
            and the value of a token is weighed by what another was asked",
        looks_right: "In self-attention they are the same tokens, and where there \
            are as many queries as keys every shape fits",
        read: FORMULA,
        answer: |Input { head, query, value, .. }| {
            attend([(&head.w_q, query), (&head.w_k, query), (&head.w_v, value)])
        },
    },
    Mistake {
        name: "makes the values from the query's tokens",
        does: "It applies W^V to query, so a query finds a key and is handed what \
            stands in the query's own sequence",
        looks_right: "In self-attention they are the same tokens, and where there \
            are as many queries as keys every shape fits",
        read: FORMULA,
        answer: |Input { head, query, key, .. }| {
            attend([(&head.w_q, query), (&head.w_k, key), (&head.w_v, query)])
        },
    },
    Mistake {
        name: "makes the values from the key's tokens",
        does: "It applies W^V to key, and never reads value",
        looks_right: "Keys and values are nearly always made from the same tokens",
        read: FORMULA,
        answer: |Input { head, query, key, .. }| {
            attend([(&head.w_q, query), (&head.w_k, key), (&head.w_v, key)])
        },
    },
    Mistake {
        name: "exchanges W^Q and W^K",
        does: "What a token asks is made by the matrix for what it is found by, and \
            the other way round",
        looks_right: "Both matrices have the same shape",
        read: IDEA,
        answer: |Input { head, query, key, value }| {
            attend([(&head.w_k, query), (&head.w_q, key), (&head.w_v, value)])
        },
    },
    Mistake {
        name: "exchanges W^K and W^V",
        does: "What a token is found by is made by the matrix for what it hands \
            over, and the other way round",
        looks_right: "Where d_k = d_v both matrices have the same shape",
        read: IDEA,
        answer: |Input { head, query, key, value }| {
            attend([(&head.w_q, query), (&head.w_v, key), (&head.w_k, value)])
        },
    },
    Mistake {
        name: "makes the keys with W^Q",
        does: "Queries and keys come from one matrix, so that a token scores high \
            with tokens like itself, and W^K is never used",
        looks_right: "Both matrices have the same shape",
        read: WRONG,
        answer: |Input { head, query, key, value }| {
            attend([(&head.w_q, query), (&head.w_q, key), (&head.w_v, value)])
        },
    },
    Mistake {
        name: "forgets the bias of the queries",
        does: "It adds b^V and not b^Q, so what each token asks is off by one row",
        looks_right: "The weights are right, and of three biases one is not missed; \
            that of the keys may even go",
        read: FORMULA,
        answer: |Input { head, query, key, value }| {
            let w_q = without_bias(&head.w_q);
            attend([(&w_q, query), (&head.w_k, key), (&head.w_v, value)])
        },
    },
    Mistake {
        name: "forgets the bias of the values",
        does: "It adds b^Q and not b^V, so every output is off by the same row",
        looks_right: "The map is right, and an average of values still comes out",
        read: FORMULA,
        answer: |Input { head, query, key, value }| {
            let w_v = without_bias(&head.w_v);
            attend([(&head.w_q, query), (&head.w_k, key), (&w_v, value)])
        },
    },
    Mistake {
        name: "does not divide the scores by √d_k",
        does: "Softmax gets the bare dot products, and rows come out too sharp",
        looks_right: "Every output is still an average of values",
        read: SCALE,
        answer: |input| attend_with(input, |scores, _| softmax_rows(scores)),
    },
    Mistake {
        name: "divides the scores by d_k and not by its root",
        does: "The spread of the scores falls to 1/√d_k, so rows come out too even",
        looks_right: "A sum of d_k products divided by d_k is their mean",
        read: SCALE,
        answer: |input| {
            attend_with(input, |scores, Input { head, .. }| {
                softmax_rows(scores / head.w_q.d_out() as f64)
            })
        },
    },
    Mistake {
        name: "divides the scores by √d_model",
        does: "It divides by the root of the width of a token, and a dot product \
            here adds up only the d_k products of one head",
        looks_right: "With one head d_k is often d_model, and then it is right",
        read: SCALE,
        answer: |input| {
            attend_with(input, |scores, Input { query, .. }| {
                softmax_rows(scores / (query.ncols() as f64).sqrt())
            })
        },
    },
    Mistake {
        name: "runs softmax down the columns",
        does: "The shares of a key sum to 1 and those of a query do not, so the \
            queries compete for a key",
        looks_right: "It is a softmax, and in self-attention the map is square",
        read: SOFTMAX,
        answer: |input| {
            attend_with(input, |scores, Input { head, .. }| {
                let scores = scores / (head.w_q.d_out() as f64).sqrt();
                softmax_rows(scores.transpose()).transpose()
            })
        },
    },
    Mistake {
        name: "averages with the transposed map",
        does: "It multiplies the values by the columns of the map, so a token gets a \
            share from each query that looks at it",
        looks_right: "In self-attention the map is square, and transposed or not it fits",
        read: FORMULA,
        answer: |input| {
            attend_with(input, |scores, Input { head, .. }| {
                softmax_rows(scores / (head.w_q.d_out() as f64).sqrt()).transpose()
            })
        },
    },
    Mistake {
        name: "multiplies by the transposed matrices",
        does: "It computes x · Wᵀ + b, which reads the columns of W as its rows",
        looks_right: "PyTorch stores its matrices so, and where d_model, d_k and d_v \
            are equal every shape fits",
        read: FORMULA,
        answer: |Input { head, query, key, value }| {
            let [w_q, w_k, w_v] = [&head.w_q, &head.w_k, &head.w_v].map(turned);
            attend([(&w_q, query), (&w_k, key), (&w_v, value)])
        },
    },
    Mistake {
        name: "averages the value tokens as they came",
        does: "It never applies W^V and its bias, so that the head hands over tokens \
            and not what it takes from them",
        looks_right: "The map is right, and where d_v is the width of a token the \
            shape is too",
        read: WRONG,
        answer: |Input { head, query, key, value }| {
            let unchanged = Matrix::identity(value.ncols(), value.ncols());
            let w_v = Linear { weight: unchanged, bias: None };
            attend([(&head.w_q, query), (&head.w_k, key), (&w_v, value)])
        },
    },
    Mistake {
        name: "weighs with the scores themselves",
        does: "It leaves softmax out: weights may be negative, and do not sum to 1",
        looks_right: "A high score does count for more",
        read: SOFTMAX,
        answer: |input| {
            attend_with(input, |scores, Input { head, .. }| {
                scores / (head.w_q.d_out() as f64).sqrt()
            })
        },
    },
    Mistake {
        name: "takes softmax twice",
        does: "It makes shares of the shares, and every row comes out nearly even",
        looks_right: "Every row sums to 1",
        read: SOFTMAX,
        answer: |input| {
            attend_with(input, |scores, Input { head, .. }| {
                softmax_rows(softmax_rows(scores / (head.w_q.d_out() as f64).sqrt()))
            })
        },
    },
    Mistake {
        name: "compares queries with values",
        does: "Its scores are those of q and v: what a token hands over decides whether it is found",
        looks_right: "Keys and values stand in the same rows, and where d_k = d_v it fits",
        read: IDEA,
        answer: |Input { head, query, value, .. }| {
            attend([(&head.w_q, query), (&head.w_v, value), (&head.w_v, value)])
        },
    },
    Mistake {
        name: "averages the keys",
        does: "It weighs the rows of k, which are there to be found by",
        looks_right: "A key and its value stand in the same row, and where d_k = d_v the shape is right",
        read: IDEA,
        answer: |Input { head, query, key, .. }| {
            attend([(&head.w_q, query), (&head.w_k, key), (&head.w_k, key)])
        },
    },
    Mistake {
        name: "compares keys with keys",
        does: "It takes the keys for the queries too, and q is never used",
        looks_right: "Each token scores high with itself, which looks like attention",
        read: IDEA,
        answer: |Input { head, key, value, .. }| {
            attend([(&head.w_k, key), (&head.w_k, key), (&head.w_v, value)])
        },
    },
    Mistake {
        name: "has a row for each key",
        does: "It computes K Qᵀ, so keys share themselves out among the queries",
        looks_right: "Where there are as many queries as keys the shape is right, and rows sum to 1",
        read: SOFTMAX,
        answer: |input| {
            attend_with(input, |scores, Input { head, .. }| {
                softmax_rows(scores.transpose() / (head.w_q.d_out() as f64).sqrt())
            })
        },
    },
];
