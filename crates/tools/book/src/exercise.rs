//! An exercise in a chapter: what is asked, the signature, and what the check will say.

use anyhow::{Context, Result};

/// The section that `{{#exercise 4}}` stands for, as Markdown for mdBook.
pub fn section(asked: &str, up: &str) -> Result<String> {
    let entry =
        exercises::find(asked).with_context(|| format!("no exercise {asked:?}"))?;
    let (statement, signature) = practice::statement(entry)?;
    let (number, title, name) = (entry.number(), entry.title(), entry.name());
    let said = entry.said_when_right();
    let page = page(name);
    Ok(format!(
        "### Exercise {number} · {title}\n\n\
         {statement}\n\n\
         ```rust\n{signature}\n```\n\n\
         Write it in `crates/exercises/exercises/{name}.rs` and run \
         `cargo learn check {number}`. A right answer is told:\n\n\
         ```text\n{said}\n```\n\n\
         [A solution]({up}{page})\n"
    ))
}

/// The page of an exercise's solution, from the folder of chapters.
fn page(name: &str) -> String {
    format!("solutions/{}.md", name.replace('_', "-"))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_exercise_has_its_page_and_its_place_in_the_contents() {
        let chapters = workshop::paths::workspace().join("chapters");
        let summary = std::fs::read_to_string(chapters.join("SUMMARY.md")).unwrap();
        for entry in exercises::all() {
            let page = page(entry.name());
            assert!(chapters.join(&page).is_file(), "{page}");
            assert!(
                summary.contains(&format!("({page})")),
                "{page} is not in SUMMARY.md"
            );
        }
    }

    #[test]
    fn every_exercise_stands_at_the_end_of_its_chapter() {
        let chapters = workshop::paths::workspace().join("chapters");
        for entry in exercises::all() {
            let chapter = chapters.join(entry.read().chapter).with_extension("md");
            let text = std::fs::read_to_string(&chapter).unwrap();
            let asked = format!("{{{{#exercise {}}}}}", entry.number());
            assert!(text.contains(&asked), "{asked} is not in {}", chapter.display());
        }
    }

    #[test]
    fn an_exercise_that_is_not_there_is_refused() {
        assert!(section("99", "").unwrap_err().to_string().contains("99"));
    }
}
