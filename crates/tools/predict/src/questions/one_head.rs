//! One head.

use anyhow::Result;
use attention::{Mask, Matrix, MultiHeadAttention};
use fused_heads::FusedAttention;

use super::super::answer::{Answer, Form};
use super::parts::{at, attended, sentence};
use super::{Instance, Outcome, Question, Topic, of};

/// Sums in another order differ by less than this.
const ROUNDING: f64 = 1e-9;

const DIGITS: [&str; 2] = ["alike to the last digit", "apart in the last digits"];
const SUMS: [&str; 3] = ["every row", "every column", "every row and column"];

pub const TOPIC: Topic = Topic {
    name: "one-head",
    questions: &[
        Question {
            id: "row-sums",
            title: "What sums to 1 in a map",
            section: "The map",
            pose: |seed| {
                let (name, head) =
                    of(seed, [("pilot", 4), ("river_banks", 2), ("animal_tired", 8)]);
                Instance::new(
                    format!(
                        "“{}” goes through head {head} of the trained layer. Its attention \
                         map has a row for each query and a column for each key. What of it \
                         sums to 1?",
                        sentence(name)
                    ),
                    "Softmax divides one whole into shares. Whose is it?",
                    Form::Choice(&SUMS),
                    move || sums(name, head),
                )
            },
        },
        Question {
            id: "order",
            title: "Two tokens change places",
            section: "The map",
            pose: |seed| {
                let (name, words) = of(
                    seed,
                    [
                        ("pilot", ["pilot", "plane"]),
                        ("bank_loan", ["bank", "loan"]),
                        ("animal_tired", ["animal", "street"]),
                    ],
                );
                Instance::new(
                    format!(
                        "“{}” enters the trained layer, and the rows of {} and {} change \
                         places. How many of the other tokens get another output (beyond \
                         the last digits)?",
                        sentence(name),
                        words[0],
                        words[1]
                    ),
                    "Keys and values change places together. What is a sum to that?",
                    Form::Whole,
                    move || order(name, words),
                )
            },
        },
        Question {
            id: "last-digit",
            title: "Two orders of one sum",
            section: "Is my code wrong? The last digit",
            pose: |seed| {
                let numbers @ [a, b, c] =
                    of(seed, [[0.1, 0.2, 0.3], [0.5, 0.25, 0.125], [0.7, 0.1, 0.3]]);
                Instance::new(
                    format!(
                        "A program computes ({a} + {b}) + {c} in f64, and another one {a} + \
                         ({b} + {c}). How do the results compare?"
                    ),
                    "An f64 stores halves, quarters, eighths and sums of a few of them as they \
                     are. Is each of these numbers one of those?",
                    Form::Choice(&DIGITS),
                    move || last_digit(numbers),
                )
            },
        },
    ],
};

fn sums(name: &str, head: usize) -> Result<Outcome> {
    let layer = model_files::minilm()?;
    let sentence = layer.sentence(name)?;
    let attn = attended(&layer, sentence)?.attn;
    let rows: Vec<f64> = attn[head].row_iter().map(|row| row.sum()).collect();
    let columns: Vec<f64> = attn[head].column_iter().map(|column| column.sum()).collect();
    let range = |sums: &[f64]| {
        let least = sums.iter().copied().fold(f64::INFINITY, f64::min);
        let most = sums.iter().copied().fold(0.0, f64::max);
        format!("{least:.3} to {most:.3}")
    };
    let shown = format!(
        "head {head} of the trained layer\nsums of rows      {}\nsums of columns   {}",
        range(&rows),
        range(&columns)
    );
    let are_one = |sums: &[f64]| sums.iter().all(|sum| (sum - 1.0).abs() < 1e-12);
    let answer = match (are_one(&rows), are_one(&columns)) {
        (true, true) => SUMS[2],
        (true, false) => SUMS[0],
        (false, true) => SUMS[1],
        (false, false) => "neither",
    };
    let why = "A row is one query's attention, divided into shares. A column is what one \
               key gets from all queries: all of them may attend to it, or none.";
    let choice = |at: usize| Answer::Choice(SUMS[at].to_owned());
    Ok(Outcome::new(Answer::Choice(answer.to_owned()), shown, why)
        .slip(choice(1), "That comes of a softmax along the wrong axis.")
        .slip(
            choice(2),
            "Softmax works on one row at a time, and nothing fixes the sum of a column.",
        ))
}

fn order(name: &str, words: [&str; 2]) -> Result<Outcome> {
    let layer = model_files::minilm()?;
    let sentence = layer.sentence(name)?;
    let [one, other] = [at(sentence, words[0])?, at(sentence, words[1])?];
    let fused = FusedAttention::new(&layer.parameters);
    let before = fused.self_attend(&sentence.input, &Mask::None)?.out;
    let mut swapped: Matrix = sentence.input.clone();
    swapped.swap_rows(one, other);
    let after = fused.self_attend(&swapped, &Mask::None)?.out;

    let moved = |row: usize| (before.row(row) - after.row(row)).amax();
    let (swapped, others): (Vec<usize>, Vec<usize>) =
        (0..sentence.tokens.len()).partition(|&row| row == one || row == other);
    let n_moved = others.iter().filter(|&&row| moved(row) > ROUNDING).count();
    let most =
        |rows: &[usize]| match rows.iter().map(|&row| moved(row)).fold(0.0, f64::max) {
            rounding if rounding <= ROUNDING => format!("at most {ROUNDING:e}"),
            moved => format!("up to {moved:.3}"),
        };
    let both = format!("outputs of {} and {}", words[0], words[1]);
    let rest = format!("outputs of the other {} tokens", others.len());
    let shown = format!(
        "{both:<32} move by {}\n{rest:<32} move by {}",
        most(&swapped),
        most(&others)
    );
    let why = "Each query's shares change places together with the values that they weigh, \
               and a sum does not care about order. A layer knows the order of tokens only \
               if it is written into their numbers.";
    Ok(Outcome::new(Answer::Whole(n_moved), shown, why).slip(
        Answer::Whole(others.len()),
        "That would be all of them, if a head knew where a token stands.",
    ))
}

fn last_digit([a, b, c]: [f64; 3]) -> Result<Outcome> {
    let (left, right) = ((a + b) + c, a + (b + c));
    let shown = format!("({a} + {b}) + {c} = {left:?}\n{a} + ({b} + {c}) = {right:?}");
    let choice = |at: usize| Answer::Choice(DIGITS[at].to_owned());
    Ok(if left == right {
        let why = "Each of these numbers is a power of ½. An f64 stores them and their sums as \
                   they are, so nothing is rounded, and the order does not matter.";
        Outcome::new(choice(0), shown, why)
            .slip(choice(1), "That is so where a sum has to be rounded.")
    } else {
        let why = "An f64 rounds 0.1, and it rounds each sum again, so the order shows in the \
                   last digits. Two right programs may differ like this.";
        Outcome::new(choice(1), shown, why)
            .slip(choice(0), "That would be so if nothing were rounded.")
    })
}
