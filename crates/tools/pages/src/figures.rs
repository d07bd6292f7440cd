//! What a chapter's figures are drawn by.

use anyhow::Result;

/// Draws the figures of a book.
pub trait Figures: Send + Sync {
    /// What `{{#figure asked}}` asks for: a fragment of HTML that stands by itself, with an
    /// id that is unique in the book (the print page holds all chapters).
    ///
    /// # Errors
    /// A figure that is not known, or not with these words.
    fn figure(&self, asked: &str, id: &str) -> Result<String>;

    /// Whether they are drawn from the crates as these are now.
    fn are_of_now(&self) -> bool {
        true
    }
}

/// A figure where there is text alone: its title, and what it says to those who do not see it.
pub fn in_words(html: &str) -> String {
    let between = |begin: &str, end: &str| {
        let (_, rest) = html.split_once(begin)?;
        Some(rest.split_once(end)?.0.trim())
    };
    let title = between("<figcaption>", "</figcaption>").unwrap_or_default();
    let says = between("aria-label=\"", "\"").unwrap_or_default();
    format!("> **Figure: {title}.** {says}")
}

/// Small figures for the tests of this crate.
#[cfg(test)]
pub(crate) struct Sample;

#[cfg(test)]
impl Figures for Sample {
    fn figure(&self, asked: &str, id: &str) -> Result<String> {
        if let Some(stations) = asked.strip_prefix("line-strip at=") {
            return Ok(format!("<div class=\"figure-diagram\">{stations}</div>"));
        }
        let (name, head) = asked.split_once(" head=").unwrap_or((asked, "all"));
        anyhow::ensure!(name == "bars", "no figure {name}");
        Ok(format!(
            "<figure class=\"figure\" id=\"{id}\"><figcaption>Bars</figcaption>\n\
             <svg role=\"img\" aria-label=\"Two bars.\"></svg>\n{head}</figure>"
        ))
    }
}
