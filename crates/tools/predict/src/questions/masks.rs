//! Masks and batches.

use anyhow::Result;
use attention::{Dims, Mask, Matrix, MultiHeadAttention};
use fused_heads::FusedAttention;

use super::super::answer::{Answer, Form};
use super::parts::{layer, tokens};
use super::{Instance, Outcome, Question, Topic, of};

pub const TOPIC: Topic = Topic {
    name: "masks",
    questions: &[
        Question {
            id: "causal-open",
            title: "What a causal mask leaves open",
            section: "Causal",
            pose: |seed| {
                let n = of(seed, [6, 7, 8]);
                Instance::new(
                    format!(
                        "A causal mask lies on a map of {n} queries and {n} keys. How many \
                         of its {} entries does it leave open?",
                        n * n
                    ),
                    "The first query may attend to itself. The second to itself and one \
                     more.",
                    Form::Whole,
                    move || causal(n),
                )
            },
        },
        Question {
            id: "causal-aligned",
            title: "The last queries under a causal mask",
            section: "Causal",
            pose: |seed| {
                let (n_q, n_kv) = of(seed, [(2, 6), (3, 8), (2, 9)]);
                Instance::new(
                    format!(
                        "The last {n_q} tokens of a sentence ask all {n_kv} of its tokens, \
                         themselves among them. Under this book's causal mask, how many keys \
                         may the first of these {n_q} queries attend to?"
                    ),
                    "The last query sees every key. And the one before it?",
                    Form::Whole,
                    move || aligned(n_q, n_kv),
                )
            },
        },
        Question {
            id: "cross-shape",
            title: "The scores of cross-attention",
            section: "Attending to another sequence",
            pose: |seed| {
                let (n_q, n_kv) = of(seed, [(4, 7), (3, 9), (6, 2)]);
                Instance::new(
                    format!(
                        "A sequence of {n_q} tokens asks one of {n_kv} tokens. What is the \
                         shape of the scores of one head?"
                    ),
                    "Each query has a row.",
                    Form::Shape,
                    move || cross(n_q, n_kv),
                )
            },
        },
    ],
};

/// `x` where a query may attend to a key.
fn picture(mask: &Mask, (n_q, n_kv): (usize, usize)) -> String {
    let cell = |i, j| {
        if mask.added((i, j), (n_q, n_kv)).is_some() { " x" } else { " ." }
    };
    let row = |i: usize| (0..n_kv).map(|j| cell(i, j)).collect::<String>();
    (0..n_q).map(|i| format!("query {i} {}\n", row(i))).collect()
}

fn causal(n: usize) -> Result<Outcome> {
    let shown = picture(&Mask::Causal, (n, n));
    let open = shown.matches(" x").count();
    let why = format!(
        "Query i attends to the keys 0 to i, itself among them: 1 + 2 + … + {n}, which is \
         n (n + 1) / 2. The last query sees every key."
    );
    Ok(Outcome::new(Answer::Whole(open), shown, why)
        .slip(
            Answer::Whole(n * n - open),
            "That is how many are blocked: a token may attend to itself, too.",
        )
        .slip(Answer::Whole(n * n / 2), "That is half, and the diagonal is open, too."))
}

fn aligned(n_q: usize, n_kv: usize) -> Result<Outcome> {
    let shown = picture(&Mask::Causal, (n_q, n_kv));
    let open = |line: &str| line.matches(" x").count();
    let first = shown.lines().next().map_or(0, open);
    let why = "A causal mask hides what comes after a query. These queries stand at the end \
               of the keys, so the last one sees all, and each one before it one less. \
               PyTorch's is_causal=True counts from the first key instead.";
    Ok(Outcome::new(Answer::Whole(first), shown, why)
        .slip(
            Answer::Whole(1),
            "That counts the queries from the first key on, as PyTorch's is_causal=True \
             does.",
        )
        .slip(Answer::Whole(n_kv), "That is what the last query sees."))
}

fn cross(n_q: usize, n_kv: usize) -> Result<Outcome> {
    let layer = FusedAttention::new(&layer(Dims::new(16, 2)?, true));
    let (query, key): (Matrix, Matrix) = (tokens(n_q, 16), tokens(n_kv, 16));
    let map = layer.forward(&query, &key, &key, &Mask::None)?.attn[0].shape();
    let shown = format!("{n_q} queries, {n_kv} keys: a map of {map:?}");
    let why = "A row for each query, a column for each key. Keys and values come in pairs \
               from the sequence that is asked; the output has a row for each query.";
    Ok(Outcome::new(Answer::Shape(map), shown, why)
        .slip(
            Answer::Shape((n_kv, n_q)),
            "That has a row for each key, and a row is one query.",
        )
        .slip(Answer::Shape((n_q, n_q)), "That is self-attention of the queries.")
        .slip(Answer::Shape((n_kv, n_kv)), "That is self-attention of the keys."))
}
