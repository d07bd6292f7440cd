//! One whole head, from tokens to its output.

use std::process::ExitCode;

use attention::{HeadParameters, Linear, Mask, Matrix, softmax_rows, weighted_values};

use super::{inputs, places};
use crate::{Case, Exercise, Section};

mod mistakes;

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
    mistakes: mistakes::ALL,
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
