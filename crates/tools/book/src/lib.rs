//! The book: its pages with their figures, which are drawn from the crates now.
//!
//! ```text
//! chapters ─▶ pages ─┐
//!                    ├─▶ target/book
//! gallery ─▶ figure ─┤
//! live ─▶ live_module┘
//! ```
//!
//! `mdbook build chapters` makes the same book in the same place: it runs
//! `cargo learn preprocess`, which is [`preprocess()`].

mod figure;
mod live_module;
mod own_sentence;

use std::path::PathBuf;

use anyhow::Result;

pub use live_module::Live;

use figure::Drawn;
use workshop::paths;

/// Builds the book and returns the folder that holds it, `target/book`.
///
/// # Errors
///
/// Whatever a chapter asks for and does not get, each with file and line, and anything
/// that mdBook warns of.
pub fn build() -> Result<PathBuf> {
    pages::build(Drawn::new()?)
}

/// Builds and checks, and says where the book is.
///
/// # Errors
/// Every problem that was found.
pub fn built_and_checked() -> Result<String> {
    let built = pages::build_and_check(Drawn::new()?)?;
    let live = add_live()?;
    add_encoder()?;
    Ok(format!(
        "{}, every include and link resolved; {live}",
        built.join("index.html").display()
    ))
}

/// Adds the module of the live figures to the built book, where this machine can compile
/// it, and says how that went.
///
/// # Errors
/// A module that does not compile; a file that cannot be written.
pub fn add_live() -> Result<Live> {
    live_module::add(&paths::book())
}

/// Adds the module that reads a reader's own model, in the same way. The page is told of
/// it next to the live figures' module: add that one first.
///
/// # Errors
/// As [`add_live`].
pub fn add_encoder() -> Result<Live> {
    live_module::add_encoder(&paths::book())
}

/// What `{{#own-sentence}}` stands for in a page at the book's root.
pub fn own_sentence() -> String {
    own_sentence::element("own-sentence", "")
}

/// What mdBook runs as `cargo learn preprocess`.
///
/// # Errors
/// Whatever a chapter asks for and does not get.
pub fn preprocess() -> Result<()> {
    pages::preprocess(Drawn::new()?)
}

#[cfg(test)]
mod tests {
    use super::*;
    use pages::Figures;

    #[test]
    fn the_assets_of_figures_are_small_enough_for_a_page() {
        let bytes: usize = figures::assets::ALL.iter().map(|(_, text)| text.len()).sum();
        assert!(bytes < 1_500_000, "{bytes} bytes before packing");
        assert!(paths::workspace().join("chapters/theme/learn.js").exists());
    }

    /// The real book: every include, snapshot, value, figure and formula.
    #[test]
    fn the_chapters_ask_for_nothing_that_is_not_there() {
        let problems = pages::problems_of_sources(&Drawn::new().unwrap()).unwrap();
        assert!(problems.is_empty(), "{problems:#?}");
    }

    #[test]
    fn a_page_with_a_figure_names_all_that_it_loads() {
        let drawn = Drawn::new().unwrap();
        let named = drawn.page_end("") + &drawn.own_sentence("a", "");
        for (name, _) in drawn.assets() {
            let is_loaded = name.ends_with(".css") || name.ends_with(".js");
            assert_eq!(named.contains(&format!("assets/{name}?v=")), is_loaded, "{name}");
        }
        assert!(named.contains("cargo learn look &quot;Your"), "{named}");
    }
}
