//! What is drawn of a figure, in a line per panel and per trace.
//!
//! The whole of it is kept in `chapters/figures` and compared there: each kind of figure is in
//! the book. Here stands what a person can check: what lies on which axes, from where to
//! where, under which name, and what the pointer tells of it first.

use std::fmt::Write;

use serde_json::Value;

use crate::Figure;
use crate::figure::Drawn;
use crate::plotly::{self, axis_name, layout_key};

/// Panels, traces, and what else the layout has. No panels overlap, on a phone neither.
pub(crate) fn drawn(figure: &Figure) -> String {
    let Drawn::Chart(plot) = &figure.drawn else { panic!("a diagram") };
    let [wide, narrow] =
        [&plot.wide, &plot.narrow].map(|layout| plotly::layout(layout, 0.0));
    let mut text = String::new();
    for (nth, panel) in panels(&wide).iter().enumerate() {
        let [x, y] = ["x", "y"].map(|letter| axis(&wide[layout_key(letter, nth)]));
        let _ = writeln!(text, "panel {nth}: x {x}; y {y}; {} high", panel.height);
    }
    panels(&narrow);
    for mark in &plot.marks {
        let _ = writeln!(text, "{}", trace(&plotly::trace(mark, &plot.wide)));
    }
    const SHARED: [&str; 11] = [
        "autosize",
        "dragmode",
        "font",
        "height",
        "hovermode",
        "margin",
        "meta",
        "paper_bgcolor",
        "plot_bgcolor",
        "legend",
        "coloraxis",
    ];
    for (key, value) in wide.as_object().unwrap() {
        if !SHARED.contains(&key.as_str()) && !key[1..].starts_with("axis") {
            let _ = writeln!(text, "{key}: {}", brief(value));
        }
    }
    text
}

/// `“steps” 0.0 to 100.0`, or with its names.
fn axis(axis: &Value) -> String {
    let title = axis["title"]["text"].as_str().unwrap_or_default();
    let title = if title.is_empty() { String::new() } else { format!("“{title}” ") };
    let kind = if axis["type"] == "log" { "powers " } else { "" };
    let names = axis["ticktext"].as_array();
    let names = names.map_or(String::new(), |names| format!(", {} names", names.len()));
    format!("{title}{kind}{} to {}{names}", axis["range"][0], axis["range"][1])
}

/// `scatter lines x2 y2 “with”: (0, 1.0) … (2, 2.0), 3 in all; “with, block 0 …”`
fn trace(trace: &Value) -> String {
    let words = ["type", "mode", "orientation", "xaxis", "yaxis"];
    let words: Vec<&str> = words.iter().filter_map(|key| trace[key].as_str()).collect();
    let mut text = words.join(" ");
    if let Some(name) = trace["name"].as_str() {
        let _ = write!(text, " “{name}”");
    }
    if trace["showlegend"] == false {
        text += " (not in the legend)";
    }
    let ends = match trace["z"].as_array() {
        Some(rows) => {
            let cells: Vec<&Value> =
                rows.iter().filter_map(Value::as_array).flatten().collect();
            let n = cells.len();
            format!(
                "{} … {}, {} rows of {}",
                cells[0],
                cells[n - 1],
                rows.len(),
                n / rows.len()
            )
        }
        None => {
            let [x, y] = ["x", "y"].map(|axis| trace[axis].as_array().unwrap());
            assert_eq!(x.len(), y.len());
            let point = |at: usize| format!("({}, {})", x[at], y[at]);
            match x.len() {
                0 => "nothing".to_owned(),
                n => format!("{} … {}, {n} in all", point(0), point(n - 1)),
            }
        }
    };
    let _ = write!(text, ": {ends}");
    for key in ["hovertext", "text"] {
        let mut first = &trace[key];
        while first.is_array() {
            first = &first[0];
        }
        if let Some(first) = first.as_str() {
            let _ = write!(text, "; “{first}”");
        }
    }
    text
}

/// A plain value, or how many there are.
fn brief(value: &Value) -> String {
    match value {
        Value::Array(list) => {
            let texts: Vec<&str> =
                list.iter().filter_map(|item| item["text"].as_str()).collect();
            let texts: Vec<&str> =
                texts.into_iter().filter(|it| !it.is_empty()).collect();
            format!("{} {}", list.len(), texts.join("; ")).trim_end().to_owned()
        }
        value => value.to_string(),
    }
}

/// A panel's place, as fractions of the plot, and its height in pixels.
struct Panel {
    x: [f64; 2],
    y: [f64; 2],
    height: f64,
}

impl Panel {
    fn overlaps(&self, other: &Self) -> bool {
        let meet = |a: [f64; 2], b: [f64; 2]| a[0] < b[1] && b[0] < a[1];
        meet(self.x, other.x) && meet(self.y, other.y)
    }
}

fn panels(layout: &Value) -> Vec<Panel> {
    let pixels = |path| layout.pointer(path).and_then(Value::as_f64).unwrap();
    let plot = pixels("/height") - pixels("/margin/t") - pixels("/margin/b");
    let domain = |letter: &str, nth| -> Option<[f64; 2]> {
        let axis = &layout[layout_key(letter, nth)];
        let domain = [axis["domain"][0].as_f64()?, axis["domain"][1].as_f64()?];
        let other = if letter == "x" { "y" } else { "x" };
        assert_eq!(axis["anchor"], axis_name(other, nth));
        assert!(0.0 <= domain[0] && domain[0] < domain[1] && domain[1] <= 1.0);
        Some(domain)
    };
    let panel = |nth| {
        let (x, y) = (domain("x", nth)?, domain("y", nth)?);
        // Domains are rounded: half a pixel must not depend on the other panels.
        Some(Panel { x, y, height: ((y[1] - y[0]) * plot + 0.2).floor() })
    };
    let panels: Vec<Panel> = (0..).map_while(panel).collect();
    for (nth, panel) in panels.iter().enumerate() {
        assert!(panel.height > 40.0, "panel {nth} is {} pixels high", panel.height);
        for (other, before) in panels[..nth].iter().enumerate() {
            assert!(!panel.overlaps(before), "panels {other} and {nth} overlap");
        }
    }
    panels
}
