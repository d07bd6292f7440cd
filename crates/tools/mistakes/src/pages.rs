//! The pages, each with its file's name and its text.

use std::collections::{BTreeMap, BTreeSet};
use std::fmt::Write;
use std::fs;

use anyhow::{Context, Result};
use catalogue::Exercise;
use workshop::paths;

use crate::entry::{Use, head, of_exercises, of_layer};
use crate::ids::ids;

const GENERATED: &str = "<!-- `cargo learn mistakes` writes this page: what it says stands in the catalogue. -->\n\n";

/// The folder of mistakes that only exercises have: the book's search leaves it out.
const EXERCISES: &str = "exercises";

/// Every page.
///
/// # Errors
/// A sheet, or what is kept of an exercise, that cannot be read.
pub fn pages() -> Result<Vec<(String, String)>> {
    let exercises = catalogue::all()?;
    let mut uses: BTreeMap<&str, Vec<Use>> = BTreeMap::new();
    for exercise in exercises {
        let differences = differences(exercise)?;
        let mistakes = exercise.sheet.mistakes.iter().zip(differences).enumerate();
        for (place, (mistake, difference)) in mistakes {
            let it = Use { exercise, place, difference };
            uses.entry(&mistake.id).or_default().push(it);
        }
    }
    let (mut pages, mut places) = (Vec::new(), BTreeMap::new());
    for (page, title) in catalogue::layer_pages() {
        let file = format!("{page}.md");
        let mut text = format!("# {title}\n\n{GENERATED}{}", head());
        for entry in catalogue::layer_mistakes().iter().filter(|it| it.page == page) {
            text +=
                &of_layer(entry, uses.get(entry.id.as_str()).map_or(&[], Vec::as_slice));
            places.insert(entry.id.as_str(), file.clone());
        }
        pages.push((file, text.trim_end().to_owned() + "\n"));
    }
    pages.extend(by_chapter(exercises, &uses, &mut places)?);
    pages.push(("index.md".to_owned(), index(&places)?));
    Ok(pages)
}

/// The mistakes that only exercises have, on a page a chapter: each in the first that has it.
fn by_chapter<'a>(
    exercises: &'a [Exercise],
    uses: &BTreeMap<&str, Vec<Use>>,
    places: &mut BTreeMap<&'a str, String>,
) -> Result<Vec<(String, String)>> {
    let chapters = workshop::chapters::all()?;
    let mut pages = Vec::new();
    for chapter in &chapters {
        let file = format!("{EXERCISES}/{}.md", chapter.topic());
        let title = format!("Mistakes of “{}”", chapter.title);
        let mut text = format!("# {title}\n\n{GENERATED}");
        let mut seen = BTreeSet::new();
        let in_chapter =
            exercises.iter().filter(|it| it.sheet.read.chapter == chapter.page);
        for mistake in in_chapter.flat_map(|it| &it.sheet.mistakes) {
            let id = mistake.id.as_str();
            if !places.contains_key(id) && seen.insert(id) {
                text += &of_exercises(id, &uses[id]);
            }
        }
        if !seen.is_empty() {
            places.extend(seen.into_iter().map(|id| (id, file.clone())));
            pages.push((file, text.trim_end().to_owned() + "\n"));
        }
    }
    Ok(pages)
}

/// The address of every id, which stays wherever it is explained.
fn index(places: &BTreeMap<&str, String>) -> Result<String> {
    let mut text = format!(
        "# Mistakes, by their names\n\n{GENERATED}Every mistake that the checks and the diagnosis \
         know has a name that never changes. This list leads from the name to what is said of \
         it.\n\n| name | what it is |\n| --- | --- |\n"
    );
    for (id, name) in ids()? {
        let file =
            places.get(id.as_str()).with_context(|| format!("{id} has no page"))?;
        writeln!(text, "| <a id=\"{id}\"></a>`{id}` | [{name}]({file}#{id}) |")?;
    }
    Ok(text)
}

/// The first difference of every mistake of an exercise, as its kept verdicts say it.
fn differences(exercise: &Exercise) -> Result<Vec<String>> {
    let path = paths::workspace().join("crates/5-book/exercises/numbers");
    let path = path.join(&exercise.name).with_extension("txt");
    if exercise.sheet.mistakes.is_empty() {
        return Ok(Vec::new());
    }
    let text = fs::read_to_string(&path).with_context(|| path.display().to_string())?;
    let mut of_answers = text.lines().filter_map(|line| line.strip_prefix("    "));
    let mut differences = Vec::new();
    for mistake in &exercise.sheet.mistakes {
        let all: Vec<&str> = of_answers.by_ref().take(mistake.answers.len()).collect();
        let first = all.first().copied().unwrap_or_default();
        differences.push(first.replacen(" | ", ": ", 1));
    }
    Ok(differences)
}
