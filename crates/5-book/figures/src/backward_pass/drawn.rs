//! The boxes and arrows, on axes that are not seen.

use super::nodes::{Arrow, HALF, Node, Nodes, written};
use crate::axis::Axis;
use crate::layout::{NEUTRAL, formula, rounded};
use crate::marks::Mark;
use crate::palette;
use crate::panels::{self, Panel, Place};
use crate::spec::{self, Layout, Rect};

/// Pixels from one row to the next.
const ROW: f64 = 62.0;

/// The texts of the boxes, and of the arrows that have one.
pub(super) fn labels(nodes: &Nodes, arrows: &[Arrow]) -> Mark {
    let of_node = |node: &Node| {
        let (name, shape, norm) = (formula(node.name), &node.shape, written(node.norm));
        let text = format!("<b>{name}</b> {shape}<br>{norm}");
        (node.place, text, format!("{name}, {shape}<br>norm of its gradient {norm}"))
    };
    let of_arrow = |arrow: &Arrow| {
        let [[x0, y0], [x1, y1]] = arrow.ends();
        // Above a slope, to the outside; beside an arrow that goes straight up.
        let (aside, up) = if x0 == x1 { (0.24, 0.0) } else { (0.3, 0.06) };
        let outside = if x1 > x0 { -aside } else { aside };
        let at = [rounded((x0 + x1) / 2.0 + outside), rounded((y0 + y1) / 2.0 - up)];
        let (by, norm) = (formula(arrow.from.name), written(arrow.norm));
        let description = format!("by way of {by}<br>norm {norm}");
        (at, norm, description)
    };
    let labelled = arrows.iter().filter(|arrow| arrow.has_label);
    let labels: Vec<([f64; 2], String, String)> =
        nodes.all().into_iter().map(of_node).chain(labelled.map(of_arrow)).collect();
    let at = |axis: usize| labels.iter().map(move |label| label.0[axis]);
    Mark::texts(at(0), at(1), labels.iter().map(|label| label.1.as_str()))
        .hover(labels.iter().map(|label| label.2.as_str()))
        .in_legend(false)
        .unclipped()
}

/// The boxes and the arrows. On a phone a box is narrow, and letters are smaller.
pub(super) fn layout(
    nodes: &Nodes,
    arrows: &[Arrow],
    width: f64,
    font_size: usize,
) -> Layout {
    let place =
        Place { width, left: 10.0, left_once: true, below: 0.0, ..Place::default() };
    let axis = |range: [f64; 2]| Axis::bare(range).labelled(false);
    let panel = Panel::new(
        "down: forward. up: the gradient, and its norm in each box",
        axis([-0.5, 2.5]),
        axis([7.5, -0.5]), // the tokens on top
        8.0 * ROW,
    );
    let mut layout = panels::layout(vec![panel], &place);
    layout.font_size = font_size;
    layout.boxes = nodes.all().into_iter().map(outline).collect();
    let most = arrows.iter().map(|arrow| arrow.norm).fold(0.0, f64::max);
    layout.arrows = arrows.iter().map(|arrow| drawn(arrow, most)).collect();
    layout
}

/// A box: parameters in colour, what passes through in grey.
fn outline(node: &Node) -> Rect {
    let [x, y] = node.place;
    let (colour, width) = match node.is_parameter {
        true => (palette::head(0), 2.0),
        false => (NEUTRAL, 1.0),
    };
    let around = |middle: f64, half: f64| [middle - half, middle + half].map(rounded);
    Rect {
        panel: 0,
        x: around(x, HALF[0]),
        y: around(y, HALF[1]),
        strip: None,
        fill: None,
        line: Some(colour),
        width,
    }
}

fn drawn(arrow: &Arrow, most: f64) -> spec::Arrow {
    let [from, to] = arrow.ends();
    // Each factor of ten below the largest takes one and a half off five pixels.
    let tens = if arrow.norm > 0.0 { (most / arrow.norm).log10() } else { f64::MAX };
    let width = (5.0 - 1.5 * tens).max(0.8);
    spec::Arrow {
        from: from.map(rounded),
        to: to.map(rounded),
        width: (width * 10.0).round() / 10.0,
        head: if width > 2.5 { 0.5 } else { 0.8 },
        colour: palette::head(1),
    }
}
