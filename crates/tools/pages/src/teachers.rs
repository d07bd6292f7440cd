//! What a chapter tells a teacher, `{{#teachers}}`: a fold below its exercises.
//!
//! What only a person can write stands in `chapters/teachers/TOPIC.md`, a line for each of
//! [`KEYS`]. The rest is computed here: the wrong answers that the chapter's questions expect,
//! the mistakes that its exercises see first, and how its minutes are spread over its sections.
//! Where `cargo learn class` has checked a class, its own mistakes come first, with their counts.

use std::collections::BTreeMap;
use std::fmt::Write;
use std::fs;
use std::path::{Path, PathBuf};

use anyhow::{Context, Result};
use catalogue::{Exercise, Mistake};
use serde_json::Value;
use workshop::paths;

use super::contents;
use super::elsewhere::{Pages, pages_of_mistakes};
use super::predict::{anchor, place, questions_file, read};

/// Where the teachers' lines lie among the chapters.
pub(crate) const FOLDER: &str = "teachers";
/// What a file says, in this order.
const KEYS: [&str; 4] = ["Ask first", "Show", "Do together", "Watch for"];
/// How many mistakes of a chapter are told.
const MOST_MISTAKES: usize = 3;
/// Words that are read aloud in the time that a class looks at a figure.
const FIGURE: usize = 90;

/// The fold of a chapter, as Markdown for mdBook.
///
/// # Errors
/// A page that is no chapter; a file that is not there, or lacks a line.
pub fn fold(chapters: &Path, page: &Path, text: &str) -> Result<String> {
    let (_, topic) = place(page)?;
    let set = catalogue::all()?;
    let of_chapter =
        set.iter().filter(|it| text.contains(&format!("{{{{#exercise {}}}}}", it.name)));
    let exercises: Vec<&Exercise> = of_chapter.collect();
    let path = chapters.join(FOLDER).join(&topic).with_extension("md");
    let written = fs::read_to_string(&path).with_context(|| shown(&topic))?;
    let written =
        catalogue::with_numbers(&lines(&written).with_context(|| shown(&topic))?, set);
    let asked = answers(&read(&questions_file(chapters, &topic))?);
    let mistakes = mistakes(&exercises, &pages_of_mistakes()?, &class())?;
    let minutes = minutes(text, &exercises)?;
    Ok(format!(
        "<details class=\"teachers\">\n<summary>For teachers</summary>\n\n{written}\n\
         **Answers to expect.** The chapter’s questions, with the numbers that they begin \
         with, the right answer in bold, and wrong ones below:\n\n{asked}\n{mistakes}\n{minutes}\n</details>\n"
    ))
}

fn shown(topic: &str) -> String {
    format!("chapters/{FOLDER}/{topic}.md")
}

/// A paragraph for each line of a file.
fn lines(written: &str) -> Result<String> {
    let line = |key: &str| {
        let mut found =
            written.lines().filter_map(|line| line.strip_prefix(key)?.strip_prefix(": "));
        let text = found.next().with_context(|| format!("no line `{key}: …`"))?;
        Ok(format!("**{key}.** {text}\n\n"))
    };
    KEYS.into_iter().map(line).collect()
}

/// The questions with their right answers, and below each the wrong ones that it expects.
fn answers(asked: &[Value]) -> String {
    let mut list = String::new();
    for question in asked {
        let row = &question["rows"][0];
        let text = |it: &Value| it.as_str().unwrap_or_default().to_owned();
        // Writing to a String cannot fail.
        let _ = writeln!(list, "- {} **{}**", text(&row["text"]), text(&row["answer"]));
        for slip in row["slips"].as_array().into_iter().flatten() {
            let says = text(&slip["says"]);
            let _ = writeln!(
                list,
                "  - {}: {}",
                typed(&slip["right"]),
                first_sentence(&says)
            );
        }
    }
    list
}

/// An answer as somebody would type it: of a range, its middle, to as many digits as count.
fn typed(answer: &Value) -> String {
    let number = |it: &Value| it.as_f64().unwrap_or(f64::NAN);
    match answer {
        Value::String(text) => text.clone(),
        Value::Array(pair) if pair.iter().all(Value::is_u64) && pair.len() == 2 => {
            format!("({}, {})", pair[0], pair[1])
        }
        Value::Array(ends) if ends.len() == 2 => {
            let (least, most) = (number(&ends[0]), number(&ends[1]));
            let digits = (-((most - least) / 2.0).log10()).round().max(0.0) as usize;
            let text = format!("{:.digits$}", f64::midpoint(least, most));
            let text = match text.contains('.') {
                true => text.trim_end_matches('0').trim_end_matches('.'),
                false => &text,
            };
            if text == "-0" { "0".to_owned() } else { text.replace('-', "−") }
        }
        other => thousands(&other.to_string()),
    }
}

/// `262144` as 262,144.
fn thousands(digits: &str) -> String {
    let groups = digits.as_bytes().rchunks(3).rev();
    groups.map(String::from_utf8_lossy).collect::<Vec<_>>().join(",")
}

fn first_sentence(text: &str) -> &str {
    let end = text.match_indices(['.', '?']).find(|(at, _)| {
        let rest = &text[at + 1..];
        rest.is_empty() || rest.starts_with(' ')
    });
    end.map_or(text, |(at, _)| &text[..=at])
}

/// How many students of a class made which mistake in which exercise, and how many there are.
type Class = (BTreeMap<(String, String), usize>, usize);

/// Where `cargo learn class` leaves it.
pub(crate) fn class_report() -> PathBuf {
    paths::state().join("class/report/class.json")
}

/// What `cargo learn class` found last; nobody where it found nothing, or in another form.
fn class() -> Class {
    let report = fs::read_to_string(class_report()).unwrap_or_default();
    counted(&serde_json::from_str(&report).unwrap_or_default())
}

fn counted(report: &Value) -> Class {
    let each = |key: &str| report[key].as_array().cloned().unwrap_or_default();
    let count = |it: &Value| {
        let text = |key: &str| it[key].as_str().map(str::to_owned);
        Some(((text("exercise")?, text("id")?), it["n_students"].as_u64()? as usize))
    };
    (each("mistakes").iter().filter_map(count).collect(), each("students").len())
}

/// What is told of mistakes: those of the class, the most frequent first; then each exercise's
/// first, which its sheet names first, then each one's second.
fn mistakes(
    exercises: &[&Exercise],
    pages: &Pages,
    (counts, n): &Class,
) -> Result<String> {
    let of = |exercise: &Exercise, it: &Mistake| {
        counts.get(&(exercise.name.clone(), it.id.clone())).copied().unwrap_or(0)
    };
    let mut ranked = Vec::new();
    for (place, &exercise) in exercises.iter().enumerate() {
        for (rank, it) in exercise.sheet.mistakes.iter().enumerate() {
            ranked.push((usize::MAX - of(exercise, it), rank, place, exercise, it));
        }
    }
    ranked.sort_by_key(|&(rarity, rank, place, ..)| (rarity, rank, place));
    let mut list = "**Mistakes to expect.** In the exercises:\n\n".to_owned();
    for (_, _, _, exercise, it) in ranked.into_iter().take(MOST_MISTAKES) {
        let page = pages.get(&it.id).with_context(|| format!("no page has {}", it.id))?;
        let made = match of(exercise, it) {
            0 => String::new(),
            made => format!(" ({made} of {n} in your class)"),
        };
        let Mistake { name, does, looks_right, .. } = it;
        let set_low = |text: &str| text.replace("d_k", "d<sub>k</sub>");
        let (does, looks_right) = (set_low(does), set_low(&lowered(looks_right)));
        let (number, title) = (exercise.number, &exercise.sheet.title);
        let _ = writeln!(
            list,
            "- {number} · {title}: the function [{name}]({page}){made}. {does} It looks right: {looks_right}"
        );
    }
    Ok(list)
}

/// A sentence that goes on after a colon, unless it begins with a name.
fn lowered(sentence: &str) -> String {
    let mut letters = sentence.chars();
    let first = letters.next();
    let is_word = letters.clone().next().is_some_and(|it| it.is_lowercase() || it == ' ');
    match first {
        Some(first) if is_word => first.to_lowercase().chain(letters).collect(),
        _ => sentence.to_owned(),
    }
}

/// A table of the sections: the chapter's minutes in halves, by their words and figures.
fn minutes(text: &str, exercises: &[&Exercise]) -> Result<String> {
    let whole = contents::minutes(text).context("no *About N minutes.*")?;
    let halves = 2 * whole.parse::<usize>().context("*About N minutes.*")?;
    let sections = sections(text);
    let total: usize = sections.iter().map(|(_, weight)| weight).sum();
    let mut table =
        format!("**Minutes.** {whole} to read the text aloud and show the figures:\n\n")
            + "| section | minutes |\n| --- | --: |\n";
    let (mut read, mut before) = (0, 0);
    for (heading, weight) in sections {
        read += weight;
        let until = (2 * halves * read + total) / (2 * total);
        // Too short for half a minute: its words count for the next.
        if until == before {
            continue;
        }
        let row = match heading {
            "" => "To begin with".to_owned(),
            heading => format!("[{heading}](#{})", anchor(heading)),
        };
        let _ = writeln!(table, "| {row} | {} |", in_halves(until - before));
        before = until;
    }
    let each =
        exercises.iter().map(|it| format!("{} ({})", it.sheet.title, it.minutes()));
    let (each, sum): (Vec<_>, usize) =
        (each.collect(), exercises.iter().map(|it| it.minutes()).sum());
    let each = each.join(", ");
    Ok(format!("{table}\nThe exercises take about {sum} minutes more: {each}.\n"))
}

fn in_halves(halves: usize) -> String {
    let whole = if halves == 1 { String::new() } else { (halves / 2).to_string() };
    format!("{whole}{}", if halves % 2 == 1 { "½" } else { "" })
}

/// The sections before the exercises, each with its words, a figure as [`FIGURE`] of them.
fn sections(text: &str) -> Vec<(&str, usize)> {
    let text = text.split("\n## Exercises").next().unwrap_or_default();
    let mut sections = vec![("", 0)];
    for line in text.lines() {
        if let Some(heading) = line.strip_prefix("## ") {
            sections.push((heading, 0));
        }
        let is_figure = line.starts_with("{{#figure") || line.starts_with("{{#draw");
        let words =
            if line.starts_with("{{#") { 0 } else { line.split_whitespace().count() };
        if let Some((_, weight)) = sections.last_mut() {
            *weight += words + if is_figure { FIGURE } else { 0 };
        }
    }
    sections
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    fn folds() -> Vec<(workshop::chapters::Chapter, String, String)> {
        let folder = paths::workspace().join("chapters");
        let chapters = workshop::chapters::all().unwrap().into_iter();
        let fold = |chapter: workshop::chapters::Chapter| {
            let page = Path::new(&chapter.page).with_extension("md");
            let text = fs::read_to_string(folder.join(&page)).unwrap();
            let fold = fold(&folder, &page, &text).unwrap();
            (chapter, text, fold)
        };
        chapters.map(fold).collect()
    }

    #[test]
    fn every_chapter_has_a_fold_after_its_last_exercise_and_its_minutes_are_its_own() {
        for (chapter, text, fold) in folds() {
            let (before, after) = text.split_once("\n{{#teachers}}\n").expect("a fold");
            assert!(before.contains("{{#exercise"), "{chapter}");
            assert!(!after.contains("{{#exercise"), "{chapter}");
            let rows = fold.lines().filter(|line| line.ends_with(" |"));
            let minutes =
                rows.filter_map(|line| line.rsplit(" | ").next()?.strip_suffix(" |"));
            let halves: usize = minutes
                .map(|text| {
                    let whole = text.trim_end_matches('½');
                    assert_ne!(text, "0", "{chapter}");
                    2 * whole.parse().unwrap_or(0) + usize::from(whole != text)
                })
                .sum();
            let said: usize = contents::minutes(&text).unwrap().parse().unwrap();
            assert_eq!(halves, 2 * said, "{chapter}");
            assert!(!fold.contains('`') || !fold.contains("exercise `"), "{chapter}");
            let entries = fold.lines().filter(|it| it.contains(": the function ["));
            assert_eq!(entries.count(), MOST_MISTAKES, "{chapter}");
        }
    }

    #[test]
    fn a_wrong_answer_is_shown_as_it_would_be_typed() {
        for (right, text) in [
            (json!([5.989_999_999, 6.010_000_001]), "6"),
            (json!([3.824_228, 4.224_228]), "4"),
            (json!([19.545_917, 19.645_917]), "19.6"),
            (json!([-0.01, 0.01]), "0"),
            (json!([-0.010_01, 0.009_99]), "0"),
            (json!([29.5, 30.5]), "30"),
            (json!([-0.5, 0.5]), "0"),
            (json!([-0.380_000_001, -0.369_999_999]), "−0.38"),
            (json!([30, 32]), "(30, 32)"),
            (json!(262_144), "262,144"),
            (json!("every column"), "every column"),
        ] {
            assert_eq!(typed(&right), text);
        }
        assert_eq!(
            first_sentence("That is 2.5, or so. And more."),
            "That is 2.5, or so."
        );
        assert_eq!([0, 1, 2, 5].map(in_halves), ["0", "½", "1", "2½"]);
    }

    #[test]
    fn the_mistakes_of_a_class_come_first_with_their_counts() {
        let class = json!({
            "students": [{}, {}, {}],
            "mistakes": [
                {"n_students": 2, "exercise": "scale", "id": "softmax-twice", "name": "x"},
                {"n_students": "many"},
            ],
        });
        let scale = catalogue::find("scale").unwrap();
        let pages = pages_of_mistakes().unwrap();
        let told = mistakes(&[&scale], &pages, &counted(&class)).unwrap();
        let lines: Vec<_> = told.lines().filter(|it| it.starts_with("- ")).collect();
        assert!(
            lines[0].contains("takes softmax twice")
                && lines[0].contains("(2 of 3 in your class)")
        );
        assert!(
            lines[1].contains("does not divide the scores")
                && !lines[1].contains("class")
        );
        assert_eq!(counted(&Value::Null).1, 0);
    }

    #[test]
    fn a_file_that_lacks_a_line_is_refused() {
        assert!(
            lines("Ask first: A?\nShow: B\nDo together: C\n")
                .unwrap_err()
                .to_string()
                .contains("Watch for")
        );
    }
}
