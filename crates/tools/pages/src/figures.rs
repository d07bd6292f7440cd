//! What a chapter's figures are drawn by.

use std::path::Path;

use anyhow::Result;
use workshop::step;

use crate::asset::Asset;

/// Draws the figures of a book.
pub trait Figures: Send + Sync {
    /// What `{{#figure asked}}` asks for: a fragment of HTML that stands by itself, with an
    /// id that is unique in the book (the print page holds all chapters).
    ///
    /// # Errors
    /// A figure that is not known, or not with these words.
    fn figure(&self, asked: &str, id: &str) -> Result<String>;

    /// A place for a reader's own sentence, `{{#own-sentence}}`, on a page that needs `up`
    /// to get to the book's root.
    fn own_sentence(&self, id: &str, up: &str) -> String;

    /// What a page with a figure has at its end: the style sheet, and the names of the
    /// scripts, which `theme/learn.js` loads once.
    fn page_end(&self, up: &str) -> String;

    /// The files that pages load: style sheets, scripts, licences.
    fn assets(&self) -> Vec<Asset>;

    /// Whether a book with these figures is made to the end.
    fn are_all(&self) -> bool {
        true
    }
}

/// Draws nothing yet. `theme/learn.js` asks for the page again, until the figures are in it.
pub(crate) struct Waiting;

impl Figures for Waiting {
    fn figure(&self, _: &str, id: &str) -> Result<String> {
        Ok(waiting("This figure is being drawn", id))
    }

    fn own_sentence(&self, id: &str, _: &str) -> String {
        waiting("This is being made", id)
    }

    fn page_end(&self, _: &str) -> String {
        String::new()
    }

    fn assets(&self) -> Vec<Asset> {
        Vec::new()
    }

    fn are_all(&self) -> bool {
        false
    }
}

fn waiting(what: &str, id: &str) -> String {
    format!(
        "<figure class=\"waiting\" id=\"{id}\" data-waiting><p>{what}: the first time, \
         the crates that it is drawn from are compiled. It will appear here.</p></figure>"
    )
}

/// Writes the assets beside the chapters, from where mdBook copies them into the book: a
/// preprocessor has no say after that. A file that is as it should be is not touched, so
/// that `mdbook serve`, which watches the folder, does not build for ever.
pub(crate) fn write_assets(folder: &Path, figures: &dyn Figures) -> Result<()> {
    for (name, text) in figures.assets() {
        step::write(&folder.join(name), text)?;
    }
    Ok(())
}

/// Small figures for the tests of this crate.
#[cfg(test)]
pub(crate) struct Sample;

#[cfg(test)]
impl Figures for Sample {
    fn figure(&self, asked: &str, id: &str) -> Result<String> {
        let (name, head) = asked.split_once(" head=").unwrap_or((asked, "all"));
        anyhow::ensure!(name == "bars", "no figure {name}");
        Ok(format!("<figure class=\"figure\" id=\"{id}\">\n{head}</figure>"))
    }

    fn own_sentence(&self, id: &str, up: &str) -> String {
        format!("<div id=\"{id}\" data-own-sentence=\"{up}\"></div>")
    }

    fn page_end(&self, up: &str) -> String {
        format!("\n\n<div hidden data-figure-scripts=\"{up}a.js\"></div>\n")
    }

    fn assets(&self) -> Vec<Asset> {
        vec![("a.js", "0")]
    }
}
