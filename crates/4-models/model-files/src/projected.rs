//! The trained layer's queries and keys of the four sentences: what its maps are made of, in
//! a file that a page can fetch at once.

use std::borrow::Cow;

use attention::Matrix;
use tensors::{NewTensor, TensorFile, to_bytes_with};

use crate::minilm::{N_HEADS, SENTENCES, read_text};
use crate::{Error, Result, TrainedLayer};

/// The file that [`projected`] reads. `cargo run -p model-files --example queries_keys`
/// writes it.
pub const PROJECTED_FILE: &[u8] =
    include_bytes!("../data/minilm-queries-keys.safetensors");

/// A sentence with its queries and keys in the trained layer, `x W + b`, in f32.
#[derive(Debug, Clone, PartialEq)]
pub struct ProjectedSentence {
    /// Its name, one of [`SENTENCES`].
    pub name: &'static str,
    /// As it is written.
    pub text: String,
    /// Its word pieces, as [`Sentence::tokens`](crate::Sentence::tokens).
    pub tokens: Vec<String>,
    /// `[n_tokens, 384]`; head i has the columns from `i · d_k` on.
    pub q: Matrix,
    /// `[n_tokens, 384]`, the same.
    pub k: Matrix,
}

impl ProjectedSentence {
    /// How many heads share the columns of the queries.
    pub const N_HEADS: usize = N_HEADS;
}

/// Reads the bytes of [`PROJECTED_FILE`]; `name` is what errors call them.
///
/// # Errors
/// As [`TensorFile::from_bytes`], and if a tensor or a text is missing.
pub fn projected(
    name: &str,
    bytes: impl Into<Cow<'static, [u8]>>,
) -> Result<Vec<ProjectedSentence>> {
    let file = TensorFile::from_bytes(name, bytes)?;
    let read = |name: &'static str| {
        let (text, tokens) = read_text(&file, name)?;
        Ok(ProjectedSentence {
            name,
            text,
            tokens,
            q: file.matrix(&format!("{name}.q"))?,
            k: file.matrix(&format!("{name}.k"))?,
        })
    };
    SENTENCES.into_iter().map(read).collect()
}

impl TrainedLayer {
    /// The bytes of [`PROJECTED_FILE`], made from the layer.
    ///
    /// # Errors
    /// If the sentences do not fit the layer.
    pub fn project(&self) -> Result<Vec<u8>> {
        let packed = self.parameters.pack();
        let (mut tensors, mut texts) = (Vec::new(), Vec::new());
        for sentence in &self.sentences {
            let name = sentence.name;
            for (part, projection) in [("q", packed.w_q()), ("k", packed.w_k())] {
                let made = projection.forward(&sentence.input).map_err(|source| {
                    Error::Layer { file: format!("{name}.input"), source }
                })?;
                let made: Matrix<f32> = made.map(|it| it as f32);
                let shape = [made.nrows(), made.ncols()];
                tensors.push(NewTensor::new(format!("{name}.{part}"), &shape, [&made])?);
            }
            texts.push((format!("{name}.sentence"), sentence.text.clone()));
            texts.push((format!("{name}.tokens"), sentence.tokens.join(" ")));
        }
        let texts: Vec<(&str, &str)> =
            texts.iter().map(|(key, text)| (key.as_str(), text.as_str())).collect();
        Ok(to_bytes_with(&tensors, &texts)?)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// The texts stand in the file in any order: what is in it is compared.
    #[test]
    fn the_file_is_what_the_layer_gives() {
        let kept = projected("the kept file", PROJECTED_FILE).unwrap();
        let made = crate::minilm().unwrap().project().unwrap();
        assert_eq!(made.len(), PROJECTED_FILE.len());
        assert!(made.len() < 160_000, "{} bytes for a first page", made.len());
        for (kept, made) in kept.iter().zip(projected("made", made).unwrap()) {
            assert_eq!((&kept.text, &kept.tokens), (&made.text, &made.tokens));
            // The last digit of f32 is the processor's.
            assert!(
                (&kept.q - &made.q).amax() < 1e-5 && (&kept.k - &made.k).amax() < 1e-5
            );
        }
    }

    #[test]
    fn another_file_is_refused() {
        let refused = projected("layer", crate::MINILM_FILE).unwrap_err().to_string();
        assert!(refused.contains("pilot.q"), "{refused}");
    }
}
