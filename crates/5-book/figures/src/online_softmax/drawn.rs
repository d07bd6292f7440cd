//! Bars, lines of sums, and the slider through the blocks.

use plotly::common::{HoverInfo, Line, Marker, Mode};
use plotly::layout::Axis;
use plotly::{Bar, Scatter};
use serde_json::{Value, json, to_value};

use super::{OnlineSteps, first_of, short, sums};
use crate::layout::{FAINT, NEUTRAL, axis_title, number_axis, rounded, with};
use crate::palette;
use crate::panels::{self, GAP, Panel, Place, axis_name};

/// Room for the slider, in pixels.
const SLIDER: f64 = 76.0;

/// What is shown after block `nth`.
pub(super) fn traces(it: OnlineSteps, nth: usize) -> Vec<Value> {
    let OnlineSteps { scores, values, steps } = it;
    let (step, first) = (&steps[nth], first_of(steps, nth));
    let colour = |key: usize| match key {
        key if key < first => palette::head(0),
        key if key < step.n_seen => palette::head(1),
        _ => FAINT,
    };
    let bars = |heights: &[f64], panel: usize, told: Vec<String>| {
        Bar::new(
            (0..heights.len()).collect(),
            heights.iter().map(|&y| rounded(y)).collect(),
        )
        .x_axis(axis_name("x", panel))
        .y_axis(axis_name("y", panel))
        .marker(Marker::new().color_array((0..heights.len()).map(colour).collect()))
        .hover_text_array(told)
        .hover_info(HoverInfo::Text)
    };
    let keys = || scores.iter().zip(values).enumerate();
    let told = keys().map(|(j, (s, v))| {
        format!("key {j}<br>score {}, value {}", short(*s), short(*v))
    });
    let counted = step.counts.iter().enumerate().map(|(j, count)| {
        format!("key {j} counts {}<br>its value is {}", short(*count), short(values[j]))
    });
    let maximum = Scatter::new(
        vec![-0.5, scores.len() as f64 - 0.5],
        vec![rounded(step.maximum); 2],
    )
    .mode(Mode::Lines)
    .line(Line::new().color(NEUTRAL).width(1.5))
    .hover_info(HoverInfo::Skip);
    let lines = sums(it, nth);
    let text = Scatter::new(vec![0.0; lines.len()], (0..lines.len()).collect())
        .mode(Mode::Text)
        .x_axis("x3")
        .y_axis("y3")
        .text_array(lines)
        .hover_info(HoverInfo::Skip);
    let shown = || ("visible", json!(nth == 0));
    vec![
        with(to_value(bars(scores, 0, told.collect())), [shown()]),
        with(to_value(maximum), [shown()]),
        with(to_value(bars(&step.counts, 1, counted.collect())), [shown()]),
        with(
            to_value(text),
            [
                shown(),
                ("textposition", json!("middle right")),
                ("cliponaxis", json!(false)),
            ],
        ),
    ]
}

pub(super) fn layout(it: OnlineSteps, width: f64, n_columns: usize) -> Value {
    let OnlineSteps { scores, steps, .. } = it;
    let place =
        Place { width, n_columns, left: 34.0, left_once: false, below: 38.0, above: 0.0 };
    let keys = || -> Axis {
        number_axis(1.0, "")
            .range(vec![-0.5, scores.len() as f64 - 0.5])
            .tick_values((0..scores.len()).map(|j| j as f64).collect())
            .title(axis_title("key"))
            .show_grid(false)
            .zero_line(false)
    };
    let hidden = |range| Axis::new().range(range).visible(false).fixed_range(true);
    let most = scores.iter().copied().fold(0.1, f64::max);
    let least = scores.iter().copied().fold(0.0, f64::min);
    let n_lines = sums(it, 0).len() as f64;
    let panels = vec![
        Panel {
            title: "scores s, and m as a line".to_owned(),
            x: keys(),
            y: number_axis(1.0, "")
                .range(vec![rounded(least * 1.08), rounded(most * 1.08)]),
            width: None,
            height: 130.0,
        },
        Panel {
            title: "what each key counts, exp(s − m)".to_owned(),
            x: keys(),
            y: number_axis(1.08, ""),
            width: None,
            height: 130.0,
        },
        Panel {
            title: String::new(),
            x: hidden(vec![0.0, 1.0]),
            y: hidden(vec![n_lines - 0.5, -0.5]),
            width: Some(width - place.left - GAP),
            height: n_lines * 20.0,
        },
    ];
    let mut layout = panels::layout(panels, &place);
    for path in ["/height", "/margin/b"] {
        if let Some(size) = layout.pointer_mut(path) {
            // The last panel has no labels below it.
            *size = json!(size.as_f64().unwrap_or(0.0) + SLIDER - place.below);
        }
    }
    let n_traces = traces(it, 0).len();
    let slide = |nth: usize| {
        let shown = |at: usize| at / n_traces == nth;
        let visible: Vec<bool> = (0..steps.len() * n_traces).map(shown).collect();
        json!({
            "label": (nth + 1).to_string(),
            "method": "restyle",
            "args": ["visible", visible],
        })
    };
    layout["sliders"] = json!([{
        "active": 0,
        "currentvalue": { "prefix": "block ", "font": { "size": 12 } },
        "font": { "size": 10 },
        "x": 0, "len": 1, "xanchor": "left",
        "y": 0, "yanchor": "top",
        "pad": { "t": 6, "b": 0 },
        "ticklen": 3,
        "steps": (0..steps.len()).map(slide).collect::<Vec<_>>(),
    }]);
    layout
}
