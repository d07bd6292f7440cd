//! One whole head, from tokens to its output.

use std::process::ExitCode;

use attention::{HeadParameters, Linear, Mask, Matrix, softmax_rows, weighted_values};

use super::{inputs, places};
use crate::{Case, Exercise, Mistake, Section};

/// A head, and the tokens that it is given in three roles.
pub struct Input {
    head: HeadParameters,
    query: Matrix,
    key: Matrix,
    value: Matrix,
}

/// What the reader writes: from `query`, `[n_q, d_model]`, `key`, `[n_kv, key_width]`,
/// and `value`, `[n_kv, value_width]`, the output of the head, `[n_q, d_v]`.
pub type Head =
    fn(head: &HeadParameters, query: &Matrix, key: &Matrix, value: &Matrix) -> Matrix;

/// Checks an answer.
pub fn check(answer: Head) -> ExitCode {
    EXERCISE
        .check(move |Input { head, query, key, value }| answer(head, query, key, value))
}

const MATRICES: Section = Section::new("one-head", "Then in matrices");
const IDEA: Section = Section::new("one-head", "The idea");
const FORMULA: Section = Section::new("one-head", "The formula, with shapes");
const SCALE: Section = Section::new("scores-softmax-scale", "Why divide by √d_k");
const SOFTMAX: Section = Section::new("scores-softmax-scale", "What people get wrong");
const WRONG: Section = Section::new("one-head", "What people get wrong");

/// The exercise.
pub static EXERCISE: Exercise<Input, Matrix> = Exercise {
    name: "head_in_matrices",
    title: "One head in matrices",
    read: MATRICES,
    begin: "the projections. Ask of each which tokens it reads, and which of the three \
        matrices it uses",
    print: "q, k and v, your scores and shares",
    passed: "From tokens to output, this is the whole head, and it agrees with the loops \
        of “One head” on every input of the check. Of the biases, b^K could be left out: it \
        adds the same number to all scores of a row, and softmax does not see it.",
    cases,
    reference: |Input { head, query, key, value }| {
        let pass = single_head::attend(head, query, key, value, &Mask::None);
        pass.expect("the sizes fit").out
    },
    mistakes: &[
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
    ],
    place: places::token_feature,
};

fn cases() -> Vec<Case<Input>> {
    // First one sequence that attends to itself, then three that differ and have one length,
    // then other lengths, then other widths.
    let tokens = inputs::matrix(4, 4, 1);
    let [query, key, value] = [tokens.clone(), tokens.clone(), tokens];
    let itself = Case {
        sizes: "4 tokens in all three roles, d_model 4, d_k 4, d_v 4".into(),
        square: true,
        input: Input { head: head([4, 4, 4], 4, 4, 2), query, key, value },
    };
    // Sizes above 5: nalgebra multiplies smaller ones in another way, which does not say
    // what does not fit.
    let of_one_width = |n_q: usize, n_kv: usize, d_v: usize| Case {
        sizes: format!("{n_q} queries, {n_kv} keys, d_model 8, d_k 6, d_v {d_v}"),
        square: false,
        input: Input {
            head: head([8, 8, 8], 6, d_v, 3),
            query: inputs::matrix(n_q, 8, 4),
            key: inputs::matrix(n_kv, 8, 5),
            value: inputs::matrix(n_kv, 8, 6),
        },
    };
    let three_widths = Case {
        sizes: "2 queries 4 wide, 6 keys 5 wide, 6 values 7 wide, d_k 2, d_v 3".into(),
        square: false,
        input: Input {
            head: head([4, 5, 7], 2, 3, 7),
            query: inputs::matrix(2, 4, 8),
            key: inputs::matrix(6, 5, 9),
            value: inputs::matrix(6, 7, 10),
        },
    };
    vec![itself, of_one_width(7, 7, 6), of_one_width(9, 7, 10), three_widths]
}

/// A head of random parameters for query, key and value tokens of these widths.
fn head(widths: [usize; 3], d_k: usize, d_v: usize, seed: u64) -> HeadParameters {
    let [d_model, key_width, value_width] = widths;
    let dims =
        inputs::dims(d_model, 1, d_k, d_v).with_source_widths(key_width, value_width);
    inputs::layer(dims.expect("no width is 0"), seed).heads()[0].clone()
}

/// A head from its projections of query, key and value tokens.
fn attend(projections: [(&Linear, &Matrix); 3]) -> Matrix {
    let [q, k, v] =
        projections.map(|(w, x)| w.forward(x).expect("W as high as x is wide"));
    let attn = softmax_rows(&q * k.transpose() / (q.ncols() as f64).sqrt());
    weighted_values(&attn, v.as_view())
}

/// The head as it should be, but for its map: `[n_q, n_kv]` from the bare dot products.
fn attend_with(input: &Input, map: fn(Matrix, &Input) -> Matrix) -> Matrix {
    let Input { head, query, key, value } = input;
    let [q, k, v] = [(&head.w_q, query), (&head.w_k, key), (&head.w_v, value)]
        .map(|(w, x)| w.forward(x).expect("W as high as x is wide"));
    map(q * k.transpose(), input) * v
}

fn without_bias(w: &Linear) -> Linear {
    Linear { weight: w.weight.clone(), bias: None }
}

fn turned(w: &Linear) -> Linear {
    Linear { weight: w.weight.transpose(), bias: w.bias.clone() }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{Difference, Verdict};

    fn verdict(answer: Head) -> Verdict {
        EXERCISE
            .diagnose(|Input { head, query, key, value }| answer(head, query, key, value))
    }

    #[test]
    fn the_loops_of_chapter_3_pass() {
        let answer: Head = |head, query, key, value| {
            single_head::attend_in_loops(head, query, key, value, &Mask::None)
                .unwrap()
                .out
        };
        assert_eq!(verdict(answer), Verdict::Passed);
    }

    #[test]
    fn in_f32_passes() {
        let answer: Head = |head, query, key, value| {
            let [query, key, value] = [query, key, value].map(|x| x.map(|x| x as f32));
            let head = head.cast::<f32>();
            let pass = single_head::attend(&head, &query, &key, &value, &Mask::None);
            pass.unwrap().out.map(f64::from)
        };
        assert_eq!(verdict(answer), Verdict::Passed);
    }

    #[test]
    fn the_bias_of_the_keys_may_be_left_out() {
        // It adds q_i · b^K to every score of row i, and softmax does not see it.
        let answer: Head = |head, query, key, value| {
            let w_k = without_bias(&head.w_k);
            attend([(&head.w_q, query), (&w_k, key), (&head.w_v, value)])
        };
        assert_eq!(verdict(answer), Verdict::Passed);
    }

    #[test]
    fn dividing_by_the_root_of_the_number_of_keys_is_right_only_for_equal_sizes() {
        let answer: Head = |head, query, key, value| {
            let [q, k, v] = [(&head.w_q, query), (&head.w_k, key), (&head.w_v, value)]
                .map(|(w, x)| w.forward(x).unwrap());
            softmax_rows(q * k.transpose() / (key.nrows() as f64).sqrt()) * v
        };
        assert!(matches!(verdict(answer), Verdict::SquareOnly { .. }));
    }

    #[test]
    fn a_bias_added_as_a_matrix_of_one_row_is_a_panic() {
        let answer: Head = |head, query, key, value| {
            let bias = head.w_q.bias.as_ref().unwrap();
            let one_row = Matrix::from_row_slice(1, bias.len(), bias.as_slice());
            let q = query * &head.w_q.weight + one_row;
            q * key.transpose() * value
        };
        assert!(matches!(
            verdict(answer),
            Verdict::Unknown { difference: Difference::Panic { .. }, .. }
        ));
    }
}
