//! A layer of heads as boxes with shapes, in its two forms.

mod drawn;

use attention::Dims;

use super::shape::{Shape, Size};
use super::{figure, sketch_of_rows};
use crate::chart::Text;
use crate::{Error, Figure, Result, Table};

/// How the weights of a layer lie.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum LayerForm {
    /// Three matrices per head.
    PerHead,
    /// Three matrices for all heads, and a block of columns per head.
    Fused,
}

impl LayerForm {
    /// The form of this name: `per-head` or `fused`.
    ///
    /// # Errors
    /// [`Error::NoSuchPart`] for another name.
    pub fn named(name: &str) -> Result<Self> {
        Error::find_part(name, &[("per-head", Self::PerHead), ("fused", Self::Fused)])
    }
}

/// A part of a layer that a diagram can light.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum LayerPart {
    /// All that a head does by itself.
    Heads,
    /// The heads side by side.
    Concat,
    /// W^O.
    Mix,
    /// Queries, keys and values.
    Project,
    /// What is blocked.
    Mask,
    /// Scores, softmax, and the average of the values.
    Attend,
    /// The same, tile by tile.
    Tiles,
}

impl LayerPart {
    const NAMED: [(&str, Self); 7] = [
        ("heads", Self::Heads),
        ("concat", Self::Concat),
        ("mix", Self::Mix),
        ("project", Self::Project),
        ("mask", Self::Mask),
        ("attend", Self::Attend),
        ("tiles", Self::Tiles),
    ];

    /// The part of this name: `heads`, `concat`, `mix`, `project`, `mask`, `attend` or
    /// `tiles`.
    ///
    /// # Errors
    /// [`Error::NoSuchPart`] for another name.
    pub fn named(name: &str) -> Result<Self> {
        Error::find_part(name, &Self::NAMED)
    }
}

/// What a layer does, from the top down.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Step {
    Input,
    /// The weights of queries, keys and values; in a card per head, or for all heads.
    Weights,
    /// Q, K and V of all heads, cut in columns; only where one matrix makes them.
    Columns,
    Scores,
    Mask,
    Softmax,
    Average,
    Concat,
    Mix,
    Output,
}

use Step::{
    Average, Columns, Concat, Input, Mask, Mix, Output, Scores, Softmax, Weights,
};

/// The names that stand for all heads: the third is a gap.
const HEADS: [&str; 4] = ["1", "2", "…", "h"];

/// What a card of one head holds.
const IN_A_CARD: [Step; 4] = [Scores, Mask, Softmax, Average];

impl Step {
    fn is_lit(self, lit: Option<LayerPart>) -> bool {
        let steps: &[Self] = match lit {
            None => &[],
            Some(LayerPart::Heads) => &[Weights, Columns, Scores, Mask, Softmax, Average],
            Some(LayerPart::Concat) => &[Concat],
            Some(LayerPart::Mix) => &[Mix, Output],
            Some(LayerPart::Project) => &[Weights, Columns],
            Some(LayerPart::Mask) => &[Mask],
            Some(LayerPart::Attend | LayerPart::Tiles) => &IN_A_CARD,
        };
        steps.contains(&self)
    }

    /// What stands in the box, for the head of this name.
    fn name(self, form: LayerForm, head: &str) -> String {
        match self {
            Input => "X".to_owned(),
            Weights if form == LayerForm::PerHead => {
                format!("W_{head}^Q W_{head}^K W_{head}^V")
            }
            Weights => "W^Q, W^K, W^V".to_owned(),
            Columns => "Q, K, V".to_owned(),
            Scores => format!("Q_{head} K_{head}^T / √d_k"),
            Mask => "mask".to_owned(),
            Softmax => format!("softmax → A_{head}"),
            Average => format!("A_{head} V_{head}"),
            Concat => "Concat".to_owned(),
            Mix => "W^O".to_owned(),
            Output => "Z".to_owned(),
        }
    }

    /// The shape of what comes out, and of weights their own.
    fn shape(self, form: LayerForm) -> Shape {
        match self {
            Input | Output => Shape(Size::Tokens, Size::Model),
            Weights if form == LayerForm::PerHead => Shape(Size::Model, Size::Key),
            Weights => Shape(Size::Model, Size::Keys),
            Columns => Shape(Size::Tokens, Size::Keys),
            Scores | Mask | Softmax => Shape(Size::Tokens, Size::Tokens),
            Average => Shape(Size::Tokens, Size::Value),
            Concat => Shape(Size::Tokens, Size::Values),
            Mix => Shape(Size::Values, Size::Model),
        }
    }

    fn what(self, form: LayerForm) -> &'static str {
        match self {
            Input => "the tokens, one per row",
            Weights if form == LayerForm::PerHead => {
                "three matrices per head (d_v columns in W_i^V)"
            }
            Weights => "three matrices for all heads (h·d_v columns in W^V)",
            Columns => "a block of columns per head, as a view",
            Scores => "a score for each query and key, per head",
            Mask => "blocks scores, if there is a mask",
            Softmax => "attention weights, per head; each row sums to 1",
            Average => "the head: each row an average of its values",
            Concat => "the heads side by side",
            Mix => "the weights that mix the heads",
            Output => "the output, Concat W^O",
        }
    }
}

/// All steps of a form, in order.
fn steps(form: LayerForm) -> Vec<Step> {
    let projected: &[Step] = match form {
        LayerForm::PerHead => &[Input, Weights],
        LayerForm::Fused => &[Input, Weights, Columns],
    };
    [projected, &IN_A_CARD, &[Concat, Mix, Output]].concat()
}

/// A layer from the tokens to its output: projections, heads side by side, concatenation,
/// and W^O; each with its shape, in numbers too where `dims` are given. One part may be
/// lit, and the others are muted then.
pub fn layer_diagram(
    title: impl Into<String>,
    form: LayerForm,
    dims: Option<Dims>,
    lit: Option<LayerPart>,
) -> Figure {
    let text = Text {
        alternative: alternative(form, dims, lit),
        sketch: sketched(form, dims),
        tables: vec![table(form, dims)],
    };
    let layer = drawn::Layer { form, dims, lit };
    figure(title, text, [layer.canvas(super::WIDE), layer.canvas(super::NARROW)])
}

fn sketched(form: LayerForm, dims: Option<Dims>) -> String {
    let shape = |step: Step| step.shape(form).text(dims);
    let whole = |step: Step| vec![format!("{} {}", step.name(form, ""), shape(step))];
    let per_head = |step: Step| {
        let names = HEADS.map(|head| match head {
            "…" => head.to_owned(),
            _ => step.name(form, head),
        });
        let mut row = names.to_vec();
        row[3] = format!("{}  {}", row[3], shape(step));
        row
    };
    let row = |step: Step| {
        let is_per_head =
            IN_A_CARD.contains(&step) || (step == Weights && form == LayerForm::PerHead);
        if is_per_head { per_head(step) } else { whole(step) }
    };
    sketch_of_rows(&steps(form).into_iter().map(row).collect::<Vec<_>>())
}

fn table(form: LayerForm, dims: Option<Dims>) -> Table {
    let rows = steps(form).into_iter().map(|step| {
        let (what, shape) = (step.what(form).to_owned(), step.shape(form).text(dims));
        [step.name(form, "i"), what, shape]
    });
    Table::new("One layer, box by box", ["box", "what it is", "shape"], rows)
}

fn alternative(form: LayerForm, dims: Option<Dims>, lit: Option<LayerPart>) -> String {
    let steps = steps(form);
    let each = steps
        .iter()
        .map(|step| format!("{} {}", step.name(form, "i"), step.shape(form).text(dims)));
    let begins = match form {
        LayerForm::PerHead => {
            "X goes into h heads side by side, each with its own weights"
        }
        LayerForm::Fused => {
            "X is multiplied by one W^Q, W^K and W^V; their columns are cut in a block per \
             head, and attention is computed per block"
        }
    };
    let lit_steps = steps.iter().filter(|step| step.is_lit(lit));
    let lit_names: Vec<String> = lit_steps.map(|step| step.name(form, "i")).collect();
    let lit = match lit_names[..] {
        [] => String::new(),
        _ => format!(" Highlighted: {}.", lit_names.join("; ")),
    };
    format!(
        "Block diagram of a layer with the shape of each matrix. {begins}; the heads are \
         concatenated and multiplied by W^O, which gives Z. From the top down: {}.{lit}",
        each.collect::<Vec<_>>().join("; ")
    )
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::testing::{assert_diagram, texts};

    #[test]
    fn a_layer_per_head() {
        let dims = Dims::new(512, 8).unwrap();
        let form = LayerForm::PerHead;
        assert_diagram!(layer_diagram(
            "Heads",
            form,
            Some(dims),
            Some(LayerPart::Concat)
        ));
    }

    #[test]
    fn a_fused_layer_has_one_matrix_per_projection() {
        let figure = layer_diagram("Fused", LayerForm::Fused, None, None);
        let [wide, narrow] = figure.drawings().unwrap().map(texts);
        assert_eq!(wide, narrow);
        let matrices = |texts: &[String]| {
            texts.iter().filter(|text| text.starts_with('W')).cloned().collect::<Vec<_>>()
        };
        assert_eq!(matrices(&wide), ["WQ, WK, WV", "WO"]);
        insta::assert_snapshot!(figure.sketch());
    }

    #[test]
    fn each_part_lights_something_in_each_form() {
        for (name, part) in LayerPart::NAMED {
            assert_eq!(LayerPart::named(name).unwrap(), part);
            for form in [LayerForm::PerHead, LayerForm::Fused] {
                let figure = layer_diagram("", form, None, Some(part));
                for drawing in figure.drawings().unwrap() {
                    assert!(drawing.contains("class=\"lit\""), "{name}, {form:?}");
                    assert!(drawing.contains("stroke-opacity=\".35\""), "{name}");
                }
                let text = figure.alternative().split("Highlighted: ").nth(1);
                assert!(text.is_some(), "{name}, {form:?}");
            }
        }
        insta::assert_snapshot!(LayerPart::named("w").unwrap_err(), @"there is no part w in this diagram, only heads, concat, mix, project, mask, attend, tiles");
        insta::assert_snapshot!(LayerForm::named("w").unwrap_err(), @"there is no part w in this diagram, only per-head, fused");
    }

    /// What follows a matrix fits it, and the tiles are named only where they are meant.
    #[test]
    fn shapes_of_products_fit() {
        for form in [LayerForm::PerHead, LayerForm::Fused] {
            let shape = |step: Step| step.shape(form);
            assert_eq!(shape(Input).1, shape(Weights).0);
            assert_eq!(shape(Concat).1, shape(Mix).0);
            assert_eq!(shape(Output), Shape(shape(Concat).0, shape(Mix).1));
            let named = |lit| {
                let figure = layer_diagram("", form, None, lit);
                texts(figure.drawings().unwrap()[0]).iter().any(|it| it.contains("tiles"))
            };
            assert!(named(Some(LayerPart::Tiles)) && !named(Some(LayerPart::Attend)));
        }
    }
}
