//! Chapters become pages: built in this process by mdBook's library, checked, served, opened.
//!
//! ```text
//! chapters/*.md ─▶ expand ─▶ mdBook ─▶ target/book ─▶ check, serve, open
//!                    │
//!                    ├ math      $…$ becomes MathML
//!                    ├ snapshot  what a test holds: whole, or one value of it
//!                    ├ figures   drawn by the tool that can draw them
//!                    ├ tested    where a test stands
//!                    ├ predict   questions that are kept, asked in the page
//!                    ├ exercise  statement, signature, what the check will say
//!                    ├ teachers  what a teacher wants to know of a chapter, in a fold
//!                    ├ elsewhere an exercise in any language, checked in the page
//!                    ├ include   mdBook's own; made sure here that it finds code
//!                    └ withheld  solutions, of a book for a class
//!                                  mdBook ─▶ head: what a page says of itself, and may load
//!                                              cards: its picture, for links to it
//! live ─▶ live_module ──────▶ target/book/assets
//! ```
//!
//! The one decision: **what a chapter asks for and does not get fails the build**, with
//! file and line. mdBook leaves a block empty where an anchor is missing and writes its
//! warnings to a log; here each of these stops the build.
//!
//! Where the figures come from is given: [`Figures`]. The crate `book` draws them from all
//! the crates of the subject. This one knows none of them, so that it is compiled in half
//! the time, and a reader has the book with the figures of a [`FigureFolder`] before that.

mod cards;
mod check;
mod contents;
mod directive;
mod elsewhere;
mod exercise;
mod expand;
mod figures;
mod head;
mod include;
mod ingredients;
mod kept;
mod live_module;
mod loads;
mod log;
mod math;
mod predict;
mod problem;
mod serve;
mod snapshot;
mod sources;
mod teachers;
mod tested;
mod withheld;

use std::fs::{self, File};
use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex, PoisonError};

use anyhow::{Context, Result, anyhow, ensure};
use mdbook_driver::MDBook;
use mdbook_preprocessor::PreprocessorContext;
use mdbook_preprocessor::book::{Book, BookItem};
use serde_json::{Map, Value};

pub use elsewhere::{pages_of_mistakes, words as exercise_words};
pub use figures::Figures;
pub use kept::FigureFolder;
pub use live_module::{Live, WEIGHTS};
pub use loads::own_sentence;
pub use predict::questions_file;
pub use problem::{Problem, none};
pub use serve::Server;
pub use withheld::Solutions;

use expand::Expander;
use withheld::Withheld;
use workshop::{paths, stamp, step};

/// Where book.toml, or the environment of who publishes, says what address the book has.
const ADDRESS: &str = "preprocessor.learn.address";

/// Which pages the book's search finds, and how.
const SEARCH: &str = "output.html.search.chapter";

/// The same as of the address, of the folder of the sources.
const SOURCES: &str = "preprocessor.learn.sources";

/// Builds the book and returns the folder that holds it, `target/book`. One with the figures
/// of now is left as it is where those that are given are not.
///
/// # Errors
///
/// Whatever a chapter asks for and does not get, each with file and line, and anything
/// that mdBook warns of.
pub fn build(figures: Arc<dyn Figures>) -> Result<PathBuf> {
    build_in(&chapters(), figures)
}

/// Writes the book as files that any web server can send, with its live figures.
///
/// # Errors
/// A folder that holds something; whatever [`build`] says.
pub fn write(
    folder: &Path,
    figures: Arc<dyn Figures>,
    solutions: Solutions,
) -> Result<Live> {
    let is_free =
        fs::read_dir(folder).map_or(true, |mut entries| entries.next().is_none());
    ensure!(
        is_free,
        "{} holds something: name a new folder, or empty it",
        folder.display()
    );
    let built = paths::book().with_file_name("book-to-copy");
    build_at(&chapters(), &built, figures, solutions)?;
    problem::none(&check::pages(&built)?)?;
    let live = live_module::add(&built)?;
    live_module::add_encoder(&built)?;
    // What a build keeps for itself begins with a dot.
    for file in check::files(&built, "")? {
        let name = file.file_name().unwrap_or_default().to_string_lossy();
        if !name.starts_with('.') {
            step::copy(&file, &folder.join(file.strip_prefix(&built)?))?;
        }
    }
    Ok(live)
}

/// Whether the book that is there was made by this program, and from just what is there now.
///
/// # Errors
/// A folder that cannot be read.
pub fn is_current() -> Result<bool> {
    let ingredients = ingredients::ingredients(&paths::workspace())?;
    Ok(stamp::holds(&paths::book(), &ingredients))
}

/// Whether a book is there whose figures were drawn by this program, now or some time ago.
pub fn is_drawn() -> bool {
    stamp::is_sealed(&paths::book())
}

/// Checks the chapters, builds the book and checks its pages. Gives the folder that holds
/// the book.
///
/// # Errors
/// Every problem that was found. Pages are looked at only if the book builds.
pub fn build_and_check(figures: Arc<dyn Figures>) -> Result<PathBuf> {
    problem::none(&check_in(&chapters(), figures)?)?;
    Ok(paths::book())
}

/// What the chapters ask for and do not get.
///
/// # Errors
/// Chapters that cannot be read.
pub fn problems_of_sources(figures: &dyn Figures) -> Result<Vec<Problem>> {
    check::sources(&chapters(), figures)
}

/// Tells pages that are open before the modules are there that these will come.
///
/// # Errors
/// A file that cannot be written.
pub fn announce_live() -> Result<()> {
    live_module::announce(&paths::book())
}

/// Has rustup install what live figures are compiled for, where it is not there.
///
/// # Errors
/// A machine without rustup, or what rustup says.
pub fn add_target() -> Result<()> {
    live_module::add_target()
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

/// Takes the picture of every page of the built book, for links to it, or with `thumbnails`
/// those of chapters, which are kept with the sources; says how many there are.
///
/// # Errors
/// No Chromium on this machine; a page that it cannot draw.
pub fn add_cards(thumbnails: bool) -> Result<usize> {
    match thumbnails {
        true => cards::thumbnails(),
        false => cards::cards(&paths::book()),
    }
}

/// Serves the built book to this machine only, on `port` or, if that is taken, another.
/// The address answers as soon as this returns; dropping the server ends it.
///
/// # Errors
/// No port that is free, or no book.
pub fn serve(port: u16) -> Result<Server> {
    serve_with(port, &paths::models())
}

/// The same with the models of another folder.
///
/// # Errors
/// As [`serve`].
pub fn serve_with(port: u16, models: &Path) -> Result<Server> {
    Server::start(&paths::book(), models, port)
}

/// Shows an address in the reader's browser.
///
/// # Errors
/// A machine without a browser.
pub fn open(url: &str) -> Result<()> {
    let opened = open::that_detached(url);
    opened.map_err(|_| anyhow!("no browser could be opened; open {url} yourself"))
}

/// What mdBook runs as `cargo learn preprocess`: the book comes as JSON on standard
/// input and leaves as JSON on standard output.
///
/// # Errors
/// Whatever a chapter asks for and does not get.
pub fn preprocess(figures: Arc<dyn Figures>) -> Result<()> {
    let (context, book) = mdbook_preprocessor::parse_input(std::io::stdin().lock())?;
    let (texts, solutions) = (Texts::default(), Solutions::Shown);
    let book = Learn { figures, texts, solutions }.expanded(&context, book)?;
    serde_json::to_writer(std::io::stdout().lock(), &book)
        .context("cannot write the book")
}

fn chapters() -> PathBuf {
    paths::workspace().join("chapters")
}

fn build_in(chapters: &Path, figures: Arc<dyn Figures>) -> Result<PathBuf> {
    let built = paths::book_of(chapters.parent().unwrap_or(chapters));
    build_at(chapters, &built, figures, Solutions::Shown)?;
    Ok(built)
}

fn build_at(
    chapters: &Path,
    built: &Path,
    figures: Arc<dyn Figures>,
    solutions: Solutions,
) -> Result<()> {
    let beside = built.with_extension("new");
    fs::create_dir_all(&beside)
        .with_context(|| format!("cannot make {}", beside.display()))?;
    // Two builds at once would delete each other's pages.
    let lock = built.with_extension("lock");
    let lock =
        File::create(&lock).with_context(|| format!("cannot make {}", lock.display()))?;
    lock.lock().context("cannot wait for another build of the book")?;
    let is_of_now = figures.are_of_now();
    if !is_of_now && stamp::is_sealed(built) {
        return Ok(()); // The figures of now came while this waited for the lock.
    }

    // What changes from here on is for the next build.
    let made_from = ingredients::ingredients(chapters.parent().unwrap_or(chapters));
    let texts = Texts::default();
    let (outcome, warnings) = log::collected(|| {
        let mut book = MDBook::load(chapters)?;
        book.config.build.build_dir.clone_from(&beside);
        if solutions == Solutions::Withheld
            && let Some(mut found) = book.config.get::<Map<String, Value>>(SEARCH)?
        {
            // mdBook refuses what names no page.
            found.remove(withheld::FOLDER);
            book.config.set(SEARCH, found)?;
        }
        book.with_preprocessor(Learn { figures, texts: texts.clone(), solutions });
        book.build()?;
        let address: Option<String> = book.config.get(ADDRESS)?;
        anyhow::Ok((book.config.book.title.unwrap_or_default(), address))
    });
    let said = warnings.join("\n");
    let (title, address) = outcome
        .with_context(|| format!("the book was not built\n{said}").trim().to_string())?;
    ensure!(warnings.is_empty(), "mdBook built the book and warns:\n{said}");
    // Pages hold what is kept with the chapters, and nobody opens that alone.
    for kept in [kept::FOLDER, predict::FOLDER] {
        let _ = fs::remove_dir_all(beside.join(kept));
    }
    head::write(&beside, &title, address.as_deref())?;
    for (file, text) in texts.lock().unwrap_or_else(PoisonError::into_inner).iter() {
        step::write(&beside.join(file), text.as_bytes())?;
    }
    if is_of_now && let Ok(made_from) = made_from {
        stamp::seal(&beside, &made_from)?;
    }
    exchange(&beside, built)
}

/// Replaces the build before by a new one, which may be open in a browser: it is
/// whole until the new one is.
fn exchange(new: &Path, place: &Path) -> Result<()> {
    let old = place.with_extension("old");
    let _ = fs::remove_dir_all(&old);
    if place.exists() {
        step::rename(place, &old)
            .with_context(|| format!("cannot move {}", place.display()))?;
    }
    step::rename(new, place)
        .with_context(|| format!("cannot make {}", place.display()))?;
    let _ = fs::remove_dir_all(&old);
    Ok(())
}

fn check_in(chapters: &Path, figures: Arc<dyn Figures>) -> Result<Vec<Problem>> {
    let problems = check::sources(chapters, figures.as_ref())?;
    if !problems.is_empty() {
        return Ok(problems);
    }
    check::pages(&build_in(chapters, figures)?)
}

/// The preprocessor that book.toml names `learn`.
struct Learn {
    figures: Arc<dyn Figures>,
    texts: Texts,
    solutions: Solutions,
}

/// Each chapter's Markdown without HTML, for those who read no pages: where it goes, and what
/// it says.
type Texts = Arc<Mutex<Vec<(PathBuf, String)>>>;

impl Learn {
    fn expanded(&self, context: &PreprocessorContext, mut book: Book) -> Result<Book> {
        let Self { figures, texts, solutions } = self;
        let chapters = context.root.join(&context.config.book.src);
        loads::write(&chapters.join("assets"))?;
        let mut expander = Expander::new(&chapters, figures.as_ref())?;
        expander.published = context.config.get(SOURCES)?;
        if *solutions == Solutions::Withheld {
            expander.withheld = Some(Withheld::of(catalogue::all()?));
            book.items.retain(|item| !withheld::is_solution(item));
        }
        let mut chapters = Vec::new();
        book.for_each_mut(|item| {
            let BookItem::Chapter(chapter) = item else { return };
            let Some(file) = &chapter.source_path else { return };
            chapters.push((file.clone(), chapter.content.clone()));
        });
        let mut expanded = expander.expand_all(&chapters).into_iter();
        let mut texts = texts.lock().unwrap_or_else(PoisonError::into_inner);
        let mut problems = Vec::new();
        book.for_each_mut(|item| {
            let BookItem::Chapter(chapter) = item else { return };
            if chapter.source_path.is_none() {
                return;
            }
            let Some(expanded) = expanded.next() else { return };
            chapter.content = expanded.text;
            texts.extend(chapter.source_path.clone().map(|file| (file, expanded.plain)));
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
