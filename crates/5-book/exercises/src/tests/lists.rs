//! Lists of all exercises that others read: `info.toml`, for rustlings, the book and the
//! command, which do not compile the stages; and the programs in `Cargo.toml`, in the form in
//! which rustlings wants them. Both are written here, so that each fact stands in one place.

use std::collections::BTreeSet;
use std::{env, fs};

use textwrap::{Options, WordSplitter, fill};

use crate::tests::root;
use crate::{Entry, all};

#[test]
fn info_toml_says_what_the_library_says() {
    let before = read("info.toml");
    let (head, _) = before.split_once("[[exercises]]").expect("an exercise");
    let entries: Vec<String> = all().into_iter().map(info).collect();
    expect("info.toml", &before, &format!("{head}{}", entries.join("\n")));
}

#[test]
fn cargo_toml_has_a_program_for_each_exercise_and_each_solution() {
    let before = read("Cargo.toml");
    let (head, rest) = before.split_once("bin = [\n").expect("a list");
    let (_, foot) = rest.split_once("]\n").expect("its end");
    let programs: String = all().into_iter().map(programs).collect();
    expect("Cargo.toml", &before, &format!("{head}bin = [\n{programs}]\n{foot}"));
}

#[test]
fn every_hint_and_every_solution_is_of_an_exercise() {
    let expected: BTreeSet<String> = all().iter().map(|e| e.name().into()).collect();
    for folder in ["hints", "solutions"] {
        let entries = fs::read_dir(set().join(folder)).expect(folder);
        let names = entries.map(|entry| {
            let path = entry.expect(folder).path();
            path.file_stem().unwrap_or_default().to_string_lossy().into_owned()
        });
        assert_eq!(names.collect::<BTreeSet<_>>(), expected, "{folder}");
    }
}

/// An exercise in `info.toml`.
fn info(entry: &dyn Entry) -> String {
    let name = entry.name();
    let message = entry.said_when_right();
    let (_, passed) = message.split_once("\n\n").expect("a headline");
    let passed = passed.split_whitespace().collect::<Vec<_>>().join(" ");
    let hint = wrapped(&with_numbers(read(&format!("hints/{name}.md"))));
    assert!(hint.ends_with('\n') && !hint.contains(['\\', '"']), "the hint of {name}");
    let read = entry.read();
    format!(
        "[[exercises]]\nname = {name:?}\ntitle = {:?}\nchapter = {:?}\nsection = {:?}\n\
         passed = {passed:?}\ntest = false\nhint = \"\"\"\n{hint}\"\"\"\n",
        entry.title(),
        read.chapter,
        read.heading,
    )
}

/// A hint's steps in lines that fit: rustlings leaves that to the terminal, which breaks
/// lines inside words.
fn wrapped(hint: &str) -> String {
    let options = Options::new(78)
        .subsequent_indent("   ")
        .word_splitter(WordSplitter::NoHyphenation);
    hint.lines().map(|step| fill(step, &options) + "\n").collect()
}

/// An exercise's two programs in `Cargo.toml`.
fn programs(entry: &dyn Entry) -> String {
    let name = entry.name();
    format!(
        "  {{ name = \"{name}\", path = \"exercises/{name}.rs\" }},\n\
         \x20 {{ name = \"{name}_sol\", path = \"solutions/{name}.rs\" }},\n"
    )
}

/// A text in which exercises are named, with their numbers: exercise `scale` is exercise 4.
fn with_numbers(text: String) -> String {
    all().iter().fold(text, |text, entry| {
        let name = format!("exercise `{}`", entry.name());
        text.replace(&name, &format!("exercise {}", entry.number()))
    })
}

/// Compares a file with what it should hold, and writes it where snapshots may be written.
fn expect(path: &str, before: &str, expected: &str) {
    if before == expected {
        return;
    }
    let only_compare = env::var("INSTA_UPDATE").is_ok_and(|update| update == "no")
        || env::var_os("CI").is_some();
    if !only_compare {
        fs::write(set().join(path), expected).expect(path);
    }
    let line = before.lines().zip(expected.lines()).position(|(is, should)| is != should);
    let what = if only_compare { "is not" } else { "is now" };
    panic!(
        "{path} {what} what the catalogue says, from line {} on",
        line.map_or(0, |n| n + 1)
    );
}

fn read(path: &str) -> String {
    fs::read_to_string(set().join(path)).expect(path).replace("\r\n", "\n")
}

fn set() -> std::path::PathBuf {
    root().join("crates/5-book/exercises")
}
