//! A notebook is for changing a number and seeing what comes of it: both fit a screen.

use std::fs;

use serde_json::Value;
use workshop::{chapters, paths};

/// Of a code cell: what defines something, and what changes it, are two cells.
const MOST_LINES: usize = 12;

/// What a reader may change ends so.
const CHANGE: &str = "// change me";

/// What a kernel shows for a figure.
const FIGURES: [&str; 2] = ["application/vnd.plotly.v1+json", "image/svg+xml"];

/// What ends a cell with a backtrace, where `?` prints a sentence.
const PANICS: [&str; 6] =
    [".unwrap()", ".expect(", "panic!(", "assert!(", "todo!(", "unreachable!("];

/// The name of each chapter's notebook, with its cells.
fn notebooks() -> Vec<(String, Vec<Value>)> {
    let chapters = chapters::all().expect("the contents of the book");
    let mut notebooks = Vec::new();
    for chapter in chapters {
        let path = format!("notebooks/{}.ipynb", chapter.page);
        let Ok(text) = fs::read_to_string(paths::workspace().join(&path)) else {
            continue;
        };
        let notebook: Value = serde_json::from_str(&text).expect("JSON");
        let cells = notebook["cells"].as_array().expect("a list of cells");
        notebooks.push((path, cells.clone()));
    }
    assert!(notebooks.len() > 10, "notebooks are looked for where they are");
    notebooks
}

fn is_code(cell: &Value) -> bool {
    cell["cell_type"] == "code"
}

/// The text of a cell, which is stored as its lines.
fn source(cell: &Value) -> String {
    let lines = cell["source"].as_array().into_iter().flatten();
    lines.filter_map(Value::as_str).collect()
}

fn shows_something(cell: &Value) -> bool {
    cell["outputs"].as_array().is_some_and(|outputs| !outputs.is_empty())
}

fn shows_a_figure(cell: &Value) -> bool {
    let outputs = cell["outputs"].as_array().into_iter().flatten();
    let data = outputs.filter_map(|output| output["data"].as_object());
    data.into_iter().any(|data| FIGURES.iter().any(|kind| data.contains_key(*kind)))
}

/// Each code cell of which something is wrong, by its place among all cells.
fn refused(wrong: impl Fn(&[Value]) -> Option<String>) -> Vec<String> {
    let mut refused = Vec::new();
    for (path, cells) in notebooks() {
        for at in (0..cells.len()).filter(|&at| is_code(&cells[at])) {
            if let Some(why) = wrong(&cells[at..]) {
                refused.push(format!("{path}, cell {at}: {why}"));
            }
        }
    }
    refused
}

#[test]
fn no_code_cell_has_more_than_twelve_lines() {
    let longer = refused(|cells| {
        let n_lines = source(&cells[0]).lines().count();
        (n_lines > MOST_LINES).then(|| format!("{n_lines} lines"))
    });
    assert!(longer.is_empty(), "split, or call a crate:\n{}", longer.join("\n"));
}

#[test]
fn every_notebook_shows_a_figure() {
    for (path, cells) in notebooks() {
        assert!(cells.iter().any(shows_a_figure), "{path} shows no figure");
    }
}

#[test]
fn what_is_changed_stands_in_or_directly_before_what_it_changes() {
    let apart = refused(|cells| {
        let next =
            cells.get(1).is_some_and(|next| is_code(next) && shows_something(next));
        let is_near = shows_something(&cells[0]) || next;
        (source(&cells[0]).contains(CHANGE) && !is_near)
            .then(|| "its figure or number is not here, and not in the next cell".into())
    });
    assert!(apart.is_empty(), "{}", apart.join("\n"));
}

#[test]
fn a_wrong_number_gets_a_sentence_and_no_backtrace() {
    let panics = refused(|cells| {
        let source = source(&cells[0]);
        let found = PANICS.iter().find(|panic| source.contains(**panic))?;
        Some(format!("{found} prints a backtrace: use `?`, which prints a sentence"))
    });
    assert!(panics.is_empty(), "{}", panics.join("\n"));
}
