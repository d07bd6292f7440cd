//! A softmax whose scores arrive in blocks, as far as it has come.

mod drawn;

use std::f64::consts::LN_2;

use crate::chart::Chart;
use crate::{Error, Figure, Result, Table, sketch};

/// The most keys that one figure takes.
const MOST_KEYS: usize = 16;

/// One query's scores and values, and what is kept of them block by block.
#[derive(Debug, Clone, Copy)]
pub struct OnlineSteps<'a> {
    /// The query's score with each key.
    pub scores: &'a [f64],
    /// Each key's value, one number.
    pub values: &'a [f64],
    /// What is kept after each block.
    pub steps: &'a [OnlineStep],
    /// After which block, from 0, it is drawn.
    pub shown: usize,
}

/// What is kept after a block.
#[derive(Debug, Clone, PartialEq)]
pub struct OnlineStep {
    /// How many keys were seen, this block's among them.
    pub n_seen: usize,
    /// m, the largest score so far.
    pub maximum: f64,
    /// c = exp(m before − m), 0 in the first block.
    pub correction: f64,
    /// exp(s − m) of each key seen.
    pub counts: Vec<f64>,
    /// l, their sum.
    pub sum: f64,
    /// o, the sum of count times value.
    pub out: f64,
    /// o / l.
    pub average: f64,
}

/// Scores in units of ln 2, what each key counts and values, after the block that is shown,
/// with the sums that its running numbers come from. A page drags scores and values, the two
/// rows of its setting `keys`.
///
/// # Errors
/// [`Error::Sizes`] for no keys or blocks; [`Error::TooMany`] above 16 keys;
/// [`Error::Length`] for lists that do not fit; [`Error::Number`] for a score, value or
/// running number that is not finite; a block that there is not.
pub fn online_softmax(title: impl Into<String>, it: OnlineSteps) -> Result<Figure> {
    check(it)?;
    let table = table(it);
    Chart::new(title)
        .by_width(|width| drawn::panels(it, width))
        .marks(drawn::marks(it))
        .says(description(it))
        .sketch(sketched(it, &table))
        .tables([table])
        .figure()
}

fn check(OnlineSteps { scores, values, steps, shown }: OnlineSteps) -> Result<()> {
    Error::expect_count("the number of keys", scores.len(), MOST_KEYS)?;
    attention::Error::expect_positive("the number of blocks", steps.len())?;
    attention::Error::expect_index("block", shown, steps.len())?;
    Error::expect_length("the list of values", values.len(), scores.len())?;
    for &number in scores.iter().chain(values) {
        Error::expect_finite("a score or value", number)?;
    }
    let mut before = 0;
    for (nth, step) in steps.iter().enumerate() {
        let what = format!("the list of counts after block {}", nth + 1);
        Error::expect_length(what, step.counts.len(), step.n_seen)?;
        let what = format!("the number of keys seen after block {}", nth + 1);
        let range = [before as f64 + 1.0, scores.len() as f64];
        Error::expect_between(what, step.n_seen as f64, range)?;
        for number in [step.maximum, step.correction, step.sum, step.out, step.average] {
            let what = format!("a running number after block {}", nth + 1);
            Error::expect_finite(what, number)?;
        }
        before = step.n_seen;
    }
    Ok(())
}

/// Where the keys of block `nth` begin.
fn first_of(steps: &[OnlineStep], nth: usize) -> usize {
    nth.checked_sub(1).map_or(0, |before| steps[before].n_seen)
}

/// A number of a sum: two decimals, or two digits of a small one.
fn short(number: f64) -> String {
    let places = match number.abs() {
        size @ 1e-6..0.01 => 1 - size.log10().floor() as i32,
        _ => 2,
    };
    let text = format!("{:.*}", places as usize, number + 0.0);
    let text = text.trim_end_matches('0').trim_end_matches('.');
    if text == "-0" { "0".to_owned() } else { text.replace('-', "−") }
}

/// A number after an operator.
fn operand(number: f64) -> String {
    let text = short(number);
    if text.starts_with('−') { format!("({text})") } else { text }
}

/// How each running number comes from the one before and the block. Of a block of more
/// than two keys only what they come to is written: a phone has no room for each.
fn sums(
    OnlineSteps { scores, values, steps, .. }: OnlineSteps,
    nth: usize,
) -> Vec<String> {
    let (step, first) = (&steps[nth], first_of(steps, nth));
    let block = || first..step.n_seen;
    let is_short = block().len() <= 2;
    let join = |parts: Vec<String>, with: &str| parts.join(with);
    let largest = block().map(|j| scores[j]).fold(f64::NEG_INFINITY, f64::max);
    let count: f64 = block().map(|j| step.counts[j]).sum();
    let product: f64 = block().map(|j| step.counts[j] * values[j]).sum();
    let in_block = |number: f64| format!("block {}", operand(number));
    let [scored, counts, products] = if is_short {
        let product =
            |j: usize| format!("{} · {}", short(step.counts[j]), operand(values[j]));
        [
            join(block().map(|j| short(scores[j])).collect(), ", "),
            join(block().map(|j| short(step.counts[j])).collect(), " + "),
            join(block().map(product).collect(), " + "),
        ]
    } else {
        [in_block(largest), in_block(count), in_block(product)]
    };
    let (m, c) = (short(step.maximum), short(step.correction));
    let before = nth.checked_sub(1).map(|before| &steps[before]);
    let (m_before, l_before, o_before) = match before {
        None => ("−∞".to_owned(), "0".to_owned(), "0".to_owned()),
        Some(it) => (short(it.maximum), short(it.sum), operand(it.out)),
    };
    vec![
        format!("m = max({m_before}, {scored}) = {m}"),
        format!("c = exp({m_before} − {}) = {c}", operand(step.maximum)),
        format!("l = {c} · {l_before} + {counts} = {}", short(step.sum)),
        format!("o = {c} · {o_before} + {products} = {}", short(step.out)),
        format!("o / l = {}", short(step.average)),
    ]
}

fn table(OnlineSteps { scores, steps, .. }: OnlineSteps) -> Table {
    let row = |(nth, step): (usize, &OnlineStep)| {
        let seen = first_of(steps, nth)..step.n_seen;
        let seen: Vec<String> = seen.map(|j| short(scores[j])).collect();
        [
            (nth + 1).to_string(),
            seen.join(", "),
            short(step.maximum),
            short(step.correction),
            short(step.sum),
            short(step.out),
            short(step.average),
        ]
    };
    let columns = ["block", "scores", "m", "c", "l", "o", "o / l"];
    let caption = "What is kept after each block";
    Table::new(caption, columns, steps.iter().enumerate().map(row))
}

fn sketched(it: OnlineSteps, table: &Table) -> String {
    let blocks = (0..it.steps.len()).map(|nth| {
        let lines = sums(it, nth).join("\n  ");
        format!("block {}\n  {lines}", nth + 1)
    });
    format!("{}\n\n{}", sketch::table(table), blocks.collect::<Vec<_>>().join("\n\n"))
}

fn description(OnlineSteps { scores, steps, .. }: OnlineSteps) -> String {
    let (n_keys, n_blocks, last) = (scores.len(), steps.len(), &steps[steps.len() - 1]);
    let maxima: Vec<String> = steps.iter().map(|step| short(step.maximum)).collect();
    format!(
        "Bars for the scores of {n_keys} keys, for what each key counts and for its value, \
         in {n_blocks} blocks. The maximum so far is {}. At the end the sum is {}, the \
         output {} and their quotient {}.",
        maxima.join(", then "),
        short(last.sum),
        short(last.out),
        short(last.average)
    )
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::testing::assert_figure;

    fn step(n_seen: usize, [m, c, l, o]: [f64; 4], counts: &[f64]) -> OnlineStep {
        let counts = counts.to_vec();
        OnlineStep {
            n_seen,
            maximum: m,
            correction: c,
            counts,
            sum: l,
            out: o,
            average: o / l,
        }
    }

    #[test]
    fn three_keys_in_two_blocks() {
        let steps = [
            step(2, [2f64.ln(), 0.0, 1.5, 30.0], &[0.5, 1.0]),
            step(3, [4f64.ln(), 0.5, 1.75, 55.0], &[0.25, 0.5, 1.0]),
        ];
        let it = OnlineSteps {
            scores: &[0.0, 2f64.ln(), 4f64.ln()],
            values: &[10.0, 25.0, 40.0],
            steps: &steps,
            shown: 1,
        };
        assert_figure!(online_softmax("What was seen counts half", it).unwrap());
    }

    #[test]
    fn a_long_block_is_written_as_what_it_comes_to() {
        let steps = [step(3, [-1.0, 0.0, 1.5, -4.0], &[0.25, 1.0, 0.25])];
        let scores = [-2.5, -1.0, -2.5];
        let it = OnlineSteps {
            scores: &scores,
            values: &[8.0, -7.0, 4.0],
            steps: &steps,
            shown: 0,
        };
        insta::assert_snapshot!(sums(it, 0).join("\n"), @"
        m = max(−∞, block (−1)) = −1
        c = exp(−∞ − (−1)) = 0
        l = 0 · 0 + block 1.5 = 1.5
        o = 0 · 0 + block (−4) = −4
        o / l = −2.67
        ");
    }

    #[test]
    fn what_does_not_fit_is_refused() {
        let refused = |scores: &[f64], values: &[f64], steps: &[OnlineStep]| {
            let it = OnlineSteps { scores, values, steps, shown: 0 };
            online_softmax("", it).unwrap_err()
        };
        let fine = step(1, [0.0, 0.0, 1.0, 2.0], &[1.0]);
        insta::assert_snapshot!(refused(&[], &[], std::slice::from_ref(&fine)), @"the number of keys is 0, and must be at least 1");
        insta::assert_snapshot!(refused(&[0.0], &[2.0], &[]), @"the number of blocks is 0, and must be at least 1");
        insta::assert_snapshot!(refused(&[0.0], &[], std::slice::from_ref(&fine)), @"the list of values has 0 entries, expected 1");
        insta::assert_snapshot!(refused(&[0.0], &[2.0], &[fine.clone(), fine]), @"the number of keys seen after block 2 is 1, expected from 2 to 1");
        insta::assert_snapshot!(refused(&[0.0], &[2.0], &[step(1, [0.0, 0.0, 0.0, 0.0], &[1.0])]), @"a running number after block 1 is NaN, expected a number");
    }
}
