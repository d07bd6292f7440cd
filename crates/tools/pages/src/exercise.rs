//! An exercise in a chapter: what is asked, the signature, and what the check will say.

use std::fmt::Write;

use anyhow::Result;
use catalogue::Exercise;
use textwrap::{Options, WordSplitter, fill};

use super::elsewhere;

/// Lines of what a check prints are this long at most.
const WIDTH: usize = 84;

/// The section that `{{#exercise scale}}` stands for, as Markdown for mdBook, and without HTML.
/// Of a book with solutions it ends with a link to one.
pub fn section(asked: &str, up: &str, has_solution: bool) -> Result<[String; 2]> {
    let exercise = catalogue::asked(asked)?;
    let (statement, signature) = exercise.solution.statement();
    let statement = catalogue::with_numbers(&statement, catalogue::all()?);
    let Exercise { number, name, sheet, .. } = &exercise;
    let (title, minutes) = (&sheet.title, exercise.minutes());
    let passed = when_right(&exercise);
    let solution = match has_solution {
        true => format!("\n[A solution]({up}{})\n", page(name)),
        false => String::new(),
    };
    let with = |elsewhere: String| {
        format!(
            "### Exercise {number} · {title}\n\n\
         {statement}\n\n\
         ```rust\n{signature}\n```\n\n\
         Write it in `exercises/{name}.rs` and run `cargo learn check {number}`. It takes about \
         {minutes} minutes. If your answer is right, you will see:\n\n\
         ```text\n{passed}\n```\n\n\
         {elsewhere}\n{solution}"
        )
    };
    Ok(elsewhere::fold(&exercise)?.map(with))
}

/// The rows of the exercises, each with its solution, seen from the folder of solutions.
pub fn solutions() -> Result<String> {
    let mut table = "| exercise | a solution |\n| --- | --- |\n".to_owned();
    for exercise in catalogue::all()? {
        let (number, title) = (exercise.number, &exercise.sheet.title);
        let file = file(&exercise.name);
        // Writing to a String cannot fail.
        let _ = writeln!(table, "| {number} | [{title}]({file}) |");
    }
    Ok(table)
}

/// The rows of the exercises, each with its file, seen from the folder of chapters.
pub fn table() -> Result<String> {
    let mut table =
        "| | exercise | file | minutes | chapter |\n| --: | --- | --- | --: | --- |\n"
            .to_owned();
    for exercise in catalogue::all()? {
        let Exercise { number, name, sheet, .. } = &exercise;
        let (title, chapter, minutes) = (&sheet.title, &sheet.read, exercise.minutes());
        let heading = format!("{chapter}.md", chapter = chapter.chapter);
        let _ = writeln!(
            table,
            "| {number} | {title}<span data-passed=\"{name}\"></span> | `{name}.rs` | {minutes} | [{}]({heading}) |",
            chapter.number
        );
    }
    Ok(table)
}

/// What the check prints for a right answer.
fn when_right(exercise: &Exercise) -> String {
    let options = Options::new(WIDTH)
        .initial_indent("  ")
        .subsequent_indent("  ")
        .word_splitter(WordSplitter::NoHyphenation);
    let passed = fill(&exercise.sheet.passed, options);
    format!("✓ {:02} · {}: passed.\n\n{passed}", exercise.number, exercise.sheet.title)
}

/// The page of an exercise's solution, from the folder of chapters.
pub fn page(name: &str) -> String {
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
        for exercise in catalogue::all().unwrap() {
            let (page, title) = (page(&exercise.name), &exercise.sheet.title);
            let text = std::fs::read_to_string(chapters.join(&page)).expect(&page);
            assert_eq!(text.lines().next(), Some(&*format!("# {title}")), "{page}");
            expected.push(format!("  - [{title}]({page})"));
        }
        assert_eq!(listed, expected, "SUMMARY.md has them in the order of the catalogue");
    }

    #[test]
    fn an_exercise_that_is_not_there_is_refused() {
        assert!(section("99", "", true).unwrap_err().to_string().contains("99"));
    }
}
