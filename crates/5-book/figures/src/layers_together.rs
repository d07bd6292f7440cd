//! Where the training of a stack has come to: the score on the way, and what some of its
//! heads attend to.

use attention::Matrix;

use crate::axis::Axis;
use crate::chart::{Chart, Text};
use crate::heads::{check_entries, share};
use crate::layout::{all_rounded, label_width};
use crate::panels::Panel;
use crate::trace::Trace;
use crate::{Error, Figure, Result, Table, palette, share_map, sketch};

/// The most maps next to the score.
const MOST_MAPS: usize = 2;
const FONT_SIZE: usize = 11;
/// Of every panel, in pixels.
const HEIGHT: f64 = 208.0;

/// A stack at one of the steps of its training.
#[derive(Debug, Clone, Copy)]
pub struct LayersTogether<'a> {
    /// The number of steps in all.
    pub n_steps: usize,
    /// After how many steps it was looked at, rising.
    pub steps: &'a [usize],
    /// The score at each look; 1 is perfect.
    pub scores: &'a [f64],
    /// What the tokens are called.
    pub tokens: &'a [String],
    /// Heads, what they are called and what they attend to now, `[n_tokens, n_tokens]`.
    pub maps: &'a [(String, Matrix)],
}

/// A line of the score against steps, and next to it a heat map of each head.
///
/// # Errors
/// [`Error::Sizes`] for no looks, tokens or maps, or a map of another shape;
/// [`Error::TooMany`] above 2 maps; [`Error::Length`] for another number of scores than
/// looks; [`Error::Number`] for a score outside 0 to 1 or a look after the last step;
/// [`Error::Entry`] for an entry of a map outside 0 to 1.
pub fn layers_together(title: impl Into<String>, now: LayersTogether) -> Result<Figure> {
    check(now)?;
    let text =
        Text { alternative: told(now), sketch: sketched(now), tables: tables(now) };
    Ok(chart(now).figure(title, text))
}

fn check(now: LayersTogether) -> Result<()> {
    let LayersTogether { n_steps, steps, scores, tokens, maps } = now;
    attention::Error::expect_positive("the number of looks", steps.len())?;
    attention::Error::expect_positive("the number of tokens", tokens.len())?;
    Error::expect_count("the number of maps", maps.len(), MOST_MAPS)?;
    Error::expect_length("the list of scores", scores.len(), steps.len())?;
    let last = steps[steps.len() - 1] as f64;
    Error::expect_between("the last look's step", last, [0.0, n_steps as f64])?;
    for &score in scores {
        Error::expect_between("a score", score, [0.0, 1.0])?;
    }
    for (head, (name, map)) in maps.iter().enumerate() {
        let expected = (tokens.len(), tokens.len());
        attention::Error::expect_shape(
            format!("the map of {name}"),
            expected,
            map.shape(),
        )?;
        check_entries(head, map)?;
    }
    Ok(())
}

fn traces(now: LayersTogether) -> Vec<Trace> {
    let told = now.steps.iter().zip(now.scores);
    let told = told.map(|(step, score)| format!("after {step} steps: {score:.3}"));
    let line = Trace::lines_and_marks(now.steps.to_vec(), all_rounded(now.scores))
        .on(0)
        .line(palette::head(0), 2.0)
        .with("marker.size", 4)
        .told(told);
    let map = |(nth, (_, map)): (usize, &(String, Matrix))| {
        share_map::trace(map, now.tokens, now.tokens).on(nth + 1)
    };
    std::iter::once(line).chain(now.maps.iter().enumerate().map(map)).collect()
}

fn chart(now: LayersTogether) -> Chart {
    let steps = Axis::numbers(now.n_steps as f64).titled("steps");
    let score = Panel::new("share of right answers", steps, Axis::numbers(1.04), HEIGHT);
    let map = |(name, _): &(String, Matrix)| {
        let x = Axis::across(now.tokens, FONT_SIZE).with("tickangle", 0.0);
        Panel::new(name.clone(), x, Axis::down(now.tokens, FONT_SIZE), HEIGHT)
    };
    Chart {
        panels: std::iter::once(score).chain(now.maps.iter().map(map)).collect(),
        traces: traces(now),
        n_columns: 1 + MOST_MAPS,
        left: label_width(now.tokens, FONT_SIZE).max(26.0),
        ..Chart::default()
    }
}

/// The scores, then for each head the key that each query attends to most.
fn tables(now: LayersTogether) -> Vec<Table> {
    let row = |(step, score): (&usize, &f64)| [step.to_string(), format!("{score:.3}")];
    let scores = now.steps.iter().zip(now.scores).map(row);
    let scores = Table::new("The share of right answers", ["steps", "score"], scores);
    let of_map = |(name, map): &(String, Matrix)| {
        let row = |query: usize| {
            let (key, entry) = map.row(query).transpose().argmax();
            let place = |at: usize| format!("{} at {at}", now.tokens[at]);
            [place(query), place(key), share(entry)]
        };
        let rows = (0..now.tokens.len()).map(row);
        let caption = format!("What {name} attends to most");
        Table::new(caption, ["query", "key", "share"], rows)
    };
    std::iter::once(scores).chain(now.maps.iter().map(of_map)).collect()
}

fn sketched(now: LayersTogether) -> String {
    let maps: Vec<(String, &Matrix)> =
        now.maps.iter().map(|(name, map)| (name.clone(), map)).collect();
    format!(
        "score  {}\nFull column: 1.\n\n{}\nAcross: {}. Full block: 1.",
        sketch::columns(now.scores, 1.0),
        sketch::maps(&maps, now.tokens, 1.0),
        now.tokens.join(" "),
    )
}

fn told(now: LayersTogether) -> String {
    let last = now.steps.len() - 1;
    let names: Vec<&str> = now.maps.iter().map(|(name, _)| name.as_str()).collect();
    format!(
        "A line of the share of right answers, {:.3} after {} of {} steps, and a heat map \
         of what each of these heads attends to: {}. The tokens: {}.",
        now.scores[last],
        now.steps[last],
        now.n_steps,
        names.join("; "),
        now.tokens.join(" "),
    )
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::testing::assert_figure;

    fn tokens() -> [String; 3] {
        ["a", "b", "a"].map(str::to_owned)
    }

    fn maps() -> [(String, Matrix); 2] {
        let lower = [1.0, 0.0, 0.0, 0.6, 0.4, 0.0, 0.1, 0.7, 0.2];
        let map = Matrix::from_row_slice(3, 3, &lower);
        [("layer 0, head 1".into(), map.clone()), ("layer 1, head 0".into(), map)]
    }

    #[test]
    fn a_score_and_two_heads() {
        let (tokens, maps) = (tokens(), maps());
        let now = LayersTogether {
            n_steps: 100,
            steps: &[0, 50],
            scores: &[0.1, 0.9],
            tokens: &tokens,
            maps: &maps,
        };
        assert_figure!(layers_together("Two layers after 50 steps", now).unwrap());
    }

    #[test]
    fn what_cannot_be_drawn_is_refused() {
        let (tokens, maps) = (tokens(), maps());
        let refused = |change: &dyn Fn(&mut LayersTogether)| {
            let (steps, scores) = (&[0, 50][..], &[0.1, 0.9][..]);
            let (tokens, maps) = (&tokens[..], &maps[..]);
            let mut now = LayersTogether { n_steps: 100, steps, scores, tokens, maps };
            change(&mut now);
            layers_together("", now).unwrap_err().to_string()
        };
        insta::assert_snapshot!(refused(&|now| now.maps = &[]), @"the number of maps is 0, and must be at least 1");
        insta::assert_snapshot!(refused(&|now| now.scores = &[0.1]), @"the list of scores has 1 entries, expected 2");
        insta::assert_snapshot!(refused(&|now| now.scores = &[0.1, 1.2]), @"a score is 1.2, expected from 0 to 1");
        insta::assert_snapshot!(refused(&|now| now.n_steps = 20), @"the last look's step is 50, expected from 0 to 20");
        insta::assert_snapshot!(refused(&|now| now.tokens = &now.tokens[1..]), @"the map of layer 0, head 1 has shape (3, 3), expected (2, 2)");
    }
}
