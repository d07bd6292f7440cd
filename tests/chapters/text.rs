//! What the chapters' text keeps to: how long it is, how long it takes, and some phrases.

use std::fs;

use workshop::paths;

use super::places::texts;
use crate::quote::{assert_quote, values};

/// Words of a text with formulas and figures that are read in a minute.
const PACE: usize = 110;
/// The part of the book behind the main line.
const LATER: &str = "# Whole models";
/// The most words of the chapters up to it and the appendix on the last rung together.
const MOST_WORDS: usize = 17_900;
/// The most words of all of these: pages of questions are counted by their own test.
const MOST_WORDS_OF_ALL: usize = 36_000;
/// The most words of each later chapter.
const MOST_WORDS_LATER: usize = 1_960;
/// How a translation would put it.
const PHRASES: [&str; 10] = [
    "in the place of",
    "whoever",
    "held against",
    "holds against",
    "hold against",
    "hold it against",
    "the way back",
    "a line each",
    "is turned",
    "who reads this",
];

struct Page {
    name: String,
    text: String,
}

impl Page {
    /// Without its row of the table of chapters, which stands on another page, and what
    /// names a picture or questions.
    fn words(&self) -> usize {
        const NAMES: [&str; 5] =
            ["{{#asks", "{{#line", "{{#predict", "{{#draw", "{{#teachers"];
        let is_named = |line: &&str| NAMES.iter().any(|it| line.starts_with(it));
        let lines = self.text.lines().filter(|line| !is_named(line));
        lines.flat_map(str::split_whitespace).count()
    }

    /// Whether it is a chapter behind the main line.
    fn is_later(&self) -> bool {
        let summary = paths::workspace().join("chapters/SUMMARY.md");
        let summary = fs::read_to_string(summary).unwrap();
        let (_, later) = summary.split_once(LATER).expect("a part of the book");
        later.contains(&format!("]({})", self.name))
    }
}

/// The chapters and the appendix that go on from one another, in order.
fn pages() -> Vec<Page> {
    let folder = paths::workspace().join("chapters");
    let names = fs::read_dir(&folder).unwrap().map(|entry| entry.unwrap().file_name());
    let mut names: Vec<String> = names
        .map(|name| name.into_string().unwrap())
        .filter(|name| is_chapter(name))
        .collect();
    names.sort();
    let read = |name: String| {
        let text = fs::read_to_string(folder.join(&name)).unwrap();
        Page { name, text }
    };
    names.into_iter().map(read).collect()
}

fn is_chapter(name: &str) -> bool {
    let numbered = name.starts_with(|c: char| c.is_ascii_digit());
    name.ends_with(".md") && (numbered || name == "the-last-rung.md")
}

#[test]
fn the_time_that_the_first_page_names() {
    let words: usize = pages().iter().map(Page::words).sum();
    println!("{words} words");
    let set = catalogue::all().unwrap();
    let exercises = set.len();
    let minutes: usize = set.iter().map(catalogue::Exercise::minutes).sum();
    // To half an hour.
    let hours = |minutes: usize| match (minutes + 15) / 30 {
        halves if halves % 2 == 0 => (halves / 2).to_string(),
        halves => format!("{}½", halves / 2),
    };
    let said = [
        ("words", attention::thousands(words.next_multiple_of(500))),
        ("pace", PACE.to_string()),
        ("reading_hours", hours(words / PACE)),
        ("n_exercises", exercises.to_string()),
        ("exercise_minutes", ((minutes + exercises / 2) / exercises).to_string()),
        ("exercise_hours", hours(minutes)),
    ];
    assert_quote!("times", values(&said));
}

#[test]
fn no_chapter_is_longer_than_it_may_be() {
    let pages = pages();
    let main = pages.iter().filter(|page| !page.is_later());
    let words: usize = main.map(Page::words).sum();
    println!("{words} words up to “{LATER}”");
    assert!(words <= MOST_WORDS, "{words} words, at most {MOST_WORDS}");
    let all: usize = pages.iter().map(Page::words).sum();
    println!("{all} words in all");
    assert!(all <= MOST_WORDS_OF_ALL, "{all} words in all, at most {MOST_WORDS_OF_ALL}");
    for page in pages.iter().filter(|page| page.is_later()) {
        let (name, words) = (&page.name, page.words());
        assert!(words <= MOST_WORDS_LATER, "{name}: {words}, at most {MOST_WORDS_LATER}");
    }
}

/// `*About 15 minutes.*` is within two minutes, or a fifth, of the words at this pace.
#[test]
fn each_chapter_names_its_time() {
    for page in pages() {
        let said =
            page.text.split_once("*About ").and_then(|(_, rest)| rest.split_once(' '));
        let said = said.unwrap_or_else(|| panic!("{} names no time", page.name)).0;
        let said: f64 = said.parse().unwrap();
        let counted = page.words() as f64 / PACE as f64;
        let apart = (said - counted).abs();
        let name = &page.name;
        assert!(
            apart <= f64::max(2.0, counted / 5.0),
            "{name}: {said}, counted {counted:.0}"
        );
    }
}

/// In chapters, notebooks, code and what pages say.
#[test]
fn no_phrase_of_a_translation() {
    for (place, text) in
        texts().iter().filter(|(place, _)| *place != "tests/chapters/text.rs")
    {
        let text = text.to_lowercase();
        let words = text.split_whitespace().collect::<Vec<_>>().join(" ");
        for phrase in PHRASES {
            assert!(!words.contains(phrase), "{place}: “{phrase}”");
        }
    }
}
