//! The boxes and arrows as plotly draws them.

use plotly::Scatter;
use plotly::common::{Font, HoverInfo, Mode};
use plotly::layout::{Annotation, Axis, Shape, ShapeLine, ShapeType};
use serde_json::{Value, json, to_value};

use super::nodes::{Arrow, HALF, Node, Nodes, written};
use crate::layout::{NEUTRAL, formula, rounded, with};
use crate::palette;
use crate::panels::{self, Panel, Place};

/// Pixels from one row to the next.
const ROW: f64 = 62.0;

/// The texts of the boxes, and of the arrows that have one.
pub(super) fn labels(nodes: &Nodes, arrows: &[Arrow]) -> Value {
    let nodes = nodes.all();
    let mut at: Vec<[f64; 2]> = nodes.iter().map(|node| node.place).collect();
    let mut texts: Vec<String> = nodes
        .iter()
        .map(|node| {
            let (name, norm) = (formula(node.name), written(node.norm));
            format!("<b>{name}</b> {}<br>{norm}", node.shape)
        })
        .collect();
    let mut hover: Vec<String> = nodes
        .iter()
        .map(|node| {
            let (name, norm) = (formula(node.name), written(node.norm));
            format!("{name}, {}<br>norm of its gradient {norm}", node.shape)
        })
        .collect();
    for arrow in arrows.iter().filter(|arrow| arrow.has_label) {
        let [[x0, y0], [x1, y1]] = arrow.ends();
        // Above a slope, to the outside; beside an arrow that goes straight up.
        let (aside, up) = if x0 == x1 { (0.24, 0.0) } else { (0.3, 0.06) };
        let outside = if x1 > x0 { -aside } else { aside };
        at.push([rounded((x0 + x1) / 2.0 + outside), rounded((y0 + y1) / 2.0 - up)]);
        texts.push(written(arrow.norm));
        let by = formula(arrow.from.name);
        hover.push(format!("by way of {by}<br>norm {}", written(arrow.norm)));
    }
    let trace = Scatter::new(
        at.iter().map(|at| at[0]).collect::<Vec<f64>>(),
        at.iter().map(|at| at[1]).collect(),
    )
    .mode(Mode::Text)
    .text_array(texts)
    .hover_text_array(hover)
    .hover_info(HoverInfo::Text)
    .show_legend(false);
    with(to_value(trace), [("cliponaxis", json!(false))])
}

/// The boxes and the arrows.
pub(super) fn layout(nodes: &Nodes, arrows: &[Arrow], width: f64) -> Value {
    let place = Place {
        width,
        n_columns: 1,
        left: 10.0,
        left_once: true,
        below: 0.0,
        above: 0.0,
    };
    let axis = |range: [f64; 2]| {
        Axis::new()
            .range(range.to_vec())
            .show_grid(false)
            .show_line(false)
            .zero_line(false)
            .show_tick_labels(false)
            .tick_length(0)
            .fixed_range(true)
    };
    let panel = Panel {
        title: "down: forward. up: the gradient, and its norm in each box".to_owned(),
        x: axis([-0.5, 2.5]),
        y: axis([7.5, -0.5]), // the tokens on top
        width: None,
        height: 8.0 * ROW,
    };
    let mut layout = panels::layout(vec![panel], &place);
    layout["shapes"] = nodes.all().into_iter().map(outline).collect();
    let most = arrows.iter().map(|arrow| arrow.norm).fold(0.0, f64::max);
    let arrows = arrows.iter().map(|arrow| drawn(arrow, most));
    if let Some(annotations) = layout["annotations"].as_array_mut() {
        annotations.extend(arrows);
    }
    layout
}

/// The same for a phone, where a box is narrow.
pub(super) fn in_smaller_letters(mut layout: Value) -> Value {
    layout["font"]["size"] = json!(10);
    layout
}

/// A box: parameters in colour, what passes through in grey.
fn outline(node: &Node) -> Value {
    let [x, y] = node.place;
    let (colour, width) = match node.is_parameter {
        true => (palette::head(0), 2.0),
        false => (NEUTRAL, 1.0),
    };
    let shape = Shape::new()
        .shape_type(ShapeType::Rect)
        .x_ref("x")
        .y_ref("y")
        .x0(rounded(x - HALF[0]))
        .x1(rounded(x + HALF[0]))
        .y0(rounded(y - HALF[1]))
        .y1(rounded(y + HALF[1]))
        .line(ShapeLine::new().color(colour).width(width));
    with(to_value(shape), [])
}

fn drawn(arrow: &Arrow, most: f64) -> Value {
    let [from, to] = arrow.ends();
    // Each factor of ten below the largest takes one and a half off five pixels.
    let tens = if arrow.norm > 0.0 { (most / arrow.norm).log10() } else { f64::MAX };
    let width = (5.0 - 1.5 * tens).max(0.8);
    let annotation = Annotation::new()
        .text("")
        .show_arrow(true)
        .x_ref("x")
        .y_ref("y")
        .x(rounded(to[0]))
        .y(rounded(to[1]))
        .ax(rounded(from[0]))
        .ay(rounded(from[1]))
        .arrow_color(palette::head(1))
        .arrow_width((width * 10.0).round() / 10.0)
        .arrow_head(2)
        .font(Font::new().size(10));
    let size = if width > 2.5 { 0.5 } else { 0.8 };
    with(
        to_value(annotation),
        [("axref", json!("x")), ("ayref", json!("y")), ("arrowsize", json!(size))],
    )
}
