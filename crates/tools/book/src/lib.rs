//! The book: its pages with their figures, drawn from the crates.
//!
//! ```text
//! chapters ─▶ pages ─┐
//!                    ├─▶ target/book
//! gallery ─▶ figure ─┘
//!              │
//!              └─ keep ─▶ chapters/figures, for a book before this crate is compiled
//! questions ─▶ predict ─▶ chapters/predict, likewise
//! ```
//!
//! `mdbook build chapters` makes the same book in the same place: it runs
//! `cargo learn preprocess`, which is [`preprocess()`].

mod figure;
mod keep;
mod predict;

use std::path::{Path, PathBuf};
use std::sync::Arc;

use anyhow::Result;

pub use keep::Changes;
pub use predict::files as questions;

use figure::FigureCache;
use pages::{FigureFolder, Solutions};
use workshop::paths;

/// Builds the book and returns the folder that holds it, `target/book`.
///
/// # Errors
///
/// Whatever a chapter asks for and does not get, each with file and line, and anything
/// that mdBook warns of.
pub fn build() -> Result<PathBuf> {
    pages::build(Arc::new(FigureCache::here()?))
}

/// Builds and checks, and says where the book is.
///
/// # Errors
/// Every problem that was found; kept figures that are not those that are drawn.
pub fn built_and_checked() -> Result<String> {
    let drawn = Arc::new(FigureCache::here()?);
    let built = pages::build_and_check(drawn.clone())?;
    keep::check(&drawn, &FigureFolder::here())?;
    predict::check(&questions(&paths::workspace().join("chapters"))?)?;
    let live = pages::add_live()?;
    pages::add_encoder()?;
    Ok(format!(
        "{}, every include and link resolved; {live}",
        built.join("index.html").display()
    ))
}

/// Writes the book into a new folder, for any web server, and says where it is.
///
/// # Errors
/// A folder that holds something; whatever a chapter asks for and does not get.
pub fn written(folder: &Path, solutions: Solutions) -> Result<String> {
    let live = pages::write(folder, Arc::new(FigureCache::default()), solutions)?;
    Ok(format!("{}, {live}", folder.join("index.html").display()))
}

/// Draws every figure that a chapter asks for and keeps it in `chapters/figures`, and runs
/// every question and keeps it in `chapters/predict`.
///
/// # Errors
/// Whatever a chapter asks for and does not get; a file that cannot be written.
pub fn keep_figures() -> Result<Changes> {
    let drawn = FigureCache::default();
    // First: a chapter's page is made of what is kept of its questions.
    let asked = predict::keep(&questions(&paths::workspace().join("chapters"))?)?;
    pages::none(&pages::problems_of_sources(&drawn)?)?;
    let mut changes = keep::keep(&drawn, &FigureFolder::here())?;
    changes.written.extend(asked);
    Ok(changes)
}

/// What mdBook runs as `cargo learn preprocess`.
///
/// # Errors
/// Whatever a chapter asks for and does not get.
pub fn preprocess() -> Result<()> {
    pages::preprocess(Arc::new(FigureCache::here()?))
}

#[cfg(test)]
mod tests {
    use std::fs;

    use lessons::live::Weights;

    use super::*;

    /// The real book: every include, snapshot, value, figure and formula.
    #[test]
    fn the_chapters_ask_for_nothing_that_is_not_there_or_kept_as_another() {
        let drawn = FigureCache::default();
        let problems = pages::problems_of_sources(&drawn).unwrap();
        assert!(problems.is_empty(), "{problems:#?}");
        keep::check(&drawn, &FigureFolder::here()).unwrap();
        let asked = questions(&paths::workspace().join("chapters")).unwrap();
        predict::check(&asked).unwrap();
    }

    /// A page asks for weights by the names that `pages` gives their files.
    #[test]
    fn the_weights_that_pages_may_fetch_are_those_that_figures_draw_from() {
        assert_eq!(pages::WEIGHTS.map(|(name, _)| name), Weights::ALL.map(Weights::name));
        for (weights, (_, file)) in Weights::ALL.into_iter().zip(pages::WEIGHTS) {
            let bytes = fs::read(paths::workspace().join(file)).unwrap();
            assert!(bytes == lessons::gallery::file(weights), "{file}");
        }
    }
}
