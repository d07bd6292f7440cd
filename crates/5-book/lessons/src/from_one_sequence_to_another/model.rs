//! The trained converter of dates, and what it does with a line of text.

use std::sync::OnceLock;

use anyhow::{Context, Result};
use attention::Matrix;
use figures::{Figure, Heads, head_maps};
use training::dates::{DateConverter, DateTexts, Dates};

pub use training::dates::FILE;

/// The number of its heads: controls are made where the model is not there.
pub const N_HEADS: usize = 4;

static MODEL: OnceLock<DateConverter> = OnceLock::new();

/// The trained converter. A page's module is built without its weights, and must be
/// [given](give) them first.
///
/// # Errors
/// In a page, if it was not given.
pub fn opened() -> Result<&'static DateConverter> {
    #[cfg(not(target_arch = "wasm32"))]
    if MODEL.get().is_none() {
        let embedded = DateConverter::from_safetensors(FILE)?;
        MODEL.get_or_init(|| embedded);
    }
    MODEL.get().context("the converter of dates has not been loaded")
}

/// Gives the bytes of [`FILE`] to what runs without them.
///
/// # Errors
/// If they are another file's.
pub fn give(bytes: Vec<u8>) -> Result<()> {
    let model = DateConverter::from_safetensors(bytes)?;
    MODEL.get_or_init(|| model);
    Ok(())
}

/// What is written after a line of text was read, and where the heads looked meanwhile.
pub struct Written {
    /// The line that was read.
    pub read: String,
    /// What is written.
    pub text: String,
    /// A map per head, `[N_TARGET, n_source]`.
    pub maps: Vec<Matrix>,
}

impl Written {
    /// Has a model read a line and write.
    ///
    /// # Errors
    /// A letter that the model does not know, by name; a line that is too long.
    pub fn by(model: &DateConverter, read: &str) -> Result<Self> {
        let texts = DateTexts::of_text(read)?;
        let (letters, maps) = model.write_and_look(&texts)?;
        let maps = maps.iter().map(|map| map.map(f64::from)).collect();
        Ok(Self { read: read.to_owned(), text: Dates::letters(&letters), maps })
    }

    /// Its maps: letters that are written down, letters that were read across.
    ///
    /// # Errors
    /// If the maps have another size.
    pub fn figure(&self, title: impl Into<String>) -> Result<Figure> {
        let letters = |text: &str| -> Vec<String> {
            text.chars().map(|letter| seen(letter).to_string()).collect()
        };
        let heads = Heads::new(&self.maps, &letters(&self.text), &letters(&self.read))?;
        Ok(head_maps(title, &heads))
    }
}

/// A letter, as it is seen: a space has a sign of its own.
fn seen(letter: char) -> char {
    if letter == ' ' { '␣' } else { letter }
}
