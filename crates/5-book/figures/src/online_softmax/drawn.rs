//! Bars of scores, counts and values, and the lines of sums.

use super::{LN_2, OnlineSteps, first_of, short, sums};
use crate::axis::Axis;
use crate::layout::{FAINT, NEUTRAL, all_rounded, rounded};
use crate::marks::Mark;
use crate::palette;
use crate::panels::{GAP, NARROW, Panel, Place};

/// What can be dragged to: in units of ln 2, and of values.
const SCORES: f64 = 13.0;
const VALUES: f64 = 50.0;

/// What is drawn after the block that is shown.
pub(super) fn marks(it: OnlineSteps) -> Vec<Mark> {
    let OnlineSteps { scores, values, steps, shown } = it;
    let (step, first) = (&steps[shown], first_of(steps, shown));
    let colour = |key: usize| match key {
        key if key < first => palette::head(0),
        key if key < step.n_seen => palette::head(1),
        _ => FAINT,
    };
    let bars = |heights: &[f64], panel: usize| {
        let colours = (0..heights.len()).map(colour);
        Mark::bars(all_rounded(heights)).on(panel).coloured_each(colours)
    };
    let keys = |row: usize| (0..scores.len()).map(move |key| format!("keys.{row}.{key}"));
    let powers: Vec<f64> = scores.iter().map(|s| s / LN_2).collect();
    let told = |of: &[f64]| of.iter().map(|&x| short(x)).collect::<Vec<_>>();
    let across = |from: f64, to: f64, y: f64, panel: usize| {
        let line = Mark::lines([from, to], [rounded(y); 2]).line("currentColor", 2.0);
        line.silent().unclipped().on(panel)
    };
    let [left, right] = [-0.5, scores.len() as f64 - 0.5];
    let texted = |x: f64, y: f64, text: String, panel: usize| {
        let text = Mark::texts([x], [rounded(y)], [text]).text_size(13);
        text.placed("middle right").silent().unclipped().on(panel)
    };
    let maximum = step.maximum / LN_2;
    let high = 0.96 * values.iter().copied().fold(VALUES, f64::max);
    let top = 0.96 * powers.iter().copied().fold(SCORES, f64::max);
    let mut marks = vec![
        bars(&powers, 0).dragged_along_y(keys(0)).hover(told(scores)),
        across(left, right, maximum, 0),
        texted(left, top, format!("line: m = {} ln 2", short(maximum)), 0),
        bars(&step.counts, 1).hover(told(&step.counts)),
        bars(values, 2).dragged_along_y(keys(1)).hover(told(values)),
        across(left, right, step.average, 2),
        texted(left, high, format!("line: o / l = {}", short(step.average)), 2),
    ];
    // What the earlier keys counted before the maximum rose.
    if let Some(before) = shown.checked_sub(1).map(|before| &steps[before]) {
        marks.extend(before.counts.iter().enumerate().map(|(key, &count)| {
            let [from, to] = [-0.4, 0.4].map(|aside| key as f64 + aside);
            across(from, to, count, 1).line(NEUTRAL, 2.0).dashed("dot")
        }));
        let times = format!("earlier keys × c = {}", short(step.correction));
        marks.push(texted(left, 1.12, times, 1));
    }
    let lines = sums(it, shown);
    let lines = Mark::texts(vec![0.0; lines.len()], 0..lines.len(), lines).on(3);
    let lines = lines.silent().placed("middle right").text_size(13).unclipped();
    marks.push(lines);
    marks
}

/// The scores, what each key counts, the values, and the sums.
pub(super) fn panels(it: OnlineSteps, width: f64) -> (Vec<Panel>, Place) {
    let is_narrow = width <= NARROW;
    let n_columns = if is_narrow { 1 } else { 3 };
    let place = Place { width, n_columns, below: 34.0, ..Place::default() };
    let names: Vec<String> = (0..it.scores.len()).map(|key| key.to_string()).collect();
    let keys = || Axis::across(&names, 13).titled("key");
    let height = if is_narrow { 130.0 } else { 180.0 };
    let from_to = |numbers: &[f64], most: f64, unit: f64| {
        let ends = numbers.iter().map(|x| x / unit);
        let least = ends.clone().fold(0.0, f64::min);
        Axis::between([1.05 * least, ends.fold(most, f64::max)])
    };
    let n_lines = sums(it, it.shown).len() as f64;
    let panels = vec![
        Panel::new(
            "scores, in ln 2: drag",
            keys(),
            from_to(it.scores, SCORES, LN_2),
            height,
        ),
        Panel::new("counts, exp(score − m)", keys(), Axis::numbers(1.2), height),
        Panel::new("values: drag", keys(), from_to(it.values, VALUES, 1.0), height),
        Panel {
            is_whole: false,
            title: String::new(),
            x: Axis::hidden([0.0, 1.0]),
            y: Axis::hidden([n_lines - 0.5, -0.5]),
            width: Some(place.width - place.left - GAP),
            height: n_lines * 21.0,
        },
    ];
    (panels, place)
}
