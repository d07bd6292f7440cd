//! Makes a function of every answer in `answers/`, for the test in `src/tests/answers.rs`.
//!
//! A file there is about one exercise. A line at the margin is what the check says of the
//! answers below it, and each indented line is such an answer: the exercise's solution with
//! this edited, `old → new`, and ` ;; ` between two edits. Every place where the old text
//! stands is edited; runs of space count as one.

use std::fmt::Write;
use std::path::Path;
use std::{env, fs};

fn main() {
    for folder in ["answers", "solutions"] {
        println!("cargo:rerun-if-changed={folder}");
    }
    let out = env::var("OUT_DIR").expect("cargo gives it");
    let mut names: Vec<String> = fs::read_dir("answers")
        .expect("the folder of answers")
        .map(|entry| entry.expect("a file").file_name().to_string_lossy().into_owned())
        .filter_map(|file| Some(file.strip_suffix(".txt")?.to_owned()))
        .collect();
    names.sort();
    let (mut modules, mut list) = (String::new(), String::new());
    for name in names {
        add(&name, &mut modules, &mut list).expect("a String takes all text");
    }
    let text = format!("{modules}\npub static ANSWERS: &[Answer] = &[\n{list}];\n");
    let path = Path::new(&out).join("answers.rs");
    fs::write(path, text).expect("the folder is there to be written to");
}

/// Adds the solution to one exercise, and the answers to it: a module each, and a line in the
/// list.
fn add(name: &str, modules: &mut String, list: &mut String) -> std::fmt::Result {
    let read =
        |path: String| fs::read_to_string(&path).unwrap_or_else(|_| panic!("{path}"));
    let solution = read(format!("solutions/{name}.rs"));
    let code = solution.lines().map(|line| line.split("//").next().unwrap_or_default());
    let code = on_one_line(&code.collect::<Vec<_>>().join(" "));
    let code = code.replace("fn main()", "pub fn main()");
    writeln!(modules, "#[allow(warnings, clippy::all)]\nmod {name}_0 {{ {code} }}")?;
    writeln!(
        list,
        "    Answer {{ exercise: {name:?}, line: 0, edit: \"the solution\", verdict: \"passed\", \
         check: {name}_0::main }},"
    )?;
    let answers = read(format!("answers/{name}.txt"));
    let mut verdict = "";
    for (line, nth) in answers.lines().zip(1..) {
        let place = || format!("answers/{name}.txt:{nth}");
        if line.trim().is_empty() {
            continue;
        }
        let Some(edits) = line.strip_prefix("    ") else {
            verdict = line.trim();
            continue;
        };
        let mut edited = code.clone();
        for edit in edits.split(" ;; ") {
            let (old, new) =
                edit.split_once('→').unwrap_or_else(|| panic!("{}", place()));
            let (old, new) = (on_one_line(old), on_one_line(new));
            assert!(edited.contains(&old), "{}: no {old:?}", place());
            edited = edited.replace(&old, &new);
        }
        writeln!(
            modules,
            "#[allow(warnings, clippy::all)]\nmod {name}_{nth} {{ {edited} }}"
        )?;
        writeln!(
            list,
            "    Answer {{ exercise: {name:?}, line: {nth}, edit: {:?}, verdict: {verdict:?}, \
             check: {name}_{nth}::main }},",
            edits.trim()
        )?;
    }
    Ok(())
}

fn on_one_line(text: &str) -> String {
    text.split_whitespace().collect::<Vec<_>>().join(" ")
}
