//! Chapter 2: scores, softmax and √d_k.

use anyhow::Result;
use attention::{Mask, Matrix, Rng, SeedableRng, random_matrix, softmax_rows};
use single_head::attend;

use super::super::answer::{Answer, Form};
use super::{Chapter, Outcome, Question};

pub const CHAPTER: Chapter = Chapter {
    number: 2,
    title: "Scores, softmax and √d_k",
    questions: &[
        Question {
            id: "softmax-equal",
            title: "Softmax of equal scores",
            section: "From scores to shares",
            text: "A row has the two scores (0, 0). What share does the first key get?",
            hint: "What is e to the power of 0? And what is a row divided by?",
            form: Form::Decimal { within: 0.01 },
            run: equal_scores,
        },
        Question {
            id: "softmax-huge",
            title: "Softmax of huge scores",
            section: "A softmax that does not break",
            text: "A row has the scores (1000, 1000, 1000, −∞). What share does the first \
                   key get from softmax_rows?",
            hint: "Subtract the largest score from each. What is e to the power of −∞?",
            form: Form::Decimal { within: 0.01 },
            run: huge_scores,
        },
        Question {
            id: "spread",
            title: "Wider heads, larger scores",
            section: "Why divide by √d_k",
            text: "Queries and keys are random numbers of spread 1. Their width d_k grows \
                   from 32 to 128. How many times as large is the spread of q · k, before \
                   any division? (It is measured, so it will not come out round.)",
            hint: "A dot product is a sum of d_k products. Variances add up, and the spread \
                   is the root of the variance.",
            form: Form::Decimal { within: 0.2 },
            run: spread,
        },
        Question {
            id: "divisor",
            title: "What scores are divided by",
            section: "What people get wrong",
            text: "The trained layer has tokens of 384 numbers and 12 heads. By what is \
                   q · k divided to give a score?",
            hint: "How many products are added up in one dot product?",
            form: Form::Decimal { within: 0.05 },
            run: divisor,
        },
    ],
};

fn equal_scores() -> Result<Outcome> {
    let scores = Matrix::from_row_slice(1, 2, &[0.0, 0.0]);
    let shares = softmax_rows(scores.clone());
    let shown = row("scores", &scores) + &row("exp", &scores.map(f64::exp));
    let shown = shown + &row("shares", &shares);
    let why = "e⁰ is 1, and the row is divided by its sum. Equal scores share evenly, \
               whatever they are: only differences count.";
    Ok(Outcome::new(Answer::Decimal(shares[0]), shown, why)
        .slip(Answer::Decimal(scores[0]), "That is the score.")
        .slip(Answer::Decimal(scores[0].exp()), "That is e⁰, before the division."))
}

fn huge_scores() -> Result<Outcome> {
    let scores = Matrix::from_row_slice(1, 4, &[1e3, 1e3, 1e3, f64::NEG_INFINITY]);
    let shares = softmax_rows(scores.clone());
    let as_written = |scores: &Matrix| {
        let exp = scores.map(f64::exp);
        &exp / exp.sum()
    };
    let unblocked = softmax_rows(Matrix::from_element(1, 4, scores[0]));
    let shown = row("scores", &scores)
        + &row("minus the largest", &scores.add_scalar(-scores.max()))
        + &row("shares", &shares)
        + &row("by the formula", &as_written(&scores));
    let why = "The largest score is subtracted first, which changes no share and keeps \
               every exponential at most 1. A score of −∞ gets a share of exactly 0, and \
               the others share out the whole row.";
    Ok(Outcome::new(Answer::Decimal(shares[0]), shown, why)
        .slip(
            Answer::Decimal(as_written(&scores)[0]),
            "That comes of the formula as it is written: e¹⁰⁰⁰ is ∞ in a computer.",
        )
        .slip(
            Answer::Decimal(unblocked[0]),
            "That gives the last key a share too, and its score is −∞.",
        ))
}

fn spread() -> Result<Outcome> {
    let rng = &mut Rng::seed_from_u64(6);
    let mut measured = |d_k: usize| {
        let q: Matrix = random_matrix(256, d_k, 1.0, rng);
        let k: Matrix = random_matrix(64, d_k, 1.0, rng);
        let raw = q * k.transpose(); // [256, 64]
        let divided = &raw / (d_k as f64).sqrt();
        [raw.variance().sqrt(), divided.variance().sqrt()]
    };
    let (narrow, wide) = (measured(32), measured(128));
    let [grows, divided] = [0, 1].map(|at| wide[at] / narrow[at]);
    let mut shown = format!("{:>4}  {:>6}  {:>13}\n", "d_k", "q · k", "q · k / √d_k");
    for (d_k, [raw, divided]) in [(32, narrow), (128, wide)] {
        shown += &format!("{d_k:>4}  {raw:>6.2}  {divided:>13.2}\n");
    }
    shown += &format!("{:>4}  {grows:>6.2}  {divided:>13.2}", "×");
    let why = "The variance of a sum of d_k products is d_k, so its spread is √d_k, and √4 \
               is 2. Divided by √d_k, the spread stays where it is at every width.";
    Ok(Outcome::new(Answer::Decimal(grows), shown, why)
        .slip(Answer::Decimal(grows.powi(2)), "That is how the variance grows.")
        .slip(Answer::Decimal(divided), "That is it after the division by √d_k."))
}

fn divisor() -> Result<Outcome> {
    let trained = pretrained::minilm()?;
    let x = &trained.sentence("pilot")?.input;
    let pass = attend(&trained.parameters.heads()[0], x, x, x, &Mask::None)?;
    let dot = pass.q.row(0).dot(&pass.k.row(0));
    let score = pass.scores[(0, 0)];
    let (d_model, d_k) = (x.ncols() as f64, pass.q.ncols() as f64);
    let shown = format!(
        "head 0, query 0, key 0\n\
         q · k   {dot:.3}, a sum of {d_k} products\n\
         score   {score:.3}\n\
         q · k / score = {:.3}",
        dot / score
    );
    let why = format!(
        "A head of this layer is d_k = {d_k} wide, and √{d_k} keeps the spread of its \
         scores near 1. The width of a token does not enter."
    );
    Ok(Outcome::new(Answer::Decimal(dot / score), shown, why)
        .slip(
            Answer::Decimal(d_model.sqrt()),
            "That is √d_model. Rows would come out too even.",
        )
        .slip(Answer::Decimal(d_k), "That is d_k, without the root."))
}

/// A row of numbers under its name.
fn row(name: &str, numbers: &Matrix) -> String {
    let numbers = numbers.iter().map(|&number| {
        let text = if number == f64::NEG_INFINITY {
            "−∞".to_owned()
        } else if number.fract() == 0.0 {
            number.to_string()
        } else {
            format!("{number:.3}")
        };
        format!("  {text:>5}")
    });
    format!("{name:<17}{}\n", numbers.collect::<String>())
}
