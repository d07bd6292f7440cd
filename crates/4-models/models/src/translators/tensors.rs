//! What a model gets from a file, and gives to another.

use attention::{Matrix, Real};
use block::Layers;
use model_files::Sequence;
use tensors::{NewTensor, Stored, TensorFile};

use crate::Result;
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

/// Every hidden state, map and logit of each source and target.
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
    to_tensors(&encoded, &decoded, &logits)
}

/// What a model gave of a batch as tensors of a file: `encoder.hidden.L`, `encoder.attn.L`,
/// `decoder.hidden.L`, `decoder.attn.L`, `cross.L`, and `logits` where there are some.
///
/// # Shapes
/// As [`Translator`](crate::translators::Translator) gives them, with the batch in front.
///
/// # Errors
/// [`Error::Tensors`](crate::Error::Tensors) if the texts differ in length, or in the number of
/// maps.
fn to_tensors<T: Stored>(
    encoded: &[Layers<T>],
    decoded: &[Layers<T>],
    logits: &[Matrix<T>],
) -> Result<Vec<NewTensor>> {
    let mut tensors = Vec::new();
    for (side, batch) in [("encoder", encoded), ("decoder", decoded)] {
        let n_hidden = batch.first().map_or(0, |first| first.hidden.len());
        for l in 0..n_hidden {
            let hidden = batch.iter().filter_map(|layers| layers.hidden.get(l));
            tensors.extend(tensor(
                format!("{side}.hidden.{l}"),
                batch.len(),
                None,
                hidden,
            )?);
        }
        let maps: Vec<_> = batch.iter().map(|layers| layers.attn.as_slice()).collect();
        tensors.extend(of_maps(&format!("{side}.attn"), &maps)?);
    }
    let cross: Vec<_> = decoded.iter().map(|it| it.cross.as_slice()).collect();
    tensors.extend(of_maps("cross", &cross)?);
    tensors.extend(tensor("logits".into(), logits.len(), None, logits.iter())?);
    Ok(tensors)
}

/// The maps of every layer of a batch.
fn of_maps<T: Stored>(name: &str, batch: &[&[Vec<Matrix<T>>]]) -> Result<Vec<NewTensor>> {
    let mut tensors = Vec::new();
    for (l, first) in batch.first().copied().unwrap_or_default().iter().enumerate() {
        let maps = batch.iter().filter_map(|layers| layers.get(l)).flatten();
        let name = format!("{name}.{l}");
        tensors.extend(tensor(name, batch.len(), Some(first.len()), maps)?);
    }
    Ok(tensors)
}

/// `(n, rows, columns)`, or with `within` maps a text `(n, within, rows, columns)`; none of no
/// matrix.
fn tensor<'a, T: Stored>(
    name: String,
    n: usize,
    within: Option<usize>,
    matrices: impl Iterator<Item = &'a Matrix<T>> + Clone,
) -> Result<Option<NewTensor>> {
    let Some((rows, columns)) = matrices.clone().next().map(Matrix::shape) else {
        return Ok(None);
    };
    let shape: Vec<usize> =
        [Some(n), within, Some(rows), Some(columns)].into_iter().flatten().collect();
    Ok(Some(NewTensor::new(name, &shape, matrices)?))
}
