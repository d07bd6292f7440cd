//! The questions that `cargo learn predict` asks in a terminal, as pages ask them: a file a
//! topic, `chapters/predict/TOPIC.json`, kept and compared as figures are.
//!
//! Each row of numbers has its run's answer and slips, in the form that a page compares a line
//! with: a whole number, the two ends of a range, two sizes, an option.

use std::fs;
use std::path::{Path, PathBuf};

use anyhow::{Context, Result, ensure};
use pulldown_cmark::{Event, Options, Parser, Tag, TagEnd, TextMergeStream};
use questions::{Answer, Form, Question, Topic};
use serde_json::{Value, json};
use workshop::{near, step};

/// Every topic's file below this folder of chapters, with what it has to hold.
///
/// # Errors
/// A question that does not run; its own tests find it first.
pub fn files(chapters: &Path) -> Result<Vec<(PathBuf, Value)>> {
    let file = |topic: &Topic| {
        let asked: Result<Vec<Value>> = topic.questions.iter().map(question).collect();
        Ok((pages::questions_file(chapters, topic.name), Value::Array(asked?)))
    };
    questions::topics()?.iter().map(file).collect()
}

/// Keeps the questions, and says which files were others before.
pub(crate) fn keep(files: &[(PathBuf, Value)]) -> Result<Vec<PathBuf>> {
    let mut written = Vec::new();
    for (file, now) in files {
        if difference(file, now)?.is_some() {
            step::write(file, serde_json::to_string_pretty(now)? + "\n")?;
            written.push(file.clone());
        }
    }
    Ok(written)
}

/// # Errors
/// Every file that holds other questions than the crate asks.
pub(crate) fn check(files: &[(PathBuf, Value)]) -> Result<()> {
    let mut problems = String::new();
    for (file, now) in files {
        if let Some(what) = difference(file, now)? {
            problems += &format!("\n{}: {what}", file.display());
        }
    }
    ensure!(
        problems.is_empty(),
        "questions that are kept are not those of the crate (`cargo learn figures` keeps \
         these):{problems}"
    );
    Ok(())
}

fn difference(file: &Path, now: &Value) -> Result<Option<String>> {
    if !file.exists() {
        return Ok(Some("it is not kept".to_owned()));
    }
    let kept = fs::read_to_string(file)?;
    let kept = serde_json::from_str(&kept).with_context(|| file.display().to_string())?;
    Ok(near::difference(&kept, now))
}

fn question(question: &Question) -> Result<Value> {
    let rows = (0..question.n_sets()).map(|seed| row(question, seed));
    let rows = rows.collect::<Result<Vec<_>>>()?;
    let Question { id, title, section, .. } = question;
    Ok(json!({ "id": id, "title": html(title), "section": section, "rows": rows }))
}

/// The question with the numbers of one row of its table.
fn row(question: &Question, seed: u64) -> Result<Value> {
    let posed = question.pose(seed)?;
    let outcome = posed.run()?;
    let form = &posed.form;
    let slip = |it: &questions::Slip| json!({ "right": right(form, &it.answer), "says": html(&it.says) });
    let kind = match form {
        Form::Whole => "whole",
        Form::Decimal { .. } => "number",
        Form::Shape => "shape",
        Form::Choice(_) | Form::Token(_) => "option",
    };
    Ok(json!({
        "text": html(&posed.text),
        "hint": html(&posed.hint),
        "kind": kind,
        "prompt": form.prompt(),
        "ways": form.forms(),
        "options": form.options(),
        "answer": outcome.answer.to_string(),
        "right": right(form, &outcome.answer),
        "shown": outcome.shown.trim_end(),
        "why": html(&outcome.why),
        "slips": outcome.slips.iter().map(slip).collect::<Value>(),
    }))
}

/// What a line has to say to be this answer. JSON has no number for NaN and ∞.
fn right(form: &Form, answer: &Answer) -> Value {
    match answer {
        Answer::Whole(n) => json!(n),
        Answer::Decimal(number) if number.is_finite() => json!(form.range(*number)),
        Answer::Decimal(number) => json!(number.to_string()),
        Answer::Shape((rows, columns)) => json!([rows, columns]),
        Answer::Text(option) => json!(option),
    }
}

/// Markdown within a line, with `d_k` set low as in figures.
fn html(markdown: &str) -> String {
    let events = Parser::new_ext(markdown, Options::ENABLE_SMART_PUNCTUATION);
    let piece = |event| match event {
        Event::Text(text) => figures::formula(&text),
        Event::Code(code) => format!("<code>{}</code>", figures::escaped(&code)),
        Event::Start(Tag::Emphasis) => "<em>".to_owned(),
        Event::End(TagEnd::Emphasis) => "</em>".to_owned(),
        Event::Html(tag) | Event::InlineHtml(tag) => figures::escaped(&tag),
        Event::SoftBreak => " ".to_owned(),
        _ => String::new(),
    };
    TextMergeStream::new(events).map(piece).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_topic_has_a_file_and_every_question_three_rows_of_numbers() {
        let chapters = workshop::chapters::all().unwrap();
        let files = files(Path::new("")).unwrap();
        assert_eq!(files.len(), chapters.len());
        for chapter in chapters {
            let file = pages::questions_file(Path::new(""), chapter.topic());
            let asked = files.iter().find(|(it, _)| *it == file);
            let (_, asked) = asked.unwrap_or_else(|| panic!("{chapter} asks nothing"));
            for question in asked.as_array().unwrap() {
                let rows = question["rows"].as_array().unwrap();
                assert!(rows.len() >= 3, "{}: {} rows", question["id"], rows.len());
                let texts: Vec<_> = rows.iter().map(|row| &row["text"]).collect();
                assert_ne!(texts[0], texts[1], "{}", question["id"]);
            }
        }
    }

    #[test]
    fn what_is_asked_is_kept_and_what_changes_is_named() {
        let place = tempfile::tempdir().unwrap();
        let mut files = files(place.path()).unwrap();
        assert!(check(&files).unwrap_err().to_string().contains("it is not kept"));
        assert_eq!(keep(&files).unwrap().len(), files.len());
        check(&files).unwrap();
        assert!(keep(&files).unwrap().is_empty());
        files[0].1[0]["rows"][1]["answer"] = json!("7");
        let problem = check(&files).unwrap_err().to_string();
        for part in ["/0/rows/1/answer", "now \"7\"", "learn figures"] {
            assert!(problem.contains(part), "{problem}");
        }
    }

    #[test]
    fn markdown_becomes_html_and_no_tag_is_made_of_a_token() {
        assert_eq!(
            html("By √d_k, *not* `d_k`: \"<s>\" and softmax_rows."),
            "By √d<sub>k</sub>, <em>not</em> <code>d_k</code>: “&lt;s&gt;” and softmax_rows."
        );
    }

    #[test]
    fn what_counts_as_right_is_a_range_or_the_thing_itself() {
        let share = Form::Decimal { within: 0.25 };
        assert_eq!(right(&share, &Answer::Decimal(f64::NAN)), json!("NaN"));
        assert_eq!(right(&share, &Answer::Decimal(0.5)), json!(share.range(0.5)));
        assert_eq!(right(&Form::Shape, &Answer::Shape((2, 3))), json!([2, 3]));
        assert_eq!(right(&Form::Whole, &Answer::Whole(8)), json!(8));
    }
}
