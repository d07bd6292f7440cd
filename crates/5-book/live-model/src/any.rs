//! A model of any of the three kinds, and what a page asks of those that write.

use models::decoders::study::Head;
use serde_json::Value;

use crate::{Asked, Author, Error, Model, Step, Translation, Translator, Writing};

/// A model of a reader's.
#[derive(Debug)]
pub enum AnyModel {
    /// Every token reads every other.
    Encoder(Box<Model>),
    /// Every token reads those before it, and it writes.
    Author(Box<Author>),
    /// It reads one text, and writes another.
    Translator(Box<Translator>),
}

/// A text of such a model that is being written.
#[derive(Debug)]
pub enum AnyWriting {
    /// It goes on with a prompt.
    Author(Box<Writing>),
    /// It is written from a source.
    Translator(Box<Translation>),
}

impl AnyModel {
    /// What a reader is told of it.
    pub fn about(&self) -> Value {
        match self {
            Self::Encoder(model) => model.about(),
            Self::Author(author) => author.about(),
            Self::Translator(translator) => translator.about(),
        }
    }

    /// Begins a text without some heads, by their names; gives its tokens too, as a page
    /// shows them.
    ///
    /// # Errors
    /// [`Error::HeadName`] and [`Error::PartName`]; as [`Author::begin`] and
    /// [`Translator::begin`]; [`Error::WritesNot`].
    pub fn begin(&mut self, asked: &Asked<String>) -> Result<(AnyWriting, Value), Error> {
        match self {
            Self::Author(author) => {
                let asked = asked.with_heads(|name| head(name))?;
                let (writing, told) = author.begin(&asked)?;
                Ok((AnyWriting::Author(Box::new(writing)), told))
            }
            Self::Translator(translator) => {
                let asked = asked.with_heads(|name| part_head(name))?;
                let (translation, told) = translator.begin(&asked)?;
                Ok((AnyWriting::Translator(Box::new(translation)), told))
            }
            Self::Encoder(_) => Err(Error::WritesNot),
        }
    }

    /// Reads on, or writes a token.
    ///
    /// # Errors
    /// As [`Author::step`] and [`Translator::step`]; [`Error::WritesNot`] for a text of a
    /// model of another kind.
    pub fn step(&mut self, writing: &mut AnyWriting) -> Result<Step, Error> {
        match (self, writing) {
            (Self::Author(author), AnyWriting::Author(writing)) => author.step(writing),
            (Self::Translator(translator), AnyWriting::Translator(translation)) => {
                translator.step(translation)
            }
            _ => Err(Error::WritesNot),
        }
    }

    /// As many random other heads of the same layers, by their names.
    ///
    /// # Errors
    /// [`Error::HeadName`] and [`Error::PartName`]; [`Error::WritesNot`].
    pub fn others(&self, heads: &[String], seed: u64) -> Result<Vec<String>, Error> {
        match self {
            Self::Author(author) => {
                let heads: Vec<Head> =
                    heads.iter().map(|name| head(name)).collect::<Result<_, _>>()?;
                let others = author.others(&heads, seed).into_iter();
                Ok(others.map(|(layer, head)| format!("{layer}.{head}")).collect())
            }
            Self::Translator(translator) => {
                let heads: Vec<_> =
                    heads.iter().map(|name| part_head(name)).collect::<Result<_, _>>()?;
                let others = translator.others(&heads, seed).into_iter();
                Ok(others.map(|head| head.to_string()).collect())
            }
            Self::Encoder(_) => Err(Error::WritesNot),
        }
    }
}

/// A head as in `5.7`.
///
/// # Errors
/// [`Error::HeadName`].
pub fn head(name: &str) -> Result<Head, Error> {
    let numbers = name.split_once('.');
    let numbers = numbers.and_then(|(l, i)| Some((l.parse().ok()?, i.parse().ok()?)));
    numbers.ok_or_else(|| Error::HeadName { name: name.to_owned() })
}

/// A head as in `cross 5.7`.
fn part_head(name: &str) -> Result<models::translators::Head, Error> {
    let wrong = || Error::PartName { name: name.to_owned() };
    models::translators::Head::named(name).ok_or_else(wrong)
}
