//! Maps in a safetensors file, of any framework.
//!
//! | in the file | shape, or form |
//! | --- | --- |
//! | `attn.L`, L from 0 | (heads, n_q, n_kv), or (batch, heads, n_q, n_kv) |
//! | or `attn` | (layers, heads, n_q, n_kv) |
//! | `attention_mask`, if there is padding | (n_kv) or (batch, n_kv), of 1 and 0 |
//! | metadata `tokens`, `queries` | JSON: a list of strings; of a batch a list of lists, one per text |
//! | metadata `special`, `queries_special` | the same, of true and false |
//! | metadata `places` | JSON: which tokens ask, from 0, where those are some of a long text |
//! | metadata `grid` | `14x14`: rows and columns of patches |
//!
//! `tokens` are the keys, and `queries` those that ask, where they are others. Maps of a batch
//! that are averaged over heads, as `nn.MultiheadAttention` gives them, are (batch, 1, n_q, n_kv):
//! `attn[:, None]`. Special tokens stand before a grid and not in it. From PyTorch:
//!
//! ```python
//! outputs = model(**inputs, output_attentions=True)  # attn_implementation="eager"
//! tokens = tokenizer.convert_ids_to_tokens(inputs["input_ids"][0])
//! maps = {f"attn.{l}": a.contiguous() for l, a in enumerate(outputs.attentions)}
//! safetensors.torch.save_file(maps, "maps.safetensors", {"tokens": json.dumps(tokens)})
//! ```
//!
//! What is odd and can be shown all the same is said ([`MapText::notes`]); what cannot be a
//! map is refused.

use std::path::Path;

use tensors::TensorFile;

use crate::error::{Error, Result};
use crate::{TextHeads, Tokens};

mod checks;
mod layers;
mod no_shares;
mod save;
#[cfg(test)]
mod tests;
mod tokens;

pub use save::to_bytes;

use layers::{Layers, Padding};
use tokens::{Names, Side};

/// Patches in rows and columns, as an image or a spectrogram has them.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Grid {
    /// How many rows.
    pub rows: usize,
    /// How many columns.
    pub cols: usize,
    /// How many tokens stand before the first patch: a `[CLS]`.
    pub n_before: usize,
}

/// One text of a file.
#[derive(Debug, Clone, PartialEq)]
pub struct MapText {
    /// Its tokens and maps.
    pub heads: TextHeads,
    /// Where its tokens stand in a picture.
    pub grid: Option<Grid>,
    /// What a reader should know of it: a sentence each.
    pub notes: Vec<String>,
}

/// So many shares are read, and no more: with what is computed of them they take 5 GB.
const MOST_SHARES: u128 = 1 << 28;

/// Opens a file of maps, if its header says of no more shares than are read, and of no other
/// tensors.
///
/// # Errors
/// [`Error::Unknown`], [`Error::Size`]; as [`TensorFile::open`].
pub fn open(path: &Path) -> Result<TensorFile> {
    let file = TensorFile::open(path)?;
    layers::expect_known(file.name(), &file.names())?;
    match file.n_entries() {
        n_shares if n_shares > MOST_SHARES => {
            let (file, most) = (file.name().to_owned(), MOST_SHARES);
            Err(Error::Size { file, n_shares, most })
        }
        _ => Ok(file),
    }
}

/// Reads the texts of a file. `tokens` are the lines of a text file that names the keys; they
/// take the place of those in the metadata.
///
/// # Errors
/// [`Error`], each kind of which says what does not fit.
pub fn read(file: &TensorFile, tokens: Option<&str>) -> Result<Vec<MapText>> {
    let mut layers = Layers::read(file)?;
    let n_texts = layers.n_texts();
    let mut names = Names::read(file)?;
    if let Some(lines) = tokens {
        if n_texts != 1 {
            return Err(Error::TokensOfMany { file: file.name().into(), n_texts });
        }
        names.tokens = Some(vec![lines.lines().map(str::to_owned).collect()]);
    }
    names.expect_texts(file.name(), &layers)?;
    let padding = Padding::read(file, &layers)?;
    (0..n_texts).map(|nth| text(file, &mut layers, &names, &padding, nth)).collect()
}

/// One text: its padding is cut, then its shares are checked, then its tokens are named.
fn text(
    file: &TensorFile,
    layers: &mut Layers,
    names: &Names,
    padding: &Padding,
    nth: usize,
) -> Result<MapText> {
    let mut notes = Vec::new();
    let kept = padding.kept(nth);
    let places = names.places(file.name(), nth, layers.n_q, &kept)?;
    let is_self =
        names.queries.is_none() && places.is_none() && layers.n_q == layers.n_kv;
    let maps = layers.take_text(nth, &kept, is_self);
    if kept.len() < layers.n_kv {
        let n = layers.n_kv - kept.len();
        notes.push(format!("cut: {n} of {} tokens are padding", layers.n_kv));
    }
    notes.extend(checks::shares(file.name(), &maps, layers.tolerance)?);
    let grid = names.grid(file.name(), layers.n_kv)?;
    let side =
        |side, n, kept: &[usize]| names.side(file.name(), side, nth, n, kept, grid);
    let (keys, of_keys) = side(Side::Keys, layers.n_kv, &kept)?;
    notes.extend(of_keys);
    let maps = checks::rounded(maps);
    if is_self || places.is_some() {
        let place = |query: usize| places.as_ref().map_or(query, |places| places[query]);
        let is_causal = checks::is_causal(&maps, place);
        notes.extend(checks::reading(is_causal, &maps));
        let Tokens { pieces, is_special } = keys;
        let of = if is_causal { TextHeads::of_decoder } else { TextHeads::of_encoder };
        let mut heads = of(pieces, is_special, maps);
        if let Some(places) = places {
            notes.push(format!("{} of {} tokens ask", places.len(), heads.pieces.len()));
            heads.asked_by(places);
        }
        return Ok(MapText { heads, grid, notes });
    }
    let all: Vec<usize> = (0..layers.n_q).collect();
    let (queries, of_queries) = side(Side::Queries, layers.n_q, &all)?;
    notes.extend(of_queries);
    notes.push(format!(
        "read as {} queries on {} keys of another text",
        queries.pieces.len(),
        keys.pieces.len()
    ));
    Ok(MapText { heads: TextHeads::between(queries, keys, maps), grid, notes })
}
