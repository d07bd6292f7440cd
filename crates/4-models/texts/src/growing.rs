//! A text that comes token by token.

use crate::{Result, Text};

/// The ids of a text that grows, and how much of it has been told.
///
/// A character can be of several tokens: what is told is complete.
///
/// ```no_run
/// # fn main() -> texts::Result<()> {
/// let text = texts::Text::open("model".as_ref(), 49_152)?;
/// let mut growing = texts::Growing::default();
/// print!("{}", growing.add(&text, &[504])?);
/// # Ok(())
/// # }
/// ```
#[derive(Debug, Clone, Default)]
pub struct Growing {
    ids: Vec<usize>,
    /// In bytes.
    n_told: usize,
}

impl Growing {
    /// All ids so far.
    pub fn ids(&self) -> &[usize] {
        &self.ids
    }

    /// Adds ids; gives what is complete now and was not before.
    ///
    /// # Errors
    /// As [`Text::decode`].
    pub fn add(&mut self, text: &Text, ids: &[usize]) -> Result<String> {
        self.ids.extend(ids);
        let whole = text.decode(&self.ids)?;
        let complete = whole.trim_end_matches('\u{fffd}');
        let new = complete.get(self.n_told..).unwrap_or_default();
        self.n_told = self.n_told.max(complete.len());
        Ok(new.to_owned())
    }
}
