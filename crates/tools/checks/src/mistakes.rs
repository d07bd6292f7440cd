//! The numbers of every mistake, computed from the sheets and kept, or compared with those that
//! are kept.
//!
//! An exercise becomes a program in `target/bank`, in which every answer of its sheet is a
//! module on a line of its own: so what does not compile is said of the line in the sheet.

use std::fmt::Write;
use std::path::PathBuf;
use std::process::{Command, Stdio};

use anyhow::{Context, Result, bail, ensure};
use catalogue::Exercise;
use serde_json::Value;
use workshop::output::print;
use workshop::{at_once, build, paths, step};

/// Whose mistakes.
#[derive(Debug, clap::Args)]
pub struct Args {
    /// The exercises, by name; all of them without one
    exercises: Vec<String>,
    /// Compare with the numbers that are kept, and keep none
    #[arg(long)]
    compare: bool,
}

/// Keeps the numbers of every mistake, or compares them.
///
/// # Errors
/// Everything that is wrong with a sheet, with file and line.
pub fn run(args: &Args) -> Result<()> {
    let exercises = match &args.exercises[..] {
        [] => catalogue::all()?,
        names => {
            names.iter().map(|name| catalogue::find(name)).collect::<Result<_, _>>()?
        }
    };
    let n = compared(&exercises, args.compare)?;
    let done = if args.compare { "compared" } else { "kept" };
    Ok(print(format_args!("{n} answers of {} exercises {done}\n", exercises.len()))?)
}

/// Compiles and runs the programs of these exercises, and gives the number of answers in them.
///
/// # Errors
/// Everything that is wrong with a sheet, with file and line.
pub fn compared(exercises: &[Exercise], only_compare: bool) -> Result<usize> {
    let (mut n_answers, mut faults) = (0, Vec::new());
    let mut programs = Vec::new();
    for exercise in exercises {
        // `write_a_test` has a check of its own.
        if exercise.sheet.mistakes.is_empty() {
            continue;
        }
        match exercise.sources() {
            Ok(sources) => {
                n_answers += sources.len();
                let lines = sources.iter().map(|(line, _)| *line).collect::<Vec<_>>();
                step::write(&source(&exercise.name), program(&exercise.name, &sources)?)?;
                programs.push((exercise, lines));
            }
            Err(fault) => faults.push(fault.to_string()),
        }
    }
    manifest()?;
    faults.extend(compile(&programs)?);
    if faults.is_empty() {
        let mode = if only_compare { "compare" } else { "keep" };
        let outcomes = at_once::map(&programs, 2, |(exercise, _)| {
            let program = target().join("debug").join(&exercise.name);
            let program = program.with_extension(std::env::consts::EXE_EXTENSION);
            Command::new(&program).arg(mode).env("RUST_BACKTRACE", "0").output()
        });
        for (outcome, (exercise, _)) in outcomes.into_iter().zip(&programs) {
            let output = outcome.with_context(|| exercise.name.clone())?;
            if !output.status.success() {
                let said = String::from_utf8_lossy(&output.stdout);
                let panic = String::from_utf8_lossy(&output.stderr);
                faults.push(format!("{said}{panic}").trim().to_owned());
            }
        }
    }
    ensure!(faults.is_empty(), "{}", faults.join("\n"));
    Ok(n_answers)
}

const MAIN: &str = "fn main() -> std::process::ExitCode";

/// A program in which every answer is a module.
fn program(name: &str, sources: &[(usize, String)]) -> Result<String> {
    let mut program = "#![allow(warnings)]\n".to_owned();
    for (nth, (_, source)) in sources.iter().enumerate() {
        let source = source.replace("fn main()", "pub fn main()");
        writeln!(program, "mod answer_{nth} {{ {source} }}")?;
    }
    let mains = (0..sources.len()).map(|nth| format!("answer_{nth}::main"));
    let mains = mains.collect::<Vec<_>>().join(", ");
    writeln!(program, "{MAIN} {{ bank::run({name:?}, &[{mains}]) }}")?;
    Ok(program)
}

fn folder() -> PathBuf {
    paths::workspace().join("target/bank/programs")
}

fn target() -> PathBuf {
    paths::workspace().join("target/bank/built")
}

fn source(name: &str) -> PathBuf {
    folder().join("src/bin").join(name).with_extension("rs")
}

/// What the functions in the sheets use: the stages are their references.
const USED: [&str; 11] = [
    "1-stages/attention",
    "1-stages/single-head",
    "1-stages/per-head",
    "1-stages/fused-heads",
    "2-around/gradients",
    "2-around/variants",
    "2-around/block",
    "2-around/tensors",
    "4-models/model-files",
    "5-book/exercises",
    "5-book/bank",
];

fn manifest() -> Result<()> {
    let mut manifest =
        "[package]\nname = \"bank-programs\"\nedition = \"2024\"\n\n[workspace]\n\n\
         [dependencies]\n"
            .to_owned();
    for used in USED {
        let path = paths::workspace().join("crates").join(used);
        let name = used.split('/').next_back().unwrap_or_default();
        writeln!(manifest, "{name} = {{ path = {:?} }}", path.display().to_string())?;
    }
    manifest += "\n[profile.dev]\nopt-level = 0\ndebug = 0\nincremental = false\n\n\
        [profile.dev.package.\"*\"]\nopt-level = 1\n";
    step::write(&folder().join("Cargo.toml"), manifest)?;
    step::copy(&paths::workspace().join("Cargo.lock"), &folder().join("Cargo.lock"))
}

/// Compiles the programs, and says what does not compile, of its line in the sheet.
fn compile(programs: &[(&Exercise, Vec<usize>)]) -> Result<Vec<String>> {
    let mut cargo = build::cargo();
    cargo.current_dir(folder()).env("CARGO_TARGET_DIR", target());
    cargo.args(["build", "--keep-going", "--message-format=json"]);
    cargo.args(programs.iter().flat_map(|(exercise, _)| ["--bin", &exercise.name]));
    let output =
        cargo.stdin(Stdio::null()).output().context("cargo cannot be started")?;
    let mut faults = Vec::new();
    for line in String::from_utf8_lossy(&output.stdout).lines() {
        let Ok(message) = serde_json::from_str::<Value>(line) else { continue };
        let name = message["target"]["name"].as_str().unwrap_or_default();
        let found = programs.iter().find(|(exercise, _)| exercise.name == name);
        if message["message"]["level"] != "error" {
            continue;
        }
        let place = found.and_then(|(it, lines)| fault(it, lines, &message["message"]));
        let rendered = || message["message"]["rendered"].as_str().map(str::to_owned);
        faults.extend(place.or_else(rendered));
    }
    if faults.is_empty() && !output.status.success() {
        bail!("{}", String::from_utf8_lossy(&output.stderr));
    }
    Ok(faults)
}

/// An error of the compiler, of the answer that it is in.
fn fault(exercise: &Exercise, lines: &[usize], message: &Value) -> Option<String> {
    let spans = message["spans"].as_array()?;
    let span = spans.iter().find(|span| span["is_primary"] == true)?;
    let line = span["line_start"].as_u64()?.checked_sub(2)?;
    let place = lines.get(usize::try_from(line).ok()?)?;
    let column = |key: &str| span[key].as_u64().and_then(|n| usize::try_from(n).ok());
    let text = span["text"][0]["text"].as_str().unwrap_or_default();
    let text: String = text
        .chars()
        .skip(column("column_start")?.saturating_sub(1))
        .take(column("column_end")?.saturating_sub(column("column_start")?).min(80))
        .collect();
    let what = message["message"].as_str().unwrap_or_default();
    let label = span["label"].as_str().unwrap_or_default();
    Some(format!(
        "{}:{place}: it does not compile: {what}: `{text}` {label}",
        exercise.file()
    ))
}
