//! Which heads of the model have a pattern: live.

use crate::live::{LiveFigure, LiveView, Question, live};
use crate::numbers::{mean, share, written};
use anyhow::{Result, ensure};
use attention::Matrix;
use figures::matrix_maps;
use models::decoders::study::{COPIES, HeadShares, PERIOD};

use super::{N_HEADS, N_LAYERS, findings};

/// Draws the shares of all heads that are above a bound.
pub(crate) const LIVE: LiveFigure<Set, Facts> =
    LiveFigure::new("decoder-heads", draw, QUESTIONS);

const QUESTIONS: &[Question<Set, Facts>] = &[
    Question {
        ask: "To what do more than 50 heads give over half of their attention?",
        is_answered: |set, it| set.bound >= MOST && it.layers.len() > 50,
        answer: |set| set.pattern = "first",
        found: "To the first token: it is a sink, where a head leaves attention that it \
                has no use for.",
    },
    Question {
        ask: "And to what does no head give half?",
        is_answered: |set, it| set.bound <= MOST && it.layers.is_empty(),
        answer: |set| set.pattern = "copying_prose",
        found: "To copying, in prose. The same heads copy random text: a head's pattern \
                depends on what it reads.",
    },
    Question {
        ask: "How far must the bound fall for a head of the first half, layers 0 to 14, \
              to be among those that copy random text?",
        is_answered: |set, it| {
            let is_early = it.layers.iter().any(|&layer| layer < N_LAYERS / 2);
            set.pattern == "copying" && is_early
        },
        answer: |set| set.bound = 0.05,
        found: "To 0.05, the least that can be set. Heads that copy stand late: they \
                need what earlier heads have written.",
    },
];

/// A head has a pattern if more than this share goes there on average. Fixed before looking.
pub const MOST: f64 = 0.5;

/// The patterns: what each is called, and the shares of all heads.
pub const PATTERNS: [(&str, &str); 5] = [
    ("copying", "after the same token, random text"),
    ("copying_prose", "after the same token, prose"),
    ("previous", "token before, prose"),
    ("previous_random", "token before, random text"),
    ("first", "first token, prose"),
];

live! {
    struct Set {
        pattern: &'static str = "What a head looks at", named(PATTERNS);
        bound: f64 = "Mean share above", number([0.05, 0.95], 0.05, MOST);
    }

    /// Of the heads above the bound, the largest share first.
    struct Facts { layers: Vec<usize> }
}

/// The shares of one pattern, `[N_LAYERS, N_HEADS]`.
///
/// # Errors
/// An unknown pattern.
pub fn shares(heads: &HeadShares, pattern: &str) -> Result<Matrix> {
    let shares = match pattern {
        "copying" => &heads.copying,
        "copying_prose" => &heads.copying_prose,
        "previous" => &heads.previous,
        "previous_random" => &heads.previous_random,
        "first" => &heads.first,
        other => anyhow::bail!("no pattern {other}"),
    };
    ensure!(shares.len() == N_LAYERS * N_HEADS, "{} heads", shares.len());
    Ok(Matrix::from_row_slice(N_LAYERS, N_HEADS, shares))
}

/// The heads above a bound, the largest share first: layer, head, share.
pub fn above(shares: &Matrix, bound: f64) -> Vec<(usize, usize, f64)> {
    let all = (0..N_LAYERS).flat_map(|layer| (0..N_HEADS).map(move |head| (layer, head)));
    let mut heads: Vec<_> = all
        .map(|(layer, head)| (layer, head, shares[(layer, head)]))
        .filter(|(_, _, share)| *share > bound)
        .collect();
    heads.sort_by(|a, b| b.2.total_cmp(&a.2));
    heads
}

/// The control: what a head copies that gives every token up to its own the same.
pub fn even_copying() -> f64 {
    let copied = |i: usize| (i / PERIOD) as f64 / (i + 1) as f64;
    mean((PERIOD..PERIOD * COPIES).map(copied))
}

/// How many heads are told by name.
const TOLD: usize = 10;

fn draw(&Set { pattern, bound }: &Set) -> Result<LiveView<Facts>> {
    let shares = shares(&findings()?.heads, pattern)?;
    let heads = above(&shares, bound);
    let name = PATTERNS.iter().find(|(value, _)| *value == pattern);
    let name = name.map_or(pattern, |(_, name)| name);

    let shown = shares.map(|share| if share > bound { share } else { 0.0 });
    let layers: Vec<String> =
        (0..N_LAYERS).map(|layer| format!("layer {layer}")).collect();
    let columns: Vec<String> = (0..N_HEADS).map(|head| format!("head {head}")).collect();
    let told_bound = written(bound, 2);
    let title = match heads.len() {
        0 => format!("No head has a mean share above {told_bound}"),
        _ => format!("Mean shares above {told_bound}, layer by layer"),
    };
    let figure = matrix_maps(title, &layers, &columns, &[(name, &shown)])?;

    let told: Vec<String> = heads
        .iter()
        .take(TOLD)
        .map(|(layer, head, of)| format!("{layer}.{head} ({})", share(*of)))
        .collect();
    let told = match heads.len() {
        0 => String::new(),
        n if n > TOLD => format!(": {} and others", told.join(", ")),
        _ => format!(": {}", told.join(", ")),
    };
    let give = match heads.len() {
        0 => format!("None of {} heads gives", shares.len()),
        1 => format!("1 of {} heads gives", shares.len()),
        n => format!("{n} of {} heads give", shares.len()),
    };
    let words = format!("{give} more than {told_bound} to this ({name}){told}.");
    let layers = heads.iter().map(|(layer, ..)| *layer).collect();
    Ok(LiveView { figure, words, facts: Facts { layers } })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_said_at_first_and_where_there_is_none() {
        insta::assert_snapshot!(LIVE.at([]).unwrap().words, @"8 of 270 heads give more than 0.5 to this (after the same token, random text): 18.6 (.894), 17.3 (.774), 17.4 (.731), 17.5 (.700), 18.7 (.600), 20.6 (.598), 23.2 (.596), 23.7 (.582).");
        let high = [("pattern", "copying_prose"), ("bound", "0.95")];
        insta::assert_snapshot!(LIVE.at(high).unwrap().words, @"None of 270 heads gives more than 0.95 to this (after the same token, prose).");
        let many = [("pattern", "first"), ("bound", "0.05")];
        let shown = LIVE.at(many).unwrap();
        assert!(shown.words.contains("and others"), "{}", shown.words);
    }

    #[test]
    fn an_even_head_copies_little() {
        // Of token 149 the 50th to the last: keys 50 and 100 come after the same.
        let by_hand = (50..200).map(|i| f64::from(i / 50) / f64::from(i + 1));
        assert!((even_copying() - by_hand.sum::<f64>() / 150.0).abs() < 1e-12);
        assert!(even_copying() < 0.02);
    }
}
