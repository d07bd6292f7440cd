//! An exercise in another language than Rust: the fold in which its page checks it.
//!
//! What is fetched when a reader opens it is one file: what is said of the exercise, a line of
//! JSON, and behind it the numbers that are kept. The sheet, which has solutions, is in none.

use std::collections::BTreeMap;
use std::fs;
use std::path::Path;

use anyhow::{Context, Result};
use assets::versioned;
use catalogue::{Elsewhere, Exercise, Mistake, Section};
use serde_json::{Value, json};
use workshop::{paths, step};

use super::predict::anchor;

/// Its last input is the trained layer, whose text has 12 MB.
const TOO_LARGE: &str = "whole_layer";

/// How an exercise is checked in another language, as the HTML of its page, and in words.
///
/// # Errors
/// Files of the exercise that cannot be read.
pub fn fold(exercise: &Exercise) -> Result<[String; 2]> {
    let Exercise { name, number, sheet, .. } = exercise;
    let asked = match &sheet.elsewhere {
        Elsewhere::RustAlone(why) => {
            let text = format!("This exercise is checked in Rust alone: {why}");
            let html = format!("<p class=\"answer-rust\">{}</p>", escaped(&text));
            return Ok([html, text]);
        }
        Elsewhere::Function(text) => text,
    };
    let topic = sheet.read.chapter.split_once('-').map_or("", |(_, topic)| topic);
    let signature = exercise.solution.statement().1;
    let function = function(&signature);
    let (data, why) = match address(exercise)? {
        Some(file) => {
            let data = format!(
                " data-answer=\"{name}\" data-topic=\"{topic}\" \
                 data-function=\"{function}\" data-answer-file=\"{file}\""
            );
            (data, "")
        }
        None => {
            let why = "<p>Its last input is a layer of a trained model, 12 MB of numbers, so it \
                       is checked in a terminal and not in this page.</p>";
            (String::new(), why)
        }
    };
    let html = format!(
        "<details class=\"answer\"{data}>\
         <summary>In Python, or any language<span data-passed=\"{name}\"></span></summary>\
         <p>{asked}</p>{why}\
         <div class=\"answer-terminal\"><p>Or in a terminal, in a copy of this project: write the function in \
         <code>exercises/answer.py</code> and end the file with these two lines. \
         <code>learn.py</code> is in that folder.</p>\
         <pre><code class=\"language-python\">from learn import answer\n\
         answer({function}, numpy.array)  # or torch.tensor, jax.numpy.array; lists without it\n\
         </code></pre><pre><code class=\"language-sh\">cargo learn check {number} --run \
         \"python exercises/answer.py\"\n</code></pre></div></details>",
        asked = escaped(asked),
    );
    let words = format!(
        "In Python, or any language: {asked} In a terminal, \
         `cargo learn check {number} --run \"python exercises/answer.py\"` checks it."
    );
    Ok([html, words])
}

/// The name of the function in its signature.
fn function(signature: &str) -> &str {
    let name = signature.split_once("fn ").map_or(signature, |(_, rest)| rest);
    name.split(['(', '<']).next().unwrap_or(name)
}

fn escaped(text: &str) -> String {
    text.replace('&', "&amp;").replace('<', "&lt;")
}

/// Where a page finds what it needs of an exercise; nowhere if it checks it not.
fn address(exercise: &Exercise) -> Result<Option<String>> {
    let address = |bytes| format!("assets/{}", versioned(&name(exercise), bytes));
    Ok(bytes(exercise, &pages_of_mistakes()?)?.map(address))
}

fn name(exercise: &Exercise) -> String {
    format!("exercise-{}.bin", exercise.name)
}

/// Writes what pages need of all exercises into the folder of assets.
///
/// # Errors
/// A file that cannot be read or written.
pub fn write(assets: &Path) -> Result<()> {
    let pages = pages_of_mistakes()?;
    for exercise in catalogue::all()? {
        if let Some(bytes) = bytes(exercise, &pages)? {
            step::write(&assets.join(name(exercise)), bytes)?;
        }
    }
    Ok(())
}

fn bytes(exercise: &Exercise, pages: &Pages) -> Result<Option<Vec<u8>>> {
    let is_here = matches!(exercise.sheet.elsewhere, Elsewhere::Function(_));
    if !is_here || exercise.name == TOO_LARGE {
        return Ok(None);
    }
    let numbers = paths::workspace().join("crates/5-book/exercises/numbers");
    let numbers = numbers.join(&exercise.name).with_extension("bin");
    let numbers = fs::read(&numbers).with_context(|| numbers.display().to_string())?;
    let words = words(exercise, pages)?.to_string() + "\n";
    Ok(Some([words.into_bytes(), numbers].concat()))
}

/// What is said of an exercise, as `exercises::ExerciseWords` reads it, and for the page where
/// the book says more: an address from its root beside each section and mistake.
///
/// # Errors
/// A mistake that has no page.
pub fn words(exercise: &Exercise, pages: &Pages) -> Result<Value> {
    let sheet = &exercise.sheet;
    let mistake = |it: &Mistake| {
        let page = pages.get(&it.id).with_context(|| format!("no page has {}", it.id))?;
        anyhow::Ok(json!({
            "id": it.id, "name": it.name, "does": it.does, "looks_right": it.looks_right,
            "read": section(&it.read), "href": page,
        }))
    };
    Ok(json!({
        "exercise": exercise.name,
        "number": exercise.number,
        "title": sheet.title,
        "passed": sheet.passed,
        "begin": sheet.begin,
        "read": section(&sheet.read),
        "mistakes": sheet.mistakes.iter().map(mistake).collect::<Result<Vec<_>>>()?,
        "n_hints": sheet.hints.len(),
    }))
}

fn section(it: &Section) -> Value {
    let page = format!("{}.html", it.chapter);
    let href = format!("{page}#{}", anchor(&it.heading));
    json!({"chapter": it.number, "section": it.heading, "page": page, "href": href})
}

/// Where an exercise stands, from the folder of chapters.
pub fn section_address(exercise: &Exercise) -> String {
    let Exercise { number, sheet, .. } = exercise;
    let heading = anchor(&format!("Exercise {number} · {}", sheet.title));
    format!("{}.md#{heading}", sheet.read.chapter)
}

/// The address of each mistake, by its name.
pub type Pages = BTreeMap<String, String>;

/// Those of all mistakes: the list of the book leads to each.
///
/// # Errors
/// A list that cannot be read.
pub fn pages_of_mistakes() -> Result<Pages> {
    let list = paths::workspace().join("chapters/mistakes/index.md");
    let list = fs::read_to_string(&list).with_context(|| list.display().to_string())?;
    let row = |line: &str| {
        let (id, rest) = line.strip_prefix("| <a id=\"")?.split_once('"')?;
        let address = rest.rsplit_once("](")?.1.split_once(')')?.0;
        Some((id.to_owned(), format!("mistakes/{}", address.replace(".md#", ".html#"))))
    };
    Ok(list.lines().filter_map(row).collect())
}

#[cfg(test)]
mod tests {
    use super::*;

    fn fold_of(name: &str) -> String {
        fold(&catalogue::find(name).unwrap()).unwrap()[0].clone()
    }

    #[test]
    fn a_fold_says_what_is_asked_and_how_a_terminal_checks_it() {
        let scale = fold_of("scale");
        for part in [
            "From q, k and d_model, return the attention weights [n_q, n_kv].",
            "data-function=\"attention_map\"",
            "data-topic=\"scores-softmax-scale\"",
            "data-answer-file=\"assets/exercise-scale.bin?v=",
            "cargo learn check 4 --run \"python exercises/answer.py\"",
        ] {
            assert!(scale.contains(part), "{part} in {scale}");
        }
        assert!(!scale.contains("\n\n"), "Markdown would end the block: {scale}");
    }

    #[test]
    fn what_no_page_checks_says_so() {
        let test = fold_of("write_a_test");
        assert!(test.contains("in Rust alone: the answer is a test"), "{test}");
        let whole = fold_of(TOO_LARGE);
        assert!(whole.contains("12 MB") && !whole.contains("data-answer"), "{whole}");
    }

    #[test]
    fn what_pages_fetch_has_the_words_and_no_solution() {
        let pages = pages_of_mistakes().unwrap();
        for exercise in catalogue::all().unwrap() {
            let Some(bytes) = bytes(exercise, &pages).unwrap() else { continue };
            let end = bytes.iter().position(|&byte| byte == b'\n').unwrap();
            let words: Value = serde_json::from_slice(&bytes[..end]).unwrap();
            assert_eq!(words["exercise"], exercise.name);
            let numbers = &bytes[end + 1..];
            assert!(numbers.starts_with(exercise.name.as_bytes()));
            let solution = exercise.solution.answer();
            let lines = solution.lines().map(str::trim).filter(|line| line.len() > 30);
            let text = words.to_string();
            for line in lines {
                assert!(!text.contains(line), "{}: {line}", exercise.name);
            }
        }
    }
}
