//! What is known of an exercise without compiling it: `info.toml`, which rustlings reads
//! too. A test of the set compares it with the library.

use std::fmt;
use std::fs;
use std::path::PathBuf;

use anyhow::{Context, Result};

use workshop::chapters::{self, Chapter};
use workshop::paths;

/// An exercise.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Entry {
    number: usize,
    name: String,
    title: String,
    passed: String,
    hint: String,
    read: Section,
}

/// A section of the book.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Section {
    /// The number of the chapter.
    pub number: usize,
    /// The chapter's file without `.md`, its number in front.
    pub chapter: String,
    /// The heading as it stands there, without the `#`s.
    pub heading: String,
}

impl Entry {
    /// The name of its file and its program: `scale`.
    pub fn name(&self) -> &str {
        &self.name
    }

    /// Its place among all, counted from 1.
    pub fn number(&self) -> usize {
        self.number
    }

    /// What it is called in text.
    pub fn title(&self) -> &str {
        &self.title
    }

    /// What a right answer is told, below the headline.
    pub fn passed(&self) -> &str {
        &self.passed
    }

    /// How to go about it, in steps.
    pub fn hint(&self) -> &str {
        &self.hint
    }

    /// Where it is explained.
    pub fn read(&self) -> &Section {
        &self.read
    }
}

impl Section {
    /// A section by its chapter's topic, `scores-softmax-scale`: which chapter that is stands
    /// in the book's contents.
    fn new(topic: &str, heading: String, chapters: &[Chapter]) -> Result<Self> {
        let found = chapters.iter().find(|chapter| chapter.topic() == topic);
        let found = found.with_context(|| format!("no chapter is about {topic}"))?;
        let (number, chapter) = (found.number.into(), found.page.clone());
        Ok(Self { number, chapter, heading })
    }
}

impl fmt::Display for Section {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "chapter {}, “{}”", self.number, self.heading)
    }
}

/// The folder of the set: the reader's, or the copy of it that `verify` checks.
pub fn set() -> PathBuf {
    let copy = std::env::var_os(SET).map(PathBuf::from);
    copy.unwrap_or_else(|| {
        paths::native(paths::workspace().join("crates/5-book/exercises"))
    })
}

/// Names another folder of the set, for the command that `verify` starts.
pub const SET: &str = "LEARN_EXERCISES";

/// Every exercise in order.
///
/// # Errors
/// An `info.toml` that cannot be read, or lacks a key; and the same of the book's contents.
pub fn all() -> Result<Vec<Entry>> {
    let path = set().join("info.toml");
    let text = fs::read_to_string(&path)
        .with_context(|| format!("{} cannot be read", path.display()))?;
    parse(&text, &chapters::all()?).with_context(|| path.display().to_string())
}

/// The exercise of this number or name: `4`, `04` or `scale`. A number before the name, as
/// names once had it, says nothing: `04_scale` is `scale`.
///
/// # Errors
/// None such, with those that there are.
pub fn find(asked: &str) -> Result<Entry> {
    let all = all()?;
    let is_asked = |entry: &&Entry| {
        entry.name == without_number(asked) || asked.parse() == Ok(entry.number)
    };
    all.iter().find(is_asked).cloned().with_context(|| {
        let line = |entry: &Entry| {
            let (number, chapter) = (entry.number(), entry.read.number);
            format!("  {number:02}  {:<24} chapter {chapter}", entry.title)
        };
        let list: Vec<String> = all.iter().map(line).collect();
        format!("there is no exercise {asked:?}; there are\n{}", list.join("\n"))
    })
}

/// A text in which exercises are named, with their numbers: exercise `scale` is exercise 4.
///
/// # Errors
/// An `info.toml` that cannot be read.
pub fn with_numbers(text: &str) -> Result<String> {
    if !text.contains("exercise `") {
        return Ok(text.to_owned());
    }
    let numbered = |text: String, entry: &Entry| {
        let (name, number) = (format!("exercise `{}`", entry.name), entry.number);
        text.replace(&name, &format!("exercise {number}"))
    };
    Ok(all()?.iter().fold(text.to_owned(), numbered))
}

/// The name of a file as it is today: names had a number in front once.
pub fn without_number(name: &str) -> &str {
    match name.split_once('_') {
        Some((number, rest)) if is_number(number) => rest,
        _ => name,
    }
}

/// Whether a text is digits and nothing else.
pub fn is_number(text: &str) -> bool {
    !text.is_empty() && text.chars().all(|letter| letter.is_ascii_digit())
}

fn parse(text: &str, chapters: &[Chapter]) -> Result<Vec<Entry>> {
    let info: toml::Table = text.parse()?;
    let tables = info.get("exercises").and_then(toml::Value::as_array);
    let tables = tables.context("it has no exercises")?.iter();
    tables.zip(1..).map(|(table, number)| entry(number, table, chapters)).collect()
}

fn entry(number: usize, table: &toml::Value, chapters: &[Chapter]) -> Result<Entry> {
    let text = |key: &str| {
        let value = table.get(key).and_then(toml::Value::as_str);
        let value = value.with_context(|| format!("an exercise without {key}"))?;
        anyhow::Ok(value.trim().to_owned())
    };
    Ok(Entry {
        number,
        name: text("name")?,
        title: text("title")?,
        passed: text("passed")?,
        hint: text("hint")?,
        read: Section::new(&text("chapter")?, text("section")?, chapters)?,
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_exercise_is_found_by_number_and_by_name() {
        for asked in ["4", "04", "scale", "04_scale", "7_scale"] {
            assert_eq!(find(asked).unwrap().name(), "scale", "{asked}");
        }
        for asked in ["0", "99", "", "04_", "_scale"] {
            let refused = find(asked).unwrap_err().to_string();
            assert!(refused.contains("  04  Scale "), "{refused}");
        }
    }

    #[test]
    fn exercises_that_a_text_names_get_their_numbers() {
        let text = "as in exercise `softmax`, and as exercise `none` of these";
        let numbered = with_numbers(text).unwrap();
        assert_eq!(numbered, "as in exercise 3, and as exercise `none` of these");
    }

    #[test]
    fn a_key_that_is_missing_is_named() {
        let refused = parse("[[exercises]]\nname = \"a\"", &[]).unwrap_err();
        assert_eq!(refused.to_string(), "an exercise without title");
    }

    #[test]
    fn a_chapter_has_its_place_in_the_contents() {
        let chapters = chapters::of(
            "[Start](a.md)\n\n- [7 · A](07-there.md)\n- [8 · B](08-here.md)\n",
        );
        let section = |topic| Section::new(topic, "A word".into(), &chapters);
        assert_eq!(section("there").unwrap().to_string(), "chapter 7, “A word”");
        assert_eq!(section("here").unwrap().chapter, "08-here");
        let refused = section("counting").unwrap_err().to_string();
        assert_eq!(refused, "no chapter is about counting");
    }
}
