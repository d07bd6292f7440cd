//! What a page can call.

use std::cell::RefCell;
use std::fmt;

use anyhow::{Context, Result};
use lessons::live::{Ongoing, Weights};
use serde_json::{Value, json};
use wasm_minimal_protocol::{initiate_protocol, wasm_func};

use crate::request::{Request, pairs};

initiate_protocol!();

const NOTHING_BEGUN: &str = "no training was begun";

thread_local! {
    /// What is being trained: one at a time.
    static TRAINING: RefCell<Option<Box<dyn Ongoing>>> = const { RefCell::new(None) };
}

/// Takes a file of weights, by its name, for the figures that draw from it.
#[wasm_func]
pub fn weights(name: &[u8], file: &[u8]) -> Result<Vec<u8>, PageError> {
    let name = std::str::from_utf8(name).context("the name of weights")?;
    lessons::gallery::give(Weights::find(name)?, file.to_vec())?;
    Ok(Vec::new())
}

/// Draws a figure: its name, and its settings as a JSON object of texts.
#[wasm_func]
pub fn draw(name: &[u8], settings: &[u8]) -> Result<Vec<u8>, PageError> {
    let Request { live, texts } = Request::read(name, settings)?;
    Ok(bytes(&live.draw(&pairs(&texts))?.to_json())?)
}

/// The maps of a sentence in all heads of the trained layer: its name, and which keys are
/// seen, as `{"keys": "causal"}`.
#[wasm_func]
pub fn heads(name: &[u8], settings: &[u8]) -> Result<Vec<u8>, PageError> {
    let name = std::str::from_utf8(name).context("the name of a sentence")?;
    let settings: Value = serde_json::from_slice(settings).context("settings as JSON")?;
    let keys = settings["keys"].as_str().context("keys are a text")?;
    Ok(bytes(&lessons::trained_heads::at_once::maps(name, keys)?.to_json())?)
}

/// Begins a training in place of the one before.
#[wasm_func]
pub fn begin(name: &[u8], settings: &[u8]) -> Result<Vec<u8>, PageError> {
    let Request { live, texts } = Request::read(name, settings)?;
    TRAINING.set(Some(live.begin(&pairs(&texts))?));
    Ok(Vec::new())
}

/// Takes so many steps; gives how many were taken so far, and how many there are in all.
#[wasm_func]
pub fn advance(n_steps: &[u8]) -> Result<Vec<u8>, PageError> {
    let n_steps = serde_json::from_slice(n_steps).context("a number of steps")?;
    TRAINING.with_borrow_mut(|training| {
        let training = training.as_mut().context(NOTHING_BEGUN)?;
        training.advance(n_steps)?;
        Ok(bytes(&json!(training.progress()))?)
    })
}

/// What there is to see of the training, with these settings.
#[wasm_func]
pub fn look(name: &[u8], settings: &[u8]) -> Result<Vec<u8>, PageError> {
    let Request { texts, .. } = Request::read(name, settings)?;
    TRAINING.with_borrow(|training| {
        let training = training.as_ref().context(NOTHING_BEGUN)?;
        Ok(bytes(&training.shown(&pairs(&texts))?.to_json())?)
    })
}

fn bytes(json: &Value) -> Result<Vec<u8>> {
    Ok(serde_json::to_vec(json)?)
}

/// An error with its causes, as a reader is told it.
#[derive(Debug)]
pub struct PageError(anyhow::Error);

impl fmt::Display for PageError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{:#}", self.0)
    }
}

impl<E: Into<anyhow::Error>> From<E> for PageError {
    fn from(error: E) -> Self {
        Self(error.into())
    }
}
