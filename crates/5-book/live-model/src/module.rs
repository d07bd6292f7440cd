//! What a page can call.

use std::cell::RefCell;
use std::fmt;

use maps::TextHeads;
use serde_json::Value;
use wasm_minimal_protocol::{initiate_protocol, wasm_func};

use crate::{Model, Reading};

initiate_protocol!();

thread_local! {
    static STATE: RefCell<State> = const { RefCell::new(State::Nothing) };
    /// The sentence that was read last.
    static LAST: RefCell<Option<TextHeads>> = const { RefCell::new(None) };
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
    let heads = STATE.with_borrow(|state| match state {
        State::Model(model) => Ok(model.look(sentence)?),
        _ => Err(PageError::from("no model was read")),
    })?;
    let told = bytes(&heads.to_json())?;
    LAST.set(Some(heads));
    Ok(told)
}

/// The maps of the sentence that was read last: every share as four bytes, the lowest first.
#[wasm_func]
pub fn shares() -> Result<Vec<u8>, PageError> {
    let heads = LAST.take().ok_or(PageError::from("no sentence was read"))?;
    Ok(heads.shares().into_iter().flat_map(f32::to_le_bytes).collect())
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
