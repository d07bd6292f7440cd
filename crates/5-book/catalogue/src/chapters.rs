//! The book's chapters: which comes when, and which exercises stand in it.

use std::fmt;
use std::path::PathBuf;

use crate::Fault;
use crate::fault::{Result, read};

/// The workspace, known since this was compiled in it.
pub fn root() -> PathBuf {
    let root = concat!(env!("CARGO_MANIFEST_DIR"), "/../../..");
    let root = PathBuf::from(root);
    root.canonicalize().unwrap_or(root)
}

/// A section of a chapter.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Section {
    /// The chapter's topic, which is its file's name without the number:
    /// `scores-softmax-scale`.
    pub topic: String,
    /// The chapter's number.
    pub number: usize,
    /// The chapter's file without `.md`, its number in front.
    pub chapter: String,
    /// The heading as it stands there, without the `#`s.
    pub heading: String,
}

impl fmt::Display for Section {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "chapter {}, “{}”", self.number, self.heading)
    }
}

/// A chapter.
#[derive(Debug, Clone)]
pub(crate) struct Chapter {
    pub number: usize,
    pub topic: String,
    /// Its file without `.md`.
    pub file: String,
}

/// The chapters in the order of the book's contents.
pub(crate) fn chapters() -> Result<Vec<Chapter>> {
    Ok(of(&read(&root().join("chapters/SUMMARY.md"))?))
}

fn of(contents: &str) -> Vec<Chapter> {
    let links = contents.split("](").skip(1).filter_map(|rest| rest.split(')').next());
    let chapter = |link: &str| {
        let file = link.strip_suffix(".md")?;
        let (number, topic) = file.split_once('-')?;
        let (number, topic) = (number.parse().ok()?, topic.to_owned());
        Some(Chapter { number, topic, file: file.to_owned() })
    };
    links.filter_map(chapter).collect()
}

/// The section of this heading in the chapter about a topic.
pub(crate) fn section(
    chapters: &[Chapter],
    topic: &str,
    heading: &str,
) -> Option<Section> {
    let chapter = chapters.iter().find(|chapter| chapter.topic == topic)?;
    Some(Section {
        topic: topic.to_owned(),
        number: chapter.number,
        chapter: chapter.file.clone(),
        heading: heading.to_owned(),
    })
}

/// The names of all exercises, with the topics of their chapters, in the book's order: a
/// chapter names its own.
pub(crate) fn names(chapters: &[Chapter]) -> Result<Vec<(String, String)>> {
    let mut names = Vec::new();
    for chapter in chapters {
        let path = root().join("chapters").join(&chapter.file).with_extension("md");
        for line in read(&path)?.lines() {
            let name =
                line.strip_prefix("{{#exercise ").and_then(|it| it.strip_suffix("}}"));
            names
                .extend(name.map(|name| (name.trim().to_owned(), chapter.topic.clone())));
        }
    }
    if names.is_empty() {
        return Err(Fault::new("chapters/SUMMARY.md", 0, "no chapter has an exercise"));
    }
    Ok(names)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_chapter_has_its_place_in_the_contents() {
        let chapters = of("[Start](a.md)\n\n- [A](07-there.md)\n- [B](08-here.md)\n");
        let said = |topic| section(&chapters, topic, "A word").map(|it| it.to_string());
        assert_eq!(said("there").unwrap(), "chapter 7, “A word”");
        assert_eq!(said("here").unwrap(), "chapter 8, “A word”");
        assert_eq!(said("counting"), None);
    }

    /// As a page writes them into its links: without marks.
    #[test]
    fn every_section_to_read_is_in_its_chapter() {
        let letters = |heading: &str| -> String {
            heading.to_lowercase().chars().filter(|c| c.is_alphanumeric()).collect()
        };
        for exercise in crate::all().unwrap() {
            let mistakes = exercise.sheet.mistakes.iter().map(|it| &it.read);
            for Section { chapter, heading, .. } in mistakes.chain([&exercise.sheet.read])
            {
                let path = root().join("chapters").join(chapter).with_extension("md");
                let text = read(&path).unwrap();
                let mut headings = text.lines().filter(|line| line.starts_with("##"));
                let is_there = headings.any(|it| letters(it) == letters(heading));
                assert!(is_there, "{}: {chapter} has no “{heading}”", exercise.name);
            }
        }
    }
}
