//! The book's search gives the page of a question first.

use std::fs;

use serde_json::json;
use workshop::chapters;
use workshop::paths;

use crate::browser::Browser;
use crate::{BOOK, VIEWS};

const SEARCH: &str = include_str!("search.js");

/// What learners typed and did not find, with the name of the page that answers it.
const LEARNERS: [(&str, &str); 15] = [
    ("reshape then transpose", "view-then-transpose"),
    ("one big W_q = separate?", "one-matrix-or-many"),
    ("mask does the opposite", "boolean-mask"),
    ("all heads at first token", "first-token"),
    ("where √d_k comes from", "sqrt-d-k"),
    ("RoPE rotate_half or pairs", "rope-pairs"),
    ("no cache for queries", "queries-not-cached"),
    ("RoPE", "rope-pairs"),
    ("rotate_half", "rope-pairs"),
    ("sqrt(d_k)", "sqrt-d-k"),
    ("attn_mask", "boolean-mask"),
    ("key_padding_mask", "boolean-mask"),
    ("boolean mask", "boolean-mask"),
    ("flash attention", "flash-attention"),
    ("past_key_values", "queries-not-cached"),
];

/// Words, and the page that is to come first.
fn asked() -> Vec<(String, String)> {
    let learners = LEARNERS.map(|(words, name)| (words.to_owned(), name.to_owned()));
    let mut asked: Vec<_> =
        learners.map(|(words, name)| (words, format!("questions/{name}.html"))).into();
    for question in chapters::questions().unwrap() {
        let file = paths::workspace().join("chapters").join(&question.page);
        let text = fs::read_to_string(file.with_extension("md")).unwrap();
        let also = question.searches(&text).into_iter().map(str::to_owned);
        let page = format!("{}.html", question.page);
        asked.extend(
            also.chain([question.title.clone()]).map(|words| (words, page.clone())),
        );
    }
    // Pages of questions do not hide the chapters.
    let titles = chapters::all().unwrap().into_iter();
    asked.extend(titles.map(|it| (it.title, format!("{}.html", it.page))));
    // The search does nothing where it is asked the same twice.
    asked.sort();
    asked.dedup();
    asked
}

/// What people wrote who had a mistake, and the page that explains it.
fn written() -> Vec<(String, String)> {
    let mistakes = catalogue::layer_mistakes().iter();
    let of = |it: &'static catalogue::LayerMistake| {
        let page = format!("mistakes/{}.html", it.page);
        it.asked.iter().map(move |(words, _)| (words.clone(), page.clone()))
    };
    mistakes.flat_map(of).collect()
}

/// Types words into the search, and says which do not find their page first.
fn not_first(asked: &[(String, String)]) -> Vec<String> {
    let _ = &*BOOK;
    let server = pages::serve(0).unwrap();
    let browser = Browser::start().unwrap();
    let url = format!("{}start-here.html", server.url());
    let page = browser.open(&url, VIEWS[0], "").unwrap();
    let mut wrong = Vec::new();
    for (words, expected) in asked {
        let first = page.text(&format!("({SEARCH})({})", json!(words))).unwrap();
        if first != *expected {
            wrong.push(format!("“{words}” finds {first}, expected {expected}"));
        }
    }
    println!("{} of {} find their page first", asked.len() - wrong.len(), asked.len());
    let problems = page.close().unwrap().problems;
    assert!(problems.is_empty(), "{}", problems.join("\n"));
    wrong
}

#[test]
#[ignore = "opens Chromium: `cargo learn verify --pages`"]
fn a_question_finds_its_page_first() {
    let wrong = not_first(&asked());
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
}

/// Words of public reports. Some fit several mistakes, so a few may find another first.
#[test]
#[ignore = "opens Chromium: `cargo learn verify --pages`"]
fn what_people_write_finds_their_mistake_first() {
    let written = written();
    let wrong = not_first(&written);
    println!("{}", wrong.join("\n"));
    assert!(written.len() >= 40, "{} reports", written.len());
    assert!(100 * wrong.len() <= 15 * written.len(), "{}", wrong.join("\n"));
}
