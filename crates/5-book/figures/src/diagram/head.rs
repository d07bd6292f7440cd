//! One head as boxes with shapes.

use attention::Dims;

use super::canvas::{Canvas, Ink};
use super::flow::{Flow, Place};
use super::shape::{Shape, Size};
use super::{figure, sketch_of_rows};
use crate::chart::Text;
use crate::{Error, Figure, Result, Table};

/// A part of a head that a diagram can light.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum HeadPart {
    /// Queries, keys and values.
    Project,
    /// Q Kᵀ / √d_k.
    Scores,
    /// What is blocked.
    Mask,
    /// From scores to shares.
    Softmax,
    /// A V.
    Average,
}

impl HeadPart {
    const NAMED: [(&str, Self); 5] = [
        ("project", Self::Project),
        ("scores", Self::Scores),
        ("mask", Self::Mask),
        ("softmax", Self::Softmax),
        ("average", Self::Average),
    ];

    /// The part of this name: `project`, `scores`, `mask`, `softmax` or `average`.
    ///
    /// # Errors
    /// [`Error::NoSuchPart`] for another name.
    pub fn named(name: &str) -> Result<Self> {
        Error::find_part(name, &Self::NAMED)
    }
}

/// A box.
struct Part {
    name: &'static str,
    /// The letter of what comes out, where it is not the name.
    gives: &'static str,
    shape: Shape,
    what: &'static str,
    place: Place,
    of: Option<HeadPart>,
}

#[rustfmt::skip]
fn parts() -> [Part; 11] {
    use HeadPart::{Average, Mask, Project, Scores, Softmax};
    use Size::{Key, Model, Tokens, Value};
    let part = |(name, gives), (rows, columns), what, (step, first, last), of| Part {
        name, gives, shape: Shape(rows, columns), what, of,
        place: Place { step, lanes: [first, last] },
    };
    let of = Some(Project);
    [
        part(("X", ""), (Tokens, Model), "the tokens, one per row", (0, 0, 2), None),
        part(("W^Q", ""), (Model, Key), "the weights of the queries", (1, 0, 0), of),
        part(("W^K", ""), (Model, Key), "the weights of the keys", (1, 1, 1), of),
        part(("W^V", ""), (Model, Value), "the weights of the values", (1, 2, 2), of),
        part(("Q", ""), (Tokens, Key), "the queries, X W^Q", (2, 0, 0), of),
        part(("K", ""), (Tokens, Key), "the keys, X W^K", (2, 1, 1), of),
        part(("V", ""), (Tokens, Value), "the values, X W^V", (2, 2, 2), of),
        part(("Q K^T / √d_k", "S"), (Tokens, Tokens), "a score for each query and key",
            (3, 0, 1), Some(Scores)),
        part(("mask", "S"), (Tokens, Tokens), "blocks scores, if there is a mask",
            (4, 0, 1), Some(Mask)),
        part(("softmax", "A"), (Tokens, Tokens), "attention weights; a row sums to 1",
            (5, 0, 1), Some(Softmax)),
        part(("A V", "head"), (Tokens, Value), "each row an average of the values",
            (6, 0, 2), Some(Average)),
    ]
}

/// From which part to which, and in which lane.
const ARROWS: [(usize, usize, f64); 12] = [
    (0, 1, 0.0),
    (0, 2, 1.0),
    (0, 3, 2.0),
    (1, 4, 0.0),
    (2, 5, 1.0),
    (3, 6, 2.0),
    (4, 7, 0.0),
    (5, 7, 1.0),
    (7, 8, 0.5),
    (8, 9, 0.5),
    (9, 10, 0.5),
    (6, 10, 2.0),
];

/// One head from the tokens to its output, each box with its shape, in numbers too where
/// `dims` are given. One part may be lit, and the others are muted then.
pub fn head_diagram(
    title: impl Into<String>,
    dims: Option<Dims>,
    lit: Option<HeadPart>,
) -> Figure {
    let parts = parts();
    let text = Text {
        alternative: alternative(&parts, dims, lit),
        sketch: sketched(&parts, dims),
        tables: vec![table(&parts, dims)],
    };
    figure(title, text, [true, false].map(|is_wide| drawn(&parts, is_wide, dims, lit)))
}

fn drawn(
    parts: &[Part],
    is_wide: bool,
    dims: Option<Dims>,
    lit: Option<HeadPart>,
) -> Canvas {
    let more = if dims.is_some() { 14.0 } else { 0.0 };
    let flow = match is_wide {
        true => {
            Flow { is_wide, n: [7, 3], cell: [84.0, 58.0 + more], gaps: [21.0, 14.0] }
        }
        false => {
            Flow { is_wide, n: [7, 3], cell: [46.0 + more, 108.0], gaps: [19.0, 10.0] }
        }
    };
    let ink = |part: &Part| Ink::of(part.of.is_some() && part.of == lit, lit.is_some());
    let mut canvas = flow.canvas();
    for part in parts {
        let (rect, ink) = (flow.rect(part.place), ink(part));
        match part.of {
            Some(HeadPart::Mask) => canvas.dashed(&rect, ink),
            _ => canvas.rect(&rect, ink),
        }
        canvas.label(&rect, part.name, &part.lines(dims), ink);
    }
    for (from, to, lane) in ARROWS {
        let (from, to) = (&parts[from], &parts[to]);
        // An arrow belongs to the box that it feeds.
        let [start, end] = flow.ends([from.place, to.place], [lane, 0.0]);
        canvas.arrow(start, end, ink(to));
    }
    canvas
}

impl Part {
    /// What comes out, and its shape.
    fn lines(&self, dims: Option<Dims>) -> Vec<String> {
        let mut lines = self.shape.lines(dims);
        lines[0] = format!("{} {}", self.gives, lines[0]).trim_start().to_owned();
        lines
    }
}

fn sketched(parts: &[Part], dims: Option<Dims>) -> String {
    let row = |step| {
        let parts = parts.iter().filter(|part| part.place.step == step);
        let text = |part: &Part| {
            let gives = if part.gives.is_empty() { "" } else { " → " };
            format!("{}{gives}{} {}", part.name, part.gives, part.shape.text(dims))
        };
        parts.map(text).collect::<Vec<_>>()
    };
    sketch_of_rows(&(0..7).map(row).collect::<Vec<_>>())
}

fn table(parts: &[Part], dims: Option<Dims>) -> Table {
    let rows = parts
        .iter()
        .map(|part| [part.name.to_owned(), part.what.to_owned(), part.shape.text(dims)]);
    Table::new("One head, box by box", ["box", "what it is", "shape"], rows)
}

fn alternative(parts: &[Part], dims: Option<Dims>, lit: Option<HeadPart>) -> String {
    let each =
        parts.iter().map(|part| format!("{} {}", part.name, part.shape.text(dims)));
    let lit_parts = parts.iter().filter(|part| lit.is_some() && part.of == lit);
    let names: Vec<&str> = lit_parts.map(|part| part.name).collect();
    let lit = match names[..] {
        [] => String::new(),
        _ => format!(" Highlighted: {}.", names.join(", ")),
    };
    format!(
        "Block diagram of one head with the shape of each matrix. Arrows lead from X \
         through W^Q, W^K and W^V to Q, K and V; from Q and K to the scores, the mask and \
         the softmax; from there and from V to the head. The boxes: {}.{lit}",
        each.collect::<Vec<_>>().join("; ")
    )
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::testing::assert_diagram;

    #[test]
    fn one_head_with_numbers() {
        let dims = Dims::new(512, 8).unwrap();
        let figure = head_diagram("One head", Some(dims), Some(HeadPart::Softmax));
        assert_diagram!(figure);
    }

    /// The two letters that a product has in common are one size.
    #[test]
    fn shapes_of_products_fit() {
        let parts = parts();
        let of = |name| parts.iter().find(|part| part.name == name).unwrap().shape;
        for (left, right, product) in [
            ("X", "W^Q", "Q"),
            ("X", "W^K", "K"),
            ("X", "W^V", "V"),
            ("softmax", "V", "A V"),
        ] {
            assert_eq!(of(left).1, of(right).0, "{product}");
            assert_eq!(of(product), Shape(of(left).0, of(right).1), "{product}");
        }
        assert_eq!(of("Q").1, of("K").1);
        assert_eq!(of("Q K^T / √d_k"), Shape(of("Q").0, of("K").0));
    }

    #[test]
    fn each_part_lights_its_own_boxes() {
        let names = |lit| {
            let parts = parts();
            let lit = parts.iter().filter(|part| part.of == Some(lit));
            lit.map(|part| part.name).collect::<Vec<_>>()
        };
        let project = ["W^Q", "W^K", "W^V", "Q", "K", "V"];
        assert_eq!(names(HeadPart::Project), project);
        for (name, part) in HeadPart::NAMED {
            assert_eq!(HeadPart::named(name).unwrap(), part);
            let figure = head_diagram("", None, Some(part));
            for drawing in figure.drawings().unwrap() {
                // A box and an arrow's line have the class; an arrow's head has another.
                let boxes = drawing.matches("<rect").count()
                    - drawing.matches("stroke-opacity=\".35\" rx").count();
                assert_eq!(boxes, names(part).len(), "{name}");
            }
        }
        let error = HeadPart::named("value").unwrap_err();
        insta::assert_snapshot!(error, @"there is no part value in this diagram, only project, scores, mask, softmax, average");
    }
}
