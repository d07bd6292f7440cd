//! The matrices as boxes, and the arrows that the gradient takes between them.

use super::{BackwardPass, GradientNorm};

/// Half of a box: columns and rows are 1 apart.
pub(super) const HALF: [f64; 2] = [0.43, 0.31];

/// A matrix in its place.
pub(super) struct Node {
    pub(super) name: &'static str,
    /// Column and row of its middle, from the top left.
    pub(super) place: [f64; 2],
    pub(super) shape: String,
    pub(super) norm: f64,
    pub(super) is_parameter: bool,
}

/// The boxes of one pass.
pub(super) struct Nodes {
    pub(super) x: Node,
    w_q: Node,
    w_k: Node,
    w_v: Node,
    q: Node,
    k: Node,
    v: Node,
    scores: Node,
    attn: Node,
    concat: Node,
    w_o: Node,
    out: Node,
}

impl Nodes {
    /// From x at the top to out at the bottom.
    pub(super) fn of(pass: &BackwardPass) -> Self {
        let node = |name, place, of: GradientNorm, is_parameter| {
            let shape = format!("{} × {}", of.shape.0, of.shape.1);
            Node { name, place, shape, norm: of.norm, is_parameter }
        };
        let maps = |name, row, of: GradientNorm| {
            let node = node(name, [0.5, row], of, false);
            Node { shape: format!("{} of {}", pass.n_heads, node.shape), ..node }
        };
        let [w_q, w_k, w_v] = pass.w;
        let [q, k, v] = pass.qkv;
        Self {
            x: node("x", [1.0, 0.0], pass.x, false),
            w_q: node("W^Q", [0.0, 1.0], w_q, true),
            w_k: node("W^K", [1.0, 1.0], w_k, true),
            w_v: node("W^V", [2.0, 1.0], w_v, true),
            q: node("Q", [0.0, 2.0], q, false),
            k: node("K", [1.0, 2.0], k, false),
            v: node("V", [2.0, 2.0], v, false),
            scores: maps("scores", 3.0, pass.scores),
            attn: maps("A", 4.0, pass.attn),
            concat: node("concat", [1.0, 5.0], pass.concat, false),
            w_o: node("W^O", [1.0, 6.0], pass.w_o, true),
            out: node("out", [1.0, 7.0], pass.out, false),
        }
    }

    /// All of them, row by row.
    #[rustfmt::skip]
    pub(super) fn all(&self) -> [&Node; 12] {
        let Self { x, w_q, w_k, w_v, q, k, v, scores, attn, concat, w_o, out } = self;
        [x, w_q, w_k, w_v, q, k, v, scores, attn, concat, w_o, out]
    }

    /// The gradient's ways, each from a box up to the next; the last three meet at x.
    pub(super) fn arrows(&self, to_x: [f64; 3]) -> Vec<Arrow<'_>> {
        let Self { x, w_q, w_k, w_v, q, k, v, scores, attn, concat, w_o, out } = self;
        let ways = [
            (out, w_o),
            (w_o, concat),
            (concat, attn),
            (concat, v),
            (attn, scores),
            (scores, q),
            (scores, k),
            (q, w_q),
            (k, w_k),
            (v, w_v),
        ];
        let ways =
            ways.map(|(from, to)| Arrow { from, to, norm: to.norm, has_label: false });
        let last = [w_q, w_k, w_v].into_iter().zip(to_x);
        let last = last.map(|(from, norm)| Arrow { from, to: x, norm, has_label: true });
        ways.into_iter().chain(last).collect()
    }
}

/// An arrow from one box up to another.
pub(super) struct Arrow<'a> {
    pub(super) from: &'a Node,
    pub(super) to: &'a Node,
    pub(super) norm: f64,
    /// Whether its norm is written beside it.
    pub(super) has_label: bool,
}

impl Arrow<'_> {
    /// From the upper edge of one box to the lower edge of the other.
    pub(super) fn ends(&self) -> [[f64; 2]; 2] {
        let ([x0, y0], [x1, y1]) = (self.from.place, self.to.place);
        // From the middle a little to the side of where it goes.
        let aside = (x1 - x0).clamp(-1.0, 1.0) * 0.25;
        [[x0 + aside, y0 - HALF[1]], [x1 - aside, y1 + HALF[1]]]
    }
}

/// Three digits that count.
pub(super) fn written(norm: f64) -> String {
    match norm {
        0.0 => "0".to_owned(),
        1e-4..1e4 => {
            let digits = (2 - norm.log10().floor() as i32).max(0) as usize;
            format!("{norm:.digits$}")
        }
        _ => format!("{norm:.2e}"),
    }
}
