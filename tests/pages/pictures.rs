//! No chapter goes on for long without a picture, and a picture of products writes out
//! sums that are true.

use serde_json::Value;

use crate::browser::{Browser, View};
use crate::{BOOK, VIEWS, in_browsers, pages};

const PICTURES: &str = include_str!("pictures.js");

/// The most of a chapter on a wide page, exercises apart, that may have no picture.
const MOST: f64 = 1_800.0;

fn found(browser: &Browser, url: &str, view: View, what: &str) -> Value {
    let open = browser.open(url, view, PICTURES).unwrap();
    let found = serde_json::from_str(&open.text(what).unwrap()).unwrap();
    open.close().unwrap();
    found
}

/// What is found on each chapter's page at a width.
fn on_chapters(view: View, what: &str) -> Vec<(String, Value)> {
    let server = ::pages::serve(0).unwrap();
    let (folder, _) = &*BOOK;
    let is_chapter = |page: &String| page.starts_with(|c: char| c.is_ascii_digit());
    let chapters = pages(folder).into_iter().filter(is_chapter);
    let chapters: Vec<String> = chapters.filter(|page| page != "404.html").collect();
    let seen = in_browsers(&chapters, |browser, page| {
        found(browser, &format!("{}{page}", server.url()), view, what)
    });
    chapters.into_iter().zip(seen).collect()
}

#[test]
#[ignore = "opens Chromium: `cargo learn verify --pages`"]
fn no_chapter_goes_on_for_long_without_a_picture() {
    let mut problems = Vec::new();
    for (page, found) in on_chapters(VIEWS[0], "pictures.stretch()") {
        let longest = found["longest"].as_f64().unwrap();
        let line = format!("{page}: {longest:.0} px below “{}”", found["below"]);
        println!("{line}");
        if longest > MOST {
            problems.push(line);
        }
    }
    assert!(problems.is_empty(), "{} problems:\n{}", problems.len(), problems.join("\n"));
}

#[test]
#[ignore = "opens Chromium: `cargo learn verify --pages`"]
fn sums_that_are_written_out_are_true() {
    for view in [VIEWS[0], VIEWS[2]] {
        let mut n_sums = 0;
        for (page, found) in on_chapters(view, "pictures.sums()") {
            n_sums += found["n"].as_u64().unwrap();
            println!("{page} at {} px: {found}", view.width);
            let furthest = found["furthest"].as_f64();
            assert!(furthest.is_some_and(|it| it <= 0.0), "{page}: {}", found["worst"]);
        }
        assert!(n_sums > 50, "{n_sums} sums");
    }
}

/// A long text is found, and one with a picture in its middle is two short ones.
#[test]
#[ignore = "opens Chromium: `cargo learn verify --pages`"]
fn a_text_without_a_picture_is_found() {
    let browser = Browser::start().unwrap();
    let longest = |middle: &str| {
        let text = "<p style='height:1000px'>text</p>";
        let page = format!(
            "data:text/html,<main><h2>first</h2>{text}{middle}{text}\
             <h2>Exercises</h2>{text}{text}</main>"
        );
        let found = found(&browser, &page, VIEWS[0], "pictures.stretch()");
        found["longest"].as_f64().unwrap()
    };
    assert!(longest("") > MOST, "{}", longest(""));
    let svg = "<svg width='300' height='100'></svg>";
    assert!(longest(svg) < MOST, "{}", longest(svg));
}
