//! All heads of the trained layer on a sentence, under a mask: what the first page computes.

use std::sync::OnceLock;

use anyhow::{Context, Result, bail};
use attention::{Mask, Matrix, attend_head};
use figures::{Figure, Heads, heads_at_once};
use model_files::{ProjectedSentence, projected};
use serde_json::{Value, json};

use crate::args::Args;

pub use model_files::PROJECTED_FILE as FILE;

/// Which keys a token sees: what each choice is called in an address, and on a button.
pub const KEYS: [(&str, &str); 3] =
    [("all", "No mask"), ("causal", "Causal"), ("words", "Without [CLS]")];

/// The sentence and the head that stand there first.
pub const FIRST: (&str, usize) = ("animal_tired", 11);

static SENTENCES: OnceLock<Vec<ProjectedSentence>> = OnceLock::new();

/// The maps of a sentence under a mask, head 0 first.
#[derive(Debug, Clone, PartialEq)]
pub struct TextMaps {
    /// Its tokens.
    pub tokens: Vec<String>,
    /// Whether a token sees only those before it, and itself.
    pub is_causal: bool,
    /// Whether no token sees `[CLS]`.
    pub is_without_first: bool,
    /// `[n_tokens, n_tokens]` each.
    pub maps: Vec<Matrix>,
}

/// The queries and keys that maps are made of. A page's module must be [given](give) them.
///
/// # Errors
/// In a page, if it was not given.
fn sentences() -> Result<&'static [ProjectedSentence]> {
    #[cfg(not(target_arch = "wasm32"))]
    if SENTENCES.get().is_none() {
        give(FILE.to_vec())?;
    }
    let given = SENTENCES.get().map(Vec::as_slice);
    given.context("the queries and keys have not been loaded")
}

/// Gives the bytes of [`FILE`] to what runs without them.
///
/// # Errors
/// If they are another file's.
pub fn give(bytes: Vec<u8>) -> Result<()> {
    let read = projected("the file of queries and keys", bytes)?;
    SENTENCES.get_or_init(|| read);
    Ok(())
}

/// The maps of a sentence of this name, with one of [`KEYS`]:
/// `softmax(Q_i K_iᵀ / √d_k + mask)` for each head i.
///
/// # Errors
/// An unknown name, or unknown keys.
pub fn maps(name: &str, keys: &str) -> Result<TextMaps> {
    let sentence = sentences()?.iter().find(|it| it.name == name);
    let sentence = sentence.with_context(|| format!("no sentence is called {name}"))?;
    let n = sentence.tokens.len();
    let mask = match keys {
        "all" => Mask::None,
        "causal" => Mask::Causal,
        "words" => Mask::Keys((0..n).map(|key| key > 0).collect()),
        _ => bail!("keys can be all, causal or words, not {keys}"),
    };
    let d_k = sentence.q.ncols() / ProjectedSentence::N_HEADS;
    let map = |head: usize| {
        let [q, k] = [&sentence.q, &sentence.k].map(|it| it.columns(head * d_k, d_k));
        Ok(attend_head(q, k, k, None, &mask)?.attn)
    };
    Ok(TextMaps {
        tokens: sentence.tokens.clone(),
        is_causal: keys == "causal",
        is_without_first: keys == "words",
        maps: (0..ProjectedSentence::N_HEADS).map(map).collect::<Result<_>>()?,
    })
}

impl TextMaps {
    /// As the explorer of heads takes a text: its shares head by head, row by row.
    pub fn to_json(&self) -> Value {
        let n = self.tokens.len();
        let rows = self.maps.iter().flat_map(|map| map.row_iter());
        let shares: Vec<f64> =
            rows.flat_map(|row| row.iter().copied().collect::<Vec<_>>()).collect();
        let is_special: Vec<bool> = (0..n).map(|i| i == 0 || i + 1 == n).collect();
        json!({
            "pieces": self.tokens,
            "special": is_special,
            "causal": self.is_causal,
            "isWithoutFirst": self.is_without_first,
            "maps": shares,
        })
    }
}

/// What a page needs to make the figure an explorer: the sentences by name, the keys, and
/// what is shown first.
///
/// # Errors
/// As [`maps`].
pub fn source() -> Result<Value> {
    let texts = sentences()?.iter().map(|it| json!({ "key": it.name, "name": it.text }));
    let (text, head) = FIRST;
    Ok(json!({
        "texts": texts.collect::<Vec<_>>(),
        "modes": KEYS,
        "first": { "text": text, "head": head.to_string() },
    }))
}

/// The still figure: the sentence about the animal, head 11 large.
pub(crate) fn figure(_: &Args) -> Result<Figure> {
    let (name, head) = FIRST;
    let TextMaps { tokens, maps, .. } = maps(name, "all")?;
    let heads = Heads::of_tokens(&maps, &tokens)?.showing(head)?;
    let title = "Twelve trained heads on one sentence; in head 11, all tokens attend most to \
                 the same word, “animal”";
    Ok(heads_at_once(title, &heads))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::trained;

    /// PyTorch computed the reference in f32, and the queries and keys are in f32.
    #[test]
    fn the_maps_are_those_of_the_reference() {
        for sentence in &trained::layer().unwrap().sentences {
            let found = maps(sentence.name, "all").unwrap();
            assert_eq!(found.tokens, sentence.tokens);
            for (found, expected) in found.maps.iter().zip(&sentence.attn) {
                let difference = (found - expected).amax();
                assert!(difference < 1e-5, "{}: {difference:e}", sentence.name);
            }
        }
    }

    #[test]
    fn a_mask_leaves_rows_of_1_on_what_is_seen() {
        for (keys, sees) in [
            ("causal", (|query, key| key <= query) as fn(usize, usize) -> bool),
            ("words", |_, key| key > 0),
        ] {
            for map in maps("bank_loan", keys).unwrap().maps {
                for (query, row) in map.row_iter().enumerate() {
                    assert!((row.sum() - 1.0).abs() < 1e-12);
                    let seen =
                        |(key, share): (usize, &f64)| (*share > 0.0) == sees(query, key);
                    assert!(row.iter().enumerate().all(seen), "{keys}: {row}");
                }
            }
        }
    }

    #[test]
    fn what_is_not_there_is_named() {
        let refused = |name, keys| maps(name, keys).unwrap_err().to_string();
        assert_eq!(refused("paris", "all"), "no sentence is called paris");
        assert!(refused("pilot", "some").contains("not some"));
    }
}
