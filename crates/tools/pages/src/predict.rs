//! The questions of a chapter in its page, `{{#predict}}`, from the file that the crate `book`
//! keeps of them, and a figure that the reader draws first, `{{#draw name | mark}}`.
//!
//! `predict.js` asks one question after the other. Without a script all texts stand there, with
//! the command that asks them in a terminal.

use std::fs;
use std::path::{Path, PathBuf};

use anyhow::{Context, Result};
use serde_json::Value;

/// Where they lie among the chapters.
pub(crate) const FOLDER: &str = "predict";

/// The file of a topic's questions, in this folder of chapters.
pub fn questions_file(chapters: &Path, topic: &str) -> PathBuf {
    chapters.join(FOLDER).join(topic).with_extension("json")
}

/// Each topic with how many questions it has, as `progress.js` reads them: `masks:3 sensors:2`.
pub(crate) fn totals(chapters: &Path) -> Result<String> {
    let mut totals = Vec::new();
    for entry in fs::read_dir(chapters.join(FOLDER)).into_iter().flatten() {
        let file = entry?.path();
        let topic = file.file_stem().unwrap_or_default().to_string_lossy().into_owned();
        totals.push(format!("{topic}:{}", read(&file)?.len()));
    }
    totals.sort();
    Ok(totals.join(" "))
}

pub(crate) fn read(file: &Path) -> Result<Vec<Value>> {
    let text = fs::read_to_string(file)
        .with_context(|| format!("{}: `cargo learn figures` makes it", file.display()))?;
    serde_json::from_str(&text).with_context(|| file.display().to_string())
}

/// The number and the topic of a chapter, by its file.
pub(crate) fn place(page: &Path) -> Result<(u8, String)> {
    let stem = page.file_stem().unwrap_or_default().to_string_lossy().into_owned();
    let (number, topic) = stem.split_once('-').context("no chapter with a number")?;
    Ok((number.parse().context("no chapter with a number")?, topic.to_owned()))
}

/// The section of a chapter's page, as Markdown for mdBook.
///
/// # Errors
/// A page that is no chapter; a file that is not kept.
pub(crate) fn section(chapters: &Path, page: &Path) -> Result<String> {
    let (number, topic) = place(page)?;
    let asked = read(&questions_file(chapters, &topic))?;
    let texts = asked.iter().zip(1..).map(|(it, nth)| item(it, nth, asked.len()));
    let texts = texts.collect::<String>();
    // No tag can begin inside the text, so none can end the script.
    let data = Value::Array(asked).to_string().replace('<', "\\u003c");
    Ok(format!(
        "## Predict\n\n\
         <div class=\"predict\" data-predict=\"{topic}\">\n{texts}\
         <p class=\"predict-command\">In a terminal: \
         <code>cargo learn predict --chapter {number}</code></p>\n\
         <details class=\"predict-kept\"><summary>What is remembered</summary>\
         <p>Your answers are kept in this browser, and nothing leaves it.</p>\
         <p><button type=\"button\" data-export>Export</button> \
         <button type=\"button\" data-clear>Clear</button> \
         <span role=\"status\"></span></p></details>\n\
         <script type=\"application/json\">{data}</script>\n</div>\n"
    ))
}

/// A question with its first row of numbers, and room for the field that answers it.
fn item(question: &Value, nth: usize, n: usize) -> String {
    let text = |name: &str| question[name].as_str().unwrap_or_default();
    let row = &question["rows"][0];
    let options = row["options"].as_array().into_iter().flatten();
    let chip = |text: &str| format!("<span class=\"predict-option\">{text}</span>");
    let option = |it: &Value| it.as_str().map(|it| chip(&it.replace('<', "&lt;")));
    let options: String = options.filter_map(option).collect();
    let field = "<input type=\"text\" aria-label=\"Your answer\" disabled>";
    let room = if options.is_empty() { field } else { &options };
    let (id, title, section) = (text("id"), text("title"), text("section"));
    let (asked, link) = (row["text"].as_str().unwrap_or_default(), anchor(section));
    format!(
        "<div class=\"predict-question\" data-id=\"{id}\">\
         <p class=\"predict-title\"><span class=\"predict-nth\">{nth} of {n}</span> {title}</p>\
         <p class=\"predict-text\">{asked}</p>\
         <div class=\"predict-room\">{room}<button type=\"submit\" disabled>Answer</button></div>\
         <p class=\"predict-read\">Read: <a href=\"#{link}\">{section}</a></p></div>\n"
    )
}

/// The id that mdBook gives a heading.
pub(crate) fn anchor(heading: &str) -> String {
    let letter = |c: char| match c {
        c if c.is_alphanumeric() || "_-".contains(c) => Some(c),
        c => c.is_whitespace().then_some('-'),
    };
    heading.trim().to_lowercase().chars().filter_map(letter).collect()
}

/// A figure of which the reader draws a mark, by its name, before it is shown.
pub(crate) fn drawn(
    page: &Path,
    asked: &str,
    mark: &str,
    figure: &str,
) -> Result<String> {
    let (_, topic) = place(page)?;
    let name = asked.replace([' ', '='], "-");
    let quoted = mark.replace('"', "&quot;");
    Ok(format!(
        "\n<div class=\"draw\" data-draw=\"{topic}/{name}\" data-mark=\"{quoted}\">\n\
         <p class=\"draw-ask\">Before you look, draw your guess for <strong>{mark}</strong>: drag across \
         the axes, or use the arrow keys.</p>\n{figure}\n\
         <div class=\"draw-turns\"><button type=\"button\" data-show disabled>Show</button>\
         <button type=\"button\" data-give>Show without guessing</button>\
         <p role=\"status\"></p></div>\n</div>\n"
    ))
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    #[test]
    fn a_page_has_every_text_and_its_data_and_begins_with_the_room_for_an_answer() {
        let place = tempfile::tempdir().unwrap();
        let chapters = place.path();
        assert!(section(chapters, Path::new("07-a.md")).is_err());
        let row = json!({ "text": "Is <em>3</em> odd?", "options": ["yes", "no"] });
        let asked = json!([
            { "id": "odd", "title": "Odd", "section": "Odd & √even", "rows": [row] },
            { "id": "two", "title": "Two", "section": "Two", "rows": [{ "text": "2?" }] },
        ]);
        fs::create_dir(chapters.join(FOLDER)).unwrap();
        fs::write(questions_file(chapters, "a"), asked.to_string()).unwrap();
        let html = section(chapters, Path::new("07-a.md")).unwrap();
        for part in [
            "## Predict\n\n<div",
            "data-predict=\"a\"",
            "2 of 2",
            "<p class=\"predict-text\">Is <em>3</em> odd?</p>",
            "href=\"#odd--even\"",
            &format!("predict --chapter {}", 7),
            "Is \\u003cem>3",
        ] {
            assert!(html.contains(part), "{part} in {html}");
        }
        assert_eq!(html.matches("class=\"predict-option\"").count(), 2);
        assert_eq!(html.matches("<input").count(), 1);
        assert!(!html.trim_end().split_once("\n\n").unwrap().1.contains("\n\n"));
        assert_eq!(totals(chapters).unwrap(), "a:2");
        assert!(section(chapters, Path::new("start.md")).is_err());
    }
}
