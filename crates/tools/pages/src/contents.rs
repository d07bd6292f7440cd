//! The cards of chapters and the table of questions, in SUMMARY.md's order. A chapter says at its head,
//! in `{{#asks question | code}}`, which question it answers and where the code is. A page of
//! “Questions people ask” begins with its answer, in bold.

use std::fmt::Write;
use std::fs;
use std::path::Path;

use anyhow::{Context, Result};
use workshop::chapters::{self, Chapter};

use super::directive;

/// A card for each chapter in this folder: its picture, its title, its question, its minutes.
///
/// # Errors
/// A chapter that is not there, asks nothing, or does not say how long it takes.
pub fn cards(folder: &Path) -> Result<String> {
    let read = |name: &str| {
        let path = folder.join(name).with_extension("md");
        fs::read_to_string(&path).with_context(|| path.display().to_string())
    };
    let mut cards = "<div class=\"cards\">\n\n".to_owned();
    for chapter in chapters::of(&read("SUMMARY")?) {
        let Chapter { number, title, page } = &chapter;
        let text = read(page)?;
        let question = asked(&text).with_context(|| {
            format!("{page}.md asks nothing: {{{{#asks question | code}}}}")
        })?;
        let minutes = minutes(&text)
            .with_context(|| format!("{page}.md takes *About N minutes.*"))?;
        let picture = format!("images/cards/{}.png", chapter.topic());
        let picture = match folder.join(&picture).exists() {
            true => format!("![]({picture})"),
            false => String::new(),
        };
        // Writing to a String cannot fail.
        let _ = writeln!(
            cards,
            "- [{picture}**{number} · {title}**]({page}.md)<span>{question}</span>\
             <small data-chapter=\"{number}\">{minutes} minutes</small>"
        );
    }
    Ok(cards + "\n</div>")
}

/// The rows for the pages of questions, seen from the folder that they are in.
///
/// # Errors
/// A page that is not there, or that does not begin with an answer that can stand in a table.
pub fn questions(folder: &Path) -> Result<String> {
    let read = |name: &str| {
        let path = folder.join(name).with_extension("md");
        fs::read_to_string(&path).with_context(|| path.display().to_string())
    };
    let mut table = "| question | in short |\n| --- | --- |\n".to_owned();
    for question in chapters::questions_of(&read("SUMMARY")?) {
        let (title, page) = (&question.title, &question.page);
        let text = read(page)?;
        let answer = question.answer(&text).filter(|it| !it.contains(['|', '$', '{']));
        let answer = answer.with_context(|| {
            format!(
                "{page}.md begins with no answer in bold, without values and formulas"
            )
        })?;
        let file = page.trim_start_matches("questions/");
        // Writing to a String cannot fail.
        let _ = writeln!(table, "| [{title}]({file}.md) | {answer} |");
    }
    Ok(table)
}

/// What ends a page of questions: others near to it, named as their files are, and where a
/// layer is looked at.
///
/// # Errors
/// A name that no question has.
pub fn related(folder: &Path, names: &str) -> Result<String> {
    let path = folder.join("SUMMARY.md");
    let summary =
        fs::read_to_string(&path).with_context(|| path.display().to_string())?;
    let questions = chapters::questions_of(&summary);
    let link = |name: &str| {
        let page = format!("questions/{name}");
        let found = questions.iter().find(|it| it.page == page);
        let title = &found.with_context(|| format!("no question is {page}.md"))?.title;
        Ok(format!("[{title}]({name}.md)"))
    };
    let links: Vec<String> = names.split_whitespace().map(link).collect::<Result<_>>()?;
    Ok(format!(
        "**Related:** {}\n\n**Is this your mistake?** [Give your layer's numbers]\
         (../what-is-wrong.md), and find out what is wrong with it.",
        links.join(" · ")
    ))
}

fn asked(text: &str) -> Option<&str> {
    let found = directive::find(text);
    let asks = found.iter().find(|it| it.name == "asks")?;
    Some(asks.rest.split_once(" | ")?.0)
}

pub fn minutes(text: &str) -> Option<&str> {
    Some(text.split_once("\n*About ")?.1.split_once(" minutes.*")?.0)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_card_for_each_chapter_in_the_order_of_the_contents() {
        let folder = tempfile::tempdir().unwrap();
        let write = |name, text| fs::write(folder.path().join(name), text).unwrap();
        fs::create_dir_all(folder.path().join("images/cards")).unwrap();
        write("SUMMARY.md", "- [1 · B](01-b.md)\n- [2 · A](02-a.md)\n");
        write("01-b.md", "# B\n\n{{#asks Who? | `one`}}\n\n*About 5 minutes.*\n");
        write("02-a.md", "# A\n\n{{#asks Why? | `two`}}\n\n*About 7 minutes.*\n");
        write("images/cards/a.png", "");
        let expected = "<div class=\"cards\">\n\n\
             - [**1 · B**](01-b.md)<span>Who?</span><small data-chapter=\"1\">5 minutes</small>\n\
             - [![](images/cards/a.png)**2 · A**](02-a.md)<span>Why?</span>\
             <small data-chapter=\"2\">7 minutes</small>\n\n</div>";
        assert_eq!(cards(folder.path()).unwrap(), expected);
        write("02-a.md", "# A\n\n{{#asks Why? | `two`}}\n");
        let refused = cards(folder.path()).unwrap_err().to_string();
        assert_eq!(refused, "02-a.md takes *About N minutes.*");
        write("02-a.md", "# A\n");
        let refused = cards(folder.path()).unwrap_err().to_string();
        assert_eq!(refused, "02-a.md asks nothing: {{#asks question | code}}");
    }

    #[test]
    fn a_row_for_each_question_with_its_answer() {
        let folder = tempfile::tempdir().unwrap();
        fs::create_dir(folder.path().join("questions")).unwrap();
        let write = |name, text| fs::write(folder.path().join(name), text).unwrap();
        write("SUMMARY.md", "- [Q](questions/index.md)\n  - [Who?](questions/who.md)\n");
        write("questions/who.md", "# Who?\n\n**You.** Since x.\n");
        let expected =
            "| question | in short |\n| --- | --- |\n| [Who?](who.md) | You. |\n";
        assert_eq!(questions(folder.path()).unwrap(), expected);
        let ends = related(folder.path(), "who").unwrap();
        assert!(ends.starts_with("**Related:** [Who?](who.md)\n\n"), "{ends}");
        let refused = related(folder.path(), "who whom").unwrap_err().to_string();
        assert_eq!(refused, "no question is questions/whom.md");
        write("questions/who.md", "# Who?\n\n**{{#value x}}.**\n");
        assert!(questions(folder.path()).unwrap_err().to_string().contains("who.md"));
    }
}
