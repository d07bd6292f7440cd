//! Every page of the built book in a real Chromium: at two widths, one light and one dark, with
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

mod answers;
mod browser;
mod draw;
mod explorer;
mod first_look;
mod full_screen;
mod live;
mod look_page;
mod own_model;
mod own_sentence;
mod own_translator;
mod pictures;
mod predict;
mod search;
mod shift;
mod texts;
mod waking;
mod wrong_layer;

use std::path::{Path, PathBuf};
use std::sync::{LazyLock, Mutex};
use std::{env, fs};

use browser::{Browser, PageReport, View};
use pages::{Live as Module, Server};
use workshop::at_once;

/// One page's transfer, figures, their library and the live figures' module included; the
/// weights come on top, where a live figure needs them.
const MOST_BYTES: f64 = 1.6e6;

const VIEWS: [View; 4] = [
    View { width: 1280, dark: false },
    View { width: 1280, dark: true },
    View { width: 390, dark: false },
    View { width: 390, dark: true },
];

/// A window of 1280 × 900 at 200 %, by a reader who wants nothing to move.
const ZOOMED: View = View { width: 640, dark: false };

/// The book, built once for all tests: a build takes the pages of another away from under it.
static BUILT: LazyLock<PathBuf> = LazyLock::new(|| book::build().unwrap());

/// The same with its modules, and whether they lie in it.
static BOOK: LazyLock<(PathBuf, bool)> = LazyLock::new(|| {
    let folder = BUILT.clone();
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

/// The same, served, and a browser.
fn served() -> Option<(Server, Browser)> {
    live_book()?;
    Some((pages::serve(0).unwrap(), Browser::start().unwrap()))
}

#[test]
#[ignore = "opens Chromium: `cargo learn verify --pages`"]
fn every_page_stands_on_its_own() {
    let (folder, _) = &*BOOK;
    let server = pages::serve(0).unwrap();
    let looks: Vec<(String, View)> = pages(folder)
        .into_iter()
        .enumerate()
        .flat_map(|(nth, page)| {
            views(nth, &page).into_iter().map(move |view| (page.clone(), view))
        })
        .collect();
    let seen = in_browsers(&looks, |browser, (page, view)| {
        browser.look(&format!("{}{page}", server.url()), *view).unwrap()
    });
    let mut problems = Vec::new();
    let mut heaviest = 0f64;
    for ((page, view), PageReport { bytes, problems: found }) in looks.iter().zip(seen) {
        let at = format!("{page} at {} px, {}", view.width, view.theme());
        println!("{at}: {:.2} MB", bytes / 1e6);
        problems.extend(found.iter().map(|problem| format!("{at}: {problem}")));
        if page == "print.html" {
            continue;
        }
        heaviest = heaviest.max(bytes);
        if bytes > MOST_BYTES {
            problems.push(format!("{at}: {:.2} MB were sent", bytes / 1e6));
        }
    }
    println!("the heaviest page: {:.2} MB", heaviest / 1e6);
    assert!(heaviest > 0.0, "the network was watched");
    assert!(problems.is_empty(), "{} problems:\n{}", problems.len(), problems.join("\n"));
}

/// What `look` gives for each item, in their order. A page waits more than it computes, so
/// several browsers are at work: a tab behind another would wait for ever.
fn in_browsers<T: Sync, R: Send>(
    items: &[T],
    look: impl Fn(&Browser, &T) -> R + Sync,
) -> Vec<R> {
    let idle: Mutex<Vec<Browser>> = Mutex::default();
    at_once::map(items, 2 * at_once::n_processors(), |item| {
        let browser = idle.lock().unwrap().pop();
        let browser = browser.unwrap_or_else(|| Browser::start().unwrap());
        let seen = look(&browser, item);
        idle.lock().unwrap().push(browser);
        seen
    })
}

/// How the nth page is looked at: at both widths, and in both themes; which theme is the
/// narrow one's alternates; and enlarged. All chapters in one: once, as it is printed from a
/// wide screen.
fn views(nth: usize, page: &str) -> Vec<View> {
    let [wide_light, wide_dark, narrow_light, narrow_dark] = VIEWS;
    match (page, nth % 2) {
        ("print.html", _) => vec![wide_light],
        (_, 0) => vec![wide_light, narrow_dark, ZOOMED],
        _ => vec![wide_dark, narrow_light, ZOOMED],
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
