//! The promises of the set: every mistake is named, no right answer is refused, and every
//! word of it can be looked up.

use std::fs;
use std::path::{Path, PathBuf};

use crate::{Entry, all, find};

pub mod answers;
mod lists;
mod numbers;

#[test]
fn every_mistake_is_named_and_no_two_look_alike() {
    let faults: Vec<String> = all().iter().flat_map(|entry| entry.faults()).collect();
    assert!(faults.is_empty(), "{}", faults.join("\n"));
}

#[test]
fn the_bank_is_as_large_as_it_says() {
    let n_mistakes: usize = all().iter().map(|entry| entry.named().len()).sum();
    println!("{} exercises, {n_mistakes} mistakes", all().len());
    assert!(n_mistakes >= 16);
}

#[test]
fn no_two_exercises_have_one_name() {
    let numbers: Vec<usize> = all().iter().map(|entry| entry.number()).collect();
    assert_eq!(numbers, (1..=all().len()).collect::<Vec<_>>());
}

#[test]
fn every_section_that_is_named_stands_in_the_book() {
    for entry in all() {
        for section in entry.sections() {
            let (number, file) = section.page().unwrap_or_else(|| {
                panic!("{}: no chapter is about {}", entry.name(), section.chapter)
            });
            assert!(number > 0, "{file}");
            let page = root().join("chapters").join(file);
            let text = fs::read_to_string(&page)
                .unwrap_or_else(|error| panic!("{}: {error}", page.display()));
            let is_there = text.lines().any(|line| {
                line.starts_with('#')
                    && line.trim_start_matches('#').trim() == section.heading
            });
            assert!(
                is_there,
                "{}: no “{}” in {}",
                entry.name(),
                section.heading,
                page.display()
            );
        }
    }
}

/// Phrases that no native speaker would write: the field has words of its own.
const PHRASES: [&str; 9] = [
    "in the place of",
    "whoever",
    "held against",
    "holds against",
    "hold against",
    "the way back",
    "is turned",
    " turns the",
    "a line each",
];

#[test]
fn no_phrase_of_a_translation() {
    let read = |path: &str| {
        let text = fs::read_to_string(root().join("crates/5-book/exercises").join(path))
            .unwrap();
        (path.to_owned(), text)
    };
    let files = |entry: &&dyn Entry| {
        let name = entry.name();
        let page = format!("../../../chapters/solutions/{}.md", name.replace('_', "-"));
        let said = (format!("the check of {name}"), everything_said(*entry));
        let [solution, hint] = ["solutions/{}.rs", "hints/{}.md"]
            .map(|path| read(&path.replace("{}", name)));
        [said, solution, hint, read(&page)]
    };
    let texts = all().iter().flat_map(files).collect::<Vec<_>>();
    for (of, text) in texts.into_iter().chain([read("info.toml")]) {
        let text = text.to_lowercase();
        let words = text.split_whitespace().collect::<Vec<_>>().join(" ");
        for phrase in PHRASES {
            assert!(!words.contains(phrase), "{of}: “{phrase}”");
        }
    }
}

#[test]
fn what_each_check_says() {
    for entry in all() {
        insta::assert_snapshot!(entry.name(), verdicts(entry));
    }
}

/// What is said when the exercise is as given and when it is right, and the first mistake's
/// message in full, as a reader sees it. Of every other mistake it holds the verdict and,
/// below it, a line for the first difference: on what input, what was found and what was
/// expected. What else a message says stands in the bank, word for word, and is not kept a
/// second time.
fn verdicts(entry: &dyn Entry) -> String {
    let named = entry.named();
    let first = named.first().map(|(_, message)| message.as_str()).unwrap_or_default();
    let whole = [&entry.said_as_given(), &entry.said_when_right(), first];
    let mut text = whole.map(|message| message.trim_end().to_owned()).join("\n\n");
    text += &format!("\n\n{}\n\n", "─".repeat(60));
    for (_, message) in named.iter().skip(1) {
        text += &format!("{}\n", verdict(message));
    }
    text
}

/// A message without the paragraphs that are the bank's, each of the others on one line. The
/// number and title of the exercise, which are the same in all of them, are left out too.
fn verdict(message: &str) -> String {
    const OF_THE_BANK: [&str; 3] = ["What it does", "Why it looks right", "Read"];
    let (headline, rest) = message.split_once("\n\n").unwrap_or((message, ""));
    let (title, verdict) = headline.split_once(": ").expect("a title and a verdict");
    let (mark, _) = title.split_once(' ').expect("a mark");
    let mut text = format!("{mark} {}", on_one_line(verdict));
    for paragraph in rest.split("\n\n") {
        let (label, said) = label_and_text(paragraph);
        if !OF_THE_BANK.contains(&label.as_str()) {
            text += &format!("\n    {label} | {said}");
        }
    }
    text
}

/// A paragraph's label, and its text, which is indented further.
fn label_and_text(paragraph: &str) -> (String, String) {
    let at = paragraph.find("\n    ").unwrap_or(paragraph.len());
    let (label, text) = paragraph.split_at(at);
    (on_one_line(label), on_one_line(text))
}

fn on_one_line(text: &str) -> String {
    text.split_whitespace().collect::<Vec<_>>().join(" ")
}

fn everything_said(entry: &dyn Entry) -> String {
    let mut text = format!("{}\n\n{}", entry.said_as_given(), entry.said_when_right());
    for (_, message) in entry.named() {
        text += &format!("\n\n{}\n\n{message}", "─".repeat(60));
    }
    text
}

fn root() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../../..")
}

/// Shown in the book.
#[test]
fn a_named_mistake() {
    let scale = find("scale").expect("an exercise");
    let named = scale.named();
    let (_, message) =
        named.iter().find(|(name, _)| *name == "divides by √d_model").unwrap();
    insta::assert_snapshot!("a_named_mistake", message);
}
