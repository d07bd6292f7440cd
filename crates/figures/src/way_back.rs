//! The gradient's way back through a layer.

use plotly::Scatter;
use plotly::common::{Font, HoverInfo, Mode};
use plotly::layout::{Annotation, Axis, Shape, ShapeLine, ShapeType};
use serde_json::{Value, json, to_value};

use attention::Error as SizeError;

use crate::layout::{NEUTRAL, formula, rounded, with};
use crate::panels::{self, NARROW, Panel, Place, WIDE};
use crate::{Error, Figure, Result, Table, palette};

/// A matrix of the forward pass, and how large its gradient was on the way back.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Returned {
    /// The shape of the matrix, which is the shape of its gradient.
    pub shape: (usize, usize),
    /// The norm of its gradient: the root of the sum of the squares of its entries.
    pub norm: f64,
}

/// The matrices of one pass of self-attention through a fused layer.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct BackwardPass {
    /// How many maps there are.
    pub n_heads: usize,
    /// The tokens; three ways come together there.
    pub x: Returned,
    /// What comes to x by way of the queries, the keys and the values.
    pub to_x: [f64; 3],
    /// W^Q, W^K and W^V of all heads.
    pub w: [Returned; 3],
    /// Q, K and V of all heads.
    pub qkv: [Returned; 3],
    /// The scores of all heads; the shape is that of one.
    pub scores: Returned,
    /// The maps of all heads; the shape is that of one.
    pub attn: Returned,
    /// The heads side by side.
    pub concat: Returned,
    /// W^O.
    pub w_o: Returned,
    /// What left the layer.
    pub out: Returned,
}

/// Half of a box: columns and rows are 1 apart.
const HALF: [f64; 2] = [0.43, 0.31];
const ROW: f64 = 62.0;

/// A matrix in its place.
struct Node {
    name: &'static str,
    place: [f64; 2],
    shape: String,
    norm: f64,
    is_parameter: bool,
}

/// An arrow from one node up to another.
struct Arrow {
    from: usize,
    to: usize,
    norm: f64,
    /// Whether its norm is written beside it.
    told: bool,
}

/// The forward pass as boxes from the top down, and the gradient's way up from box to
/// box. In each box stands the norm of its gradient, and an arrow is the wider, the more
/// arrives at its end.
///
/// # Errors
/// [`Error::Sizes`] for no heads; [`Error::Number`] for a norm below 0.
pub fn backward_pass(title: impl Into<String>, pass: &BackwardPass) -> Result<Figure> {
    SizeError::expect_positive("the number of heads", pass.n_heads)?;
    let nodes = nodes(pass);
    let ways = pass.to_x.map(|norm| ("a way to x", norm));
    for (name, norm) in nodes.iter().map(|node| (node.name, node.norm)).chain(ways) {
        let what = format!("the norm of the gradient of {name}");
        Error::expect_between(what, norm, [0.0, f64::INFINITY])?;
    }
    let arrows = arrows(pass, &nodes);
    let table = table(pass, &nodes);
    Ok(Figure {
        title: title.into(),
        alternative: told(pass),
        sketch: sketched(&nodes, &arrows),
        tables: vec![table],
        traces: vec![labels(&nodes, &arrows)],
        wide: layout(&nodes, &arrows, WIDE, 12),
        narrow: layout(&nodes, &arrows, NARROW, 10),
        notebook: None,
    })
}

/// Twelve boxes, x first; [`arrows`] counts them in this order.
fn nodes(pass: &BackwardPass) -> [Node; 12] {
    let node = |name, place, Returned { shape: (rows, columns), norm }, is_parameter| {
        Node { name, place, shape: format!("{rows} × {columns}"), norm, is_parameter }
    };
    let maps = |name, row, of: Returned| {
        let mut node = node(name, [0.5, row], of, false);
        node.shape = format!("{} of {}", pass.n_heads, node.shape);
        node
    };
    let [w_q, w_k, w_v] = pass.w;
    let [q, k, v] = pass.qkv;
    [
        node("x", [1.0, 0.0], pass.x, false),
        node("W^Q", [0.0, 1.0], w_q, true),
        node("W^K", [1.0, 1.0], w_k, true),
        node("W^V", [2.0, 1.0], w_v, true),
        node("Q", [0.0, 2.0], q, false),
        node("K", [1.0, 2.0], k, false),
        node("V", [2.0, 2.0], v, false),
        maps("scores", 3.0, pass.scores),
        maps("A", 4.0, pass.attn),
        node("concat", [1.0, 5.0], pass.concat, false),
        node("W^O", [1.0, 6.0], pass.w_o, true),
        node("out", [1.0, 7.0], pass.out, false),
    ]
}

fn arrows(pass: &BackwardPass, nodes: &[Node; 12]) -> Vec<Arrow> {
    let ways = [
        (11, 10),
        (10, 9),
        (9, 8),
        (9, 6),
        (8, 7),
        (7, 4),
        (7, 5),
        (4, 1),
        (5, 2),
        (6, 3),
    ];
    let arrow = |(from, to): (usize, usize)| Arrow {
        from,
        to,
        norm: nodes[to].norm,
        told: false,
    };
    let to_x = pass.to_x.iter().enumerate();
    let to_x = to_x.map(|(nth, &norm)| Arrow { from: 1 + nth, to: 0, norm, told: true });
    ways.into_iter().map(arrow).chain(to_x).collect()
}

impl Arrow {
    fn ends(&self, nodes: &[Node; 12]) -> [[f64; 2]; 2] {
        let ([x0, y0], [x1, y1]) = (nodes[self.from].place, nodes[self.to].place);
        let start = [x0 + towards(x0, x1), y0 - HALF[1]];
        [start, [x1 - towards(x0, x1), y1 + HALF[1]]]
    }
}

/// From the middle of a box a little to the side of where it goes.
fn towards(from: f64, to: f64) -> f64 {
    (to - from).clamp(-1.0, 1.0) * 0.25
}

/// Three digits that count.
fn written(norm: f64) -> String {
    match norm {
        0.0 => "0".to_owned(),
        1e-4..1e4 => {
            let digits = (2 - norm.log10().floor() as i32).max(0) as usize;
            format!("{norm:.digits$}")
        }
        _ => format!("{norm:.2e}"),
    }
}

/// The texts of the boxes, and of the arrows that have one.
fn labels(nodes: &[Node; 12], arrows: &[Arrow]) -> Value {
    let mut at: Vec<[f64; 2]> = nodes.iter().map(|node| node.place).collect();
    let mut texts: Vec<String> = nodes
        .iter()
        .map(|node| {
            let (name, norm) = (formula(node.name), written(node.norm));
            format!("<b>{name}</b> {}<br>{norm}", node.shape)
        })
        .collect();
    let mut told: Vec<String> = nodes
        .iter()
        .map(|node| {
            let (name, norm) = (formula(node.name), written(node.norm));
            format!("{name}, {}<br>norm of its gradient {norm}", node.shape)
        })
        .collect();
    for arrow in arrows.iter().filter(|arrow| arrow.told) {
        let [[x0, y0], [x1, y1]] = arrow.ends(nodes);
        // Above a slope, to the outside; beside an arrow that goes straight up.
        let (aside, up) = if x0 == x1 { (0.24, 0.0) } else { (0.3, 0.06) };
        let outside = if x1 > x0 { -aside } else { aside };
        at.push([rounded((x0 + x1) / 2.0 + outside), rounded((y0 + y1) / 2.0 - up)]);
        texts.push(written(arrow.norm));
        let by = formula(nodes[arrow.from].name);
        told.push(format!("by way of {by}<br>norm {}", written(arrow.norm)));
    }
    let trace = Scatter::new(
        at.iter().map(|at| at[0]).collect::<Vec<f64>>(),
        at.iter().map(|at| at[1]).collect(),
    )
    .mode(Mode::Text)
    .text_array(texts)
    .hover_text_array(told)
    .hover_info(HoverInfo::Text)
    .show_legend(false);
    with(to_value(trace), [("cliponaxis", json!(false))])
}

fn layout(nodes: &[Node; 12], arrows: &[Arrow], width: f64, font_size: usize) -> Value {
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
    layout["font"]["size"] = json!(font_size);
    layout["shapes"] = nodes.iter().map(outline).collect();
    let most = arrows.iter().map(|arrow| arrow.norm).fold(0.0, f64::max);
    let arrows = arrows.iter().map(|arrow| drawn(arrow, arrow.ends(nodes), most));
    if let Some(annotations) = layout["annotations"].as_array_mut() {
        annotations.extend(arrows);
    }
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

fn drawn(arrow: &Arrow, [from, to]: [[f64; 2]; 2], most: f64) -> Value {
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

/// Boxes as two lines of text, arrows as one between rows.
fn sketched(nodes: &[Node; 12], arrows: &[Arrow]) -> String {
    const COLUMN: f64 = 24.0;
    let mut lines: Vec<String> = Vec::new();
    let mut write = |row: usize, at: f64, text: &str| {
        while lines.len() <= row {
            lines.push(String::new());
        }
        let width = text.chars().count();
        let from = ((at + 0.5) * COLUMN) as usize - width / 2;
        let line = &mut lines[row];
        let missing = from.saturating_sub(line.chars().count());
        line.push_str(&" ".repeat(missing));
        line.push_str(text);
    };
    for node in nodes {
        let row = node.place[1] as usize * 3;
        write(row, node.place[0], &format!("{} {}", node.name, node.shape));
        write(row + 1, node.place[0], &written(node.norm));
    }
    let mut up: Vec<(usize, f64, String)> = arrows
        .iter()
        .map(|arrow| {
            let (from, to) = (nodes[arrow.from].place, nodes[arrow.to].place);
            let told = if arrow.told { written(arrow.norm) } else { String::new() };
            let text = format!("↑ {told}");
            // An arrow over several rows stands under its end.
            let at = if from[1] - to[1] > 1.0 { to[0] } else { (from[0] + to[0]) / 2.0 };
            (to[1] as usize * 3 + 2, at, text.trim_end().to_owned())
        })
        .collect();
    up.sort_by(|a, b| (a.0, a.1).partial_cmp(&(b.0, b.1)).unwrap_or(a.0.cmp(&b.0)));
    for (row, at, text) in up {
        write(row, at, &text);
    }
    lines.join("\n")
}

fn table(pass: &BackwardPass, nodes: &[Node; 12]) -> Table {
    let kind =
        |node: &Node| if node.is_parameter { "parameters" } else { "passes through" };
    let row = |node: &Node| {
        let what = kind(node).to_owned();
        [node.name.to_owned(), node.shape.clone(), what, written(node.norm)]
    };
    let ways = ["queries", "keys", "values"].into_iter().zip(pass.to_x);
    let ways = ways.map(|(by, norm)| {
        let [name, shape] = [format!("x, by way of the {by}"), nodes[0].shape.clone()];
        [name, shape, "passes through".to_owned(), written(norm)]
    });
    let columns = ["matrix", "shape", "what it is", "norm of its gradient"];
    Table::new("Gradients of one pass", columns, nodes.iter().map(row).chain(ways))
}

fn told(pass: &BackwardPass) -> String {
    let [by_q, by_k, by_v] = pass.to_x.map(written);
    format!(
        "A layer of {} heads as boxes from the tokens x down to out, with arrows for the \
         gradient from out up to x. The norm of the gradient is {} at out, {} at concat, \
         {} at the scores, and at x {} by way of the queries, {} by way of the keys and \
         {} by way of the values.",
        pass.n_heads,
        written(pass.out.norm),
        written(pass.concat.norm),
        written(pass.scores.norm),
        by_q,
        by_k,
        by_v,
    )
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::testing::assert_figure;

    fn returned(rows: usize, columns: usize, norm: f64) -> Returned {
        Returned { shape: (rows, columns), norm }
    }

    fn pass() -> BackwardPass {
        let tokens = |norm| returned(8, 12, norm);
        let square = |norm| returned(12, 12, norm);
        BackwardPass {
            n_heads: 3,
            x: tokens(0.4137),
            to_x: [0.0212, 0.0386, 0.4011],
            w: [square(0.0521), square(0.0613), square(1.204)],
            qkv: [tokens(0.0103), tokens(0.0121), tokens(0.302)],
            scores: returned(8, 8, 0.00871),
            attn: returned(8, 8, 0.0934),
            concat: tokens(0.288),
            w_o: square(0.914),
            out: tokens(0.25),
        }
    }

    #[test]
    fn most_of_the_gradient_goes_by_way_of_the_values() {
        let title = "By way of the values more comes back than through the softmax";
        assert_figure!(backward_pass(title, &pass()).unwrap());
    }

    #[test]
    fn what_is_no_norm_is_refused() {
        let refused = |pass: BackwardPass| backward_pass("", &pass).unwrap_err();
        insta::assert_snapshot!(refused(BackwardPass { n_heads: 0, ..pass() }), @"the number of heads is 0, and must be at least 1");
        insta::assert_snapshot!(refused(BackwardPass { out: returned(8, 12, f64::NAN), ..pass() }), @"the norm of the gradient of out is NaN, expected at least 0");
        insta::assert_snapshot!(refused(BackwardPass { to_x: [0.1, -0.1, 0.1], ..pass() }), @"the norm of the gradient of a way to x is -0.1, expected at least 0");
    }
}
