//! The pages of “Questions people ask”: each is short, begins with its answer, has a
//! picture, and names its line in PyTorch, a test that is there, its chapter, and how else
//! people ask it.

mod asked;
mod order;
mod permute;

use std::fs;
use std::ops::RangeInclusive;

use workshop::chapters::{self, Question};
use workshop::paths;

use super::places::texts;
use crate::sources::holds_test;

const LEAST_PAGES: usize = 14;
const WORDS_OF_A_PAGE: RangeInclusive<usize> = 120..=300;
/// Of all of them, and of their index.
const MOST_WORDS: usize = 7_050;
/// Lines in PyTorch, which nothing here compiles.
const MOST_LINES: usize = 2;

struct Page {
    question: Question,
    text: String,
}

fn pages() -> Vec<Page> {
    let questions = chapters::questions().unwrap().into_iter();
    let read = |question: Question| {
        let file = paths::workspace().join("chapters").join(&question.page);
        Page { text: fs::read_to_string(file.with_extension("md")).unwrap(), question }
    };
    questions.map(read).collect()
}

/// Without the lines that a snapshot or a figure stands for.
fn words(text: &str) -> usize {
    let lines = text.lines().filter(|line| !line.starts_with("{{#"));
    lines.flat_map(str::split_whitespace).count()
}

/// The line that begins so, without its beginning.
fn after<'a>(text: &'a str, begin: &str) -> Option<&'a str> {
    text.lines().find_map(|line| line.strip_prefix(begin))
}

/// Every file of Rust.
fn sources() -> Vec<String> {
    let is_rust =
        |(place, text): (String, String)| place.ends_with(".rs").then_some(text);
    texts().into_iter().filter_map(is_rust).collect()
}

/// What is wrong with a page.
fn problems(page: &Page, sources: &[String]) -> Vec<String> {
    let Page { question, text } = page;
    let mut problems = Vec::new();
    let mut expect = |holds: bool, what: String| {
        if !holds {
            problems.push(format!("{}: {what}", question.page));
        }
    };
    let n = words(text);
    expect(WORDS_OF_A_PAGE.contains(&n), format!("{n} words"));
    let title = after(text, "# ").unwrap_or_default();
    expect(title == question.title, format!("the contents say {}", question.title));
    expect(question.answer(text).is_some(), "no answer in bold comes first".to_owned());
    expect(text.contains("\n{{#figure "), "no picture".to_owned());

    let code = text.split("```python\n").nth(1).and_then(|rest| rest.split("```").next());
    let lines = code.map_or(0, |code| code.lines().count());
    expect((1..=MOST_LINES).contains(&lines), format!("{lines} lines in PyTorch"));

    let named = after(text, "**Test:** ").unwrap_or_default();
    let held = named.strip_prefix("{{#test ").and_then(|rest| rest.split("}}").next());
    let is_there = |name| sources.iter().any(|source| holds_test(source, name));
    expect(held.is_some_and(is_there), format!("no test {named:?}"));

    let chapter = named.split("**More:** ").nth(1).unwrap_or_default();
    let all = chapters::all().unwrap();
    let is_linked =
        all.iter().any(|it| chapter.contains(&format!("](../{}.md", it.page)));
    expect(is_linked, format!("no chapter {chapter:?}"));
    expect(!question.searches(text).is_empty(), "nobody else asks it".to_owned());
    problems
}

#[test]
fn each_page_answers_its_question() {
    let pages = pages();
    let sources = sources();
    let found: Vec<String> =
        pages.iter().flat_map(|page| problems(page, &sources)).collect();
    assert!(found.is_empty(), "{}", found.join("\n"));
    assert!(pages.len() >= LEAST_PAGES, "{} pages", pages.len());
    let index = paths::workspace().join("chapters/questions/index.md");
    let index = words(&fs::read_to_string(index).unwrap());
    let n = index + pages.iter().map(|page| words(&page.text)).sum::<usize>();
    println!("{n} words on {} pages and their index", pages.len());
    assert!(n <= MOST_WORDS, "{n} words, at most {MOST_WORDS}");
}

/// Chapters come first, and then the questions.
#[test]
fn the_index_comes_right_after_the_last_chapter() {
    let summary = paths::workspace().join("chapters/SUMMARY.md");
    let summary = fs::read_to_string(summary).unwrap();
    let links: Vec<&str> =
        summary.split("](").skip(1).filter_map(|rest| rest.split(')').next()).collect();
    let last = chapters::of(&summary).pop().unwrap();
    let at = links.iter().position(|link| **link == format!("{}.md", last.page));
    assert_eq!(links[at.unwrap() + 1], "questions/index.md");
    let folder = fs::read_dir(paths::workspace().join("chapters/questions")).unwrap();
    assert_eq!(folder.count(), pages().len() + 1);
}

#[test]
fn planted_faults_are_found() {
    let page = pages().swap_remove(0);
    let sources = sources();
    assert_eq!(problems(&page, &sources), [] as [String; 0]);
    let long = format!("{}\n{}", page.text, "word ".repeat(300));
    let faults = [
        (page.text.replace("# ", "# No "), "the contents say"),
        (long, "words"),
        (page.text.replace("\n\n**", "\n\n"), "no answer"),
        (page.text.replace("{{#figure ", "{{#line "), "no picture"),
        (page.text.replace("```python", "```sh"), "0 lines"),
        (page.text.replace("```python\n", "```python\na\nb\n"), "4 lines"),
        (page.text.replace("{{#test ", "{{#test no_"), "no test"),
        (page.text.replace("](../0", "](0"), "no chapter"),
        (page.text.replace("## Also", "## Not"), "nobody"),
    ];
    for (text, expected) in faults {
        assert_ne!(text, page.text, "{expected}");
        let faulty = Page { question: page.question.clone(), text };
        let found = problems(&faulty, &sources).join("; ");
        assert!(found.contains(expected), "{expected}: {found}");
    }
}
