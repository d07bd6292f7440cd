//! What is said of a mistake, as Markdown.

use std::fmt::Write;

use attention::Matrix;
use catalogue::{Exercise, LayerMistake};
use diagnosis::State;

use crate::example::{Example, example};
use crate::simple_tests::TESTS;

/// A mistake of an exercise: which exercise, and its place in the sheet.
pub struct Use<'a> {
    pub exercise: &'a Exercise,
    pub place: usize,
    /// The first difference that a check says of it.
    pub difference: String,
}

/// A mistake that a layer can have, with all that helps who has it. Words that every entry would
/// have stand at the head of its page: the book's search finds an entry by its own.
pub fn of_layer(entry: &LayerMistake, uses: &[Use]) -> String {
    let LayerMistake { name, id, does, symptom, looks_right, .. } = entry;
    let mut text = format!(
        "## {name} {{#{id}}}\n\n{does} It looks right: {}\n\n\
         ### What you see {{#{id}-seen}}\n\n{symptom}\n\n",
        lowered(looks_right)
    );
    if !entry.asked.is_empty() {
        let asked =
            entry.asked.iter().map(|(words, report)| format!("“{words}” ({report})"));
        let asked = asked.collect::<Vec<_>>().join(" · ");
        let _ = write!(text, "People write: {asked}.\n\n");
    }
    let _ = write!(text, "### In numbers and in code {{#{id}-shown}}\n\n");
    let recipe = diagnosis::mistake(id);
    if let Some((example, recipe)) = recipe.and_then(|it| Some((example(it)?, it))) {
        text += &numbers(&example);
        text += &tests(&example, recipe);
    } else if let Some(first) = uses.first() {
        text += &format!("{}\n\n", first.difference);
    }
    text += &lines(entry);
    if let Some(report) = &entry.report {
        let _ = write!(text, "Seen at {report}. ");
    }
    text += &chapter(&entry.chapter);
    text += &exercises(uses, "..");
    text + "\n\n"
}

/// What stands at the head of a page of such entries.
pub fn head() -> String {
    let mut text = "Each entry says what the mistake does and why it looks right, what you see if \
        your layer has it, and shows it in the smallest layer that can: two heads of width 2 and \
        three tokens, where nothing else is said. Behind that stand the line of code to look for, \
        public reports, and the chapter and the exercises about it. Letters name tests that \
        people write of a layer, and that fail on the mistake or pass all the same:\n\n"
        .to_owned();
    for (letter, test) in ('A'..).zip(&TESTS) {
        let _ = writeln!(text, "- **{letter}**: {}", test.name);
    }
    text + "\n"
}

/// A mistake of exercises alone: its texts, two numbers, and where it belongs.
pub fn of_exercises(id: &str, uses: &[Use]) -> String {
    let Some(first) = uses.first() else { return String::new() };
    let mistake = &first.exercise.sheet.mistakes[first.place];
    let (name, does) = (&mistake.name, &mistake.does);
    let looks_right = &mistake.looks_right;
    format!(
        "## {name} {{#{id}}}\n\n{does} It looks right: {}\n\n{}\n\n{} [{}](../../{}.md).\n\n",
        lowered(looks_right),
        first.difference,
        exercises(uses, "../..").trim_start(),
        mistake.read.heading,
        mistake.read.chapter,
    )
}

/// A sentence behind a colon.
fn lowered(sentence: &str) -> String {
    let mut letters = sentence.chars();
    let first = letters.next().unwrap_or_default();
    let second = letters.clone().next().unwrap_or(' ');
    let is_name = second.is_uppercase() || !second.is_alphabetic() && second != ' ';
    if is_name {
        sentence.to_owned()
    } else {
        first.to_lowercase().chain(letters).collect()
    }
}

/// The smallest layer that shows it: what comes out, and what should.
fn numbers(example: &Example) -> String {
    let Example { has, state, place, right, wrong, intent, .. } = example;
    let (what, nth) = match state {
        State::Attn => ("attn", place % intent.n_heads),
        _ => ("out", *place),
    };
    let has = has.words();
    let with = if has.is_empty() { String::new() } else { format!("({has})") };
    let mut text =
        format!("| `{what}[{nth}]` {with} | is | should be |\n| --- | --- | --- |\n");
    for row in 0..wrong.nrows().max(right.nrows()) {
        let [wrong, right] = [wrong, right].map(|matrix| row_of(matrix, row));
        let _ = writeln!(text, "| {row} | `{wrong}` | `{right}` |");
    }
    text + "\n"
}

fn row_of(matrix: &Matrix, row: usize) -> String {
    if row >= matrix.nrows() {
        return "–".to_owned();
    }
    let entries = matrix.row(row).iter().map(|x| format!("{x:.2}")).collect::<Vec<_>>();
    entries.join("  ").replace('-', "−")
}

/// Which simple tests fail on it, and which pass, by their letters.
fn tests(example: &Example, mistake: &diagnosis::Mistake) -> String {
    let (mut see, mut miss) = (String::new(), String::new());
    for (letter, test) in ('A'..).zip(&TESTS) {
        match (test.fails)(example, mistake) {
            Some(true) => see.push(letter),
            Some(false) => miss.push(letter),
            None => {}
        }
    }
    match miss.as_str() {
        "" => format!("Tests {see} fail.\n\n"),
        _ => format!("Tests {see} fail, and {miss} pass all the same.\n\n"),
    }
}

/// The line to look for, in each framework.
fn lines(entry: &LayerMistake) -> String {
    let mut text = format!("PyTorch: {}\n\n", code(&entry.pytorch));
    for (framework, line) in [("JAX", &entry.jax), ("candle", &entry.candle)] {
        if let Some(line) = line {
            let _ = write!(text, "{framework}: {}\n\n", code(line));
        }
    }
    text
}

/// A line of code, or what stands there and what was meant.
fn code(line: &str) -> String {
    match line
        .split_once(" where ")
        .map(|(is, rest)| (is, rest.strip_suffix(" was meant")))
    {
        Some((is, Some(meant))) => format!("`{is}` where `{meant}` was meant"),
        _ => format!("`{line}`"),
    }
}

fn chapter(topic: &str) -> String {
    let chapters = workshop::chapters::all().unwrap_or_default();
    match chapters.iter().find(|chapter| chapter.topic() == topic) {
        Some(it) => format!("[Chapter {}](../{}.md).", it.number, it.page),
        None => topic.to_owned(),
    }
}

/// The exercises that know it, from a page that lies so far below the chapters.
fn exercises(uses: &[Use], up: &str) -> String {
    let mut links: Vec<String> = Vec::new();
    for it in uses {
        let (number, page) = (it.exercise.number, it.exercise.name.replace('_', "-"));
        let link = format!("[{number}]({up}/solutions/{page}.md)");
        if !links.contains(&link) {
            links.push(link);
        }
    }
    match links.len() {
        0 => String::new(),
        1 => format!(" Exercise {}.", links[0]),
        _ => format!(" Exercises {}.", links.join(", ")),
    }
}
