//! A page that is open while its module is compiled; and what no page may load.

use std::fs;
use std::path::Path;

use pages::Server;

use crate::browser::Browser;
use crate::{VIEWS, live_book};

/// With a live figure.
const PAGE: &str = "questions/view-then-transpose.html";

/// Shows the first live figure and gives what the page says above it.
const LINE: &str = "(async () => {
  document.querySelector('[data-live]').scrollIntoView();
  const line = () => document.querySelector('[data-live] > .live-awaited');
  while (!line()) await new Promise((done) => setTimeout(done, 20));
  return line().textContent;
})()";

/// Waits until it has its controls, and counts what still says that it will be.
const ALIVE: &str = "(async () => {
  const place = document.querySelector('[data-live]');
  while (!place.dataset.state) await new Promise((done) => setTimeout(done, 20));
  return String(place.querySelectorAll('.live-awaited').length);
})()";

/// The book, with this in place of what pages are told of the modules.
fn book_that_tells(built: &Path, told: &str) -> tempfile::TempDir {
    let copy = tempfile::tempdir().unwrap();
    copy_all(built, copy.path());
    tell(copy.path(), told.as_bytes());
    copy
}

fn tell(book: &Path, told: &[u8]) {
    fs::write(book.join("assets/live.json"), told).unwrap();
}

fn copy_all(from: &Path, to: &Path) {
    fs::create_dir_all(to).unwrap();
    for entry in fs::read_dir(from).unwrap().map(Result::unwrap) {
        let place = to.join(entry.file_name());
        if entry.path().is_dir() {
            copy_all(&entry.path(), &place);
        } else {
            fs::copy(entry.path(), place).unwrap();
        }
    }
}

#[test]
#[ignore = "opens Chromium: `cargo learn verify --pages`"]
fn an_open_page_comes_alive_when_its_module_is_there() {
    let Some(built) = live_book() else { return };
    let whole = fs::read(built.join("assets/live.json")).unwrap();
    let book = book_that_tells(built, r#"{"awaited": ["module"], "since": 0}"#);
    let server = Server::start(book.path(), book.path(), 0).unwrap();
    let browser = Browser::start().unwrap();
    let page = browser.open(&format!("{}{PAGE}", server.url()), VIEWS[0], "").unwrap();
    let said = page.text(LINE).unwrap();
    assert!(said.contains("are being compiled") && said.contains(" so far"), "{said}");
    // So it is for a moment while a book replaces another.
    tell(book.path(), b"{}");
    page.text("new Promise((done) => setTimeout(() => done('rested'), 4000))").unwrap();
    tell(book.path(), &whole);
    assert_eq!(page.text(ALIVE).unwrap(), "0");
    page.close_without_problems();
}

#[test]
#[ignore = "opens Chromium: `cargo learn verify --pages`"]
fn a_page_whose_figures_stay_still_says_what_makes_them_live() {
    let Some(built) = live_book() else { return };
    let book = book_that_tells(built, r#"{"still": "figures do not move: `a` would"}"#);
    let server = Server::start(book.path(), book.path(), 0).unwrap();
    let browser = Browser::start().unwrap();
    let page = browser.open(&format!("{}{PAGE}", server.url()), VIEWS[0], "").unwrap();
    assert_eq!(page.text(LINE).unwrap(), "Figures do not move: `a` would.");
    page.close_without_problems();
}

/// What a page tries that was tampered with: a script of its own text, and two things from
/// elsewhere.
const TAMPERED: &str = "(async () => {
  const refused = [];
  document.addEventListener('securitypolicyviolation', (event) => refused.push(event.effectiveDirective));
  document.head.append(Object.assign(document.createElement('script'), { textContent: 'window.planted = 1' }));
  document.body.append(Object.assign(new Image(), { src: 'http://127.0.0.1:9/a.png' }));
  await fetch('http://127.0.0.1:9/').catch(() => {});
  while (refused.length < 3) await new Promise((done) => setTimeout(done, 20));
  return `${refused.sort().join(' ')}, ${window.planted}`;
})()";

#[test]
#[ignore = "opens Chromium: `cargo learn verify --pages`"]
fn nothing_foreign_is_let_in() {
    let Some((server, browser)) = crate::served() else { return };
    for name in [PAGE, "what-is-wrong.html", "questions/index.html"] {
        let url = format!("{}{name}", server.url());
        let page = browser.open(&url, VIEWS[0], "").unwrap();
        let said = page.text(TAMPERED).unwrap();
        assert_eq!(said, "connect-src img-src script-src-elem, undefined", "{name}");
    }
}
