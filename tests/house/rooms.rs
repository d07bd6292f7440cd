//! What is compiled for what: lessons, questions and diagnoses run in a page, and the proof that loops
//! equal matrices needs no book.

use std::collections::BTreeSet;
use std::path::Path;
use std::process::Command;
use std::{env, fs};

use workshop::paths;

/// How many packages the proof of the stages may take, those of the workspace included.
const MOST_PACKAGES: usize = 140;

/// What a page has not: files, threads, a clock, processes.
const NOT_IN_A_PAGE: [&str; 8] = [
    "std::fs",
    "std::thread",
    "std::time",
    "std::process",
    "std::env",
    "std::net",
    "std::io",
    "rayon",
];

/// Packages of the tree of `cargo tree`, with their versions.
fn tree(arguments: &[&str]) -> BTreeSet<String> {
    let cargo = env::var_os("CARGO").unwrap_or_else(|| "cargo".into());
    let output = Command::new(cargo)
        .current_dir(paths::workspace())
        .args(["tree", "--offline", "--prefix", "none"])
        .args(arguments)
        .output()
        .expect("cargo runs this test");
    let (said, wrong) = (output.stdout, String::from_utf8_lossy(&output.stderr));
    assert!(output.status.success(), "cargo tree {arguments:?}: {wrong}");
    let said = String::from_utf8(said).expect("names of packages are text");
    let lines = said.lines().map(|line| line.trim_end_matches(" (*)").trim());
    lines.filter(|line| !line.is_empty()).map(str::to_owned).collect()
}

/// The name of a package in a line of the tree.
fn name(line: &str) -> &str {
    line.split(' ').next().unwrap_or(line)
}

/// Crates of the workspace in a tree that stand above the floors which the proof is about.
fn above_the_stages(packages: &BTreeSet<String>) -> Vec<&String> {
    let above = ["4-models", "5-book", "tools"]
        .map(|floor| paths::workspace().join("crates").join(floor));
    let above = above.map(|floor| floor.display().to_string());
    // Where a file lies is all that is asked of `workshop`.
    let is_above = |line: &&String| {
        name(line) != "workshop" && above.iter().any(|floor| line.contains(floor))
    };
    packages.iter().filter(is_above).collect()
}

#[test]
fn stages_are_compared_without_models_and_without_the_book() {
    let packages = tree(&["-p", "stages", "-e", "normal,build,dev"]);
    println!("{} packages", packages.len());
    assert!(packages.len() <= MOST_PACKAGES, "{}: {packages:#?}", packages.len());
    assert!(packages.iter().any(|line| name(line) == "kernels"), "{packages:?}");
    let above = above_the_stages(&packages);
    assert!(above.is_empty(), "{above:?}");
    let planted = tree(&["-p", "lessons", "-e", "normal"]);
    assert!(above_the_stages(&planted).iter().any(|line| name(line) == "models"));
}

#[test]
fn what_pages_compute_asks_for_nothing_that_they_have_not() {
    let crates = paths::workspace().join("crates");
    let mut found = Vec::new();
    let folders = ["5-book/lessons/src", "5-book/questions/src", "5-book/diagnosis/src"];
    for path in folders.iter().flat_map(|folder| sources(&crates.join(folder))) {
        let text = fs::read_to_string(&path).expect("a source is text");
        let file = path.strip_prefix(&crates).unwrap_or(&path).display().to_string();
        found.extend(asked_for(&text).into_iter().map(|what| format!("{file}: {what}")));
    }
    assert!(found.is_empty(), "{}", found.join("\n"));
}

#[test]
fn lessons_and_questions_depend_on_no_tool() {
    let packages = tree(&["-p", "questions", "-e", "normal"]);
    assert!(packages.iter().any(|line| name(line) == "lessons"), "{packages:?}");
    assert!(packages.iter().any(|line| name(line) == "attention"), "{packages:?}");
    let tools = paths::workspace().join("crates/tools").display().to_string();
    let is_refused = |line: &&String| {
        let is_tool = line.contains(&tools);
        let needs_a_machine =
            ["tokio", "mdbook-driver", "indicatif", "tempfile", "open", "ctrlc", "rayon"];
        is_tool || needs_a_machine.contains(&name(line))
    };
    let refused: Vec<_> = packages.iter().filter(is_refused).collect();
    assert!(refused.is_empty(), "{refused:?}");
}

#[test]
fn planted_needs_are_found() {
    assert!(
        asked_for("use std::collections::BTreeMap;\n// std::fs is not here\n").is_empty()
    );
    assert_eq!(asked_for("use std::fs;"), ["std::fs"]);
    assert_eq!(asked_for("use std::{fmt, fs};"), ["std::fs"]);
    assert_eq!(asked_for("let now = std::time::Instant::now();"), ["std::time"]);
    assert_eq!(asked_for("use rayon::prelude::*;"), ["rayon"]);
}

/// What of [`NOT_IN_A_PAGE`] a source names outside its comments.
fn asked_for(text: &str) -> Vec<&'static str> {
    let code = text.lines().map(|line| line.split("//").next().unwrap_or_default());
    let code = code.collect::<Vec<_>>().join(" ");
    let in_braces = |what: &str| -> bool {
        let Some((_, last)) = what.split_once("std::") else { return false };
        let lists =
            code.split("std::{").skip(1).filter_map(|rest| rest.split(';').next());
        let words = lists.flat_map(|list| list.split(|c: char| !c.is_alphanumeric()));
        words.into_iter().any(|word| word == last)
    };
    let is_named = |what: &&str| code.contains(*what) || in_braces(what);
    NOT_IN_A_PAGE.into_iter().filter(is_named).collect()
}

/// All files of Rust in a folder and those below it.
fn sources(folder: &Path) -> Vec<std::path::PathBuf> {
    let entries = fs::read_dir(folder).expect("a folder of sources");
    let mut files = Vec::new();
    for path in entries.map(|entry| entry.expect("an entry").path()) {
        match path.is_dir() {
            true => files.extend(sources(&path)),
            false => files.push(path),
        }
    }
    files
}
