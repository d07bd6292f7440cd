//! The trained layer that comes with the workspace.

use std::borrow::Cow;

use attention::{LayerParameters, Matrix};
use tensors::TensorFile;

use crate::{Error, Result, read_layer};

/// The names of the sentences, in the order of [`TrainedLayer::sentences`].
pub const SENTENCES: [&str; 4] = ["pilot", "river_banks", "bank_loan", "animal_tired"];

/// The file that [`minilm`] reads, for a program that sends it elsewhere.
pub const MINILM_FILE: &[u8] = include_bytes!("../data/minilm-layer5.safetensors");
pub(crate) const N_HEADS: usize = 12;

/// A trained layer, and sentences that have passed through it.
#[derive(Debug, Clone, PartialEq)]
pub struct TrainedLayer {
    /// Its weights: d_model 384, 12 heads, d_k 32.
    pub parameters: LayerParameters,
    /// The sentences, in the order of [`SENTENCES`].
    pub sentences: Vec<Sentence>,
}

/// A sentence, what of it enters the layer, and what PyTorch computed from that.
///
/// The reference was computed in float32: a layer in f64 differs from it by up to 5e-6.
#[derive(Debug, Clone, PartialEq)]
pub struct Sentence {
    /// Its name, one of [`SENTENCES`].
    pub name: &'static str,
    /// As it is written.
    pub text: String,
    /// Its word pieces, `n_tokens` of them, `[CLS]` first and `[SEP]` last; one that goes
    /// on with a word begins with `##`.
    pub tokens: Vec<String>,
    /// The hidden states that enter the layer, `[n_tokens, 384]`.
    pub input: Matrix,
    /// The reference maps, 12 of `[n_tokens, n_tokens]`.
    pub attn: Vec<Matrix>,
    /// The reference output after W^O, before the residual connection and the layer norm,
    /// `[n_tokens, 384]`.
    pub output: Matrix,
}

/// The self-attention of the last layer of sentence-transformers/all-MiniLM-L6-v2, with
/// four sentences.
///
/// ```
/// let layer = model_files::minilm()?;
/// let pilot = layer.sentence("pilot")?;
/// assert_eq!(pilot.text, "The pilot flew the plane to Paris.");
/// assert_eq!(pilot.input.shape(), (pilot.tokens.len(), 384));
/// # Ok::<(), model_files::Error>(())
/// ```
///
/// # Errors
/// None, unless the embedded file was exchanged for another.
///
/// # Source
/// `data/README.md` says what was taken from the model, which is under Apache-2.0.
pub fn minilm() -> Result<TrainedLayer> {
    TrainedLayer::read("the embedded minilm-layer5.safetensors", MINILM_FILE)
}

impl TrainedLayer {
    /// Reads the bytes of [`MINILM_FILE`], however they came here; `name` is what errors
    /// call them.
    ///
    /// # Errors
    /// As [`TensorFile::from_bytes`], and if a tensor or a text is missing.
    pub fn read(name: &str, bytes: impl Into<Cow<'static, [u8]>>) -> Result<Self> {
        let file = TensorFile::from_bytes(name, bytes)?;
        let sentences = SENTENCES.into_iter().map(|name| read_sentence(&file, name));
        Ok(Self {
            parameters: read_layer(&file, N_HEADS, None)?,
            sentences: sentences.collect::<Result<_>>()?,
        })
    }

    /// The sentence of this name.
    ///
    /// # Errors
    /// [`Error::UnknownSentence`] with the names that there are.
    pub fn sentence(&self, name: &str) -> Result<&Sentence> {
        let found = self.sentences.iter().find(|sentence| sentence.name == name);
        found.ok_or_else(|| Error::UnknownSentence {
            asked: name.to_string(),
            known: SENTENCES.map(str::to_string).to_vec(),
        })
    }
}

/// The text of a sentence, and its word pieces.
pub(crate) fn read_text(file: &TensorFile, name: &str) -> Result<(String, Vec<String>)> {
    let text = |what: &str| {
        let key = format!("{name}.{what}");
        let text = file.text(&key).map(str::to_string);
        text.ok_or_else(|| {
            let file = file.name().to_string();
            Error::from(tensors::Error::MissingText { file, key })
        })
    };
    let tokens = text("tokens")?.split_whitespace().map(str::to_string).collect();
    Ok((text("sentence")?, tokens))
}

fn read_sentence(file: &TensorFile, name: &'static str) -> Result<Sentence> {
    let (text, tokens) = read_text(file, name)?;
    Ok(Sentence {
        name,
        text,
        tokens,
        input: file.matrix(&format!("{name}.input"))?,
        attn: file.matrices(&format!("{name}.attn"))?,
        output: file.matrix(&format!("{name}.output"))?,
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_layer_and_its_sentences_have_the_sizes_of_the_model() {
        let TrainedLayer { parameters, sentences } = minilm().unwrap();
        let dims = parameters.dims();
        assert_eq!((dims.d_model(), dims.n_heads(), dims.d_k()), (384, 12, 32));
        for sentence in &sentences {
            let n = sentence.tokens.len();
            assert_eq!(sentence.input.shape(), (n, 384));
            assert_eq!(sentence.output.shape(), (n, 384));
            assert_eq!(sentence.attn.len(), 12);
            assert!(sentence.attn.iter().all(|attn| attn.shape() == (n, n)));
        }
        let lines =
            sentences.iter().map(|s| format!("{}: {}", s.text, s.tokens.join(" ")));
        insta::assert_snapshot!(lines.collect::<Vec<_>>().join("\n"), @"
        The pilot flew the plane to Paris.: [CLS] the pilot flew the plane to paris . [SEP]
        The river banks overflowed.: [CLS] the river banks over ##flow ##ed . [SEP]
        The bank approved the loan.: [CLS] the bank approved the loan . [SEP]
        The animal didn't cross the street because it was too tired.: [CLS] the animal didn ' t cross the street because it was too tired . [SEP]
        ");
    }

    #[test]
    fn an_unknown_sentence_is_answered_with_the_known_ones() {
        let layer = minilm().unwrap();
        insta::assert_snapshot!(layer.sentence("paris").unwrap_err(), @r#"no sentence is called "paris"; there is pilot, river_banks, bank_loan, animal_tired"#);
        assert_eq!(layer.sentence("bank_loan").unwrap().name, "bank_loan");
    }
}
