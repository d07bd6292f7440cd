//! Some tokens ask, of a text of any length: rows of maps in place of whole ones.

use std::collections::BTreeSet;
use std::str::FromStr;
use std::time::{Duration, Instant};

use ::texts::{Long, Pieces};
use anyhow::{Result, bail, ensure};
use maps::TextHeads;
use model_files::shown;
use models::ModelFiles;
use models::decoders::{FastDecoder, Files, MapRows};
use workshop::progress;

use crate::sizes::check_size;
use crate::source::ModelSource;
use crate::view::View;

/// Which tokens ask: `12,40-44,last,it`.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Queries(Vec<Query>);

#[derive(Debug, Clone, PartialEq, Eq)]
enum Query {
    /// The tokens from the first number to the second.
    From(usize, usize),
    Last,
    /// Every token that is this word.
    Word(String),
}

impl FromStr for Queries {
    type Err = anyhow::Error;

    fn from_str(text: &str) -> Result<Self> {
        let one = |text: &str| {
            let number = |text: &str| text.parse::<usize>().ok();
            let range = text.split_once('-');
            let range = range.and_then(|(a, b)| Some((number(a)?, number(b)?)));
            match number(text).map(|token| (token, token)).or(range) {
                Some((first, last)) if first <= last => Ok(Query::From(first, last)),
                Some(_) => bail!("{text}: a range goes from its first token to its last"),
                None if text == "last" => Ok(Query::Last),
                None if !text.is_empty() => Ok(Query::Word(text.to_owned())),
                None => bail!("tokens are numbers from 0, ranges, `last`, or words"),
            }
        };
        text.split(',').map(|text| one(text.trim())).collect::<Result<_>>().map(Self)
    }
}

impl Queries {
    /// The places of these tokens in a text, from the first on, each once.
    pub fn places(&self, pieces: &[String]) -> Result<Vec<usize>> {
        let mut places = BTreeSet::new();
        let n = pieces.len();
        for query in &self.0 {
            match query {
                Query::From(first, last) => {
                    let most = n.saturating_sub(1);
                    ensure!(
                        *last < n,
                        "there is no token {last}: the text has {n}, 0 to {most}"
                    );
                    places.extend(*first..=*last);
                }
                Query::Last => places.extend(n.checked_sub(1)),
                Query::Word(word) => {
                    let is_it = |&at: &usize| bare(&shown(&pieces[at])) == *word;
                    let found: Vec<usize> = (0..n).filter(is_it).collect();
                    ensure!(
                        !found.is_empty(),
                        "no token of the text is {word:?}: a word may be several tokens; their \
                         numbers from 0 name them too"
                    );
                    places.extend(found);
                }
            }
        }
        Ok(places.into_iter().collect())
    }
}

/// A piece without what tokenizers write for a space, or for the rest of a word.
fn bare(piece: &str) -> &str {
    piece.trim_start_matches("##").trim_start_matches(['_', '▁', ' '])
}

/// Rows of a text's maps in this model, of all layers or one.
pub fn of_text(
    opened: ModelSource,
    (text, long): (&str, Long),
    queries: &Queries,
    layer: Option<usize>,
) -> Result<View> {
    let (start, path) = (opened.start, opened.files.path().to_path_buf());
    let pieces = opened.tokens(text, long)?;
    let places = queries.places(&pieces.pieces)?;
    let layers = layers(&opened.files, layer)?;
    let n_uncut = pieces.n_uncut;
    let (text_heads, computing) = match &opened.files {
        ModelFiles::Decoder(files) => of_decoder(files, pieces, places, layers)?,
        ModelFiles::Encoder(_) | ModelFiles::Translator(_) => {
            of_encoder(opened, pieces, &places, &layers)?
        }
    };
    let times = [start.elapsed().saturating_sub(computing), computing];
    Ok(View::of_model(&path, text, n_uncut, text_heads, times))
}

fn layers(model: &ModelFiles, layer: Option<usize>) -> Result<BTreeSet<usize>> {
    let [n_layers, _] = model.n_heads();
    let Some(layer) = layer else { return Ok((0..n_layers).collect()) };
    let last = n_layers.saturating_sub(1);
    ensure!(
        layer < n_layers,
        "there is no layer {layer}: the model has layers 0 to {last}"
    );
    Ok([layer].into())
}

/// The rows alone are computed, on the fast kernels.
fn of_decoder(
    files: &Files,
    pieces: Pieces,
    places: Vec<usize>,
    layers: BTreeSet<usize>,
) -> Result<(TextHeads, Duration)> {
    let (n_layers, n_heads) = (files.config.n_layers, files.config.dims().n_heads());
    check_size([places.len(), pieces.pieces.len()], layers.len() * n_heads)?;
    let mut model = FastDecoder::read_files(files)?.in_f32();
    let start = Instant::now();
    let bar = progress::steps(layers.last().map_or(0, |last| last + 1));
    let chosen = MapRows { queries: places, layers };
    let rows = model.rows(&pieces.sequence.ids, &chosen, |_| bar.inc(1));
    bar.finish_and_clear();
    let mut rows = rows?.into_iter();
    let of_layer = |layer| match chosen.layers.contains(&layer) {
        true => rows.next().unwrap_or_default(),
        false => Vec::new(),
    };
    let maps = (0..n_layers).map(of_layer).collect();
    let Pieces { pieces, is_special, .. } = pieces;
    let text = TextHeads::of_decoder_rows(pieces, is_special, chosen.queries, maps);
    Ok((text, start.elapsed()))
}

/// An encoder has no text so long that its whole maps would not do.
fn of_encoder(
    opened: ModelSource,
    pieces: Pieces,
    places: &[usize],
    layers: &BTreeSet<usize>,
) -> Result<(TextHeads, Duration)> {
    let reader = opened.reader()?;
    let start = Instant::now();
    let mut text = reader.heads(pieces)?.rows(places);
    for (layer, maps) in text.maps.iter_mut().enumerate() {
        if !layers.contains(&layer) {
            maps.clear();
        }
    }
    Ok((text, start.elapsed()))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn places(queries: &str) -> Result<Vec<usize>> {
        let pieces = ["<s>", "▁the", "Ġcat", "##s", "the", "Ġit", "."].map(str::to_owned);
        queries.parse::<Queries>()?.places(&pieces)
    }

    #[test]
    fn tokens_are_named_by_numbers_ranges_and_words() {
        assert_eq!(places("3").unwrap(), [3]);
        assert_eq!(places("last, 1-2,2").unwrap(), [1, 2, 6]);
        assert_eq!(places("the,it,cat,s").unwrap(), [1, 2, 3, 4, 5]);
        let refused = |queries| places(queries).unwrap_err().to_string();
        insta::assert_snapshot!(refused("7"), @"there is no token 7: the text has 7, 0 to 6");
        insta::assert_snapshot!(refused("2-1"), @"2-1: a range goes from its first token to its last");
        insta::assert_snapshot!(refused("1,"), @"tokens are numbers from 0, ranges, `last`, or words");
        insta::assert_snapshot!(refused("wide"), @r#"no token of the text is "wide": a word may be several tokens; their numbers from 0 name them too"#);
        insta::assert_snapshot!(refused("18446744073709551615"), @"there is no token 18446744073709551615: the text has 7, 0 to 6");
    }
}
