//! An answer in any language: its inputs out, its numbers in, and the verdict.

use std::fs;
use std::io::Read;
use std::path::Path;
use std::process::Command;

use answers::Outputs;
use answers::inputs::{self, Library};
use anyhow::{Context, Result, bail};
use catalogue::{Elsewhere, Exercise};
use checks::{end_on_ctrl_c, run_with_input};
use exercises::{AnyExercise, ExerciseWords, Numbers, Report, Verdict, message};
use serde_json::{Value, json};
use tensors::Existing;
use workshop::output::print;

use crate::defend::defend;

/// What a file of an answer may have at most.
const LONGEST: u64 = 64 * 1024 * 1024;

/// Does what is asked for; false if the answer is not right.
///
/// # Errors
/// An exercise that is not there, or whose answer is no function of numbers; numbers that
/// cannot be read.
pub fn run(args: &checks::Args) -> Result<bool> {
    let exercise = catalogue::asked(args.exercise.as_deref().unwrap_or_default())?;
    let door = &args.elsewhere;
    if let Some(letter) = &door.defend {
        end_on_ctrl_c();
        return defend(&exercise, letter.as_deref(), args.from.as_deref());
    }
    if let Some(file) = &door.inputs {
        let (any, kept) = with_kept(&exercise)?;
        return write_inputs(any, kept.seed, file).map(|()| true);
    }
    let verdict = match (&door.run, &door.numbers) {
        (Some(command), _) => by_program(&exercise, command),
        (_, Some(file)) => by_file(&exercise, file),
        _ => {
            end_on_ctrl_c();
            let report = rust(&exercise, args.from.as_deref());
            print(format_args!("{report}\n"))?;
            return Ok(report["verdict"] == "passed");
        }
    };
    let text = match (door.json, &verdict) {
        (true, _) => json!(report_of(&exercise, &verdict)).to_string(),
        (false, Ok(verdict)) => message(&exercise, verdict),
        (false, Err(_)) => return verdict.map(|_| false),
    };
    print(format_args!("{text}\n"))?;
    // What cannot be read is no answer, and nothing is noted of it.
    let Ok(verdict) = verdict else { return Ok(false) };
    let passed = matches!(verdict, Verdict::Passed);
    checks::note_elsewhere(&exercise, passed)?;
    Ok(passed)
}

/// The verdict on the Rust answer in the reader's folder, or in another, as a [`Report`].
pub fn rust(exercise: &Exercise, from: Option<&Path>) -> Value {
    let report = checks::report(exercise, from);
    report.unwrap_or_else(|error| json!(report_of(exercise, &Err(error))))
}

/// A verdict as data, or why there is none.
pub fn report_of(exercise: &Exercise, verdict: &Result<Verdict>) -> Report {
    let words = ExerciseWords::from(exercise);
    match verdict {
        Ok(verdict) => Report::of(&words, verdict),
        Err(error) => {
            Report::without_numbers(&words, "not-checked", format!("{error:#}"))
        }
    }
}

/// The exercise as a function of numbers.
///
/// # Errors
/// If it is none, with the reason.
pub fn of_numbers(exercise: &Exercise) -> Result<&'static dyn AnyExercise> {
    let name = &exercise.name;
    if let Elsewhere::RustAlone(why) = &exercise.sheet.elsewhere {
        bail!(
            "{name} is checked in Rust alone: {why} `cargo learn check {name}` checks it"
        );
    }
    exercises::any(name).with_context(|| format!("{name} compares no numbers"))
}

/// The same, and the numbers that are kept of it.
fn with_kept(exercise: &Exercise) -> Result<(&'static dyn AnyExercise, Numbers)> {
    let any = of_numbers(exercise)?;
    Ok((any, Numbers::of(exercise).map_err(anyhow::Error::msg)?))
}

fn write_inputs(exercise: &dyn AnyExercise, seed: u64, file: &Path) -> Result<()> {
    let end = file.extension().and_then(|end| end.to_str()).unwrap_or_default();
    match end {
        _ if file == Path::new("-") => return Ok(print(inputs::lines(exercise, seed))?),
        "safetensors" => {
            let tensors = inputs::tensors(exercise, seed)?;
            tensors::save(file, &tensors, Existing::Replace)?;
        }
        "py" => write(file, &inputs::python(exercise, Library::Numpy, seed))?,
        "json" | "jsonl" => write(file, &inputs::lines(exercise, seed))?,
        _ => {
            bail!("{}: inputs are written as .safetensors, .py or .jsonl", file.display())
        }
    }
    Ok(())
}

fn write(file: &Path, text: &str) -> Result<()> {
    fs::write(file, text).with_context(|| format!("{} cannot be written", file.display()))
}

fn by_program(exercise: &Exercise, command: &str) -> Result<Verdict> {
    end_on_ctrl_c();
    let (any, kept) = with_kept(exercise)?;
    let output = run_with_input(shell(command), &inputs::lines(any, kept.seed))
        .with_context(|| format!("`{command}`"))?;
    if !output.status.success() {
        bail!("`{command}` ended with {}; what it says stands above", output.status);
    }
    Ok(Outputs::of_lines(any, &kept, &output.text)?.verdict(any, &kept))
}

fn shell(command: &str) -> Command {
    let (shell, flag) = if cfg!(windows) { ("cmd", "/C") } else { ("sh", "-c") };
    let mut program = Command::new(shell);
    program.args([flag, command]);
    program
}

fn by_file(exercise: &Exercise, file: &Path) -> Result<Verdict> {
    of_numbers(exercise)?;
    numbers(exercise, &file.display().to_string(), bytes_of(file)?)
}

/// The bytes of a file of numbers, or of standard input (`-`).
///
/// # Errors
/// A file that cannot be read, or is larger than an answer can be.
pub fn bytes_of(file: &Path) -> Result<Vec<u8>> {
    let name = file.display().to_string();
    let mut bytes = Vec::new();
    let source: Box<dyn Read> = match file == Path::new("-") {
        true => Box::new(std::io::stdin()),
        false => Box::new(fs::File::open(file).with_context(|| name.clone())?),
    };
    source.take(LONGEST + 1).read_to_end(&mut bytes).with_context(|| name.clone())?;
    if bytes.len() as u64 > LONGEST {
        bail!("{name}: more than {} MB are no answer", LONGEST >> 20);
    }
    Ok(bytes)
}

/// The verdict on numbers: a text as it was printed, replies of a program, or a file of arrays.
///
/// # Errors
/// What cannot be read as numbers.
pub fn numbers(exercise: &Exercise, name: &str, bytes: Vec<u8>) -> Result<Verdict> {
    let (any, kept) = with_kept(exercise)?;
    Ok(Outputs::read(any, &kept, name, bytes)?.verdict(any, &kept))
}
