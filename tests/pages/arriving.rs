//! The first time, the text of the book is there before its figures.

use std::fs;
use std::os::unix::fs::symlink;
use std::path::Path;

use pages::Server;

use crate::browser::Browser;
use crate::{BOOK, VIEWS};

/// A chapter with plots, drawings and live figures.
const PAGE: &str = "02-scores-softmax-scale.html";

/// What is seen of a figure before it is there, and the reader's place in the text.
const READ: &str = "
  globalThis.read = {
    waiting: () => document.querySelectorAll('[data-waiting]').length,
    figures: () => document.querySelectorAll('main figure').length,
    drawn: () => document.querySelectorAll('main .main-svg, main figure svg').length,
    live: () => document.querySelectorAll('[data-live] input').length,
    toLive: () => document.querySelector('[data-live]').scrollIntoView(),
    line: () => [...document.querySelectorAll('main > p')].at(-1),
    // The last line of the chapter, which all its figures move.
    to: () => read.line().scrollIntoView({ block: 'center' }),
    at: () => Math.round(read.line().getBoundingClientRect().top),
    until: async (holds) => {
      for (let i = 0; i < 600 && !holds(); i += 1) await new Promise((r) => setTimeout(r, 50));
      return holds() ? 'yes' : 'no';
    },
  };";

#[test]
fn figures_come_to_a_page_that_is_open() {
    let (whole, _) = &*BOOK;
    let place = tempfile::tempdir().unwrap();
    for folder in ["chapters", "crates", "tests"] {
        let path = workshop::paths::workspace().join(folder);
        symlink(path, place.path().join(folder)).unwrap();
    }
    let chapters = place.path().join("chapters");
    let browser = Browser::start().unwrap();

    for (nth, view) in VIEWS.into_iter().enumerate() {
        let text = pages::text_of(&chapters).unwrap();
        let server = Server::start(&text, 0).unwrap();
        let url = format!("{}{PAGE}", server.url());
        let before = browser.look(&url, view).unwrap();
        assert!(before.problems.is_empty(), "{:?}", before.problems);

        let page = browser.open(&url, view, READ).unwrap();
        let number = |what: &str| -> f64 {
            page.text(&format!("String({what})")).unwrap().parse().unwrap()
        };
        let (waiting, figures) = (number("read.waiting()"), number("read.figures()"));
        assert!(waiting > 3.0 && waiting == figures, "{waiting} of {figures}");
        page.text("String(read.to())").unwrap();
        let line = number("read.at()");

        let beside = place.path().join("whole");
        copy(whole, &beside);
        fs::rename(&text, place.path().join(format!("text-{nth}"))).unwrap();
        fs::rename(&beside, &text).unwrap();
        assert_eq!(page.text("read.until(() => read.waiting() === 0)").unwrap(), "yes");
        assert_eq!(number("read.figures()"), figures);
        let all = format!("read.until(() => read.drawn() >= {figures})");
        assert_eq!(page.text(&all).unwrap(), "yes", "{} drawn", number("read.drawn()"));
        let moved = number("read.at()") - line;
        println!("{} px, {}: the line moved {moved} px", view.width, view.theme());
        assert!(moved.abs() <= 2.0);
        if crate::live_book().is_some() {
            page.text("String(read.toLive())").unwrap();
            assert_eq!(page.text("read.until(() => read.live() > 0)").unwrap(), "yes");
        }
        let seen = page.close().unwrap();
        assert!(seen.problems.is_empty(), "{:?}", seen.problems);
        // A whole book would keep the next text away.
        fs::remove_dir_all(&text).unwrap();
    }
}

fn copy(from: &Path, to: &Path) {
    fs::create_dir_all(to).unwrap();
    for entry in fs::read_dir(from).unwrap().map(Result::unwrap) {
        let to = to.join(entry.file_name());
        match entry.file_type().unwrap().is_dir() {
            true => copy(&entry.path(), &to),
            false => drop(fs::copy(entry.path(), to).unwrap()),
        }
    }
}
