//! The numbers of every mistake, computed from the sheets and kept, or compared with those that
//! are kept.
//!
//! An exercise, and each variant of one, becomes a program in `target/bank`, in which every
//! answer of its sheet is a module on a line of its own: so what does not compile is said of the
//! line in the sheet.

use std::env::consts::EXE_SUFFIX;
use std::ffi::OsStr;
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
    /// Compare all answers with each other, on the inputs of so many seeds, and keep none
    #[arg(long, value_name = "N", conflicts_with = "compare")]
    seeds: Option<u64>,
}

/// Keeps the numbers of every mistake, or compares them.
///
/// # Errors
/// Everything that is wrong with a sheet, with file and line.
pub fn run(args: &Args) -> Result<()> {
    let exercises = match &args.exercises[..] {
        [] => catalogue::all()?.to_vec(),
        names => {
            names.iter().map(|name| catalogue::find(name)).collect::<Result<_, _>>()?
        }
    };
    let (task, done) = match (args.seeds, args.compare) {
        (Some(n), _) => (Task::Seeds(n), format!("told apart under {n} seeds")),
        (None, true) => (Task::Compare, "compared".to_owned()),
        (None, false) => (Task::Keep, "kept".to_owned()),
    };
    let n = compared(&exercises, task)?;
    Ok(print(format_args!("{n} answers of {} exercises {done}\n", exercises.len()))?)
}

/// What is done with the answers.
#[derive(Clone, Copy)]
pub enum Task {
    /// Their numbers are kept.
    Keep,
    /// They are compared with those that are kept.
    Compare,
    /// They are compared with each other, on the inputs of so many seeds.
    Seeds(u64),
}

/// Compiles and runs the programs of these exercises and of their variants, and gives the number
/// of answers in them.
///
/// # Errors
/// Everything that is wrong with a sheet, with file and line.
pub fn compared(exercises: &[Exercise], task: Task) -> Result<usize> {
    let mut all = Vec::new();
    for exercise in exercises {
        all.push(exercise.clone());
        for variant in &exercise.sheet.variants {
            all.push(exercise.varied(&variant.id)?);
        }
    }
    let programs = compiled(&all)?;
    let outcomes = at_once::map(&programs, 2, |program| {
        let seeds =
            |from: u64, to: u64| ["seeds".into(), from.to_string(), to.to_string()];
        match (task, &program.exercise.variant) {
            (Task::Seeds(n), _) => program.run(seeds(0, n)),
            // A sample: all that is kept of a variant is what is handed out.
            (_, Some(_)) => program.run(seeds(1, 3)),
            (Task::Compare, None) => program.run(["compare"]),
            (Task::Keep, None) => program.run(["keep"]),
        }
    });
    let faults =
        outcomes.into_iter().filter_map(|it| it.err().map(|it| format!("{it:#}")));
    let faults: Vec<String> = faults.collect();
    ensure!(faults.is_empty(), "{}", faults.join("\n"));
    Ok(programs.iter().map(|program| program.lines.len()).sum())
}

/// A program with every answer to an exercise, or to a variant of one.
pub struct Program<'a> {
    /// Whose answers.
    pub exercise: &'a Exercise,
    /// Where each stands in the sheet.
    lines: Vec<usize>,
}

impl Program<'_> {
    fn name(exercise: &Exercise) -> String {
        match &exercise.variant {
            Some(variant) => format!("{}--{variant}", exercise.name),
            None => exercise.name.clone(),
        }
    }

    /// Runs it, as `bank::run` says.
    ///
    /// # Errors
    /// What it says if it fails.
    pub fn run(&self, args: impl IntoIterator<Item = impl AsRef<OsStr>>) -> Result<()> {
        let name = Self::name(self.exercise);
        let program = target().join("debug").join(format!("{name}{EXE_SUFFIX}"));
        let output =
            Command::new(&program).args(args).env("RUST_BACKTRACE", "0").output();
        let output = output.with_context(|| name)?;
        let said = String::from_utf8_lossy(&output.stdout);
        let panic = String::from_utf8_lossy(&output.stderr);
        ensure!(output.status.success(), "{}", format!("{said}{panic}").trim());
        Ok(())
    }
}

/// Compiles the programs of these exercises, but for those without mistakes.
///
/// # Errors
/// Every edit that applies nowhere or does not compile, with file and line.
pub fn compiled(exercises: &[Exercise]) -> Result<Vec<Program<'_>>> {
    if let Some(it) = exercises.iter().find(|it| it.sheet.handed_out.is_some()) {
        bail!(
            "{}: handed out without answers, so there is nothing to compile",
            it.file()
        );
    }
    let (mut programs, mut faults) = (Vec::new(), Vec::new());
    for exercise in exercises {
        // `write_a_test` has a check of its own.
        if exercise.sheet.mistakes.is_empty() {
            continue;
        }
        match exercise.sources() {
            Ok(sources) => {
                let lines = sources.iter().map(|(line, _)| *line).collect::<Vec<_>>();
                let source = source(&Program::name(exercise));
                step::write(&source, program(exercise, &sources)?)?;
                programs.push(Program { exercise, lines });
            }
            Err(fault) => faults.push(fault.to_string()),
        }
    }
    manifest()?;
    faults.extend(compile(&programs)?);
    ensure!(faults.is_empty(), "{}", faults.join("\n"));
    Ok(programs)
}

const MAIN: &str = "fn main() -> std::process::ExitCode";

/// A program in which every answer is a module.
fn program(exercise: &Exercise, sources: &[(usize, String)]) -> Result<String> {
    let mut program = "#![allow(warnings)]\n".to_owned();
    for (nth, (_, source)) in sources.iter().enumerate() {
        let source = source.replace("fn main()", "pub fn main()");
        writeln!(program, "mod answer_{nth} {{ {source} }}")?;
    }
    let mains = (0..sources.len()).map(|nth| format!("answer_{nth}::main"));
    let mains = mains.collect::<Vec<_>>().join(", ");
    let Exercise { name, variant, .. } = exercise;
    if variant.is_some() {
        // Compiled for itself: what a learner begins with.
        let given = exercise.given();
        let code = given.lines().filter(|line| !line.starts_with("//!"));
        let code = code.collect::<Vec<_>>().join("\n");
        writeln!(program, "mod given {{ {code} }}")?;
    }
    writeln!(program, "{MAIN} {{ bank::run({name:?}, {variant:?}, &[{mains}]) }}")?;
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
fn compile(programs: &[Program]) -> Result<Vec<String>> {
    let mut cargo = build::cargo();
    cargo.current_dir(folder()).env("CARGO_TARGET_DIR", target());
    cargo.args(["build", "--keep-going", "--message-format=json"]);
    for program in programs {
        cargo.arg("--bin").arg(Program::name(program.exercise));
    }
    let output =
        cargo.stdin(Stdio::null()).output().context("cargo cannot be started")?;
    let mut faults = Vec::new();
    for line in String::from_utf8_lossy(&output.stdout).lines() {
        let Ok(message) = serde_json::from_str::<Value>(line) else { continue };
        let name = message["target"]["name"].as_str().unwrap_or_default();
        let found = programs.iter().find(|it| Program::name(it.exercise) == name);
        if message["message"]["level"] != "error" {
            continue;
        }
        let place = found.and_then(|it| fault(it, &message["message"]));
        let rendered = || message["message"]["rendered"].as_str().map(str::to_owned);
        faults.extend(place.or_else(rendered));
    }
    if faults.is_empty() && !output.status.success() {
        bail!("{}", String::from_utf8_lossy(&output.stderr));
    }
    Ok(faults)
}

/// An error of the compiler, of the answer that it is in.
fn fault(program: &Program, message: &Value) -> Option<String> {
    let spans = message["spans"].as_array()?;
    let span = spans.iter().find(|span| span["is_primary"] == true)?;
    let line = span["line_start"].as_u64()?.checked_sub(2)?;
    let place = program.lines.get(usize::try_from(line).ok()?)?;
    let column = |key: &str| span[key].as_u64().and_then(|n| usize::try_from(n).ok());
    let text = span["text"][0]["text"].as_str().unwrap_or_default();
    let text: String = text
        .chars()
        .skip(column("column_start")?.saturating_sub(1))
        .take(column("column_end")?.saturating_sub(column("column_start")?).min(80))
        .collect();
    let what = message["message"].as_str().unwrap_or_default();
    let label = span["label"].as_str().unwrap_or_default();
    let Exercise { variant, .. } = program.exercise;
    let variant = variant.as_ref().map(|id| format!("in variant {id}, "));
    Some(format!(
        "{}:{place}: {}it does not compile: {what}: `{text}` {label}",
        program.exercise.file(),
        variant.unwrap_or_default()
    ))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_set_without_answers_is_not_compiled() {
        let exercise = catalogue::find("scale").unwrap().handed_out(17).unwrap();
        let refused = compiled(&[exercise]).err().unwrap().to_string();
        assert!(refused.starts_with("set/scale.md: handed out without"), "{refused}");
    }
}
