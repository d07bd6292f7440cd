//! What a page can call.

use std::cell::RefCell;
use std::collections::BTreeMap;
use std::fmt;

use maps::TextHeads;
use models::encoders::Ablation;
use serde_json::Value;
use wasm_minimal_protocol::{initiate_protocol, wasm_func};

use crate::{
    Error, Model, NamesTest, Reading, Request, SelectedFiles, SentenceHeads, Writing,
};

initiate_protocol!();

thread_local! {
    /// Small files of a model that is about to be read.
    static SMALL: RefCell<BTreeMap<String, Vec<u8>>> = const { RefCell::new(BTreeMap::new()) };
    static STATE: RefCell<State> = const { RefCell::new(State::Nothing) };
    /// The sentence that was read last.
    static LAST: RefCell<Option<SentenceHeads>> = const { RefCell::new(None) };
    /// What changed in it without some heads.
    static ABLATION: RefCell<Option<Ablation>> = const { RefCell::new(None) };
    /// The maps that a page fetches next.
    static MAPS: RefCell<Option<TextHeads>> = const { RefCell::new(None) };
    /// The text that is being written.
    static WRITING: RefCell<Option<Writing>> = const { RefCell::new(None) };
    /// The test of names that is under way.
    static NAMES: RefCell<Option<NamesTest>> = const { RefCell::new(None) };
    /// The shares of its last step, which a page fetches next.
    static LOOKS: RefCell<Option<Vec<f32>>> = const { RefCell::new(None) };
}

/// One model at a time: two of a hundred megabytes are too much for some pages.
enum State {
    Nothing,
    Reading(Reading),
    Model(Model),
}

/// Which of the names, one per line, are a model's files: that of the weights, and in further
/// lines those of the small ones; of a GGUF file its name alone.
#[wasm_func]
pub fn check(names: &[u8]) -> Result<Vec<u8>, PageError> {
    // Of another choice, perhaps, of which one could not be read.
    SMALL.take();
    let chosen = SelectedFiles::of(text(names)?.lines())?;
    Ok(chosen.names().join("\n").into_bytes())
}

/// Takes a small file of a folder, its name and what it holds, for [`begin`].
#[wasm_func]
pub fn small(name: &[u8], bytes: &[u8]) -> Result<Vec<u8>, PageError> {
    let name = text(name)?.to_owned();
    SMALL.with_borrow_mut(|small| small.insert(name, bytes.to_vec()));
    Ok(Vec::new())
}

/// Begins to read a model of the small files that were taken, in place of the one before: how
/// many bytes its weights have.
#[wasm_func]
pub fn begin(n_bytes: &[u8]) -> Result<Vec<u8>, PageError> {
    forget();
    let small = SMALL.take();
    let n_bytes = text(n_bytes)?.parse()?;
    STATE.set(State::Reading(Reading::begin(&small, n_bytes)?));
    Ok(Vec::new())
}

/// The same with a GGUF file: its name, and how many bytes it has.
#[wasm_func]
pub fn begin_gguf(name: &[u8], n_bytes: &[u8]) -> Result<Vec<u8>, PageError> {
    forget();
    let n_bytes = text(n_bytes)?.parse()?;
    STATE.set(State::Reading(Reading::begin_gguf(text(name)?, n_bytes)?));
    Ok(Vec::new())
}

/// The model before, and all that was asked of it.
fn forget() {
    STATE.set(State::Nothing);
    LAST.set(None);
    ABLATION.set(None);
    MAPS.set(None);
    WRITING.set(None);
    NAMES.set(None);
    LOOKS.set(None);
}

/// Takes the next part of the weights.
#[wasm_func]
pub fn part(bytes: &[u8]) -> Result<Vec<u8>, PageError> {
    STATE.with_borrow_mut(|state| match state {
        State::Reading(reading) => Ok(reading.part(bytes)?),
        _ => Err(PageError::from("no model was begun")),
    })?;
    Ok(Vec::new())
}

/// Makes the model; gives what a reader is told of it.
#[wasm_func]
pub fn finish() -> Result<Vec<u8>, PageError> {
    let State::Reading(reading) = STATE.replace(State::Nothing) else {
        return Err(PageError::from("no model was begun"));
    };
    let model = reading.finish()?;
    let about = bytes(&model.about())?;
    STATE.set(State::Model(model));
    Ok(about)
}

/// What is wrong with a layer: what the page says of it, as JSON, and the bytes of its file.
#[wasm_func]
pub fn diagnose(choices: &[u8], file: &[u8]) -> Result<Vec<u8>, PageError> {
    let overrides = crate::overrides(&serde_json::from_slice(choices)?);
    bytes(&crate::layer(file.to_vec(), &overrides)?)
}

/// A sentence in all heads: all but the maps.
#[wasm_func]
pub fn look(sentence: &[u8]) -> Result<Vec<u8>, PageError> {
    let sentence = text(sentence)?;
    let looked = with_model(Error::LooksNot, |model| model.look(sentence))?;
    let told = bytes(&looked.text.to_json())?;
    MAPS.set(Some(looked.text.clone()));
    LAST.set(Some(looked));
    ABLATION.set(None);
    Ok(told)
}

/// The sentence that was read last without some heads, as in `0.3,5.7`: what changes, before
/// any draw.
#[wasm_func]
pub fn ablate(heads: &[u8]) -> Result<Vec<u8>, PageError> {
    let heads = names_of(heads)?;
    let (ablation, less) = with_looked(|model, looked| model.ablate(looked, &heads))?;
    MAPS.set(Some(less));
    let told = ablation.to_json("zeros");
    ABLATION.set(Some(ablation));
    bytes(&told)
}

/// The same with one more draw of random heads.
#[wasm_func]
pub fn draw() -> Result<Vec<u8>, PageError> {
    let mut ablation =
        ABLATION.take().ok_or(PageError::from("no head is switched off"))?;
    with_looked(|model, looked| model.draw(looked, &mut ablation))?;
    let told = ablation.to_json("zeros");
    ABLATION.set(Some(ablation));
    bytes(&told)
}

/// The maps of what was computed last: every share as four bytes, the lowest first.
#[wasm_func]
pub fn shares() -> Result<Vec<u8>, PageError> {
    let heads = MAPS.take().ok_or(PageError::from("no sentence was read"))?;
    Ok(heads.shares().into_iter().flat_map(f32::to_le_bytes).collect())
}

/// Begins a text of a model that writes. JSON in: `prompt`, `temperature` (0: the most likely
/// token), `top_p` (1: all tokens), `seed`, `n_tokens`, and `off`, heads as in `0.3,5.7`, or of a
/// model that has a source as in `source 0.3,cross 5.7`. JSON out: the `tokens` of what is
/// written, those of a prompt, or the one that is read first; and those of a `source`.
#[wasm_func]
pub fn write(asked: &[u8]) -> Result<Vec<u8>, PageError> {
    WRITING.set(None);
    let asked: Value = serde_json::from_slice(asked)?;
    let text = |key: &str| asked[key].as_str().unwrap_or_default().to_owned();
    let whole =
        |key: &str| asked[key].as_u64().ok_or(format!("{key} is no whole number"));
    let number = |key: &str| asked[key].as_f64().ok_or(format!("the {key} is no number"));
    let asked = Request {
        prompt: text("prompt"),
        temperature: number("temperature")?,
        top_p: number("top_p")?,
        seed: whole("seed")?,
        n_tokens: usize::try_from(whole("n_tokens")?)?,
        off: names_of(text("off").as_bytes())?,
    };
    let (writing, told) = with_model(Error::WritesNot, |model| model.begin(&asked))?;
    WRITING.set(Some(writing));
    bytes(&told)
}

/// Reads on, or writes a token.
#[wasm_func]
pub fn step() -> Result<Vec<u8>, PageError> {
    let mut writing = WRITING.take().ok_or(PageError::from("no text was begun"))?;
    let step = with_model(Error::WritesNot, |model| model.step(&mut writing))?;
    WRITING.set((!step.is_last).then_some(writing));
    LOOKS.set(Some(step.shares()).filter(|shares| !shares.is_empty()));
    bytes(&step.told)
}

/// Where the heads looked from the token that was read last, or all maps of a source: every
/// share as four bytes, the lowest first, head after head; where a model has two kinds of
/// heads that write, first those on what is written.
#[wasm_func]
pub fn looks() -> Result<Vec<u8>, PageError> {
    let shares = LOOKS.take().ok_or(PageError::from("no token was read"))?;
    Ok(shares.into_iter().flat_map(f32::to_le_bytes).collect())
}

/// Begins a test of induction on names, with commas between; reads nothing yet.
#[wasm_func]
pub fn names(line: &[u8]) -> Result<Vec<u8>, PageError> {
    NAMES.set(None);
    let line = text(line)?;
    NAMES.set(Some(with_model(Error::GoesNotOn, |model| model.names(line))?));
    Ok(Vec::new())
}

/// Reads the next line of that test; gives all that is found.
#[wasm_func]
pub fn read_names() -> Result<Vec<u8>, PageError> {
    let mut test = NAMES.take().ok_or(PageError::from("no names were given"))?;
    let has_more = with_model(Error::GoesNotOn, |model| model.read_names(&mut test))?;
    let mut told = test.to_json();
    told["is_done"] = (!has_more).into();
    NAMES.set(has_more.then_some(test));
    bytes(&told)
}

/// As many random other heads of the same layers, by their names as they were given.
#[wasm_func]
pub fn others(heads: &[u8], seed: &[u8]) -> Result<Vec<u8>, PageError> {
    let (heads, seed) = (names_of(heads)?, text(seed)?.parse()?);
    let others = with_model(Error::WritesNot, |model| model.others(&heads, seed))?;
    Ok(others.join(",").into_bytes())
}

/// Names with commas between; of nothing, none.
fn names_of(names: &[u8]) -> Result<Vec<String>, PageError> {
    let names = text(names)?.split(',').filter(|name| !name.is_empty());
    Ok(names.map(str::to_owned).collect())
}

fn with_model<R>(
    none: Error,
    of: impl FnOnce(&mut Model) -> Result<R, Error>,
) -> Result<R, PageError> {
    STATE.with_borrow_mut(|state| match state {
        State::Model(model) => Ok(of(model)?),
        _ => Err(PageError::from(none)),
    })
}

fn with_looked<R>(
    of: impl FnOnce(&Model, &SentenceHeads) -> Result<R, Error>,
) -> Result<R, PageError> {
    LAST.with_borrow(|last| {
        let looked = last.as_ref().ok_or(PageError::from("no sentence was read"))?;
        with_model(Error::LooksNot, |model| of(model, looked))
    })
}

fn text(bytes: &[u8]) -> Result<&str, PageError> {
    Ok(std::str::from_utf8(bytes)?)
}

fn bytes(json: &Value) -> Result<Vec<u8>, PageError> {
    Ok(serde_json::to_vec(json)?)
}

/// An error with its causes, as a reader is told it.
#[derive(Debug)]
pub struct PageError(Box<dyn std::error::Error>);

impl fmt::Display for PageError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}", self.0)?;
        let mut cause = self.0.source();
        while let Some(error) = cause {
            write!(f, ": {error}")?;
            cause = error.source();
        }
        Ok(())
    }
}

impl<E: Into<Box<dyn std::error::Error>>> From<E> for PageError {
    fn from(error: E) -> Self {
        Self(error.into())
    }
}
