//! One head forward, and its gradients backward, with the formula of each.

use super::canvas::{Anchor, Canvas, Ink, Look, Rect};
use super::flow::{Flow, Place};
use super::shape::{Shape, Size};
use super::{figure, sketch_of_rows};
use crate::chart::Text;
use crate::{Figure, Table};

/// A matrix of the forward pass.
struct Node {
    name: &'static str,
    /// How the forward pass makes it.
    forward: &'static str,
    /// Its gradient, from gradients of what comes later.
    backward: &'static str,
    /// The gradient of the weights that it was made with.
    weights: &'static str,
    shape: Option<Shape>,
    place: Place,
}

#[rustfmt::skip]
fn nodes() -> [Node; 9] {
    use Size::{Key, Model, Tokens, Value};
    let node = |name, (forward, backward, weights), shape, (step, first, last)| Node {
        name, forward, backward, weights, shape, place: Place { step, lanes: [first, last] },
    };
    let of = |columns| Some(Shape(Tokens, columns));
    [
        node("X", ("", "dX = dQ (W^Q)^T + dK (W^K)^T + dV (W^V)^T", ""), of(Model), (0, 0, 2)),
        node("Q", ("X W^Q", "dQ = dS K / √d_k", "dW^Q = X^T dQ"), of(Key), (1, 0, 0)),
        node("K", ("X W^K", "dK = dS^T Q / √d_k", "dW^K = X^T dK"), of(Key), (1, 1, 1)),
        node("V", ("X W^V", "dV = A^T dhead", "dW^V = X^T dV"), of(Value), (1, 2, 2)),
        node("S", ("Q K^T / √d_k", "dS = A ⊙ (dA − Σ A ⊙ dA)", ""), of(Tokens), (2, 0, 1)),
        node("A", ("softmax(S)", "dA = dhead V^T", ""), of(Tokens), (3, 0, 1)),
        node("head", ("A V", "dhead = dout (W^O)^T", ""), of(Value), (4, 0, 2)),
        node("out", ("head W^O", "dout = ∂loss / ∂out", "dW^O = head^T dout"), of(Model),
            (5, 0, 2)),
        node("loss", ("a number made from out", "", ""), None, (6, 0, 2)),
    ]
}

/// From which node to which, and in which lane.
const ARROWS: [(usize, usize, f64); 10] = [
    (0, 1, 0.0),
    (0, 2, 1.0),
    (0, 3, 2.0),
    (1, 4, 0.0),
    (2, 4, 1.0),
    (4, 5, 0.5),
    (5, 6, 0.5),
    (3, 6, 2.0),
    (6, 7, 1.0),
    (7, 8, 1.0),
];

/// The graph of one head from the tokens to a loss. Thin arrows lead forward; the lit ones
/// lead back, and each box has the formula of its gradient. Σ sums along a row.
pub fn backward_graph(title: impl Into<String>) -> Figure {
    let nodes = nodes();
    let description =
        nodes.iter().rev().filter(|node| !node.backward.is_empty()).map(|node| {
            let weights = if node.weights.is_empty() { "" } else { " and " };
            format!("{}{weights}{}", node.backward, node.weights)
        });
    let rows = (0..7).map(|step| {
        let nodes = nodes.iter().filter(|node| node.place.step == step);
        let text = |node: &Node| match node.backward {
            "" => node.heading(),
            backward if node.forward.is_empty() => {
                format!("{} | {backward}", node.heading())
            }
            backward => format!("{} = {} | {backward}", node.name, node.forward),
        };
        nodes.map(text).collect::<Vec<_>>()
    });
    let rows: Vec<_> = rows.collect();
    let table = nodes.iter().map(|node| {
        let shape = node.shape.map_or("one number".to_owned(), Shape::symbols);
        let [forward, backward, weights] = [node.forward, node.backward, node.weights]
            .map(|text| match text {
                "" => "–".to_owned(),
                text => text.to_owned(),
            });
        [node.name.to_owned(), shape, forward, backward, weights]
    });
    let columns = ["matrix", "shape", "forward", "backward", "gradient of the weights"];
    let text = Text {
        alternative: format!(
            "The graph of one head: X to Q, K and V; Q and K to the scores S, then A; A and \
             V to head, out and the loss. Arrows lead back from the loss to X, with these \
             formulas: {}. Σ sums along a row. Each gradient has the shape of its matrix.",
            description.collect::<Vec<_>>().join("; ")
        ),
        sketch: sketch_of_rows(&rows).replace('↓', "↓ ↑"),
        tables: vec![Table::new("One head forward and backward", columns, table)],
    };
    figure(title, text, [drawn(&nodes, 640.0), drawn(&nodes, super::NARROW)])
}

impl Node {
    /// `Q = X W^Q [n, d_k]`.
    fn heading(&self) -> String {
        let shape =
            self.shape.map_or(String::new(), |shape| format!(" {}", shape.symbols()));
        match self.forward {
            "" => format!("{}{shape}", self.name),
            forward if self.shape.is_none() => format!("{}, {forward}", self.name),
            forward => format!("{} = {forward}{shape}", self.name),
        }
    }
}

fn drawn(nodes: &[Node], width: f64) -> Canvas {
    let lane = (width - 4.0 - 2.0 * 10.0) / 3.0;
    let flow = Flow { is_wide: false, n: [7, 3], cell: [64.0, lane], gaps: [30.0, 10.0] };
    let mut canvas = flow.canvas();
    for node in nodes {
        let rect = flow.rect(node.place);
        canvas.rect(&rect, Ink::Plain);
        let mut lines = vec![(node.heading(), Look::note())];
        let lit = Look { ink: Ink::Lit, is_bold: true, ..Look::note() };
        let backward =
            [node.backward, node.weights].into_iter().filter(|it| !it.is_empty());
        lines.extend(backward.map(|text| (text.to_owned(), lit)));
        write(&mut canvas, &rect, &lines);
    }
    const ASIDE: f64 = 7.0;
    for (from, to, lane) in ARROWS {
        let ends = [nodes[from].place, nodes[to].place];
        let [from, to] = flow.ends(ends, [lane, -ASIDE]);
        canvas.arrow(from, to, Ink::Plain);
        let [from, to] = flow.ends(ends, [lane, ASIDE]);
        canvas.arrow(to, from, Ink::Lit);
    }
    canvas
}

/// Lines in the middle of a box.
fn write(canvas: &mut Canvas, rect: &Rect, lines: &[(String, Look)]) {
    const LINE: f64 = 18.0;
    let [x, y] = rect.middle();
    let top = y - LINE * (lines.len() as f64 - 1.0) / 2.0;
    for (nth, (text, look)) in lines.iter().enumerate() {
        let look = Look { size: 12.5, room: rect.w - 6.0, ..*look };
        canvas.text(text, [x, top + nth as f64 * LINE], Anchor::Middle, look);
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::testing::assert_diagram;

    #[test]
    fn a_head_and_its_gradients() {
        let figure = backward_graph("The gradient takes each arrow back");
        let [wide, _] = figure.drawings().unwrap();
        let heads = |class: &str| wide.matches(class).count();
        // An arrow back for each arrow forward.
        assert_eq!(heads("<polygon class=\"lit-text\""), ARROWS.len());
        assert_eq!(heads("<polygon points"), ARROWS.len());
        assert_diagram!(figure);
    }

    /// A node is fed by those nodes that its forward formula names.
    #[test]
    fn arrows_are_those_of_the_formulas() {
        let nodes = nodes();
        for (at, node) in nodes.iter().enumerate().filter(|(at, _)| *at > 0) {
            let fed: Vec<&str> = ARROWS
                .iter()
                .filter(|(_, to, _)| *to == at)
                .map(|(from, _, _)| nodes[*from].name)
                .collect();
            let words = node.forward.replace(['(', ')'], " ").replace("^T", "");
            let named: Vec<&str> = words
                .split(' ')
                .filter(|word| nodes.iter().any(|node| node.name == *word))
                .collect();
            assert_eq!(fed, named, "{}", node.name);
        }
    }
}
