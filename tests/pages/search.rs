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

/// Types words into the search, and says which do not find one of their pages, which `|`
/// parts, among the first.
fn not_among_first(n: usize, asked: &[(String, String)]) -> Vec<String> {
    let _ = &*BOOK;
    let server = pages::serve(0).unwrap();
    let browser = Browser::start().unwrap();
    let url = format!("{}start-here.html", server.url());
    let page = browser.open(&url, VIEWS[0], "").unwrap();
    let mut wrong = Vec::new();
    for (words, expected) in asked {
        let found = page.text(&format!("({SEARCH})({}, {n})", json!(words))).unwrap();
        let is_expected = |page: &str| expected.split('|').any(|it| page.starts_with(it));
        if !found.lines().any(is_expected) {
            let found = found.replace('\n', ", ");
            wrong.push(format!("“{words}” finds {found}, expected {expected}"));
        }
    }
    println!("{} of {} find their page", asked.len() - wrong.len(), asked.len());
    let problems = page.close().unwrap().problems;
    assert!(problems.is_empty(), "{}", problems.join("\n"));
    wrong
}

#[test]
#[ignore = "opens Chromium: `cargo learn verify --pages`"]
fn a_question_finds_its_page_first() {
    let wrong = not_among_first(1, &asked());
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
}

/// Words of public reports. Some fit several mistakes, so a few may find another first.
#[test]
#[ignore = "opens Chromium: `cargo learn verify --pages`"]
fn what_people_write_finds_their_mistake_first() {
    let written = written();
    let wrong = not_among_first(1, &written);
    println!("{}", wrong.join("\n"));
    assert!(written.len() >= 40, "{} reports", written.len());
    assert!(100 * wrong.len() <= 15 * written.len(), "{}", wrong.join("\n"));
}

/// Titles of public threads, with the pages that answer them and where they were asked.
const THREADS: &str = include_str!("threads.tsv");

#[test]
#[ignore = "opens Chromium: `cargo learn verify --pages`"]
fn titles_of_threads_find_their_page_among_the_first_three() {
    let page = |name: &str| match name.starts_with(|c: char| c.is_ascii_digit()) {
        true => name.to_owned(), // a chapter, by its number
        false => format!("questions/{name}.html"),
    };
    let thread = |line: &str| {
        let [title, pages, _] = line.split('\t').collect::<Vec<_>>()[..] else {
            panic!("a title, its pages and where it was asked: {line}")
        };
        (title.to_owned(), pages.split('|').map(page).collect::<Vec<_>>().join("|"))
    };
    let threads: Vec<_> = THREADS.lines().skip(1).map(thread).collect();
    let wrong = not_among_first(3, &threads);
    println!("{}", wrong.join("\n"));
    assert!(10 * wrong.len() <= threads.len(), "{}", wrong.join("\n"));
}
