//! The book: built in this process by mdBook's library, checked, served, opened.
//!
//! ```text
//! chapters/*.md ─▶ expand ─▶ mdBook ─▶ target/book ─▶ check, serve, open
//!                    │
//!                    ├ math      $…$ becomes MathML
//!                    ├ snapshot  what a test holds: whole, or one value of it
//!                    ├ figure    drawn from the crates now
//!                    ├ own-sentence  a place for a reader's own files
//!                    ├ exercise  statement, signature, what the check will say
//!                    └ include   mdBook's own; made sure here that it finds code
//! ```
//!
//! The one decision: **what a chapter asks for and does not get fails the build**, with
//! file and line. mdBook leaves a block empty where an anchor is missing and writes its
//! warnings to a log; here each of these stops the build.
//!
//! `mdbook build chapters` makes the same book in the same place: it runs
//! `cargo learn preprocess`, which is [`preprocess()`].

mod asset;
mod check;
mod directive;
mod exercise;
mod expand;
mod figure;
mod include;
mod ingredients;
mod live_module;
mod log;
mod math;
mod own_sentence;
mod problem;
mod serve;
mod snapshot;

use std::fs::{self, File};
use std::path::{Path, PathBuf};

use anyhow::{Context, Result, ensure};
use mdbook_driver::MDBook;
use mdbook_preprocessor::PreprocessorContext;
use mdbook_preprocessor::book::{Book, BookItem};

pub use live_module::Live;
pub use problem::Problem;
pub use serve::Server;

use expand::Expander;
use workshop::{paths, stamp};

/// Builds the book and returns the folder that holds it, `target/book`.
///
/// # Errors
///
/// Whatever a chapter asks for and does not get, each with file and line, and anything
/// that mdBook warns of.
pub fn build() -> Result<PathBuf> {
    build_in(&paths::workspace().join("chapters"))
}

/// The same, unless the book that is there was made from just what is there now.
///
/// # Errors
/// As [`build`].
pub fn build_if_changed() -> Result<PathBuf> {
    let workspace = paths::workspace();
    let built = output(&workspace.join("chapters"));
    if stamp::holds(&built, &ingredients::ingredients(&workspace)?) {
        return Ok(built);
    }
    build()
}

/// Checks the chapters, builds the book and checks its pages.
///
/// The list is empty if nothing was found. Pages are looked at only if the book builds.
pub fn check() -> Result<Vec<Problem>> {
    check_in(&paths::workspace().join("chapters"))
}

/// Builds and checks, and says where the book is.
///
/// # Errors
/// Every problem that was found.
pub fn built_and_checked() -> Result<String> {
    problem::none(&check()?)?;
    let built = output(&paths::workspace().join("chapters"));
    let live = live_module::add(&built)?;
    live_module::add_encoder(&built)?;
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
    live_module::add(&output(&paths::workspace().join("chapters")))
}

/// Adds the module that reads a reader's own model, in the same way. The page is told of
/// it next to the live figures' module: add that one first.
///
/// # Errors
/// As [`add_live`].
pub fn add_encoder() -> Result<Live> {
    live_module::add_encoder(&output(&paths::workspace().join("chapters")))
}

/// What `{{#own-sentence}}` stands for in a page at the book's root.
pub fn own_sentence() -> String {
    own_sentence::element("")
}

/// Serves the built book to this machine only, on `port` or, if that is taken, another.
/// The address answers as soon as this returns; dropping the server ends it.
pub fn serve(port: u16) -> Result<Server> {
    Server::start(&output(&paths::workspace().join("chapters")), port)
}

/// Shows an address in the reader's browser.
pub fn open(url: &str) -> Result<()> {
    open::that_detached(url)
        .with_context(|| format!("no browser could be opened at {url}"))
}

/// What mdBook runs as `cargo learn preprocess`: the book comes as JSON on standard
/// input and leaves as JSON on standard output.
pub fn preprocess() -> Result<()> {
    let (context, book) = mdbook_preprocessor::parse_input(std::io::stdin().lock())?;
    let book = Learn.expanded(&context, book)?;
    serde_json::to_writer(std::io::stdout().lock(), &book)
        .context("cannot write the book")
}

fn build_in(chapters: &Path) -> Result<PathBuf> {
    let built = output(chapters);
    let beside = built.with_extension("new");
    fs::create_dir_all(&beside)
        .with_context(|| format!("cannot make {}", beside.display()))?;
    // Two builds at once would delete each other's pages.
    let lock = built.with_extension("lock");
    let lock =
        File::create(&lock).with_context(|| format!("cannot make {}", lock.display()))?;
    lock.lock().context("cannot wait for another build of the book")?;

    // What changes from here on is for the next build.
    let made_from = ingredients::ingredients(chapters.parent().unwrap_or(chapters));
    let (outcome, warnings) = log::collected(|| {
        let mut book = MDBook::load(chapters)?;
        book.config.build.build_dir.clone_from(&beside);
        book.with_preprocessor(Learn);
        book.build()
    });
    let said = warnings.join("\n");
    outcome
        .with_context(|| format!("the book was not built\n{said}").trim().to_string())?;
    ensure!(warnings.is_empty(), "mdBook built the book and warns:\n{said}");
    if let Ok(made_from) = made_from {
        stamp::seal(&beside, &made_from)?;
    }
    exchange(&beside, &built)?;
    Ok(built)
}

/// Puts a new build in the place of the one before, which may be open in a browser: it is
/// whole until the new one is.
fn exchange(new: &Path, place: &Path) -> Result<()> {
    let old = place.with_extension("old");
    let _ = fs::remove_dir_all(&old);
    if place.exists() {
        fs::rename(place, &old)
            .with_context(|| format!("cannot move {}", place.display()))?;
    }
    fs::rename(new, place).with_context(|| format!("cannot make {}", place.display()))?;
    let _ = fs::remove_dir_all(&old);
    Ok(())
}

fn check_in(chapters: &Path) -> Result<Vec<Problem>> {
    let problems = check::sources(chapters, &figure::registry()?)?;
    if !problems.is_empty() {
        return Ok(problems);
    }
    check::pages(&build_in(chapters)?)
}

/// As `build-dir` in book.toml has it.
fn output(chapters: &Path) -> PathBuf {
    chapters.parent().unwrap_or(chapters).join("target").join("book")
}

/// The preprocessor that book.toml names `learn`.
struct Learn;

impl Learn {
    fn expanded(&self, context: &PreprocessorContext, mut book: Book) -> Result<Book> {
        let chapters = context.root.join(&context.config.book.src);
        let figures = figure::registry()?;
        figure::write_assets(&chapters.join("assets"), &figures)?;
        let expander = Expander::new(&chapters, &figures)?;
        let mut chapters = Vec::new();
        book.for_each_mut(|item| {
            let BookItem::Chapter(chapter) = item else { return };
            let Some(file) = &chapter.source_path else { return };
            chapters.push((file.clone(), chapter.content.clone()));
        });
        let mut expanded = expander.expand_all(&chapters).into_iter();
        let mut problems = Vec::new();
        book.for_each_mut(|item| {
            let BookItem::Chapter(chapter) = item else { return };
            if chapter.source_path.is_none() {
                return;
            }
            let Some(expanded) = expanded.next() else { return };
            chapter.content = expanded.text;
            problems.extend(expanded.problems);
        });
        problem::none(&problems)?;
        Ok(book)
    }
}

impl mdbook_preprocessor::Preprocessor for Learn {
    fn name(&self) -> &str {
        "learn"
    }

    fn run(&self, context: &PreprocessorContext, book: Book) -> Result<Book> {
        self.expanded(context, book)
    }
}

#[cfg(test)]
mod tests;
