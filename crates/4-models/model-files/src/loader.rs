//! A layer from a file.

mod bert;
mod known;
mod projections;
mod pytorch;

use std::collections::HashSet;

use attention::{Dims, LayerParameters, PackedParameters};

use projections::Projections;
use tensors::TensorFile;

use crate::{Error, Result, Unused, Use, wrappers};

/// By whose names a layer was found.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Naming {
    /// `torch.nn.MultiheadAttention`: `in_proj_weight` or `q_proj_weight` and so on.
    PyTorch,
    /// BERT: `attention.self.query.weight` and so on.
    Bert,
}

/// A layer that was found in a file.
#[derive(Debug, Clone, PartialEq, Eq, Hash)]
pub struct FoundLayer {
    /// What stands before the names of its tensors: nothing, or `encoder.layer.5.`.
    pub prefix: String,
    /// By whose names.
    pub naming: Naming,
}

/// The layers in this file, `layer.2.` before `layer.10.`.
pub fn layers_in(file: &TensorFile) -> Vec<FoundLayer> {
    let mut layers = HashSet::new();
    for name in file.names() {
        let endings = [(Naming::PyTorch, pytorch::SIGNS), (Naming::Bert, bert::SIGNS)];
        for (naming, signs) in endings {
            let prefix = signs.iter().find_map(|sign| name.strip_suffix(sign));
            let Some(prefix) = prefix.filter(|p| p.is_empty() || p.ends_with('.')) else {
                continue;
            };
            layers.insert(FoundLayer { prefix: prefix.to_string(), naming });
        }
    }
    let mut layers: Vec<FoundLayer> = layers.into_iter().collect();
    layers.sort_by_cached_key(|layer| {
        (layer.prefix.len(), layer.prefix.clone(), layer.naming)
    });
    layers
}

/// What this file holds beside a layer, and why that changes nothing; `of_input` says
/// what is done with an input's or an output's name, where one stands in this file. A
/// `prefix` is as in [`layer`](read_layer).
///
/// # Errors
/// [`Error::Unsupported`] for a tensor by which the layer would compute something else,
/// [`Error::Unknown`] for one in the layer's module of which nothing is known; as
/// [`layer`](read_layer) for the prefix.
pub fn beside_layer(
    file: &TensorFile,
    prefix: Option<&str>,
    of_input: impl Fn(&str) -> Option<Use>,
) -> Result<Vec<Unused>> {
    known::unused(file, &find_layer(file, prefix)?, &layers_in(file), of_input)
}

/// What this file's metadata says beside what is so of this layer of these sizes, with
/// the mask of a causal model or without.
///
/// # Errors
/// [`Error::Metadata`] for what it says of another layer.
pub fn beside_metadata(
    file: &TensorFile,
    layer: &FoundLayer,
    dims: Dims,
    is_causal: bool,
) -> Result<Vec<Unused>> {
    known::notes(file, layer, dims, is_causal)
}

/// A layer of this file with `n_heads` heads, a number that no file stores.
///
/// `prefix` says which layer if there are several (its last dot may be left out);
/// without one it is the layer whose names have none, or the only layer there is.
///
/// `add_zero_attn=True` leaves no trace in a file's tensors: such a layer is refused
/// only where the file's metadata says `add_zero_attn: true`.
///
/// # Shapes
/// Under PyTorch's names `in_proj_weight` is `[3 · d, d]`, or `q_proj_weight` is
/// `[d, d]`, `k_proj_weight` `[d, kdim]`, `v_proj_weight` `[d, vdim]`; `in_proj_bias`
/// is `[3 · d]`, `out_proj.weight` `[d, d]`, `out_proj.bias` `[d]`. Under BERT's
/// names every weight is `[d, d]` and every bias `[d]`. Biases may be left out, all
/// of them.
///
/// # Errors
/// [`Error::NoLayer`], [`Error::SeveralLayers`] or [`Error::UnknownPrefix`];
/// [`Error::Tensors`]
/// for a tensor; [`Error::Unsupported`], also where none of these is the cause but that
/// weights are quantised or kept as parts; [`Error::Layer`] if the heads cannot share
/// the width.
///
/// # Source
/// `torch.nn.MultiheadAttention` 2.15; `BertSelfAttention` of Hugging Face.
pub fn read_layer(
    file: &TensorFile,
    n_heads: usize,
    prefix: Option<&str>,
) -> Result<LayerParameters> {
    let found = find_layer(file, prefix)?;
    let projections = match found.naming {
        Naming::PyTorch => pytorch::read(file, &found.prefix),
        Naming::Bert => bert::read(file, &found.prefix),
    };
    let projections = projections
        .map_err(|symptom| known::cause(file, Some(&found)).unwrap_or(symptom))?;
    let layer = packed(projections, n_heads).map(|packed| packed.unpack());
    layer.map_err(|source| Error::Layer { file: file.name().to_string(), source })
}

/// The layer that a prefix means, as in [`layer`](read_layer).
///
/// # Errors
/// [`Error::NoLayer`], [`Error::SeveralLayers`] or [`Error::UnknownPrefix`];
/// [`Error::Unsupported`] where weights in another form are the cause.
pub fn find_layer(file: &TensorFile, prefix: Option<&str>) -> Result<FoundLayer> {
    let layers = layers_in(file);
    let name = || file.name().to_string();
    if layers.is_empty() {
        let symptom = Error::NoLayer { file: name(), names: file.names() };
        return Err(known::cause(file, None).unwrap_or(symptom));
    }
    let named = |layer: &FoundLayer| match layer.prefix.as_str() {
        "" => "\"\" (none)".to_string(),
        prefix => prefix.to_string(),
    };
    let prefixes = layers.iter().map(named).collect();
    let same = |a: &str, b: &str| a.trim_end_matches('.') == b.trim_end_matches('.');
    // What a wrapper put in front may be left out, where one layer is meant.
    let wrapped = |asked: &str| {
        let mut found =
            layers.iter().filter(|it| same(wrappers::without(&it.prefix), asked));
        let first = found.next()?.clone();
        found.next().is_none().then_some(first)
    };
    match prefix {
        // The shortest prefix comes first, and the shortest of all is none.
        None if layers.len() == 1 || layers[0].prefix.is_empty() => Ok(layers[0].clone()),
        None => Err(Error::SeveralLayers { file: name(), prefixes }),
        Some(asked) => {
            let exact = layers.iter().find(|layer| same(&layer.prefix, asked));
            let found = exact.cloned().or_else(|| wrapped(asked));
            let (file, prefix) = (name(), asked.to_string());
            found.ok_or(Error::UnknownPrefix { file, prefix, prefixes })
        }
    }
}

/// A file holds the packed layout: head i is the block of columns i of W^Q, W^K and W^V.
fn packed(
    projections: Projections,
    n_heads: usize,
) -> attention::Result<PackedParameters> {
    let Projections { w_q, w_k, w_v, w_o } = projections;
    let dims = Dims::new(w_q.d_in(), n_heads)?;
    let dims = dims.with_source_widths(w_k.d_in(), w_v.d_in())?;
    PackedParameters::new(dims, [w_q, w_k, w_v, w_o])
}

#[cfg(test)]
mod tests;
