//! What several chapters ask of the trained layer and its sentences.

use std::sync::OnceLock;

use anyhow::{Context, Result};
use attention::{HeadParameters, LayerParameters, Linear, Mask, Matrix};
use model_files::{Sentence, TrainedLayer};
use single_head::{HeadPass, attend};

pub use model_files::MINILM_FILE as FILE;

/// The number of the trained layer's heads: controls are made where the layer is not there.
pub const N_HEADS: usize = 12;
/// The layer's sentences, by its names for them.
pub const SENTENCES: [(&str, &str); 4] = [
    ("bank_loan", "The bank approved the loan."),
    ("pilot", "The pilot flew the plane to Paris."),
    ("river_banks", "The river banks overflowed."),
    ("animal_tired", "The animal didn't cross the street because it was too tired."),
];
/// The last token of the longest.
pub const LAST: usize = 15;

static LAYER: OnceLock<TrainedLayer> = OnceLock::new();

/// The trained layer. A page's module is built without its 2.4 MB, and must be
/// [given](give) them first.
///
/// # Errors
/// In a page, if it was not given.
pub fn layer() -> Result<&'static TrainedLayer> {
    #[cfg(not(target_arch = "wasm32"))]
    if LAYER.get().is_none() {
        let embedded = model_files::minilm()?;
        LAYER.get_or_init(|| embedded);
    }
    LAYER.get().context("the trained layer has not been loaded")
}

/// Gives the bytes of [`model_files::MINILM_FILE`] to what runs without them.
///
/// # Errors
/// If they are another file's.
pub fn give(bytes: Vec<u8>) -> Result<()> {
    let layer = TrainedLayer::read("the trained layer's file", bytes)?;
    LAYER.get_or_init(|| layer);
    Ok(())
}

/// Every head's pass over a sentence, head 0 first.
///
/// # Errors
/// If the tokens have another width than the layer.
pub fn passes(layer: &LayerParameters, x: &Matrix) -> Result<Vec<HeadPass>> {
    let heads = layer.heads().iter();
    heads.map(|head| Ok(attend(head, x, x, x, &Mask::None)?)).collect()
}

/// The maps of a layer, head 0 first.
///
/// # Errors
/// If the tokens have another width than the layer.
pub fn maps(layer: &LayerParameters, x: &Matrix) -> Result<Vec<Matrix>> {
    Ok(passes(layer, x)?.into_iter().map(|pass| pass.attn).collect())
}

/// W^Q, W^K and W^V taken as if the file stored them `[in, out]`.
///
/// # Errors
/// If the matrices are not square.
pub fn transposed(layer: &LayerParameters) -> Result<LayerParameters> {
    let fused = layer.pack();
    let d_k = layer.dims().d_k();
    let block = |wide: &Linear, i: usize| -> Result<Linear> {
        let weight = wide.weight.transpose().columns(i * d_k, d_k).into_owned();
        let bias = wide.bias.as_ref().map(|bias| bias.columns(i * d_k, d_k).into_owned());
        Ok(Linear::new(weight, bias)?)
    };
    let head = |i: usize| -> Result<HeadParameters> {
        Ok(HeadParameters {
            w_q: block(fused.w_q(), i)?,
            w_k: block(fused.w_k(), i)?,
            w_v: block(fused.w_v(), i)?,
        })
    };
    let heads = (0..layer.heads().len()).map(head).collect::<Result<_>>()?;
    Ok(LayerParameters::new(heads, layer.w_o().clone())?)
}

/// Where a word stands; of a word that stands twice, the first.
///
/// # Errors
/// If the sentence has no such word.
pub fn at(sentence: &Sentence, word: &str) -> Result<usize> {
    let place = sentence.tokens.iter().position(|token| token == word);
    place.with_context(|| format!("“{}” has no {word}", sentence.text))
}

/// Whether a token is a word or a piece of one, and no mark.
pub fn is_word(token: &str) -> bool {
    token.starts_with(|c: char| c.is_alphanumeric() || c == '#')
}

/// How far two rows of numbers point the same way: 1 the same way, 0 at right angles.
pub fn cosine(a: &Matrix, b: &Matrix) -> f64 {
    a.dot(b) / (a.norm() * b.norm())
}

#[cfg(test)]
mod tests {
    use super::*;

    /// What controls are made of, where the layer is not there.
    #[test]
    fn the_constants_say_what_the_layer_has() {
        let layer = layer().unwrap();
        assert_eq!(layer.sentences.len(), SENTENCES.len());
        for (name, text) in SENTENCES {
            assert_eq!(layer.sentence(name).unwrap().text, text);
        }
        let lengths = layer.sentences.iter().map(|it| it.tokens.len());
        assert_eq!(lengths.max(), Some(LAST + 1));
        assert_eq!(layer.parameters.heads().len(), N_HEADS);
    }
}
