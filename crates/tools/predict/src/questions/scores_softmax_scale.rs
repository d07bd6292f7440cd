//! Scores, softmax and √d_k.

use anyhow::Result;
use attention::{
    Dims, HeadParameters, Mask, Matrix, Rng, SeedableRng, random_matrix, softmax_rows,
};
use single_head::attend;

use super::super::answer::{Answer, Form};
use super::parts::tokens;
use super::{Instance, Outcome, Question, Topic, of};

pub const TOPIC: Topic = Topic {
    name: "scores-softmax-scale",
    questions: &[
        Question {
            id: "softmax-equal",
            title: "Softmax of equal scores",
            section: "From scores to shares: softmax",
            pose: |seed| {
                let (score, n, in_words) =
                    of(seed, [(0.0, 2, "two"), (3.0, 4, "four"), (-2.0, 5, "five")]);
                Instance::new(
                    format!(
                        "A row has the {in_words} scores ({}). What share does the first \
                         key get?",
                        vec![score.to_string().replace('-', "−"); n].join(", ")
                    ),
                    "Equal scores have equal exponentials. What is a row divided by?",
                    Form::Decimal { within: 0.01 },
                    move || equal_scores(score, n),
                )
            },
        },
        Question {
            id: "softmax-huge",
            title: "Softmax of huge scores",
            section: "A softmax that does not break",
            pose: |seed| {
                let (score, n) = of(seed, [(1000.0, 3), (800.0, 4), (5000.0, 2)]);
                Instance::new(
                    format!(
                        "A row has the scores ({}, −∞). What share does the first key get \
                         from softmax_rows?",
                        vec![score.to_string(); n].join(", ")
                    ),
                    "Subtract the largest score from each. What is e to the power of −∞?",
                    Form::Decimal { within: 0.01 },
                    move || huge_scores(score, n),
                )
            },
        },
        Question {
            id: "spread",
            title: "Wider heads, larger scores",
            section: "Why divide by √d_k",
            pose: |seed| {
                let widths = of(seed, [[32, 128], [16, 144], [8, 128]]);
                Instance::new(
                    format!(
                        "Queries and keys are random numbers of spread 1. Their width d_k \
                         grows from {} to {}. How many times as large is the spread of \
                         q · k, before any division? (It is measured, so it will not come \
                         out round.)",
                        widths[0], widths[1]
                    ),
                    "A dot product is a sum of d_k products. Variances add up, and the \
                     spread is the root of the variance.",
                    Form::Decimal { within: 0.2 },
                    move || spread(widths),
                )
            },
        },
        Question {
            id: "divisor",
            title: "What scores are divided by",
            section: "What people get wrong",
            pose: |seed| {
                let (d_model, n_heads) = of(seed, [(384, 12), (600, 6), (768, 12)]);
                Instance::new(
                    format!(
                        "A layer has tokens of {d_model} numbers and {n_heads} heads that \
                         share this width. By what is q · k divided to get a score?"
                    ),
                    "How many products are summed in one dot product?",
                    Form::Decimal { within: 0.05 },
                    move || divisor(d_model, n_heads),
                )
            },
        },
    ],
};

fn equal_scores(score: f64, n: usize) -> Result<Outcome> {
    let scores = Matrix::from_element(1, n, score);
    let shares = softmax_rows(scores.clone());
    let shown = row("scores", &scores) + &row("exp", &scores.map(f64::exp));
    let shown = shown + &row("shares", &shares);
    let why = "Equal exponentials are divided by their sum. Equal scores get equal shares, \
               whatever they are: only differences count.";
    Ok(Outcome::new(Answer::Decimal(shares[0]), shown, why)
        .slip(Answer::Decimal(scores[0]), "That is the score.")
        .slip(
            Answer::Decimal(scores[0].exp()),
            "That is the exponential, before the division.",
        ))
}

fn huge_scores(score: f64, n: usize) -> Result<Outcome> {
    let mut scores = Matrix::from_element(1, n + 1, score);
    scores[n] = f64::NEG_INFINITY;
    let shares = softmax_rows(scores.clone());
    let as_written = |scores: &Matrix| {
        let exp = scores.map(f64::exp);
        &exp / exp.sum()
    };
    let unblocked = softmax_rows(Matrix::from_element(1, n + 1, score));
    let shown = row("scores", &scores)
        + &row("minus the largest", &scores.add_scalar(-scores.max()))
        + &row("shares", &shares)
        + &row("by the formula", &as_written(&scores));
    let why = "The largest score is subtracted first, which changes no share and keeps \
               every exponential at most 1. A score of −∞ gets a share of exactly 0, and \
               the others share the whole row.";
    Ok(Outcome::new(Answer::Decimal(shares[0]), shown, why)
        .slip(
            Answer::Decimal(as_written(&scores)[0]),
            "That is what the formula gives as it is written: e to such a power is ∞ in a \
             computer.",
        )
        .slip(
            Answer::Decimal(unblocked[0]),
            "That gives the last key a share too, and its score is −∞.",
        ))
}

fn spread(widths: [usize; 2]) -> Result<Outcome> {
    let rng = &mut Rng::seed_from_u64(6);
    let measured = widths.map(|d_k| {
        let q: Matrix = random_matrix(256, d_k, 1.0, rng);
        let k: Matrix = random_matrix(64, d_k, 1.0, rng);
        let raw = q * k.transpose(); // [256, 64]
        let divided = &raw / (d_k as f64).sqrt();
        [raw.variance().sqrt(), divided.variance().sqrt()]
    });
    let [narrow, wide] = measured;
    let [grows, divided] = [0, 1].map(|at| wide[at] / narrow[at]);
    let mut shown = format!("{:>4}  {:>6}  {:>13}\n", "d_k", "q · k", "q · k / √d_k");
    for (d_k, [raw, divided]) in widths.iter().zip(measured) {
        shown += &format!("{d_k:>4}  {raw:>6.2}  {divided:>13.2}\n");
    }
    shown += &format!("{:>4}  {grows:>6.2}  {divided:>13.2}", "×");
    let ratio = widths[1] / widths[0];
    let why = format!(
        "The variance of a sum of d_k products is d_k, so its spread is √d_k, and √{ratio} \
         is {}. Divided by √d_k, the spread stays where it is at every width.",
        (ratio as f64).sqrt()
    );
    Ok(Outcome::new(Answer::Decimal(grows), shown, why)
        .slip(Answer::Decimal(grows.powi(2)), "That is how the variance grows.")
        .slip(Answer::Decimal(divided), "That is it after the division by √d_k."))
}

fn divisor(d_model: usize, n_heads: usize) -> Result<Outcome> {
    let dims = Dims::new(d_model, n_heads)?;
    let head: HeadParameters =
        HeadParameters::random(dims, true, &mut Rng::seed_from_u64(1));
    let x = tokens(2, d_model);
    let pass = attend(&head, &x, &x, &x, &Mask::None)?;
    let dot = pass.q.row(0).dot(&pass.k.row(0));
    let score = pass.scores[(0, 0)];
    let d_k = pass.q.ncols();
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
            Answer::Decimal((d_model as f64).sqrt()),
            "That is √d_model. Rows would come out too even.",
        )
        .slip(Answer::Decimal(d_k as f64), "That is d_k, without the root."))
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
