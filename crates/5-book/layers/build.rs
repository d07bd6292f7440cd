//! Makes a function of each wrong layer: of every mistake of `whole_layer` that the sheet of
//! `write_a_test` knows a way to show.

use std::fmt::Write;
use std::path::Path;
use std::{env, fs};

fn main() {
    println!("cargo:rerun-if-changed={}", catalogue::folder().display());
    let whole_layer =
        catalogue::find("whole_layer").unwrap_or_else(|fault| panic!("{fault}"));
    let asked = catalogue::find("write_a_test").unwrap_or_else(|fault| panic!("{fault}"));
    let is_shown =
        |id: &String| asked.sheet.shown_by.iter().any(|kind| kind.mistakes.contains(id));
    let sheet = &whole_layer.sheet;
    let answer = whole_layer.solution.answer();
    let function =
        answer.split_once("pub fn ").and_then(|(_, rest)| rest.split_once('('));
    let (function, _) = function.expect("an answer is a function");
    let (mut modules, mut list) = (String::new(), String::new());
    for (place, mistake) in sheet.mistakes.iter().enumerate() {
        // In a set without answers there are none to compile.
        if !is_shown(&mistake.id) || mistake.answers.is_empty() {
            continue;
        }
        let answer = &mistake.answers[0];
        let source = whole_layer.source(answer, mistake.of.as_deref());
        let source = source.unwrap_or_else(|fault| panic!("{fault}"));
        let _ = writeln!(
            modules,
            "#[allow(warnings, clippy::all)]\nmod wrong_{place} {{ {source} }}"
        );
        let _ = writeln!(list, "    ({place}, wrong_{place}::{function}),");
    }
    let text = format!(
        "{modules}\npub(crate) static WRONG: &[(usize, LayerFn)] = &[\n{list}];\n"
    );
    let out = env::var("OUT_DIR").expect("cargo gives it");
    fs::write(Path::new(&out).join("wrong.rs"), text).expect("the folder is there");
}
