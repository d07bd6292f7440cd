//! An exercise in a chapter: what is asked, the signature, and what the check will say.

use std::fmt::Write;

use anyhow::Result;
use checks::Entry;
use textwrap::{Options, WordSplitter, fill};

/// Lines of what a check prints are this long at most.
const WIDTH: usize = 84;

/// The section that `{{#exercise scale}}` stands for, as Markdown for mdBook.
pub fn section(asked: &str, up: &str) -> Result<String> {
    let entry = checks::find(asked)?;
    let (statement, signature) = checks::statement(&entry)?;
    let (number, title, name) = (entry.number(), entry.title(), entry.name());
    let said = said_when_right(&entry);
    let page = page(name);
    Ok(format!(
        "### Exercise {number} · {title}\n\n\
         {statement}\n\n\
         ```rust\n{signature}\n```\n\n\
         Write it in `crates/5-book/exercises/exercises/{name}.rs` and run \
         `cargo learn check {number}`. If your answer is right, you will see:\n\n\
         ```text\n{said}\n```\n\n\
         [A solution]({up}{page})\n"
    ))
}

/// The rows of the exercises, each with its solution, seen from the folder of solutions.
pub fn table() -> Result<String> {
    let mut table = "| exercise | a solution |\n| --- | --- |\n".to_owned();
    for entry in checks::all()? {
        let (number, title) = (entry.number(), entry.title());
        let file = file(entry.name());
        // Writing to a String cannot fail.
        let _ = writeln!(table, "| {number} | [{title}]({file}) |");
    }
    Ok(table)
}

/// What the check prints for a right answer.
fn said_when_right(entry: &Entry) -> String {
    let options = Options::new(WIDTH)
        .initial_indent("  ")
        .subsequent_indent("  ")
        .word_splitter(WordSplitter::NoHyphenation);
    let (number, title) = (entry.number(), entry.title());
    let passed = fill(entry.passed(), options);
    format!("✓ {number:02} · {title}: passed.\n\n{passed}")
}

/// The page of an exercise's solution, from the folder of chapters.
fn page(name: &str) -> String {
    format!("solutions/{}", file(name))
}

/// The same, from the folder of solutions.
fn file(name: &str) -> String {
    format!("{}.md", name.replace('_', "-"))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_exercise_has_its_page_and_its_place_in_the_contents() {
        let chapters = workshop::paths::workspace().join("chapters");
        let summary = std::fs::read_to_string(chapters.join("SUMMARY.md")).unwrap();
        let listed: Vec<&str> = summary
            .lines()
            .filter(|line| line.starts_with("  - ") && line.contains("(solutions/"))
            .collect();
        let mut expected = Vec::new();
        for entry in checks::all().unwrap() {
            let (page, title) = (page(entry.name()), entry.title());
            let text = std::fs::read_to_string(chapters.join(&page)).expect(&page);
            assert_eq!(text.lines().next(), Some(&*format!("# {title}")), "{page}");
            expected.push(format!("  - [{title}]({page})"));
        }
        assert_eq!(listed, expected, "SUMMARY.md has them in the order of the catalogue");
    }

    #[test]
    fn every_exercise_stands_at_the_end_of_its_chapter() {
        let chapters = workshop::paths::workspace().join("chapters");
        for entry in checks::all().unwrap() {
            let chapter = chapters.join(&entry.read().chapter).with_extension("md");
            let text = std::fs::read_to_string(&chapter).unwrap();
            let asked = format!("{{{{#exercise {}}}}}", entry.name());
            assert!(text.contains(&asked), "{asked} is not in {}", chapter.display());
        }
    }

    #[test]
    fn an_exercise_that_is_not_there_is_refused() {
        assert!(section("99", "").unwrap_err().to_string().contains("99"));
    }
}
