//! What a file with a layer may hold beside it.
//!
//! A module owns its parameters, so what lies in the layer's own module is on a list, or the
//! layer is another than the one that is computed here. What lies outside belongs to other
//! layers, but for the few tables that a whole model shares.

use attention::Dims;
use tensors::TensorFile;

use super::{FoundLayer, Naming};
use crate::rules::{
    APPENDED, BEHIND, GRADIENT, OTHER, ROTATION, anywhere, beside, in_module,
    in_other_form, is_blocked,
};
use crate::{
    Claim, Error, Fact, Result, Rule, Unused, Use, expect_known, expect_metadata,
    first_rule, layers_in, wrappers,
};

const TWICE: Use = Use::Refused(
    "in_proj_weight is there too, and nn.MultiheadAttention has only one of the two: leave \
     that of this layer",
);
/// What is read, and what is refused by its meaning, in the layer's own module.
const PYTORCH: &[Rule] = &[
    Rule(
        "in_proj_weight q_proj_weight k_proj_weight v_proj_weight in_proj_bias \
         out_proj.weight out_proj.bias",
        Use::Used,
    ),
    Rule("bias_k bias_v", APPENDED),
];

const BERT: &[Rule] = &[
    Rule(
        "attention.self.query.weight attention.self.query.bias attention.self.key.weight \
         attention.self.key.bias attention.self.value.weight attention.self.value.bias \
         attention.output.dense.weight attention.output.dense.bias",
        Use::Used,
    ),
    // Also LayerNorm.gamma and .beta, of old files.
    Rule("attention.output.LayerNorm.*", BEHIND),
    // ESM's stands before attention, and what `attend` gets is behind it.
    Rule("attention.LayerNorm.*", Use::Harmless("the norm before the layer's attention")),
];

/// Whether metadata says what a layer of these sizes is, and is computed.
fn is_so(claim: &Claim<'_>, naming: Naming, dims: Dims, is_causal: bool) -> Option<bool> {
    let heads = dims.n_heads();
    Some(match claim.fact {
        Fact::Heads => claim.is_number(heads),
        Fact::KeyValueHeads => claim.is_number(heads) || claim.is_usual(),
        Fact::HeadWidth => claim.is_number(dims.d_k()),
        Fact::Width => claim.is_number(dims.d_model()),
        // A flag that is off leaves it to --causal.
        Fact::Causal => claim.is_flag(is_causal) || claim.is_flag(false),
        Fact::Bidirectional => claim.is_flag(!is_causal),
        Fact::Scale => {
            let expected = 1.0 / (dims.d_k() as f64).sqrt();
            let is_equal = |found: f64| (found - expected).abs() < 1e-6 * expected;
            claim.is_usual() || claim.text.trim().parse().is_ok_and(is_equal)
        }
        Fact::Architecture => is_architecture(&claim.plain(), naming),
        Fact::Layers
        | Fact::InputWidth
        | Fact::Activation
        | Fact::Cell
        | Fact::Projection
        | Fact::PaddingSide
        | Fact::Experts
        | Fact::CrossAttention => return None,
        Fact::Mask => claim.is_usual() || is_blocked(claim),
        _ => claim.is_usual(),
    })
}

/// Whether a model of this kind has such a layer.
fn is_architecture(text: &str, naming: Naming) -> bool {
    const BERT: &str = "bert roberta xlmroberta camembert electra minilm bertselfattention \
        bertattention bertlayer";
    const PYTORCH: &str = "multiheadattention transformerencoderlayer \
        transformerdecoderlayer transformerencoder transformerdecoder transformer pytorch \
        torch pt";
    match naming {
        Naming::Bert => BERT.split(' ').any(|name| {
            let rest = text.strip_prefix(name);
            rest.is_some_and(|rest| {
                ["", "model"].contains(&rest) || rest.starts_with("for")
            })
        }),
        Naming::PyTorch => {
            let text = ["torchnnmodules", "torchnn", "nn", "activation"]
                .iter()
                .fold(text, |text, module| text.strip_prefix(module).unwrap_or(text));
            PYTORCH.split(' ').any(|name| name == text)
        }
    }
}

/// Why no layer can be read, where its weights are in another form: the first name that says
/// so, of this layer if it was found.
pub(super) fn cause(file: &TensorFile, layer: Option<&FoundLayer>) -> Option<Error> {
    let others = layers_in(file);
    let found = file.names().into_iter().find_map(|name| {
        let is_own = layer.is_none_or(|layer| is_of(&name, layer, &others));
        match in_other_form(&name) {
            Some(Use::Refused(why)) if is_own => Some((name, why)),
            _ => None,
        }
    });
    let file = file.name().to_string();
    found.map(|(found, why)| Error::Unsupported { file, found, why })
}

/// The module that a layer's attention is.
fn module(layer: &FoundLayer) -> String {
    match layer.naming {
        Naming::PyTorch => layer.prefix.clone(),
        Naming::Bert => format!("{}attention.", layer.prefix),
    }
}

/// Whether a name that may stand behind any wrappers, or be written with underscores, is of
/// this layer: that of its module is in it, and of no other layer's that is longer.
fn is_of(name: &str, layer: &FoundLayer, others: &[FoundLayer]) -> bool {
    let name = format!(".{name}").replace('.', "_");
    let length = |layer: &FoundLayer| -> Option<usize> {
        let path = module(layer);
        let path = wrappers::without(&path);
        // From the last number's own name on: `layer.0.attention.`
        let parts: Vec<&str> = path.split('.').collect();
        let number = parts.iter().rposition(|part| part.parse::<usize>().is_ok());
        let tail = parts[number.unwrap_or(0).saturating_sub(1)..].join("_");
        let is_in = |path: &str| name.contains(&format!("_{path}"));
        let path = path.replace('.', "_");
        let found = if is_in(&path) { Some(path.len()) } else { None };
        found.or_else(|| is_in(&tail).then_some(tail.len()))
    };
    let own = length(layer);
    own.is_some() && others.iter().all(|other| length(other) <= own)
}

/// What the file's metadata says beside what is so of this layer.
pub(super) fn notes(
    file: &TensorFile,
    layer: &FoundLayer,
    dims: Dims,
    is_causal: bool,
) -> Result<Vec<Unused>> {
    expect_metadata(file, |claim| is_so(claim, layer.naming, dims, is_causal))
}

/// What the file holds beside this layer and changes nothing; what would change it is
/// refused. `of_input` says what is done with an input's name that stands in this file.
pub(super) fn unused(
    file: &TensorFile,
    layer: &FoundLayer,
    others: &[FoundLayer],
    of_input: impl Fn(&str) -> Option<Use>,
) -> Result<Vec<Unused>> {
    let own = match layer.naming {
        Naming::PyTorch => PYTORCH,
        Naming::Bert => BERT,
    };
    let module = module(layer);
    let is_alone = wrappers::without(&module).is_empty();
    let is_others = |name: &str| {
        let mut others = others.iter().filter(|other| *other != layer);
        others.any(|other| !other.prefix.is_empty() && name.starts_with(&other.prefix))
    };
    let is_packed = file.contains(&format!("{}in_proj_weight", layer.prefix));
    expect_known(file, "a layer's file", |name| {
        if name.starts_with("grad.") || name.contains("/grad.") {
            return Some(GRADIENT);
        }
        let local = name.strip_prefix(layer.prefix.as_str());
        if let (true, Some("q_proj_weight" | "k_proj_weight" | "v_proj_weight")) =
            (is_packed, local)
        {
            return Some(TWICE);
        }
        if let Some(found) = local.and_then(|local| first_rule(own, local)) {
            return Some(found);
        }
        if layer.naming == Naming::Bert && name.contains("encoder.embed_positions") {
            // RoFormer's.
            return Some(ROTATION);
        }
        let form = in_other_form(name);
        if form.is_some() && is_of(name, layer, others) {
            return form;
        }
        let of_input = of_input(name);
        if let Some(Use::Refused(_)) = of_input {
            return of_input;
        }
        if !name.starts_with(&module) {
            return Some(match anywhere(name) {
                Some(refused) if !is_others(name) => refused,
                _ => OTHER,
            });
        }
        if is_alone && (of_input.is_some() || is_others(name)) {
            return Some(OTHER);
        }
        let local = name.strip_prefix(&module).unwrap_or(name);
        let refused = anywhere(name).or(form).or_else(|| in_module(local));
        refused.or_else(|| beside(local).filter(|_| is_alone))
    })
}
