//! A layer's backward pass: how large the gradient of each matrix is.

mod drawn;
mod nodes;
mod sketched;

use crate::chart::{self, Text};
use crate::panels::{NARROW, WIDE};
use crate::{Error, Figure, Result, Table};
use nodes::{Node, Nodes, written};

/// A matrix of the forward pass, and how large its gradient was in the backward pass.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct GradientNorm {
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
    pub x: GradientNorm,
    /// What comes to x by way of the queries, the keys and the values.
    pub to_x: [f64; 3],
    /// W^Q, W^K and W^V of all heads.
    pub w: [GradientNorm; 3],
    /// Q, K and V of all heads.
    pub qkv: [GradientNorm; 3],
    /// The scores of all heads; the shape is that of one.
    pub scores: GradientNorm,
    /// The maps of all heads; the shape is that of one.
    pub attn: GradientNorm,
    /// The heads side by side.
    pub concat: GradientNorm,
    /// W^O.
    pub w_o: GradientNorm,
    /// What left the layer.
    pub out: GradientNorm,
}

/// The forward pass as boxes from the top down, and the gradient's way up from box to
/// box. In each box stands the norm of its gradient, and an arrow is the wider, the more
/// arrives at its end.
///
/// # Errors
/// [`Error::Sizes`] for no heads; [`Error::Number`] for a norm below 0.
pub fn backward_pass(title: impl Into<String>, pass: &BackwardPass) -> Result<Figure> {
    attention::Error::expect_positive("the number of heads", pass.n_heads)?;
    let nodes = Nodes::of(pass);
    let ways = pass.to_x.map(|norm| ("a way to x", norm));
    let norms = nodes.all().into_iter().map(|node| (node.name, node.norm));
    for (name, norm) in norms.chain(ways) {
        let what = format!("the norm of the gradient of {name}");
        Error::expect_between(what, norm, [0.0, f64::INFINITY])?;
    }
    let arrows = nodes.arrows(pass.to_x);
    let text = Text {
        alternative: alternative(pass),
        sketch: sketched::boxes(&nodes, &arrows),
        tables: vec![table(pass, &nodes)],
    };
    let traces = vec![drawn::labels(&nodes, &arrows)];
    let layouts = [(WIDE, 12), (NARROW, 10)]
        .map(|(width, font_size)| drawn::layout(&nodes, &arrows, width, font_size));
    Ok(chart::figure(title, text, traces, layouts))
}

fn table(pass: &BackwardPass, nodes: &Nodes) -> Table {
    let kind =
        |node: &Node| if node.is_parameter { "parameters" } else { "passes through" };
    let row = |node: &Node| {
        let what = kind(node).to_owned();
        [node.name.to_owned(), node.shape.clone(), what, written(node.norm)]
    };
    let ways = ["queries", "keys", "values"].into_iter().zip(pass.to_x);
    let ways = ways.map(|(by, norm)| {
        let [name, shape] = [format!("x, by way of the {by}"), nodes.x.shape.clone()];
        [name, shape, "passes through".to_owned(), written(norm)]
    });
    let columns = ["matrix", "shape", "what it is", "norm of its gradient"];
    Table::new(
        "Gradients of one pass",
        columns,
        nodes.all().into_iter().map(row).chain(ways),
    )
}

fn alternative(pass: &BackwardPass) -> String {
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

    fn gradient(rows: usize, columns: usize, norm: f64) -> GradientNorm {
        GradientNorm { shape: (rows, columns), norm }
    }

    fn pass() -> BackwardPass {
        let tokens = |norm| gradient(8, 12, norm);
        let square = |norm| gradient(12, 12, norm);
        BackwardPass {
            n_heads: 3,
            x: tokens(0.4137),
            to_x: [0.0212, 0.0386, 0.4011],
            w: [square(0.0521), square(0.0613), square(1.204)],
            qkv: [tokens(0.0103), tokens(0.0121), tokens(0.302)],
            scores: gradient(8, 8, 0.00871),
            attn: gradient(8, 8, 0.0934),
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
        insta::assert_snapshot!(refused(BackwardPass { out: gradient(8, 12, f64::NAN), ..pass() }), @"the norm of the gradient of out is NaN, expected at least 0");
        insta::assert_snapshot!(refused(BackwardPass { to_x: [0.1, -0.1, 0.1], ..pass() }), @"the norm of the gradient of a way to x is -0.1, expected at least 0");
    }
}
