//! What a model gets from a file, and gives to another.

use attention::Real;
use model_files::Sequence;
use tensors::{NewTensor, Stored, TensorFile};

use crate::Result;
use crate::batch::{of_layers, of_maps, of_matrices};
use crate::finite::{finite, finite_logits};
use crate::translators::config::Config;
use crate::translators::{AsRead, Files};

/// The texts of a file, a source and a target each, each id being one that the model has:
/// `input_ids` and `decoder_input_ids`, and where they are there `attention_mask` and
/// `decoder_attention_mask`.
///
/// # Shapes
/// Each as [`Sequence::read`], with as many sequences on either side.
///
/// # Errors
/// As [`Sequence::read_pairs`].
pub fn sequences(config: &Config, file: &TensorFile) -> Result<Vec<[Sequence; 2]>> {
    let vocabularies = [config.n_vocabulary, config.n_target_vocabulary];
    Ok(Sequence::read_pairs(file, vocabularies)?)
}

/// Every hidden state, map and logit of each source and target: `encoder.hidden.L`,
/// `encoder.attn.L`, `decoder.hidden.L`, `decoder.attn.L`, `cross.L`, and `logits` where there are
/// some.
///
/// # Errors
/// As [`AsRead::read`], [`AsRead::encode`] and [`AsRead::decode`];
/// [`Error::NotFinite`](crate::Error::NotFinite) and
/// [`Error::LogitsNotFinite`](crate::Error::LogitsNotFinite) for a model that gives no numbers.
pub fn tensors<T: Real + Stored>(
    files: &Files,
    texts: &[[Sequence; 2]],
) -> Result<Vec<NewTensor>> {
    let model = AsRead::<T>::read(files)?;
    let (mut encoded, mut decoded, mut logits) = (Vec::new(), Vec::new(), Vec::new());
    for [source, target] in texts {
        let layers = finite(model.encode(source)?)?;
        let of_target = finite(model.decode(target, layers.out(), source)?)?;
        if model.unembedding.is_some() {
            logits.push(finite_logits(model.logits(of_target.out())?)?);
        }
        encoded.push(layers);
        decoded.push(of_target);
    }
    let mut tensors = of_layers("encoder.", &encoded)?;
    tensors.extend(of_layers("decoder.", &decoded)?);
    let cross: Vec<_> = decoded.iter().map(|it| it.cross.as_slice()).collect();
    tensors.extend(of_maps("cross", &cross)?);
    tensors.extend(of_matrices("logits".into(), logits.len(), None, logits.iter())?);
    Ok(tensors)
}
