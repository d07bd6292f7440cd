//! The three panels.

use serde_json::json;

use super::Learning;
use crate::axis::Axis;
use crate::chart::Chart;
use crate::heads::owned;
use crate::layout::{label_width, rounded};
use crate::marks::{DASHES, Mark};
use crate::panels::Panel;
use crate::{escaped, palette, share_map};

/// Of the lines and the bars, in pixels.
const HEIGHT: f64 = 176.0;
/// Of a row of the map, at most.
const HIGHEST_ROW: f64 = 44.0;
const FONT_SIZE: usize = 11;

pub(super) fn chart(now: Learning) -> Chart {
    let heads = now.head_names();
    let n_heads = heads.len() as f64;
    let steps = Axis::numbers(now.n_steps as f64).titled("steps");
    let tokens = Axis::across(now.tokens, FONT_SIZE).upright();
    let row = (HEIGHT / n_heads).min(HIGHEST_ROW);
    let title = match now.without {
        None => "score now, of 100".to_owned(),
        Some((head, _)) => format!("now, and without head {head}"),
    };
    let targets = Axis::across(&owned(now.targets), FONT_SIZE);
    let lines = (0..now.targets.len()).map(|r| line(now, r));
    let map = share_map::trace(now.rows, &heads, now.tokens).on(1);
    let bars = (0..now.bars().len()).map(|nth| bars(now, nth));
    Chart {
        marks: lines.chain([map]).chain(bars).collect(),
        panels: vec![
            Panel::new("score", steps, Axis::numbers(1.04), HEIGHT),
            Panel::new(
                "attends to, in one example",
                tokens,
                Axis::down(&heads, FONT_SIZE),
                n_heads * row,
            ),
            Panel::new(title, targets, Axis::numbers(1.1), HEIGHT),
        ],
        n_columns: 3,
        left: label_width(&heads, FONT_SIZE),
        below: label_width(now.tokens, FONT_SIZE).max(38.0),
        above: [34.0; 2],
        fields: vec![("barmode", json!("group")), ("bargap", json!(0.2))],
        ..Chart::default()
    }
}

fn line(now: Learning, r: usize) -> Mark {
    let target = escaped(now.targets[r]);
    let told = now.steps.iter().zip(now.scores);
    let told = told
        .map(|(step, scores)| format!("{target} after {step} steps: {:.3}", scores[r]));
    let y = now.scores.iter().map(|scores| rounded(scores[r].max(0.0)));
    Mark::lines(now.steps.to_vec(), y)
        .on(0)
        .named(now.targets[r])
        .line(palette::head(r), 2.0)
        .dashed(DASHES[r])
        .told(told)
}

/// The bars with all heads, and hatched those without one.
fn bars(now: Learning, nth: usize) -> Mark {
    let (name, scores) = &now.bars()[nth];
    let each = || now.targets.iter().zip(scores.iter());
    let told =
        each().map(|(target, score)| format!("{name}, {}: {score:.3}", escaped(target)));
    let written = each().map(|(_, score)| format!("{:.0}", 100.0 * score));
    Mark::bars(scores.iter().map(|x| rounded(x.max(0.0))))
        .on(2)
        .in_legend(false)
        .each("marker.color", (0..scores.len()).map(palette::head))
        .with("marker.pattern.shape", if nth == 0 { "" } else { "/" })
        .written(written, "outside")
        .with("textfont.size", 10)
        .with("textangle", 0)
        .told(told)
        .unclipped()
}
