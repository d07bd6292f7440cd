//! What a page can call.

use std::cell::RefCell;
use std::fmt;

use encoders::Removal;
use maps::TextHeads;
use serde_json::Value;
use wasm_minimal_protocol::{initiate_protocol, wasm_func};

use crate::{Error, Looked, Model, Reading};

initiate_protocol!();

thread_local! {
    static STATE: RefCell<State> = const { RefCell::new(State::Nothing) };
    /// The sentence that was read last.
    static LAST: RefCell<Option<Looked>> = const { RefCell::new(None) };
    /// What changed in it without some heads.
    static REMOVAL: RefCell<Option<Removal>> = const { RefCell::new(None) };
    /// The maps that a page fetches next.
    static MAPS: RefCell<Option<TextHeads>> = const { RefCell::new(None) };
}

/// One model at a time: two of a hundred megabytes are too much for some pages.
enum State {
    Nothing,
    Reading(Reading),
    Model(Model),
}

/// Whether the names, one per line, hold a model's files.
#[wasm_func]
pub fn check(names: &[u8]) -> Result<Vec<u8>, PageError> {
    Reading::check(text(names)?.lines())?;
    Ok(Vec::new())
}

/// Begins to read a model in place of the one before: its `config.json`, its
/// `tokenizer.json`, and how many bytes its weights have.
#[wasm_func]
pub fn begin(
    config: &[u8],
    tokenizer: &[u8],
    n_bytes: &[u8],
) -> Result<Vec<u8>, PageError> {
    STATE.set(State::Nothing);
    LAST.set(None);
    let n_bytes = text(n_bytes)?;
    // A page's memory has addresses of 32 bits.
    let n_bytes = n_bytes.parse().map_err(|_| {
        PageError::from(format!(
            "model.safetensors: the page cannot have memory for its {n_bytes} bytes"
        ))
    })?;
    STATE.set(State::Reading(Reading::begin(config, tokenizer, n_bytes)?));
    Ok(Vec::new())
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
    let said = crate::said(&serde_json::from_slice(choices)?);
    bytes(&crate::layer(file.to_vec(), &said)?)
}

/// A sentence in all heads: all but the maps.
#[wasm_func]
pub fn look(sentence: &[u8]) -> Result<Vec<u8>, PageError> {
    let sentence = text(sentence)?;
    let looked = with_model(|model| Ok(model.look(sentence)?))?;
    let told = bytes(&looked.text.to_json())?;
    MAPS.set(Some(looked.text.clone()));
    LAST.set(Some(looked));
    REMOVAL.set(None);
    Ok(told)
}

/// The sentence that was read last without some heads, as in `0.3,5.7`: what changes, before
/// any draw.
#[wasm_func]
pub fn switch_off(heads: &[u8]) -> Result<Vec<u8>, PageError> {
    let heads = text(heads)?.split(',').map(|name| {
        let numbers = name.split_once('.');
        let numbers = numbers.and_then(|(l, i)| Some((l.parse().ok()?, i.parse().ok()?)));
        numbers.ok_or_else(|| Error::HeadName { name: name.to_owned() })
    });
    let heads = heads.collect::<Result<Vec<_>, _>>()?;
    let (removal, less) =
        with_looked(|model, looked| Ok(model.switch_off(looked, heads)?))?;
    MAPS.set(Some(less));
    let told = removal.to_json("zeros");
    REMOVAL.set(Some(removal));
    bytes(&told)
}

/// The same with one more draw of random heads.
#[wasm_func]
pub fn draw() -> Result<Vec<u8>, PageError> {
    let mut removal = REMOVAL.take().ok_or(PageError::from("no head is switched off"))?;
    with_looked(|model, looked| Ok(model.draw(looked, &mut removal)?))?;
    let told = removal.to_json("zeros");
    REMOVAL.set(Some(removal));
    bytes(&told)
}

/// The maps of what was computed last: every share as four bytes, the lowest first.
#[wasm_func]
pub fn shares() -> Result<Vec<u8>, PageError> {
    let heads = MAPS.take().ok_or(PageError::from("no sentence was read"))?;
    Ok(heads.shares().into_iter().flat_map(f32::to_le_bytes).collect())
}

fn with_model<R>(
    of: impl FnOnce(&Model) -> Result<R, PageError>,
) -> Result<R, PageError> {
    STATE.with_borrow(|state| match state {
        State::Model(model) => of(model),
        _ => Err(PageError::from("no model was read")),
    })
}

fn with_looked<R>(
    of: impl FnOnce(&Model, &Looked) -> Result<R, PageError>,
) -> Result<R, PageError> {
    LAST.with_borrow(|last| {
        let looked = last.as_ref().ok_or(PageError::from("no sentence was read"))?;
        with_model(|model| of(model, looked))
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
