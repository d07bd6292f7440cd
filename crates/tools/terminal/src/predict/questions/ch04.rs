//! Chapter 4: a lens per head.

use anyhow::Result;
use attention::{Dims, LayerParameters, Mask, Matrix, ShapeTrace};
use per_head::{PerHeadAttention, concat};

use super::super::answer::{Answer, Form};
use super::parts::{layer, step, tokens};
use super::{Chapter, Outcome, Question};

/// The sizes in the texts below.
const N_TOKENS: usize = 30;
const D_MODEL: usize = 256;
const N_HEADS: usize = 8;

pub const CHAPTER: Chapter = Chapter {
    number: 4,
    title: "A lens per head",
    questions: &[
        Question {
            id: "lens-shape",
            title: "The shape of W_i^Q",
            section: "A lens, not a slice",
            text: "30 tokens of 256 numbers go through a layer of 8 heads that share the \
                   width. What is the shape of W_i^Q, the query matrix of one head?",
            hint: "It has a row for each number that it reads, and a column for each that \
                   it writes.",
            form: Form::Shape,
            run: lens,
        },
        Question {
            id: "scores-shape",
            title: "The shape of scores_i",
            section: "The steps, with shapes",
            text: "30 tokens of 256 numbers go through a layer of 8 heads. What is the \
                   shape of scores_i, the scores of one head?",
            hint: "There is one score for each pair of a query and a key.",
            form: Form::Shape,
            run: scores,
        },
        Question {
            id: "concat-shape",
            title: "The shape of the concatenation",
            section: "The heads in code",
            text: "30 tokens of 256 numbers, 8 heads that share the width. What is the \
                   shape of concat, what the heads give before W^O?",
            hint: "The heads' outputs stand side by side.",
            form: Form::Shape,
            run: concatenation,
        },
        Question {
            id: "before-mixing",
            title: "One head changes, before W^O",
            section: "Side by side is not together",
            text: "Tokens of 256 numbers, 8 heads. Raise every number of the output of \
                   head 3 by one. How many of the columns of concat change?",
            hint: "Which columns does a head write into?",
            form: Form::Whole,
            run: before_mixing,
        },
        Question {
            id: "after-mixing",
            title: "One head changes, after W^O",
            section: "The mixer",
            text: "There are 8 heads of 32 numbers each, which share the width of a token: \
                   d_model = h · d_v. Raise every number of the output of head 3 by one. \
                   How many columns of the layer's output change, that is, after W^O?",
            hint: "Write one number of the output as a sum. Over what does it run?",
            form: Form::Whole,
            run: after_mixing,
        },
    ],
};

fn random_layer() -> Result<LayerParameters> {
    Ok(layer(Dims::new(D_MODEL, N_HEADS)?, true))
}

fn trace() -> Result<ShapeTrace> {
    let layer = PerHeadAttention::new(random_layer()?);
    Ok(layer.trace(&tokens(N_TOKENS, D_MODEL))?)
}

fn lens() -> Result<Outcome> {
    let dims = random_layer()?.dims();
    let shape = random_layer()?.heads()[0].w_q.weight.shape();
    let (_, line) = step(&trace()?, "Q_i")?;
    let why = "A head reads the whole token, so its matrix has a row for each of its \
               numbers. It writes a narrow one, d_k = d_model / h. What the heads share is \
               the width that they write.";
    Ok(Outcome::new(Answer::Shape(shape), line, why)
        .slip(
            Answer::Shape((D_MODEL, D_MODEL)),
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

fn scores() -> Result<Outcome> {
    let trace = trace()?;
    let (step, line) = step(&trace, "scores_i")?;
    let (q, k_t) = (step.from[0], step.from[1]);
    let why = "One score for each query and each key: the product with K turned adds up \
               over d_k and leaves the tokens. The width of a head is not in it.";
    Ok(Outcome::new(Answer::Shape(step.to), line, why)
        .slip(Answer::Shape(q), "That is the shape of Q_i.")
        .slip(Answer::Shape(k_t), "That is the shape of K_i turned.")
        .slip(Answer::Shape((q.1, q.1)), "That is Q_iᵀ K_i, which adds up over tokens."))
}

fn concatenation() -> Result<Outcome> {
    let trace = trace()?;
    let (step, line) = step(&trace, "concat")?;
    let one = step.from[0];
    let why = "Eight outputs side by side have the width of a token again. They are not \
               added, and not set one below the other.";
    Ok(Outcome::new(Answer::Shape(step.to), line, why)
        .slip(Answer::Shape(one), "That is one head, or the sum of all.")
        .slip(
            Answer::Shape((one.0 * N_HEADS, one.1)),
            "That sets the heads one below the other.",
        ))
}

/// Which columns change when each number of head 3's output is raised by one: of the
/// concatenation, and of the output.
fn changed() -> Result<[Vec<usize>; 2]> {
    let layer = PerHeadAttention::new(random_layer()?);
    let x = tokens(N_TOKENS, D_MODEL);
    let mut heads = layer.heads(&x, &x, &x, &Mask::None)?;
    let before = concat(heads.iter().map(|head| &head.out))?;
    heads[3].out.add_scalar_mut(1.0);
    let after = concat(heads.iter().map(|head| &head.out))?;
    let w_o = layer.parameters().w_o();
    let pairs = [(w_o.forward(&before)?, w_o.forward(&after)?), (before, after)];
    let [mixed, side_by_side] = pairs.map(|(before, after): (Matrix, Matrix)| {
        let differs = |&at: &usize| before.column(at) != after.column(at);
        (0..before.ncols()).filter(differs).collect::<Vec<usize>>()
    });
    Ok([side_by_side, mixed])
}

fn told(what: &str, columns: &[usize]) -> String {
    let (first, last) = (columns.first(), columns.last());
    let range = first
        .zip(last)
        .map_or(String::new(), |(first, last)| format!(": columns {first} to {last}"));
    format!("{what}   {} of {D_MODEL} columns change{range}", columns.len())
}

fn before_mixing() -> Result<Outcome> {
    let [side_by_side, mixed] = changed()?;
    let why = "Head i fills its own columns, i · d_v to (i + 1) · d_v, and no others. \
               Concatenation leaves the heads apart.";
    let shown = told("concat", &side_by_side);
    Ok(Outcome::new(Answer::Whole(side_by_side.len()), shown, why)
        .slip(Answer::Whole(mixed.len()), "That many change after W^O.")
        .slip(Answer::Whole(1), "That would be one column a head, and a head has d_v."))
}

fn after_mixing() -> Result<Outcome> {
    let [side_by_side, mixed] = changed()?;
    let why = "Every number of the output is a weighted sum over the whole concatenation, \
               and so over all heads. That is what W^O is for.";
    let shown = told("concat", &side_by_side) + "\n" + &told("output", &mixed);
    Ok(Outcome::new(Answer::Whole(mixed.len()), shown, why)
        .slip(Answer::Whole(side_by_side.len()), "That many change before W^O."))
}
