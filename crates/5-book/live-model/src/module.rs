//! What a page can call.

use std::cell::RefCell;
use std::fmt;

use decoders::Looks;
use encoders::Removal;
use maps::TextHeads;
use serde_json::Value;
use training::HeadOfLayer;
use wasm_minimal_protocol::{initiate_protocol, wasm_func};

use crate::{AnyModel, Asked, Author, Error, Looked, Model, NamesTest, Reading, Writing};

initiate_protocol!();

thread_local! {
    static STATE: RefCell<State> = const { RefCell::new(State::Nothing) };
    /// The sentence that was read last.
    static LAST: RefCell<Option<Looked>> = const { RefCell::new(None) };
    /// What changed in it without some heads.
    static REMOVAL: RefCell<Option<Removal>> = const { RefCell::new(None) };
    /// The maps that a page fetches next.
    static MAPS: RefCell<Option<TextHeads>> = const { RefCell::new(None) };
    /// The text that is being written.
    static WRITING: RefCell<Option<Writing>> = const { RefCell::new(None) };
    /// The test of names that is under way.
    static NAMES: RefCell<Option<NamesTest>> = const { RefCell::new(None) };
    /// Where heads looked from its last token, which a page fetches next.
    static LOOKS: RefCell<Option<Looks>> = const { RefCell::new(None) };
}

/// One model at a time: two of a hundred megabytes are too much for some pages.
enum State {
    Nothing,
    Reading(Reading),
    Model(AnyModel),
}

/// Whether the names, one per line, hold a model's files; gives the name of the GGUF file, if
/// it is one.
#[wasm_func]
pub fn check(names: &[u8]) -> Result<Vec<u8>, PageError> {
    let gguf = Reading::check(text(names)?.lines())?;
    Ok(gguf.unwrap_or_default().as_bytes().to_vec())
}

/// Begins to read a model in place of the one before: its `config.json`, its
/// `tokenizer.json`, and how many bytes its weights have.
#[wasm_func]
pub fn begin(
    config: &[u8],
    tokenizer: &[u8],
    n_bytes: &[u8],
) -> Result<Vec<u8>, PageError> {
    forget();
    let n_bytes = text(n_bytes)?.parse()?;
    STATE.set(State::Reading(Reading::begin(config, tokenizer, n_bytes)?));
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
    REMOVAL.set(None);
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
    let heads = heads_named(text(heads)?)?;
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

/// Begins a text of a model that writes. JSON in: `prompt`, `temperature` (0: the most likely
/// token), `seed`, `n_tokens`, and `off`, heads as in `0.3,5.7`. JSON out: the prompt's
/// `tokens`.
#[wasm_func]
pub fn write(asked: &[u8]) -> Result<Vec<u8>, PageError> {
    WRITING.set(None);
    let asked: Value = serde_json::from_slice(asked)?;
    let text = |key: &str| asked[key].as_str().unwrap_or_default().to_owned();
    let whole =
        |key: &str| asked[key].as_u64().ok_or(format!("{key} is no whole number"));
    let asked = Asked {
        prompt: text("prompt"),
        temperature: asked["temperature"]
            .as_f64()
            .ok_or("the temperature is no number")?,
        seed: whole("seed")?,
        n_tokens: usize::try_from(whole("n_tokens")?)?,
        off: heads_named(&text("off"))?,
    };
    let (writing, told) = with_author(|author| Ok(author.begin(&asked)?))?;
    WRITING.set(Some(writing));
    bytes(&told)
}

/// Reads on, or writes a token.
#[wasm_func]
pub fn step() -> Result<Vec<u8>, PageError> {
    let mut writing = WRITING.take().ok_or(PageError::from("no text was begun"))?;
    let step = with_author(|author| Ok(author.step(&mut writing)?))?;
    WRITING.set((!step.is_last).then_some(writing));
    LOOKS.set(step.looks);
    bytes(&step.told)
}

/// Where the heads looked from the token that was read last: every share as four bytes, the
/// lowest first, head after head.
#[wasm_func]
pub fn looks() -> Result<Vec<u8>, PageError> {
    let looks = LOOKS.take().ok_or(PageError::from("no token was read"))?;
    Ok(looks.shares().into_iter().flat_map(f32::to_le_bytes).collect())
}

/// Begins a test of induction on names, with commas between; reads nothing yet.
#[wasm_func]
pub fn names(line: &[u8]) -> Result<Vec<u8>, PageError> {
    NAMES.set(None);
    let line = text(line)?;
    NAMES.set(Some(with_author(|author| Ok(author.names(line)?))?));
    Ok(Vec::new())
}

/// Reads the next line of that test; gives all that is found.
#[wasm_func]
pub fn read_names() -> Result<Vec<u8>, PageError> {
    let mut test = NAMES.take().ok_or(PageError::from("no names were given"))?;
    let has_more = with_author(|author| Ok(author.read_names(&mut test)?))?;
    let mut told = test.to_json();
    told["is_done"] = (!has_more).into();
    NAMES.set(has_more.then_some(test));
    bytes(&told)
}

/// As many random other heads of the same layers, as `0.3,5.7`.
#[wasm_func]
pub fn others(heads: &[u8], seed: &[u8]) -> Result<Vec<u8>, PageError> {
    let (heads, seed) = (heads_named(text(heads)?)?, text(seed)?.parse()?);
    let others = with_author(|author| Ok(author.others(&heads, seed)))?;
    let names: Vec<String> = others.iter().map(|(l, i)| format!("{l}.{i}")).collect();
    Ok(names.join(",").into_bytes())
}

/// Heads as in `0.3,5.7`; of nothing, none.
fn heads_named(names: &str) -> Result<Vec<HeadOfLayer>, Error> {
    let head = |name: &str| {
        let numbers = name.split_once('.');
        let numbers = numbers.and_then(|(l, i)| Some((l.parse().ok()?, i.parse().ok()?)));
        numbers.ok_or_else(|| Error::HeadName { name: name.to_owned() })
    };
    names.split(',').filter(|name| !name.is_empty()).map(head).collect()
}

fn with_author<R>(
    of: impl FnOnce(&mut Author) -> Result<R, PageError>,
) -> Result<R, PageError> {
    STATE.with_borrow_mut(|state| match state {
        State::Model(AnyModel::Author(author)) => of(author),
        _ => Err(PageError::from("no model that writes was read")),
    })
}

fn with_model<R>(
    of: impl FnOnce(&Model) -> Result<R, PageError>,
) -> Result<R, PageError> {
    STATE.with_borrow(|state| match state {
        State::Model(AnyModel::Encoder(model)) => of(model),
        _ => Err(PageError::from("no model of sentences was read")),
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
