//! The chapters that have a number, as chapters/SUMMARY.md names them: it alone says which
//! number and which title a chapter has.

use std::fmt;
use std::fs;

use anyhow::{Context, Result};

use crate::paths;

/// A chapter of the book.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Chapter {
    /// Its place, from 1.
    pub number: u8,
    /// As the contents have it.
    pub title: String,
    /// Its file in `chapters`, and that of its notebook, without the ending: two digits and
    /// the topic.
    pub page: String,
}

impl Chapter {
    /// The page's name without the number.
    pub fn topic(&self) -> &str {
        self.page.split_once('-').map_or(&self.page, |(_, topic)| topic)
    }
}

impl fmt::Display for Chapter {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "chapter {}, {}", self.number, self.title)
    }
}

/// A page of “Questions people ask”.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Question {
    /// The question, as the contents have it.
    pub title: String,
    /// Its file in `chapters`, without the ending: `questions/` and a name.
    pub page: String,
}

impl Question {
    /// The answer, which comes first on the page, in bold.
    pub fn answer<'a>(&self, text: &'a str) -> Option<&'a str> {
        let paragraphs = text.split("\n\n").skip(1);
        let first = paragraphs.map(str::trim).find(|it| !it.starts_with("{{#"))?;
        first.strip_prefix("**")?.split("**").next()
    }

    /// How else people ask it, which comes last on the page.
    pub fn searches<'a>(&self, text: &'a str) -> Vec<&'a str> {
        let line = text.split_once("\n## Also asked as\n\n").map(|(_, line)| line.trim());
        line.map_or(Vec::new(), |line| line.split(" · ").map(str::trim).collect())
    }
}

/// The chapters in their order.
///
/// # Errors
/// A summary that cannot be read, or that names no chapter.
pub fn all() -> Result<Vec<Chapter>> {
    let chapters = of(&summary()?);
    anyhow::ensure!(!chapters.is_empty(), "chapters/SUMMARY.md names no chapter");
    Ok(chapters)
}

/// The pages of questions in their order.
///
/// # Errors
/// A summary that cannot be read.
pub fn questions() -> Result<Vec<Question>> {
    Ok(questions_of(&summary()?))
}

fn summary() -> Result<String> {
    let path = paths::workspace().join("chapters/SUMMARY.md");
    fs::read_to_string(&path).with_context(|| path.display().to_string())
}

/// The pages of questions that a summary names, without their index.
pub fn questions_of(summary: &str) -> Vec<Question> {
    let lines = summary.lines().filter_map(|line| line.strip_prefix("  - ["));
    lines.filter_map(asked).collect()
}

/// The question of a line such as `A question?](questions/name.md)`.
fn asked(line: &str) -> Option<Question> {
    let (title, link) = line.split_once("](")?;
    let page = link.strip_suffix(".md)")?.to_owned();
    page.starts_with("questions/").then(|| Question { title: title.to_owned(), page })
}

/// The chapters that a summary names.
pub fn of(summary: &str) -> Vec<Chapter> {
    summary.lines().filter_map(named).collect()
}

/// The chapter of a line such as `- [7 · A title](07-a-topic.md)`.
fn named(line: &str) -> Option<Chapter> {
    let (text, link) = line.strip_prefix("- [")?.split_once("](")?;
    let (number, title) = text.split_once(" · ")?;
    let page = link.strip_suffix(".md)")?.to_owned();
    Some(Chapter { number: number.parse().ok()?, title: title.to_owned(), page })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_chapter_is_a_line_with_a_number() {
        let chapter = named("- [7 · A title](07-a-topic.md)").unwrap();
        assert_eq!((chapter.number, chapter.topic()), (7, "a-topic"));
        assert_eq!(chapter.to_string(), "chapter 7, A title");
        for other in [
            "[Start here](start-here.md)",
            "- [Solutions](solutions/index.md)",
            "  - [Scores](solutions/scores.md)",
        ] {
            assert_eq!(named(other), None);
        }
    }

    #[test]
    fn a_question_is_a_line_below_the_index() {
        let summary = "- [Questions](questions/index.md)\n  - [Who?](questions/who.md)\n\
                       - [1 · A](01-a.md)\n  - [Scores](solutions/scores.md)\n";
        let [who] = &questions_of(summary)[..] else { panic!("one question") };
        assert_eq!((&*who.title, &*who.page), ("Who?", "questions/who"));
        let text = "# Who?\n\n{{#values a}}\n\n**You.** Since x.\n\n## Also asked as\n\na · b c\n";
        assert_eq!(who.answer(text), Some("You."));
        assert_eq!(who.searches(text), ["a", "b c"]);
        assert_eq!(who.answer("# Who?\n\nYou.\n"), None);
    }

    #[test]
    fn each_page_is_there_with_its_number_and_its_title_at_its_head() {
        for (chapter, number) in all().unwrap().iter().zip(1..) {
            assert_eq!(chapter.number, number);
            assert!(chapter.page.starts_with(&format!("{number:02}-")), "{chapter}");
            let page = paths::workspace().join("chapters").join(&chapter.page);
            let text = fs::read_to_string(page.with_extension("md")).unwrap();
            let head = text.lines().find_map(|line| line.strip_prefix("# ")).unwrap();
            // Some go on after a colon.
            assert_eq!(head.split(": ").next(), Some(chapter.title.as_str()));
        }
    }
}
