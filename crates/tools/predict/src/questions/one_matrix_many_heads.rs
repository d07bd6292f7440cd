//! One matrix, many heads.

use std::collections::HashSet;

use anyhow::Result;
use attention::{Dims, Matrix, View};
use fused_heads::FusedAttention;

use super::super::answer::{Answer, Form};
use super::super::text::counted;
use super::parts::{layer, tokens};
use super::{Instance, Outcome, Question, Topic, of};

pub const TOPIC: Topic = Topic {
    name: "one-matrix-many-heads",
    questions: &[
        Question {
            id: "packed-shape",
            title: "The shape of the fused W^Q",
            section: "The formula, with shapes",
            pose: |seed| {
                let (d_model, n_heads, d_k) =
                    of(seed, [(512, 6, 64), (300, 4, 50), (128, 3, 80)]);
                Instance::new(
                    format!(
                        "A layer takes tokens of {d_model} numbers and has {n_heads} heads, \
                         each {d_k} wide. (The code allows it: the heads need not fill the \
                         width.) What is the shape of the one W^Q for all heads?"
                    ),
                    "Set the matrices of the heads side by side.",
                    Form::Shape,
                    move || packed(d_model, n_heads, d_k),
                )
            },
        },
        Question {
            id: "view-without-transpose",
            title: "Heads cut without a transpose",
            section: "What others do: view (or reshape), then transpose",
            pose: |seed| {
                let (n_tokens, width, n_heads) =
                    of(seed, [(10, 384, 12), (12, 384, 4), (30, 256, 8)]);
                Instance::new(
                    format!(
                        "The queries of {n_tokens} tokens lie in memory row after row, \
                         {width} numbers each, for {n_heads} heads. A program cuts this line \
                         of numbers into {n_heads} equal pieces and calls each a head. From \
                         how many tokens are the numbers of the first piece?"
                    ),
                    "How many numbers does a piece have, and how many does a token have?",
                    Form::Whole,
                    move || view(n_tokens, width, n_heads),
                )
            },
        },
    ],
};

fn packed(d_model: usize, n_heads: usize, d_k: usize) -> Result<Outcome> {
    let dims = Dims::with_head_sizes(d_model, n_heads, d_k, d_k)?;
    let parameters = layer::<f32>(dims, false);
    let one = parameters.heads()[0].w_q.weight.shape();
    let fused = FusedAttention::new(&parameters);
    let all = fused.parameters().w_q().weight.shape();
    let shown = format!("{} × {one:?} side by side → {all:?}", dims.n_heads());
    let why = "W^Q is h · d_k wide, a block of columns per head. It is square in most layers \
               only since h · d_k is chosen to be d_model.";
    Ok(Outcome::new(Answer::Shape(all), shown, why)
        .slip(
            Answer::Shape((dims.d_model(), dims.d_model())),
            "That would be so if the heads filled the width.",
        )
        .slip(
            Answer::Shape((dims.d_model(), dims.n_heads() * dims.d_model())),
            "That is h · d_model wide, as if each head wrote a whole token.",
        )
        .slip(Answer::Shape(one), "That is the matrix of one head.")
        .slip(
            Answer::Shape((all.1, all.0)),
            "That is the other way round: rows go in and columns come out.",
        ))
}

fn view(n_tokens: usize, width: usize, n_heads: usize) -> Result<Outcome> {
    let (q, d_k): (Matrix, usize) = (tokens(n_tokens, width), width / n_heads);
    // Column-major and transposed is row-major: the queries as others have them in memory.
    let line = q.transpose();
    let piece = &line.as_slice()[..line.len() / n_heads];
    let bits: HashSet<u64> = piece.iter().map(|number| number.to_bits()).collect();
    let is_seen = |part: View<'_>| part.iter().any(|it| bits.contains(&it.to_bits()));
    let tokens = (0..n_tokens).filter(|&i| is_seen(q.rows(i, 1).as_view())).count();
    let heads = (0..n_heads).filter(|&i| is_seen(q.columns(i * d_k, d_k).as_view()));
    let heads = heads.count();
    let shown = format!(
        "a piece has {} numbers, a token has {width}\n\
         piece 0 has numbers of {}, from {}\n\
         head 0 should have numbers of {}, from {}",
        piece.len(),
        counted(tokens, "token"),
        counted(heads, "head"),
        counted(n_tokens, "token"),
        counted(1, "head"),
    );
    let why = "A view cuts the line of numbers anew and does not know what they mean. \
               First view (tokens, heads, d_k), then transpose tokens and heads. The wrong \
               cut has the right shape, so no test of shapes finds it.";
    Ok(Outcome::new(Answer::Whole(tokens), shown, why)
        .slip(
            Answer::Whole(n_tokens),
            "That is how it should be, and it takes a transpose.",
        )
        .slip(Answer::Whole(n_heads), "That is the number of heads."))
}
