//! The queries of every head, each in a subspace of its own.

use std::process::ExitCode;

use attention::{HeadParameters, LayerParameters, Linear, Mask, Matrix};
use per_head::PerHeadAttention;

use super::{heads, inputs, places};
use crate::{Case, Exercise, Mistake, Section};

/// Tokens, and the layer whose heads project them.
pub struct Input {
    layer: LayerParameters,
    x: Matrix,
}

impl Input {
    fn heads(&self) -> &[HeadParameters] {
        self.layer.heads()
    }

    /// One matrix a head, by what it does with the head.
    fn each(&self, of_head: impl Fn(usize, &HeadParameters) -> Matrix) -> Vec<Matrix> {
        self.heads().iter().enumerate().map(|(i, head)| of_head(i, head)).collect()
    }

    /// The features that head i gets if the token is shared out.
    fn slice(&self, i: usize) -> (usize, usize) {
        let width = self.x.ncols() / self.heads().len();
        (i * width, width)
    }
}

/// What the reader writes: from `x`, `[n_tokens, d_model]`, and h heads, whose W^Q is
/// `[d_model, d_k]`, one `[n_tokens, d_k]` a head.
pub type Queries = fn(heads: &[HeadParameters], x: &Matrix) -> Vec<Matrix>;

/// Checks an answer.
pub fn check(answer: Queries) -> ExitCode {
    EXERCISE.check(move |input| answer(input.heads(), &input.x))
}

const LENS: Section = Section::new("a-lens-per-head", "A lens, not a slice");
const STEPS: Section = Section::new("a-lens-per-head", "The steps, with shapes");
const CODE: Section = Section::new("a-lens-per-head", "The heads in code");
const WITH_BIAS: Section = Section::new("one-head", "The formula, with shapes");

/// The exercise.
pub static EXERCISE: Exercise<Input, Vec<Matrix>> = Exercise {
    name: "subspaces",
    title: "Subspaces",
    read: LENS,
    begin: "one head: the shape of its w_q.weight says how much of a token it reads and \
        how much it writes. Then do the same for each",
    print: "what one head reads and what it writes",
    passed: "Every head reads the whole token and writes d_k numbers of its own. Move one \
        feature of a token, and the queries of all heads move.",
    cases,
    reference: |input| {
        let x = &input.x;
        let layer = PerHeadAttention::new(input.layer.clone());
        let passes = layer.heads(x, x, x, &Mask::None).expect("the widths fit");
        passes.into_iter().map(|pass| pass.q).collect()
    },
    mistakes: &[
        Mistake {
            name: "shows each head only a slice of the token",
            does: "It cuts the features of the token into h slices, and head i projects \
                slice i with the matching rows of its matrix",
            looks_right: "d_model is divided among the heads, and every shape fits",
            read: LENS,
            answer: slice_then_project,
        },
        Mistake {
            name: "hands out slices of the token and projects nothing",
            does: "Head i gets d_model / h features of the token as they are, and its W^Q \
                is never read",
            looks_right: "With d_k = d_model / h each piece has the width of a query",
            read: LENS,
            answer: slice_only,
        },
        Mistake {
            name: "projects with the matrix of head 0 for every head",
            does: "All heads get the same queries, so they ask the same question",
            looks_right: "Head 0 is right, and all heads have one shape",
            read: STEPS,
            answer: |input| {
                input.each(|_, _| heads::project(&input.heads()[0].w_q, &input.x))
            },
        },
        Mistake {
            name: "projects with W^K",
            does: "It makes the keys, what a token is found by, and not what it asks",
            looks_right: "W^K has the shape of W^Q and stands next to it",
            read: STEPS,
            answer: |input| input.each(|_, head| heads::project(&head.w_k, &input.x)),
        },
        Mistake {
            name: "leaves out the biases",
            does: "It computes x W^Q and does not add b^Q, so each column is off by one \
                number, the same for every token",
            looks_right: "The formula of the paper has no bias, and biases are small",
            read: WITH_BIAS,
            answer: |input| {
                let bare = |head: &HeadParameters| heads::without_bias(&head.w_q);
                input.each(|_, head| heads::project(&bare(head), &input.x))
            },
        },
        Mistake {
            name: "gives each head what the head before it made",
            does: "Head 0 projects the token, head 1 projects the queries of head 0, and \
                so on",
            looks_right: "That is how layers follow each other, and where d_k is d_model \
                it runs; heads stand side by side and all read x",
            read: CODE,
            answer: chained,
        },
    ],
    place: places::head_token_feature,
};

fn cases() -> Vec<Case<Input>> {
    let case = |n_tokens: usize, d_model: usize, n_heads: usize, d_k: usize, seed| Case {
        sizes: format!(
            "{n_tokens} tokens, d_model {d_model}, {n_heads} heads, d_k {d_k}"
        ),
        square: n_heads * d_k == d_model,
        input: Input {
            layer: inputs::layer(inputs::dims(d_model, n_heads, d_k, d_k), seed),
            x: inputs::matrix(n_tokens, d_model, seed + 1),
        },
    };
    // In the first one d_k is d_model: only there can heads be chained.
    vec![case(3, 4, 2, 4, 1), case(5, 6, 2, 3, 3), case(4, 6, 3, 5, 5)]
}

fn slice_then_project(input: &Input) -> Vec<Matrix> {
    input.each(|i, HeadParameters { w_q, .. }| {
        let (first, width) = input.slice(i);
        let weight = w_q.weight.rows(first, width).into_owned();
        let rows = Linear { weight, bias: w_q.bias.clone() };
        heads::project(&rows, &input.x.columns(first, width).into_owned())
    })
}

fn slice_only(input: &Input) -> Vec<Matrix> {
    input.each(|i, _| {
        let (first, width) = input.slice(i);
        input.x.columns(first, width).into_owned()
    })
}

fn chained(input: &Input) -> Vec<Matrix> {
    let mut x = input.x.clone();
    let mut queries = Vec::new();
    for head in input.heads() {
        x = heads::project(&head.w_q, &x);
        queries.push(x.clone());
    }
    queries
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{Difference, Verdict};

    /// Entry by entry, and the last feature of a token first.
    fn in_loops(input: &Input, d_k: impl Fn(&Linear) -> usize) -> Vec<Matrix> {
        input.each(|_, HeadParameters { w_q, .. }| {
            Matrix::from_fn(input.x.nrows(), d_k(w_q), |token, c| {
                let mut q = w_q.bias.as_ref().map_or(0.0, |bias| bias[c]);
                for j in (0..input.x.ncols()).rev() {
                    q += input.x[(token, j)] * w_q.weight[(j, c)];
                }
                q
            })
        })
    }

    #[test]
    fn right_answers_written_otherwise_pass() {
        let loops = |input: &Input| in_loops(input, Linear::d_out);
        assert_eq!(EXERCISE.diagnose(loops), Verdict::Passed);
        let in_f32 = |input: &Input| {
            let x = input.x.map(|x| x as f32);
            let q = |head: &HeadParameters| head.cast::<f32>().w_q.forward(&x).unwrap();
            input.each(|_, head| q(head).map(f64::from))
        };
        assert_eq!(EXERCISE.diagnose(in_f32), Verdict::Passed);
    }

    #[test]
    fn a_width_that_is_always_d_model_by_h_is_right_only_where_it_is() {
        let verdict = EXERCISE
            .diagnose(|input| in_loops(input, |_| input.x.ncols() / input.heads().len()));
        assert!(matches!(verdict, Verdict::SquareOnly { .. }), "{verdict:?}");
    }

    #[test]
    fn a_panic_is_told_and_not_guessed_at() {
        let verdict = EXERCISE.diagnose(|input| {
            let next = |i: usize| &input.heads()[i + 1].w_q;
            input.each(|i, _| heads::project(next(i), &input.x))
        });
        let Verdict::Unknown { difference: Difference::Panic { .. }, .. } = verdict
        else {
            panic!("{verdict:?}");
        };
    }
}
