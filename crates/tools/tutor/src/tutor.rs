//! The tools of `cargo learn tutor`: which mistake it is, and never the answer.
//!
//! The one decision: **no reply holds the answer**, however often one asks. A reply is made of a [`Report`], a step of a hint, words about a mistake, or numbers, and a test looks
//! through the replies about all exercises and all mistakes for eight tokens in a row of a
//! right answer.

use std::fs;
use std::io::{self, BufReader};
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};
use std::sync::{Mutex, PoisonError};

use anyhow::{Context, Result, bail, ensure};
use exercises::{Report, Verdict};
use serde::Deserialize;
use serde::de::DeserializeOwned;
use serde_json::{Map, Value, json};
use workshop::build::{self, Profile};
use workshop::paths;

use crate::check;
use crate::next::{Standing, next};
use crate::notes::Notes;
use crate::protocol::{Outcome, Tools, serve};
use crate::what_if::what_if;

/// A server for your assistant: it learns which mistake you made, and never gets the answer
///
/// It speaks the Model Context Protocol on standard input and output. An assistant that can
/// start such servers starts it with `cargo learn tutor`, in the root of the project.
#[derive(Debug, clap::Args)]
pub struct Args {
    /// Keep notes in this file, and none in .learn
    #[arg(long, value_name = "FILE")]
    notes: Option<PathBuf>,
}

const INSTRUCTIONS: &str = "Tools for helping somebody who learns multi-head attention by \
    writing it. Check first: the report names the mistake by its numbers, so do not guess. \
    Name the symptom, ask what they expect, give one step of the hint at a time, and never \
    write the function for them.";

/// Answers on standard input and output until the input ends.
///
/// # Errors
/// An input that fails.
pub fn run(args: Args) -> Result<()> {
    let tutor = Tutor::new(args.notes);
    let tools = Tools {
        instructions: INSTRUCTIONS,
        list: list(),
        call: move |name: &str, arguments| tutor.call(name, arguments),
    };
    Ok(serve(BufReader::new(io::stdin()), io::stdout(), tools)?)
}

/// The tools with their schemas, as `tools/list` gives them.
///
/// # Panics
/// If `tools.json` is no JSON: a test reads it.
pub fn list() -> Value {
    serde_json::from_str(include_str!("tools.json")).expect("tools.json is JSON")
}

/// What answers calls.
pub struct Tutor {
    notes: Notes,
    /// Whether `cargo learn check --list` is to know of answers in other languages.
    is_listed: bool,
    /// One answer is compiled at a time.
    compiler: Mutex<()>,
}

/// An exercise by its name, or by its number.
#[derive(Deserialize)]
#[serde(untagged)]
enum Name {
    Text(String),
    Number(u32),
}

impl Name {
    fn exercise(&self) -> Result<catalogue::Exercise> {
        Ok(match self {
            Self::Text(name) => catalogue::asked(name)?,
            Self::Number(number) => catalogue::asked(&number.to_string())?,
        })
    }
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct Check {
    exercise: Name,
    outputs: Option<String>,
    file: Option<PathBuf>,
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct Hint {
    exercise: Name,
    #[serde(default)]
    again: bool,
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct WhatIf {
    exercise: Name,
    change: String,
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct Next {}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct Diagnose {
    file: PathBuf,
    #[serde(default)]
    options: Map<String, Value>,
}

/// Runs a tool on arguments that are as it wants them.
fn with<A: DeserializeOwned>(
    arguments: Value,
    tool: impl FnOnce(A) -> Result<Value>,
) -> Outcome {
    match serde_json::from_value(arguments).map(tool) {
        Ok(Ok(value)) => Outcome::Value(value),
        Ok(Err(error)) => Outcome::Failed(format!("{error:#}")),
        Err(error) => Outcome::Refused(error.to_string()),
    }
}

impl Tutor {
    /// One that keeps its notes in this file, or in `.learn`.
    pub fn new(notes: Option<PathBuf>) -> Self {
        let is_listed = notes.is_none();
        let notes = notes.unwrap_or_else(|| paths::state().join("tutor.json"));
        Self { notes: Notes::new(notes), is_listed, compiler: Mutex::new(()) }
    }

    /// Calls a tool.
    pub fn call(&self, name: &str, arguments: Value) -> Outcome {
        match name {
            "check" => with(arguments, |it| self.check(it)),
            "hint" => with(arguments, |it| self.hint(&it)),
            "what_if" => with(arguments, |it: WhatIf| {
                what_if(&it.exercise.exercise()?, &it.change)
            }),
            "next" => with(arguments, |_: Next| {
                let exercises = catalogue::all()?;
                next(&exercises, &Standing::read(&exercises, self.notes.all()))
            }),
            "diagnose" => with(arguments, |it| diagnose(&it)),
            _ => Outcome::Refused("there is no such tool".into()),
        }
    }

    fn check(&self, arguments: Check) -> Result<Value> {
        let exercise = arguments.exercise.exercise()?;
        let verdict = match (arguments.outputs, arguments.file) {
            (Some(_), Some(_)) => bail!("outputs or a file of them, and not both"),
            (None, None) => {
                let compiler =
                    self.compiler.lock().unwrap_or_else(PoisonError::into_inner);
                let report = check::rust(&exercise, None);
                drop(compiler);
                return self.noted(report);
            }
            (Some(text), None) => check::numbers(&exercise, "outputs", text.into_bytes()),
            (None, Some(file)) => {
                let bytes = numbers_of(&file)?;
                check::numbers(&exercise, &file.display().to_string(), bytes)
            }
        };
        if let (Ok(verdict), true) = (&verdict, self.is_listed) {
            checks::note_elsewhere(&exercise, matches!(verdict, Verdict::Passed))?;
        }
        self.noted(json!(check::report_of(&exercise, &verdict)))
    }

    /// A report as data. An answer that could not be checked leaves the note as it is.
    fn noted(&self, report: Value) -> Result<Value> {
        if report["verdict"] != "not-checked" {
            self.notes.verdict(&report)?;
        }
        Ok(report)
    }

    /// The next step of the hint, and no other.
    fn hint(&self, arguments: &Hint) -> Result<Value> {
        let exercise = arguments.exercise.exercise()?;
        let steps = &exercise.sheet.hints;
        let mut is_new = false;
        let note = self.notes.change(&exercise.name, |note| {
            is_new =
                note.n_hints < steps.len() && (!arguments.again || note.n_hints == 0);
            note.n_hints += usize::from(is_new);
        })?;
        let step = note.n_hints.min(steps.len());
        let is_given = is_new || arguments.again;
        let text = steps.get(step.wrapping_sub(1)).filter(|_| is_given);
        let exercises = catalogue::all()?;
        let text = text.map(|text| catalogue::with_numbers(text, &exercises));
        Ok(json!({
            "version": Report::VERSION,
            "exercise": exercise.name,
            "step": step,
            "n_left": steps.len() - step,
            "hint": text,
            "read": exercises::SectionWords::from(&exercise.sheet.read),
        }))
    }
}

/// A path as it is meant: from the root of the project on, or absolute.
fn place(file: &Path) -> PathBuf {
    paths::workspace().join(file)
}

/// The bytes of a file of numbers. A text of another kind is not quoted in an error.
fn numbers_of(file: &Path) -> Result<Vec<u8>> {
    const KINDS: [&str; 6] = ["npz", "npy", "safetensors", "json", "jsonl", "txt"];
    let shown = file.display();
    let kind = file.extension().and_then(|kind| kind.to_str()).unwrap_or_default();
    ensure!(KINDS.contains(&kind), "{shown}: none of the kinds {}", KINDS.join(", "));
    let found = fs::metadata(place(file)).with_context(|| shown.to_string())?;
    ensure!(found.is_file(), "{shown} is no regular file");
    check::bytes_of(&place(file))
}

/// What `cargo learn diagnose` takes beside a file.
const OPTIONS: [&str; 15] = [
    "heads",
    "kv_heads",
    "causal",
    "rotary",
    "base",
    "scale",
    "cap",
    "window",
    "alibi",
    "offset",
    "computed",
    "prefix",
    "sequence_first",
    "in_out",
    "open_true",
];

/// What `cargo learn diagnose --json` says of a layer, without the lines that show how it is
/// written.
fn diagnose(arguments: &Diagnose) -> Result<Value> {
    let shown = arguments.file.display();
    let file = place(&arguments.file);
    let is_tensors = file.extension().is_some_and(|kind| kind == "safetensors");
    ensure!(is_tensors && file.is_file(), "{shown} is no regular .safetensors file");
    let mut flags = Vec::new();
    for (name, value) in &arguments.options {
        ensure!(OPTIONS.contains(&name.as_str()), "{name:?} is none of {OPTIONS:?}");
        let flag = name.replace('_', "-");
        match value {
            Value::Bool(true) => flags.push(format!("--{flag}")),
            Value::Number(x) => flags.push(format!("--{flag}={x}")),
            Value::String(text) => flags.push(format!("--{flag}={text}")),
            Value::Bool(false) => {}
            _ => bail!("{name}: a number, a text, or true"),
        }
    }
    let mut command = Command::new(build::tool("terminal", Profile::Dev)?);
    command.arg("diagnose").arg(&file).arg("--json").args(flags).stdin(Stdio::null());
    let output = command.output()?;
    let refused = || String::from_utf8_lossy(&output.stderr).trim().to_owned();
    let mut report: Value =
        serde_json::from_slice(&output.stdout).with_context(refused)?;
    without_code(&mut report);
    report["version"] = Report::VERSION.into();
    Ok(report)
}

fn without_code(report: &mut Value) {
    match report {
        Value::Object(fields) => {
            fields
                .retain(|name, _| !["pytorch", "jax", "candle"].contains(&name.as_str()));
            fields.values_mut().for_each(without_code);
        }
        Value::Array(all) => all.iter_mut().for_each(without_code),
        _ => {}
    }
}
