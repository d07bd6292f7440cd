//! A lens per head.

use anyhow::Result;
use attention::{Dims, LayerParameters, Mask, Matrix, ShapeTrace};
use per_head::{PerHeadAttention, concat};

use super::super::answer::{Answer, Form};
use super::parts::{layer, step, tokens};
use super::{Instance, Outcome, Question, Topic, of};

/// A layer of heads that share the width, and one of its heads.
#[derive(Clone, Copy)]
struct Sizes {
    n_tokens: usize,
    d_model: usize,
    n_heads: usize,
    head: usize,
}

fn sizes(seed: u64) -> Sizes {
    let sets = [(30, 256, 8, 3), (20, 384, 6, 1), (50, 512, 16, 9)];
    let (n_tokens, d_model, n_heads, head) = of(seed, sets);
    Sizes { n_tokens, d_model, n_heads, head }
}

pub const TOPIC: Topic = Topic {
    name: "a-lens-per-head",
    questions: &[
        Question {
            id: "lens-shape",
            title: "The shape of W_i^Q",
            section: "A lens, not a slice",
            pose: |seed| {
                let sizes @ Sizes { n_tokens, d_model, n_heads, .. } = sizes(seed);
                Instance::new(
                    format!(
                        "{n_tokens} tokens of {d_model} numbers go through a layer of \
                         {n_heads} heads that share the width. What is the shape of W_i^Q, \
                         the query matrix of one head?"
                    ),
                    "It has a row for each number that it reads, and a column for each that \
                     it writes.",
                    Form::Shape,
                    move || lens(sizes),
                )
            },
        },
        Question {
            id: "scores-shape",
            title: "The shape of scores_i",
            section: "The steps, with shapes",
            pose: |seed| {
                let sizes @ Sizes { n_tokens, d_model, n_heads, .. } = sizes(seed);
                Instance::new(
                    format!(
                        "{n_tokens} tokens of {d_model} numbers go through a layer of \
                         {n_heads} heads. What is the shape of scores_i, the scores of one \
                         head?"
                    ),
                    "There is one score for each pair of a query and a key.",
                    Form::Shape,
                    move || scores(sizes),
                )
            },
        },
        Question {
            id: "concat-shape",
            title: "The shape of the concatenation",
            section: "The heads in code",
            pose: |seed| {
                let sizes @ Sizes { n_tokens, d_model, n_heads, .. } = sizes(seed);
                Instance::new(
                    format!(
                        "{n_tokens} tokens of {d_model} numbers, {n_heads} heads that share \
                         the width. What is the shape of concat, what the heads put out \
                         before W^O?"
                    ),
                    "The heads' outputs stand side by side.",
                    Form::Shape,
                    move || concatenation(sizes),
                )
            },
        },
        Question {
            id: "before-mixing",
            title: "One head changes, before W^O",
            section: "Side by side is not together",
            pose: |seed| {
                let sizes @ Sizes { d_model, n_heads, head, .. } = sizes(seed);
                Instance::new(
                    format!(
                        "Tokens of {d_model} numbers, {n_heads} heads that share the width. \
                         Raise every number of the output of head {head} by one. How many \
                         of the columns of concat change?"
                    ),
                    "Which columns does a head write into?",
                    Form::Whole,
                    move || before_mixing(sizes),
                )
            },
        },
        Question {
            id: "after-mixing",
            title: "One head changes, after W^O",
            section: "The mixer, W^O",
            pose: |seed| {
                let sizes @ Sizes { d_model, n_heads, head, .. } = sizes(seed);
                let d_v = d_model / n_heads;
                Instance::new(
                    format!(
                        "d_model is {d_model}, and there are {n_heads} heads of {d_v} \
                         numbers each. Raise every number of the output of head {head} by \
                         one. How many of the {d_model} columns of the layer's output, after \
                         W^O, stay as they were?"
                    ),
                    "Write one number of the output as a sum. Over what does it run?",
                    Form::Whole,
                    move || after_mixing(sizes),
                )
            },
        },
    ],
};

impl Sizes {
    fn layer(self) -> Result<LayerParameters> {
        Ok(layer(Dims::new(self.d_model, self.n_heads)?, true))
    }

    fn tokens(self) -> Matrix {
        tokens(self.n_tokens, self.d_model)
    }

    fn trace(self) -> Result<ShapeTrace> {
        Ok(PerHeadAttention::new(self.layer()?).trace(&self.tokens())?)
    }
}

fn lens(sizes: Sizes) -> Result<Outcome> {
    let layer = sizes.layer()?;
    let (dims, shape) = (layer.dims(), layer.heads()[0].w_q.weight.shape());
    let (_, line) = step(&sizes.trace()?, "Q_i")?;
    let why = "A head reads the whole token, so its matrix has a row for each of its \
               numbers. It writes a narrow one, d_k = d_model / h. What the heads share is \
               the width that they write.";
    Ok(Outcome::new(Answer::Shape(shape), line, why)
        .slip(
            Answer::Shape((sizes.d_model, sizes.d_model)),
            "That is the matrix of all heads together.",
        )
        .slip(
            Answer::Shape((dims.d_k(), dims.d_k())),
            "That would read a slice of the token, and a head reads all of it.",
        )
        .slip(
            Answer::Shape((shape.1, shape.0)),
            "That is the other way round: rows go in and columns come out.",
        ))
}

fn scores(sizes: Sizes) -> Result<Outcome> {
    let trace = sizes.trace()?;
    let (step, line) = step(&trace, "scores_i")?;
    let (q, k_t) = (step.from[0], step.from[1]);
    let why = "One score for each query and each key: the product with K transposed \
               sums over d_k and leaves the tokens. The width of a head is not in it.";
    Ok(Outcome::new(Answer::Shape(step.to), line, why)
        .slip(Answer::Shape(q), "That is the shape of Q_i.")
        .slip(Answer::Shape(k_t), "That is the shape of K_i transposed.")
        .slip(Answer::Shape((q.1, q.1)), "That is Q_iᵀ K_i, which sums over tokens."))
}

fn concatenation(sizes: Sizes) -> Result<Outcome> {
    let trace = sizes.trace()?;
    let (step, line) = step(&trace, "concat")?;
    let one = step.from[0];
    let why = "The outputs side by side have the width of a token again. They are not \
               added, and not set one below the other.";
    Ok(Outcome::new(Answer::Shape(step.to), line, why)
        .slip(Answer::Shape(one), "That is one head, or the sum of all.")
        .slip(
            Answer::Shape((one.0 * sizes.n_heads, one.1)),
            "That sets the heads one below the other.",
        ))
}

/// Which columns change when each number of a head's output is raised by one: of the
/// concatenation, and of the output.
fn changed(sizes: Sizes) -> Result<[Vec<usize>; 2]> {
    let layer = PerHeadAttention::new(sizes.layer()?);
    let x = sizes.tokens();
    let mut heads = layer.heads(&x, &x, &x, &Mask::None)?;
    let before = concat(heads.iter().map(|head| &head.out))?;
    heads[sizes.head].out.add_scalar_mut(1.0);
    let after = concat(heads.iter().map(|head| &head.out))?;
    let w_o = layer.parameters().w_o();
    let pairs = [(w_o.forward(&before)?, w_o.forward(&after)?), (before, after)];
    let [mixed, side_by_side] = pairs.map(|(before, after): (Matrix, Matrix)| {
        let differs = |&at: &usize| before.column(at) != after.column(at);
        (0..before.ncols()).filter(differs).collect::<Vec<usize>>()
    });
    Ok([side_by_side, mixed])
}

fn in_words(what: &str, columns: &[usize], of: usize) -> String {
    let (first, last) = (columns.first(), columns.last());
    let range = first
        .zip(last)
        .map_or(String::new(), |(first, last)| format!(": columns {first} to {last}"));
    format!("{what}   {} of {of} columns change{range}", columns.len())
}

fn before_mixing(sizes: Sizes) -> Result<Outcome> {
    let [side_by_side, mixed] = changed(sizes)?;
    let why = "Head i fills its own columns, i · d_v to (i + 1) · d_v, and no others. \
               Concatenation leaves the heads apart.";
    let shown = in_words("concat", &side_by_side, sizes.d_model);
    Ok(Outcome::new(Answer::Whole(side_by_side.len()), shown, why)
        .slip(Answer::Whole(mixed.len()), "That many change after W^O.")
        .slip(Answer::Whole(1), "That would be one column per head, and a head has d_v."))
}

fn after_mixing(sizes: Sizes) -> Result<Outcome> {
    let [side_by_side, mixed] = changed(sizes)?;
    let of = sizes.d_model;
    let why = "Every number of the output is a weighted sum over the whole concatenation, \
               and so over all heads. That is what W^O is for.";
    let shown =
        in_words("concat", &side_by_side, of) + "\n" + &in_words("output", &mixed, of);
    Ok(Outcome::new(Answer::Whole(of - mixed.len()), shown, why)
        .slip(
            Answer::Whole(of - side_by_side.len()),
            "That many stay in the concatenation, before W^O.",
        )
        .slip(Answer::Whole(mixed.len()), "That is how many change."))
}
