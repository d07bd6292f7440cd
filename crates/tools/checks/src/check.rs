//! Compiles an answer, runs it, and passes on what it says.

use std::path::Path;
use std::process::Command;

use anyhow::{Context, Result};
use catalogue::Exercise;
use workshop::output::print;

use crate::package::Package;
use crate::run::{ProgramOutput, run};
use crate::{answers, build, list};

/// Checks one exercise, prints all that its check says, and tells whether it passed.
pub fn one(package: &Package, exercise: &Exercise) -> Result<bool> {
    let said = output_of(package, exercise, &[])?;
    print(&said.text)?;
    let passed = verdict(&said)?.starts_with('✓');
    list::note(package, exercise, passed)?;
    Ok(passed)
}

/// The verdict on the reader's Rust answer, or on that in another folder, as the JSON that its
/// own check gives.
///
/// # Errors
/// What keeps it from a verdict: it does not compile, or ends the program.
pub fn report(exercise: &Exercise, from: Option<&Path>) -> Result<serde_json::Value> {
    let package = crate::package_of(from, catalogue::all()?)?;
    let line = line_of(&package, exercise, ("LEARN_CHECK_JSON", "1"))?;
    let report: serde_json::Value = serde_json::from_str(&line)?;
    list::note(&package, exercise, report["verdict"] == "passed")?;
    Ok(report)
}

/// What the answer in Rust gives on the inputs of a seed and on those of its defence, as the
/// line that its check prints.
///
/// # Errors
/// What keeps it from that: it does not compile, or ends the program.
pub fn outcomes(exercise: &Exercise, from: Option<&Path>, seed: u64) -> Result<String> {
    let package = crate::package_of(from, catalogue::all()?)?;
    line_of(&package, exercise, ("LEARN_CHECK_OUTCOMES", &seed.to_string()))
}

/// The line in which a check says as data what a variable asks for.
fn line_of(
    package: &Package,
    exercise: &Exercise,
    variable: (&str, &str),
) -> Result<String> {
    let output = output_of(package, exercise, &[variable])?;
    let line = output.checked_line();
    Ok(line.with_context(|| ended_without_verdict(&output))?.to_owned())
}

/// Checks every exercise, says of each how it stands, and tells whether all passed.
pub fn all(package: &Package, exercises: &[Exercise]) -> Result<bool> {
    let mut passed = 0;
    for exercise in exercises {
        let standing = standing(package, exercise);
        let is_right = standing.starts_with('✓');
        list::note(package, exercise, is_right)?;
        passed += usize::from(is_right);
        print(format_args!("{standing}\n"))?;
    }
    print(format_args!("\n{passed} of {} passed\n", exercises.len()))?;
    Ok(passed == exercises.len())
}

/// The first line of the verdict, or of what keeps it from one.
fn standing(package: &Package, exercise: &Exercise) -> String {
    let said = output_of(package, exercise, &[]);
    let verdict = said.and_then(|said| verdict(&said).map(str::to_owned));
    verdict.unwrap_or_else(|error| {
        let (number, title) = (exercise.number, &exercise.sheet.title);
        let text = format!("{error:#}");
        match text.split_once('\n') {
            Some((first, _)) => format!(
                "✗ {number:02} · {title}: {}; `cargo learn check {number}` shows more",
                first.trim_end_matches(['.', ':'])
            ),
            None => format!("✗ {number:02} · {title}: {text}"),
        }
    })
}

fn output_of(
    package: &Package,
    exercise: &Exercise,
    variables: &[(&str, &str)],
) -> Result<ProgramOutput> {
    let answer = package.answer(exercise);
    answers::expect_text(&answer, exercise)?;
    let program = build::build(&answer, &exercise.name, || package.cargo())?;
    let mut program = Command::new(program);
    program.envs(variables.iter().copied());
    run(program, &package.folder)
}

/// The first line of what the check says, under whatever the answer itself printed.
fn verdict(said: &ProgramOutput) -> Result<&str> {
    let mut lines = said.text.lines();
    let verdict = lines.rfind(|line| line.starts_with(['✓', '✗', '○']));
    let verdict = verdict.filter(|_| said.is_checked);
    verdict.with_context(|| ended_without_verdict(said))
}

fn ended_without_verdict(output: &ProgramOutput) -> String {
    match output.status.code() {
        Some(_) => {
            "it ended without a verdict: does the answer end the program?".to_string()
        }
        None => format!(
            "it was ended by the system ({}): a function that calls itself without an end, \
             or more memory than there is",
            output.status
        ),
    }
}
