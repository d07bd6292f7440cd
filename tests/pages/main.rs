//! Every page of the built book in a real Chromium: at two widths, light and dark, with
//! the network and the console watched, axe-core run, each figure drawn and its choices
//! clicked.
//!
//! ```sh
//! cargo learn verify --pages      # or: cargo test -p pages-tests -- --ignored
//! ```
//!
//! `CHROMIUM` names the browser if it is not found by itself. `PAGES=05,12` looks only at
//! the pages whose names begin so. axe-core (`axe.min.js`,
//! MPL-2.0, its licence beside it) is the only thing here that is not ours.

mod browser;
mod live;
mod own_sentence;
mod search;

use std::path::{Path, PathBuf};
use std::sync::LazyLock;
use std::{env, fs};

use browser::{Browser, View};
use pages::Live as Module;

/// One page's transfer, figures, their library and the live figures' module included; the
/// weights come on top, where a live figure needs them.
const MOST_BYTES: f64 = 1.6e6;

const VIEWS: [View; 4] = [
    View { width: 1280, dark: false },
    View { width: 1280, dark: true },
    View { width: 390, dark: false },
    View { width: 390, dark: true },
];

/// The book, built once for all tests (a build takes the pages of another away from under
/// it), and whether the modules lie in it.
static BOOK: LazyLock<(PathBuf, bool)> = LazyLock::new(|| {
    let folder = book::build().unwrap();
    let live = pages::add_live().unwrap();
    println!("{live}");
    let has_modules = match pages::add_encoder().unwrap() {
        Module::Added { n_bytes } => {
            println!("the module of own sentences: {:.2} MB", n_bytes as f64 / 1e6);
            true
        }
        Module::NoTarget => {
            assert!(!workshop::in_ci(), "{live}");
            false
        }
    };
    (folder, has_modules)
});

/// The built book with its modules; none where they cannot be compiled.
fn live_book() -> Option<&'static Path> {
    let (folder, has_modules) = &*BOOK;
    has_modules.then_some(folder.as_path())
}

#[test]
#[ignore = "opens Chromium: `cargo learn verify --pages`"]
fn every_page_stands_on_its_own_in_a_wide_window() {
    every_page_stands_on_its_own(|view| view.width > 1000);
}

#[test]
#[ignore = "opens Chromium: `cargo learn verify --pages`"]
fn every_page_stands_on_its_own_in_a_narrow_window() {
    every_page_stands_on_its_own(|view| view.width < 1000);
}

fn every_page_stands_on_its_own(is_looked_at: impl Fn(&View) -> bool) {
    let (folder, _) = &*BOOK;
    let server = pages::serve(0).unwrap();
    let browser = Browser::start().unwrap();
    let mut problems = Vec::new();
    let mut heaviest = 0f64;
    for page in pages(folder) {
        for view in views(&page).into_iter().filter(&is_looked_at) {
            println!("{page} at {} px, {}", view.width, view.theme());
            let seen = browser.look(&format!("{}{page}", server.url()), view).unwrap();
            let at = format!("{page} at {} px, {}", view.width, view.theme());
            problems
                .extend(seen.problems.iter().map(|problem| format!("{at}: {problem}")));
            if page == "print.html" {
                continue;
            }
            heaviest = heaviest.max(seen.bytes);
            if seen.bytes > MOST_BYTES {
                problems.push(format!("{at}: {:.2} MB were sent", seen.bytes / 1e6));
            }
        }
    }
    println!("the heaviest page: {:.2} MB", heaviest / 1e6);
    assert!(heaviest > 0.0, "the network was watched");
    assert!(problems.is_empty(), "{} problems:\n{}", problems.len(), problems.join("\n"));
}

/// How a page is looked at. All chapters in one: once, as it is printed from a wide
/// screen. Solutions and questions, which are laid out alike: wide and light, narrow and
/// dark.
fn views(page: &str) -> Vec<View> {
    match page {
        "print.html" => vec![VIEWS[0]],
        page if page.contains('/') => vec![VIEWS[0], VIEWS[3]],
        _ => VIEWS.to_vec(),
    }
}

/// Every page that a reader can open, `print.html` among them.
fn pages(folder: &Path) -> Vec<String> {
    let mut pages = html_files(folder, "");
    for name in ["questions", "solutions"] {
        pages.extend(html_files(&folder.join(name), &format!("{name}/")));
    }
    // The contents as a frame, for browsers without scripts.
    pages.retain(|name| name != "toc.html");
    pages.sort();
    assert!(pages.len() > 2, "the book has pages: {pages:?}");
    if let Ok(only) = env::var("PAGES") {
        pages.retain(|page| only.split(',').any(|begin| page.starts_with(begin)));
    }
    pages
}

fn html_files(folder: &Path, prefix: &str) -> Vec<String> {
    let files = fs::read_dir(folder).unwrap().map(|entry| entry.unwrap().path());
    files
        .filter(|path| path.extension().is_some_and(|ending| ending == "html"))
        .map(|path| format!("{prefix}{}", path.file_name().unwrap().to_string_lossy()))
        .collect()
}
