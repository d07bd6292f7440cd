//! Chapter 7: masks, batches and bad numbers.

use anyhow::Result;
use attention::{Dims, Mask, Matrix, MultiHeadAttention, softmax_rows};
use fused_heads::FusedAttention;

use super::super::answer::{Answer, Form};
use super::parts::{layer, tokens};
use super::{Chapter, Outcome, Question};

const ROWS: [&str; 3] = ["zeros", "an even row", "NaN"];

pub const CHAPTER: Chapter = Chapter {
    number: 7,
    title: "Masks, batches and bad numbers",
    questions: &[
        Question {
            id: "causal-open",
            title: "What a causal mask leaves open",
            section: "Causal",
            text: "A causal mask lies on a map of 6 queries and 6 keys. How many of its 36 \
                   entries does it leave open?",
            hint: "Query 0 may attend to itself. Query 1 to itself and one more.",
            form: Form::Whole,
            run: causal,
        },
        Question {
            id: "cross-shape",
            title: "The scores of cross-attention",
            section: "Attending to another sequence",
            text: "A sequence of 4 tokens asks one of 7 tokens. What is the shape of the \
                   scores of one head?",
            hint: "Who asks has a row.",
            form: Form::Shape,
            run: cross,
        },
        Question {
            id: "empty-row",
            title: "A query with nothing to attend to",
            section: "A query with nothing to attend to",
            text: "A mask leaves a query no key at all. What is its row of the attention \
                   map in this workspace?",
            hint: "The formula divides 0 by 0. What says “nothing was read”, and breaks \
                   nothing that comes after?",
            form: Form::Choice(&ROWS),
            run: empty_row,
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

fn causal() -> Result<Outcome> {
    let n = 6;
    let shown = picture(&Mask::Causal, (n, n));
    let open = shown.matches(" x").count();
    let why = "Query i attends to the keys 0 to i, itself among them: 1 + 2 + … + 6, which \
               is n (n + 1) / 2. The last query sees every key.";
    Ok(Outcome::new(Answer::Whole(open), shown, why)
        .slip(
            Answer::Whole(n * n - open),
            "That is how many are blocked: a token may attend to itself, too.",
        )
        .slip(Answer::Whole(n * n / 2), "That is half, and the diagonal is open, too."))
}

fn cross() -> Result<Outcome> {
    let layer = FusedAttention::new(&layer(Dims::new(16, 2)?, true));
    let (query, key): (Matrix, Matrix) = (tokens(4, 16), tokens(7, 16));
    let map = layer.forward(&query, &key, &key, &Mask::None)?.attn[0].shape();
    let (n_q, n_kv) = (query.nrows(), key.nrows());
    let shown = format!("{n_q} queries, {n_kv} keys: a map of {map:?}");
    let why = "A row for each query, a column for each key. Keys and values come in pairs \
               from the sequence that is asked; the output has a row for each query.";
    Ok(Outcome::new(Answer::Shape(map), shown, why)
        .slip(
            Answer::Shape((n_kv, n_q)),
            "That has a row for each key, and a row is one query.",
        )
        .slip(Answer::Shape((n_q, n_q)), "That is self-attention, within who asks.")
        .slip(
            Answer::Shape((n_kv, n_kv)),
            "That is self-attention, within who is asked.",
        ))
}

fn empty_row() -> Result<Outcome> {
    let scores = Matrix::from_row_slice(1, 4, &[2.0, 1.0, 0.5, -1.0]);
    let blocked = Mask::FirstKeys(0).apply(scores.clone());
    let by_formula = blocked.map(f64::exp) / blocked.map(f64::exp).sum();
    let filled = softmax_rows(Matrix::from_element(1, 4, -1e9));
    let kinds = [&softmax_rows(blocked), &filled, &by_formula].map(kind);
    let shown = format!(
        "−∞ and softmax_rows      {}\n−1e9 in place of each    {}\n−∞ and the formula       {}",
        kinds[0], kinds[1], kinds[2]
    );
    let why = "Zeros say that nothing was read. They stay finite, and leave W^O's bias as \
               the output of that query.";
    let [row, filled, by_formula] = kinds.map(|kind| Answer::Choice(kind.to_owned()));
    Ok(Outcome::new(row, shown, why)
        .slip(
            filled,
            "That comes of filling with −1e9: the query attends evenly to exactly the keys \
             that it was told to ignore.",
        )
        .slip(
            by_formula,
            "That is 0 / 0, as the formula gives it. One layer later it is in every row.",
        ))
}

/// Which of [`ROWS`] a row is.
fn kind(row: &Matrix) -> &'static str {
    let even = 1.0 / row.len() as f64;
    if row.iter().all(|&share| share == 0.0) {
        ROWS[0]
    } else if row.iter().all(|&share| share == even) {
        ROWS[1]
    } else if row.iter().all(|share| share.is_nan()) {
        ROWS[2]
    } else {
        "some other row"
    }
}
