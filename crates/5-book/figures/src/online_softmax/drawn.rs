//! Bars, lines of sums, and the slider through the blocks.

use super::{OnlineSteps, first_of, short, sums};
use crate::axis::Axis;
use crate::layout::{FAINT, NEUTRAL, all_rounded, rounded};
use crate::marks::Mark;
use crate::palette;
use crate::panels::{self, GAP, Panel, Place};
use crate::spec::{Layout, Slider};

/// Room for the slider, in pixels.
const SLIDER: f64 = 76.0;

/// What is shown after block `nth`.
pub(super) fn traces(it: OnlineSteps, nth: usize) -> [Mark; 4] {
    let OnlineSteps { scores, values, steps } = it;
    let (step, first) = (&steps[nth], first_of(steps, nth));
    let colour = |key: usize| match key {
        key if key < first => palette::head(0),
        key if key < step.n_seen => palette::head(1),
        _ => FAINT,
    };
    let bars = |heights: &[f64], panel: usize| {
        let colours = (0..heights.len()).map(colour);
        Mark::bars(all_rounded(heights)).on(panel).coloured_each(colours)
    };
    let keys = scores.iter().zip(values).enumerate();
    let description = keys.map(|(j, (s, v))| {
        format!("key {j}<br>score {}, value {}", short(*s), short(*v))
    });
    let counted = step.counts.iter().enumerate().map(|(j, count)| {
        format!("key {j} counts {}<br>its value is {}", short(*count), short(values[j]))
    });
    let across = vec![-0.5, scores.len() as f64 - 0.5];
    let maximum = Mark::lines(across, vec![rounded(step.maximum); 2]);
    let lines = sums(it, nth);
    let traces = [
        bars(scores, 0).hover(description),
        maximum.line(NEUTRAL, 1.5).silent(),
        bars(&step.counts, 1).hover(counted),
        Mark::texts(vec![0.0; lines.len()], 0..lines.len(), lines)
            .on(2)
            .silent()
            .placed("middle right")
            .unclipped(),
    ];
    traces.map(|trace| trace.shown(nth == 0))
}

pub(super) fn layout(it: OnlineSteps, width: f64, n_columns: usize) -> Layout {
    let place = Place { width, n_columns, ..Place::default() };
    let layout = panels::layout(panels(it, &place), &place);
    let labels = (1..=it.steps.len()).map(|block| block.to_string()).collect();
    let slider =
        Slider { prefix: "block ", labels, active: 0, marks_each: 4, above: 6.into() };
    // The last panel has no labels below it.
    layout.slid(slider, SLIDER - place.below)
}

/// The scores, what each key counts, and the sums.
fn panels(it: OnlineSteps, place: &Place) -> Vec<Panel> {
    let scores = it.scores;
    let places: Vec<f64> = (0..scores.len()).map(|j| j as f64).collect();
    let keys = Axis::numbers(1.0)
        .range([-0.5, scores.len() as f64 - 0.5])
        .titled("key")
        .numbered_at(places)
        .without_lines();
    let most = scores.iter().copied().fold(0.1, f64::max);
    let least = scores.iter().copied().fold(0.0, f64::min);
    let n_lines = sums(it, 0).len() as f64;
    vec![
        Panel::new(
            "scores s, and m as a line",
            keys.clone(),
            Axis::between([least * 1.08, most * 1.08]),
            130.0,
        ),
        Panel::new("what each key counts, exp(s − m)", keys, Axis::numbers(1.08), 130.0),
        Panel {
            is_whole: false,
            title: String::new(),
            x: Axis::hidden([0.0, 1.0]),
            y: Axis::hidden([n_lines - 0.5, -0.5]),
            width: Some(place.width - place.left - GAP),
            height: n_lines * 20.0,
        },
    ]
}
