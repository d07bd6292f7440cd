//! Bad numbers.

use anyhow::Result;
use attention::{Dims, Mask, Matrix, MultiHeadAttention, softmax_rows, thousands};
use fused_heads::FusedAttention;

use super::super::answer::{Answer, Form};
use super::parts::{layer, listed, tokens};
use super::{Instance, Outcome, Question, Topic, of};

const ROWS: [&str; 3] = ["zeros", "an even row", "NaN"];

pub const TOPIC: Topic = Topic {
    name: "bad-numbers",
    questions: &[
        Question {
            id: "empty-row",
            title: "A query with nothing to attend to",
            section: "A query with nothing to attend to",
            pose: |seed| {
                let n_kv = of(seed, [4, 3, 6]);
                Instance::new(
                    format!(
                        "A mask leaves a query none of its {n_kv} keys. What is its row of \
                         the attention map in this workspace?"
                    ),
                    "The formula divides 0 by 0. What says “nothing was read”, and breaks \
                     nothing that comes after?",
                    Form::Choice(&ROWS),
                    move || empty_row(n_kv),
                )
            },
        },
        Question {
            id: "small-fill",
            title: "A fill that is not low enough",
            section: "−∞ or −1e9?",
            pose: |seed| {
                let sets = [
                    [-12e3, -12_001.0, -1e4],
                    [-2e3, -2001.0, -1e4],
                    [-70e3, -70_003.0, -65_504.0],
                ];
                let numbers @ [one, other, fill] = of(seed, sets);
                Instance::new(
                    format!(
                        "Two keys have scores of {} and {}, and a third key is blocked. The \
                         code gives it a score of {}. What share does the blocked key get?",
                        negative(one),
                        negative(other),
                        negative(fill)
                    ),
                    "Which of the three scores is the largest, and by how much?",
                    Form::Decimal { within: 0.01 },
                    move || small_fill(numbers),
                )
            },
        },
        Question {
            id: "bare-softmax",
            title: "Softmax by the bare formula",
            section: "Huge scores",
            pose: |seed| {
                let sets =
                    [[1e4, 1e4, -1e4], [-900.0, -900.0, -901.0], [600.0, 600.0, 590.0]];
                let scores = of(seed, sets);
                let words = scores.map(|score| {
                    if score < 0.0 { negative(score) } else { thousands(score as usize) }
                });
                Instance::new(
                    format!(
                        "A program computes exp(s) and divides by the sum, in f64, without \
                         subtracting anything first. The scores are {}. What comes out as \
                         the share of the first key?",
                        listed(&words)
                    ),
                    "e to the power of 709 is the last that an f64 has room for, and e to \
                     the power of −745 is the smallest that is not 0.",
                    Form::Decimal { within: 0.01 },
                    move || bare_softmax(&scores),
                )
            },
        },
        Question {
            id: "nan-causal",
            title: "How far a NaN gets under a causal mask",
            section: "How far a NaN gets",
            pose: |seed| {
                let (n_tokens, bad) = of(seed, [(5, 2), (6, 4), (8, 1)]);
                Instance::new(
                    format!(
                        "A layer gets {n_tokens} tokens, and one number of token {bad} \
                         (counted from 0) is NaN. The mask is causal. How many of the \
                         {n_tokens} rows of the output are NaN?"
                    ),
                    "Which queries see that token, itself among them?",
                    Form::Whole,
                    move || nan_under(n_tokens, bad),
                )
            },
        },
    ],
};

/// A negative number as it is printed: −12,000.
fn negative(number: f64) -> String {
    format!("−{}", thousands(-number as usize))
}

fn empty_row(n_kv: usize) -> Result<Outcome> {
    let scores: Matrix = tokens(1, n_kv);
    let blocked = Mask::FirstKeys(0).apply(scores.clone());
    let by_formula = blocked.map(f64::exp) / blocked.map(f64::exp).sum();
    let filled = softmax_rows(Matrix::from_element(1, n_kv, -1e9));
    let kinds = [&softmax_rows(blocked), &filled, &by_formula].map(kind);
    let shown = format!(
        "−∞ and softmax_rows      {}\n\
         −1e9 for each score      {}\n\
         −∞ and the formula       {}",
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
    } else if row.iter().all(|&share| (share - even).abs() < 1e-12) {
        ROWS[1]
    } else if row.iter().all(|share| share.is_nan()) {
        ROWS[2]
    } else {
        "some other row"
    }
}

fn small_fill([one, other, fill]: [f64; 3]) -> Result<Outcome> {
    let shares =
        |blocked: f64| softmax_rows(Matrix::from_row_slice(1, 3, &[one, other, blocked]));
    let line = |name: &str, shares: &Matrix| {
        let shares = shares.iter().map(|share| format!("{share:>8.4}"));
        format!("{name:<22}{}\n", shares.collect::<String>())
    };
    let (filled, blocked) = (shares(fill), shares(f64::NEG_INFINITY));
    let even = softmax_rows(Matrix::from_element(1, 3, 0.0));
    let shown = line(&format!("filled with {}", negative(fill)), &filled)
        + &line("blocked with −∞", &blocked);
    let equal = "That would be so if all three scores were equal.";
    let outcome = |why: &str| {
        let answer = Answer::Decimal(filled[2]);
        Outcome::new(answer, shown.clone(), why).slip(Answer::Decimal(even[2]), equal)
    };
    Ok(if filled[2] > 0.5 {
        outcome(
            "A fill must be lower than any score that may come. This one is the largest of \
             the row, so the blocked key takes everything. −∞ is lower than any score.",
        )
        .slip(Answer::Decimal(blocked[2]), "That is what −∞ gives, as it should be.")
    } else {
        outcome(
            "This fill is thousands below the other scores, and e to such a power is 0. With \
             scores below the fill it would be the blocked key that takes everything.",
        )
        .slip(
            Answer::Decimal(shares(one.max(other) + 1e3)[2]),
            "That would be so if the fill were the largest of the three.",
        )
    })
}

fn bare_softmax(scores: &[f64; 3]) -> Result<Outcome> {
    let scores = Matrix::from_row_slice(1, 3, scores);
    let exp = scores.map(f64::exp);
    let (bare, right) = (&exp / exp.sum(), softmax_rows(scores.clone()));
    let line = |name: &str, row: &Matrix| {
        let row = row.iter().map(|x| match x {
            x if *x == 0.0 || x.abs() >= 1e4 || x.abs() < 1e-4 => format!("  {x:>9.1e}"),
            x => format!("  {x:>9.4}"),
        });
        format!("{name:<14}{}\n", row.collect::<String>())
    };
    let shown =
        line("exp", &exp) + &line("the formula", &bare) + &line("softmax_rows", &right);
    let outcome = |why: &str| Outcome::new(Answer::Decimal(bare[0]), shown.clone(), why);
    Ok(if bare[0].is_nan() {
        let why = "∞ / ∞ and 0 / 0 have no answer. Subtract the largest score first, and the \
                   largest exponential is 1.";
        outcome(why).slip(Answer::Decimal(right[0]), "That is what softmax_rows gives.")
    } else {
        let why = "These exponentials are huge, and an f64 still has room for them. A little \
                   more and the formula gives NaN.";
        outcome(why)
            .slip(Answer::Decimal(f64::NAN), "That begins above 709.")
            .slip(Answer::Decimal(1.0), "Two keys have the largest score.")
    })
}

fn nan_under(n_tokens: usize, bad: usize) -> Result<Outcome> {
    let layer = FusedAttention::new(&layer(Dims::new(16, 2)?, true));
    let mut x: Matrix = tokens(n_tokens, 16);
    x[(bad, 0)] = f64::NAN;
    let broken = |mask: &Mask| -> Result<Vec<bool>> {
        let out = layer.self_attend(&x, mask)?.out;
        Ok(out.row_iter().map(|row| row.iter().any(|number| number.is_nan())).collect())
    };
    let blocked = Matrix::from_fn(n_tokens, n_tokens, |_, j| j != bad);
    let masks = [
        ("no mask", Mask::None),
        ("causal", Mask::Causal),
        ("that token blocked", Mask::Allowed(blocked)),
    ];
    let mut shown = String::new();
    let mut counts = Vec::new();
    for (name, mask) in &masks {
        let broken = broken(mask)?;
        let cells = broken.iter().map(|&is_nan| if is_nan { "  NaN" } else { "    ·" });
        shown += &format!("{name:<20}{}\n", cells.collect::<String>());
        counts.push(broken.iter().filter(|&&is_nan| is_nan).count());
    }
    let why = "A query that sees the token reads its value, and an average over a number \
               that is not there has no value. Queries before it do not see it.";
    Ok(Outcome::new(Answer::Whole(counts[1]), shown, why)
        .slip(Answer::Whole(counts[0]), "That is without a mask.")
        .slip(
            Answer::Whole(counts[2]),
            "That is if the token is blocked for every query.",
        ))
}
