//! The pages of mistakes: computed, and kept in the book.
//!
//! Every mistake has an id that never changes, and under it an address in the book:
//! `mistakes/index.html#ID`, which leads to what is said of it. A mistake that a layer can have
//! stands on the page of its step, with the smallest layer that shows it, the line in PyTorch,
//! and which simple tests see it; one of an exercise alone, on the page of its chapter.
//!
//! The pages are Markdown in `chapters/mistakes`, written by [`keep`] as the figures are, and
//! held by a test. What is said comes from [`catalogue`], and the numbers from [`diagnosis`]
//! and from those that are kept of the exercises.

mod entry;
mod example;
mod ids;
mod pages;
mod simple_tests;

#[cfg(test)]
use std::fs;
use std::path::PathBuf;

use anyhow::Result;
use workshop::output::print;
use workshop::{paths, step};

pub use ids::ids;

/// Writes the pages and the list of ids.
///
/// # Errors
/// A file that cannot be read or written, or an id that is gone.
pub fn keep() -> Result<()> {
    let pages = pages::pages()?;
    let folder = folder();
    for (name, text) in &pages {
        step::write(&folder.join(name), text)?;
    }
    let n_ids = ids::keep()?;
    Ok(print(format_args!("{} pages, {n_ids} ids\n", pages.len()))?)
}

fn folder() -> PathBuf {
    paths::workspace().join("chapters/mistakes")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_contents_of_the_book_have_every_page() {
        let summary = paths::workspace().join("chapters/SUMMARY.md");
        let summary = fs::read_to_string(summary).unwrap();
        for (name, text) in pages::pages().unwrap() {
            let title = text.lines().next().unwrap().trim_start_matches("# ");
            let line = format!("- [{title}](mistakes/{name})\n");
            assert!(summary.contains(&line), "SUMMARY.md has no line {line}");
        }
        let listed = summary.matches("](mistakes/").count();
        assert_eq!(
            listed,
            pages::pages().unwrap().len(),
            "SUMMARY.md lists what is gone"
        );
    }

    #[test]
    fn the_pages_are_those_that_are_kept() {
        for (name, text) in pages::pages().unwrap() {
            let kept = fs::read_to_string(folder().join(&name)).unwrap_or_default();
            let same = kept.replace("\r\n", "\n") == text;
            assert!(
                same,
                "chapters/mistakes/{name}: `cargo learn mistakes` writes it anew"
            );
        }
    }
}
