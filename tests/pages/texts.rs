//! No text of a figure meets another, and none is cut: every drawing of every page, where
//! there is room and on a phone, as it is first seen; live figures live.

use std::fs;

use serde_json::Value;

use crate::browser::{Browser, Open, View};
use crate::{BOOK, VIEWS, in_browsers, pages};

const TEXTS: &str = include_str!("texts.js");

/// How many texts the drawings of a page have, and what is wrong with them.
fn look(page: &Open, has_modules: bool) -> (u64, Vec<String>) {
    let found = page.text(&format!("{}({has_modules})", TEXTS.trim_end())).unwrap();
    let found: Value = serde_json::from_str(&found).unwrap();
    (
        found["n_texts"].as_u64().unwrap(),
        serde_json::from_value(found["faults"].clone()).unwrap(),
    )
}

#[test]
#[ignore = "opens Chromium: `cargo learn verify --pages`"]
fn no_text_of_a_figure_meets_another_or_is_cut() {
    let (folder, has_modules) = &*BOOK;
    let server = ::pages::serve(0).unwrap();
    let has_figures = |page: &String| {
        page != "print.html"
            && fs::read_to_string(folder.join(page)).unwrap().contains("class=\"figure\"")
    };
    let looks: Vec<(String, View)> = pages(folder)
        .into_iter()
        .filter(has_figures)
        .flat_map(|page| [VIEWS[0], VIEWS[2]].map(|view| (page.clone(), view)))
        .collect();
    let seen = in_browsers(&looks, |browser, (page, view)| {
        let open = browser.open(&format!("{}{page}", server.url()), *view, "").unwrap();
        look(&open, *has_modules)
    });
    let (mut problems, mut n_looked_at) = (Vec::new(), 0);
    for ((page, view), (n_texts, faults)) in looks.iter().zip(seen) {
        n_looked_at += n_texts;
        let at = format!("{page} at {} px", view.width);
        println!("{at}: {n_texts} texts");
        problems.extend(faults.iter().map(|fault| format!("{at}, {fault}")));
    }
    assert!(n_looked_at > 0, "no drawing has a text");
    assert!(problems.is_empty(), "{} problems:\n{}", problems.len(), problems.join("\n"));
}

/// What this test is for is found, and what is near it is not.
#[test]
#[ignore = "opens Chromium: `cargo learn verify --pages`"]
fn texts_that_meet_or_are_cut_are_found() {
    let drawn = "data:text/html,<svg id='it' class='drawn' width='200' height='100' font-size='10'>\
        <text x='50' y='50'>one</text><text x='60' y='50'>two</text>\
        <text x='190' y='20'>three</text>\
        <text x='20' y='90' transform='rotate(-90 20 90)'>four</text><text x='12' y='84'>five</text>\
        <text x='120' y='60'>six</text><text x='120' y='70'>seven</text></svg>";
    let browser = Browser::start().unwrap();
    let page = browser.open(drawn, VIEWS[0], "").unwrap();
    let (n_texts, faults) = look(&page, false);
    assert_eq!(n_texts, 7);
    let named = |fault: &String| fault.split(" by ").next().unwrap().to_owned();
    assert_eq!(
        faults.iter().map(named).collect::<Vec<_>>(),
        [
            "drawn: “two” and “one” meet",
            "drawn: “three” is cut",
            "drawn: “five” and “four” meet",
        ]
    );
}
