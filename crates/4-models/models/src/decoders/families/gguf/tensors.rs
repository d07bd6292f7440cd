//! Which tensors are read, and whether the first have the sizes that the settings say.

use model_files::Gguf;
use variants::{Pairing, Sizes};

use super::rotary::FACTORS;
use crate::Result;
use crate::decoders::config::Config;
use crate::decoders::family::{Layers, Projections};

/// Expects the embeddings and the matrices of the first block in the sizes that the settings
/// say, so that no more memory is asked for than the file has.
pub(super) fn expect_first(
    file: &Gguf,
    sizes: Sizes,
    d_ff: usize,
    n_vocabulary: usize,
) -> Result<()> {
    let d_model = sizes.dims.d_model();
    file.expect("token_embd.weight", &[n_vocabulary, d_model])?;
    let shapes = sizes.shapes();
    let names = ["attn_q", "attn_k", "attn_v", "attn_output"];
    for (name, (d_in, d_out)) in names.into_iter().zip(shapes) {
        file.expect(&format!("blk.0.{name}.weight"), &[d_out, d_in])?;
    }
    file.expect("blk.0.ffn_up.weight", &[d_ff, d_model])?;
    Ok(())
}

/// Whether a part of the model is read from this tensor.
pub(super) fn is_read(config: &Config, tensor: &str) -> bool {
    let names = &config.family.names;
    let whole = [names.tokens, names.last_norm, names.unembedding];
    let Some(in_block) = tensor.strip_prefix(names.block) else {
        let is_part =
            tensor.strip_suffix(".weight").is_some_and(|name| whole.contains(&name));
        return is_part || is_llama(config) && tensor == FACTORS;
    };
    let Some((layer, name)) = in_block.split_once('.') else { return false };
    let is_layer = |n: usize| n < config.n_layers && n.to_string() == layer;
    if !layer.parse().is_ok_and(is_layer) {
        return false;
    }
    let norms = [names.after_attention, names.after_feed_forward].into_iter().flatten();
    let norms = norms.chain([names.attention_norm, names.feed_forward_norm]);
    let norms = norms.chain(names.qk_norm.iter().flatten().copied());
    let projections: &[&str] = match &names.projections {
        Projections::Apart(three) => three,
        Projections::Joined(one) | Projections::PerHead(one) => std::slice::from_ref(one),
    };
    let feed_forward: &[&str] = match &names.feed_forward {
        Layers::Plain(two) => two,
        Layers::Gated(three) => three,
    };
    let biases = config.biases;
    let mut parts = (norms.map(|it| (it, false)))
        .chain(projections.iter().map(|it| (*it, biases.projections)))
        .chain([(names.out, biases.out)])
        .chain(feed_forward.iter().map(|it| (*it, biases.feed_forward)));
    match name.strip_suffix(".weight") {
        Some(name) => parts.any(|(it, _)| it == name),
        None => parts.any(|(it, bias)| bias && name.strip_suffix(".bias") == Some(it)),
    }
}

/// Llama alone has such a tensor.
fn is_llama(config: &Config) -> bool {
    config.rotary.as_ref().is_some_and(|rotary| rotary.pairing == Pairing::Pairs)
}
