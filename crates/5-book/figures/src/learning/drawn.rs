//! The three panels.

use plotly::common::{DashType, HoverInfo, Line, Mode};
use plotly::{Bar, Scatter};
use serde_json::{Value, json, to_value};

use super::{Learning, MOST_TARGETS};
use crate::layout::{
    axis_title, label_width, number_axis, rounded, text, token_axis, with,
};
use crate::panels::{self, Panel, Place, axis_name};
use crate::{palette, share_map};

const DASHES: [DashType; MOST_TARGETS] =
    [DashType::Solid, DashType::Dash, DashType::Dot, DashType::DashDot];

/// Of the lines and the bars, in pixels.
const HEIGHT: f64 = 176.0;
/// Of a row of the map, at most.
const HIGHEST_ROW: f64 = 44.0;
const FONT_SIZE: usize = 11;

pub(super) fn traces(now: Learning) -> Vec<Value> {
    let lines = (0..now.targets.len()).map(|r| line(now, r));
    let bars = (0..now.bars().len()).map(|nth| bars(now, nth));
    lines.chain([map(now)]).chain(bars).collect()
}

fn line(now: Learning, r: usize) -> Value {
    let target = text(now.targets[r]);
    let told = now.steps.iter().zip(now.scores);
    let told = told
        .map(|(step, scores)| format!("{target} after {step} steps: {:.3}", scores[r]));
    let y = now.scores.iter().map(|scores| rounded(scores[r].max(0.0)));
    let trace = Scatter::new(now.steps.to_vec(), y.collect())
        .mode(Mode::Lines)
        .name(&target)
        .x_axis(axis_name("x", 0))
        .y_axis(axis_name("y", 0))
        .line(Line::new().color(palette::head(r)).width(2.0).dash(DASHES[r].clone()))
        .hover_text_array(told.collect())
        .hover_info(HoverInfo::Text);
    with(to_value(trace), [])
}

fn map(now: Learning) -> Value {
    let map = share_map::trace(now.rows, &now.head_names(), now.tokens);
    let [x, y] = ["x", "y"].map(|letter| json!(axis_name(letter, 1)));
    with(Ok(map), [("xaxis", x), ("yaxis", y)])
}

/// The bars with all heads, and hatched those without one.
fn bars(now: Learning, nth: usize) -> Value {
    let (name, scores) = &now.bars()[nth];
    let each = || now.targets.iter().zip(scores.iter());
    let told =
        each().map(|(target, score)| format!("{name}, {}: {score:.3}", text(target)));
    let written: Vec<String> =
        each().map(|(_, score)| format!("{:.0}", 100.0 * score)).collect();
    let places: Vec<usize> = (0..scores.len()).collect();
    let trace = Bar::new(places, scores.iter().map(|x| rounded(x.max(0.0))).collect())
        .x_axis(axis_name("x", 2))
        .y_axis(axis_name("y", 2))
        .show_legend(false)
        .hover_text_array(told.collect())
        .hover_info(HoverInfo::Text);
    let colours: Vec<&str> = (0..scores.len()).map(palette::head).collect();
    let hatch = if nth == 0 { "" } else { "/" };
    with(
        to_value(trace),
        [
            ("marker", json!({ "color": colours, "pattern": { "shape": hatch } })),
            ("text", json!(written)),
            ("textposition", json!("outside")),
            ("textfont", json!({ "size": 10 })),
            ("textangle", json!(0)),
            ("cliponaxis", json!(false)),
        ],
    )
}

pub(super) fn layout(now: Learning, width: f64, n_columns: usize) -> Value {
    let heads = now.head_names();
    let targets: Vec<String> = now.targets.iter().map(|it| (*it).to_owned()).collect();
    let (n_heads, n_tokens) = (heads.len() as f64, now.tokens.len() as f64);
    let names = |names: &[String]| token_axis(names, FONT_SIZE);
    let lines = Panel {
        title: "score".to_owned(),
        x: number_axis(now.n_steps as f64, "").title(axis_title("steps")),
        y: number_axis(1.04, ""),
        width: None,
        height: HEIGHT,
    };
    let map = Panel {
        title: "attends to, in one example".to_owned(),
        x: names(now.tokens).tick_angle(-90.0).range(vec![-0.5, n_tokens - 0.5]),
        y: names(&heads).range(vec![n_heads - 0.5, -0.5]), // head 0 at the top
        width: None,
        height: n_heads * (HEIGHT / n_heads).min(HIGHEST_ROW),
    };
    let title = match now.without {
        None => "score now, of 100".to_owned(),
        Some((head, _)) => format!("now, and without head {head}"),
    };
    let bars = Panel {
        title,
        x: names(&targets).range(vec![-0.5, targets.len() as f64 - 0.5]),
        y: number_axis(1.1, ""),
        width: None,
        height: HEIGHT,
    };
    let below = label_width(now.tokens, FONT_SIZE).max(38.0);
    let left = label_width(&heads, FONT_SIZE);
    let place = Place { width, n_columns, left, left_once: false, below, above: 34.0 };
    let mut layout = panels::layout(vec![lines, map, bars], &place);
    layout["barmode"] = json!("group");
    layout["bargap"] = json!(0.2);
    layout
}
