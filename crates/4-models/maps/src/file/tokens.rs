//! What tokens are called, and which of them are no part of the text.

use model_files::shown;
use serde::de::DeserializeOwned;
use tensors::TensorFile;

use super::Grid;
use super::layers::Layers;
use crate::Tokens;
use crate::error::{Error, Result};

/// One list per text.
type Lists<T> = Option<Vec<Vec<T>>>;

/// What a file's metadata says of tokens.
pub(super) struct Names {
    pub(super) tokens: Lists<String>,
    pub(super) queries: Lists<String>,
    pub(super) places: Lists<usize>,
    special: Lists<bool>,
    queries_special: Lists<bool>,
    grid: Option<[usize; 2]>,
}

/// The tokens that are attended to, or those that ask.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(super) enum Side {
    Keys,
    Queries,
}

impl Names {
    pub(super) fn read(file: &TensorFile) -> Result<Self> {
        let strings = "a JSON list of strings, or of such lists";
        let flags = "a JSON list of true and false, or of such lists";
        let grid = file.text("grid").map(|text| {
            let (rows, cols) = text.split_once('x')?;
            Some([rows.trim().parse().ok()?, cols.trim().parse().ok()?])
        });
        let form = "rows and columns, as in 14x14";
        let error =
            Error::Metadata { file: file.name().to_owned(), key: "grid", expected: form };
        let queries = lists(file, "queries", strings)?;
        let places =
            lists(file, "places", "a JSON list of numbers of tokens, or of such lists")?;
        if queries.is_some() && places.is_some() {
            return Err(Error::WhoAsks { file: file.name().to_owned() });
        }
        Ok(Self {
            tokens: lists(file, "tokens", strings)?,
            queries,
            places,
            special: lists(file, "special", flags)?,
            queries_special: lists(file, "queries_special", flags)?,
            grid: grid.map(|grid| grid.ok_or(error)).transpose()?,
        })
    }

    /// Expects of each text one list of what its tokens are, and no more: several lists for
    /// what is read as one text are several texts, averaged over heads.
    pub(super) fn expect_texts(&self, file: &str, layers: &Layers) -> Result<()> {
        let n_texts = layers.n_texts();
        let lengths = [
            ("tokens", self.tokens.as_ref().map(Vec::len)),
            ("queries", self.queries.as_ref().map(Vec::len)),
            ("places", self.places.as_ref().map(Vec::len)),
            ("special", self.special.as_ref().map(Vec::len)),
            ("queries_special", self.queries_special.as_ref().map(Vec::len)),
        ];
        let wrong = |(_, n): &(_, Option<usize>)| n.is_some_and(|n| n != n_texts);
        let Some((key, Some(found))) = lengths.into_iter().find(wrong) else {
            return Ok(());
        };
        let (n_q, n_kv) = (layers.n_q, layers.n_kv);
        let hint = match n_texts {
            1 if found == layers.n_heads() => format!(
                ". Maps of {found} texts are (batch, heads, n_q, n_kv): averaged over heads, \
                 ({found}, 1, {n_q}, {n_kv}), as `attn[:, None]` makes it in PyTorch"
            ),
            _ => String::new(),
        };
        Err(Error::Texts { file: file.to_owned(), key, found, n_texts, hint })
    }

    /// Where the n keys stand: those that the grid has no place for stand before it.
    pub(super) fn grid(&self, file: &str, n: usize) -> Result<Option<Grid>> {
        let Some([rows, cols]) = self.grid else { return Ok(None) };
        let places = rows.checked_mul(cols).filter(|&places| places > 0);
        match places.and_then(|places| n.checked_sub(places)) {
            Some(n_before) => Ok(Some(Grid { rows, cols, n_before })),
            None => Err(Error::Grid { file: file.to_owned(), rows, cols, n }),
        }
    }

    /// Which of the kept keys of the `nth` text its n queries are, if the file says so.
    pub(super) fn places(
        &self,
        file: &str,
        nth: usize,
        n: usize,
        kept: &[usize],
    ) -> Result<Option<Vec<usize>>> {
        let Some(lists) = &self.places else { return Ok(None) };
        let all: Vec<usize> = (0..n).collect();
        let places = entries(file, "places", "queries", lists, nth, n, &all)?;
        let place_of = |place| {
            let at = kept.binary_search(&place).ok();
            at.ok_or_else(|| Error::Place { file: file.to_owned(), place, n: kept.len() })
        };
        places.into_iter().map(place_of).collect::<Result<_>>().map(Some)
    }

    /// The tokens of one side of the `nth` text, of whose `n` those in `kept` are no padding,
    /// and what is to be said of them.
    pub(super) fn side(
        &self,
        file: &str,
        side: Side,
        nth: usize,
        n: usize,
        kept: &[usize],
        grid: Option<Grid>,
    ) -> Result<(Tokens, Vec<String>)> {
        let (key, of, pieces, special) = match side {
            Side::Keys => ("tokens", "keys", &self.tokens, &self.special),
            Side::Queries => ("queries", "queries", &self.queries, &self.queries_special),
        };
        let mut notes = Vec::new();
        let grid = grid.filter(|_| side == Side::Keys);
        let pieces = match (pieces, grid) {
            (Some(lists), _) => entries(file, key, of, lists, nth, n, kept)?,
            (None, Some(grid)) => {
                notes.push(format!(
                    "tokens are named by their row and column in a grid of {}x{}; before it \
                     stand {}",
                    grid.rows, grid.cols, grid.n_before
                ));
                kept.iter().map(|&at| place(grid, at)).collect()
            }
            (None, None) => {
                notes.push(format!("no names for the {of}: they are counted from 0"));
                kept.iter().map(usize::to_string).collect()
            }
        };
        let is_special = match (special, grid) {
            (Some(lists), _) => entries(file, "special", of, lists, nth, n, kept)?,
            (None, Some(grid)) => kept.iter().map(|&at| at < grid.n_before).collect(),
            (None, None) => {
                let found: Vec<bool> = pieces.iter().map(|it| is_special(it)).collect();
                let named = pieces.iter().zip(&found).filter(|it| *it.1);
                let mut named: Vec<String> = named.map(|it| shown(it.0)).collect();
                named.dedup();
                if !named.is_empty() {
                    notes.push(format!(
                        "taken for special tokens by their brackets: {}",
                        named.join(" ")
                    ));
                }
                found
            }
        };
        if let Some(grid) = grid {
            let tokens = (pieces.as_slice(), is_special.as_slice());
            expect_before(file, grid, kept, tokens, special.is_some())?;
        }
        Ok((Tokens { pieces, is_special }, notes))
    }
}

/// A JSON list per text; a single list is of a single text.
fn lists<T: DeserializeOwned>(
    file: &TensorFile,
    key: &'static str,
    expected: &'static str,
) -> Result<Lists<T>> {
    let Some(text) = file.text(key) else { return Ok(None) };
    let one = serde_json::from_str(text).map(|list| vec![list]);
    match one.or_else(|_| serde_json::from_str(text)) {
        Ok(lists) => Ok(Some(lists)),
        Err(_) => Err(Error::Metadata { file: file.name().to_owned(), key, expected }),
    }
}

/// Of the `nth` list those that are kept: it has an entry for each of `n`, padding too, or for
/// the kept ones alone.
fn entries<T: Clone>(
    file: &str,
    key: &str,
    of: &'static str,
    lists: &[Vec<T>],
    nth: usize,
    n: usize,
    kept: &[usize],
) -> Result<Vec<T>> {
    let found = lists.get(nth).map_or(0, Vec::len);
    match lists.get(nth) {
        Some(list) if found == n => Ok(kept.iter().map(|&at| list[at].clone()).collect()),
        Some(list) if found == kept.len() => Ok(list.clone()),
        _ => Err(Error::Count {
            file: file.to_owned(),
            what: match lists.len() {
                1 => key.to_owned(),
                _ => format!("{key} of text {nth}"),
            },
            found,
            expected: n,
            of,
        }),
    }
}

/// Expects special tokens to stand before the patches of a grid: one among them moves all that
/// come before it by a place. Flags say which are special, and without flags names in
/// brackets, as far as they are as many as the grid has no place for: a `[MASK]` has one.
fn expect_before(
    file: &str,
    grid: Grid,
    kept: &[usize],
    (pieces, is_special): (&[String], &[bool]),
    has_flags: bool,
) -> Result<()> {
    let tokens = kept.iter().zip(pieces).zip(is_special);
    let special = tokens.filter(|((_, piece), flag)| match has_flags {
        true => **flag,
        false => self::is_special(piece),
    });
    let special: Vec<_> = special.map(|((&at, piece), _)| (at, piece)).collect();
    if !has_flags && special.len() != grid.n_before {
        return Ok(());
    }
    match special.into_iter().find(|(at, _)| *at >= grid.n_before) {
        None => Ok(()),
        Some((at, piece)) => Err(Error::InGrid {
            file: file.to_owned(),
            token: match has_flags {
                true => at.to_string(),
                false => format!("{at}, {},", shown(piece)),
            },
            place: place(grid, at),
            rows: grid.rows,
            cols: grid.cols,
        }),
    }
}

/// A patch by its row and column; what stands before the grid by a number in brackets.
fn place(grid: Grid, at: usize) -> String {
    match at.checked_sub(grid.n_before) {
        Some(patch) => format!("{},{}", patch / grid.cols, patch % grid.cols),
        None => format!("[{at}]"),
    }
}

/// `[CLS]`, `<s>`, `<|im_start|>`: what tokenizers write in brackets.
fn is_special(piece: &str) -> bool {
    let inner = |open, close| {
        let inner: Option<&str> = piece.strip_prefix(open)?.strip_suffix(close);
        inner
    };
    let found = inner('[', ']').or_else(|| inner('<', '>'));
    found.is_some_and(|name| name.chars().any(char::is_alphabetic) && !name.contains(' '))
}
