//! The tools of `cargo learn tutor`: which mistake it is, and never the answer.
//!
//! The one decision: **no reply holds the answer**, however often one asks. A reply is made of
//! a [`Report`], a step of a hint, words about a mistake, or numbers, and a test looks through
//! the replies about all exercises and all mistakes for eight tokens in a row of a right answer.

use std::io::{self, BufReader};
use std::path::PathBuf;
use std::process::{Command, Stdio};
use std::sync::{Mutex, PoisonError};

use anyhow::{Result, bail, ensure};
use catalogue::Exercise;
use exercises::{Report, SectionWords};
use serde_json::{Value, json};
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
    /// Keep notes in this file, and not in .learn/tutor.json
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
        call: move |name: &str, arguments: &Value| tutor.call(name, arguments),
    };
    Ok(serve(BufReader::new(io::stdin()), io::stdout(), tools)?)
}

/// The tools with their schemas, as `tools/list` gives them.
///
/// # Panics
/// If `tools.json` is no JSON, which no test would let pass.
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
    tools: Value,
}

/// What keeps arguments from being those of this schema of an object.
fn fault(schema: &Value, arguments: &Value) -> Option<String> {
    let Some(arguments) = arguments.as_object() else {
        return Some("arguments are an object".into());
    };
    let required = schema["required"].as_array().into_iter().flatten();
    let mut missing = required.filter(|name| !arguments.contains_key(text(name)));
    if let Some(name) = missing.next() {
        return Some(format!("there is no {name}"));
    }
    arguments.iter().find_map(|(name, value)| {
        let Some(property) = schema["properties"].get(name) else {
            return Some(format!("{name:?} is unknown"));
        };
        let kind = match value {
            Value::Bool(_) => "boolean",
            Value::Number(x) if x.is_u64() => "integer",
            Value::Number(_) => "number",
            Value::String(_) => "string",
            Value::Object(_) => return fault(property, value),
            Value::Array(_) => "array",
            // As good as left out.
            Value::Null => return None,
        };
        let kinds = property.get("type").unwrap_or(&Value::Null).to_string();
        let is_kind =
            kinds.contains(kind) || (kind, &*kinds) == ("integer", "\"number\"");
        let among = property["enum"].as_array().is_some_and(|all| all.contains(value));
        (!is_kind && !among).then(|| format!("{name:?} is of another type"))
    })
}

fn text(value: &Value) -> &str {
    value.as_str().unwrap_or_default()
}

impl Tutor {
    /// One that keeps its notes in this file, or in `.learn`.
    pub fn new(notes: Option<PathBuf>) -> Self {
        let is_listed = notes.is_none();
        let notes = notes.unwrap_or_else(|| paths::state().join("tutor.json"));
        let (notes, compiler) = (Notes::new(notes), Mutex::new(()));
        Self { notes, is_listed, compiler, tools: list() }
    }

    /// Calls a tool.
    pub fn call(&self, name: &str, arguments: &Value) -> Outcome {
        let tools = self.tools.as_array().into_iter().flatten();
        let Some(tool) = tools.into_iter().find(|tool| tool["name"] == name) else {
            return Outcome::Refused("there is no such tool".into());
        };
        if let Some(fault) = fault(&tool["inputSchema"], arguments) {
            return Outcome::Refused(fault);
        }
        match self.result(name, arguments) {
            Ok(value) => Outcome::Value(value),
            Err(error) => Outcome::Failed(format!("{error:#}")),
        }
    }

    fn result(&self, name: &str, arguments: &Value) -> Result<Value> {
        let exercise = || match &arguments["exercise"] {
            Value::String(name) => catalogue::asked(name),
            number => catalogue::asked(&number.to_string()),
        };
        match name {
            "check" => self.check(&exercise()?, arguments),
            "hint" => self.hint(&exercise()?, arguments["again"] == true),
            "what_if" => what_if(&exercise()?, text(&arguments["change"])),
            "next" => {
                let exercises = catalogue::all()?;
                next(exercises, &Standing::read(exercises, self.notes.all()))
            }
            _ => diagnose(arguments),
        }
    }

    /// The verdict on an answer. One that could not be checked leaves the note as it is.
    fn check(&self, exercise: &Exercise, arguments: &Value) -> Result<Value> {
        let verdict = match (arguments["outputs"].as_str(), arguments["file"].as_str()) {
            (Some(_), Some(_)) => bail!("outputs or a file of them, and not both"),
            (None, None) => None,
            (Some(text), None) => Some(check::numbers(exercise, "outputs", text.into())),
            (None, Some(file)) => Some(check::numbers(exercise, file, numbers_of(file)?)),
        };
        let report = match &verdict {
            None => {
                let _one = self.compiler.lock().unwrap_or_else(PoisonError::into_inner);
                check::rust(exercise, None)
            }
            Some(verdict) => json!(check::report_of(exercise, verdict)),
        };
        if report["verdict"] != "not-checked" {
            self.notes.verdict(&report)?;
            if verdict.is_some() && self.is_listed {
                checks::note_elsewhere(exercise, report["verdict"] == "passed")?;
            }
        }
        Ok(report)
    }

    /// The next step of the hint, and no other.
    fn hint(&self, exercise: &Exercise, is_again: bool) -> Result<Value> {
        let steps = &exercise.sheet.hints;
        let mut is_given = is_again;
        let note = self.notes.change(&exercise.name, |note| {
            if note.n_hints < steps.len() && (!is_again || note.n_hints == 0) {
                (is_given, note.n_hints) = (true, note.n_hints + 1);
            }
        })?;
        let step = note.n_hints.min(steps.len());
        let text = steps.get(step.wrapping_sub(1)).filter(|_| is_given);
        let exercises = catalogue::all()?;
        let text = text.map(|text| catalogue::with_numbers(text, exercises));
        Ok(json!({
            "version": Report::VERSION,
            "exercise": exercise.name,
            "step": step,
            "n_left": steps.len() - step,
            "hint": text,
            "read": SectionWords::from(&exercise.sheet.read),
        }))
    }
}

/// The bytes of a file of numbers. A text of another kind is not quoted in an error.
fn numbers_of(file: &str) -> Result<Vec<u8>> {
    check::bytes_of(&place(file, &["npz", "npy", "safetensors", "json", "jsonl", "txt"])?)
}

/// A file of one of these kinds, from the root of the project on, or absolute.
fn place(file: &str, kinds: &[&str]) -> Result<PathBuf> {
    let path = paths::workspace().join(file);
    let kind = path.extension().and_then(|kind| kind.to_str()).unwrap_or_default();
    ensure!(kinds.contains(&kind), "{file}: none of the kinds {}", kinds.join(", "));
    // A pipe would be waited for without end.
    ensure!(path.is_file(), "{file} is no regular file");
    Ok(path)
}

/// What `cargo learn diagnose --json` says of a layer, without the lines that show how it is
/// written.
fn diagnose(arguments: &Value) -> Result<Value> {
    let file = place(text(&arguments["file"]), &["safetensors"])?;
    let options = arguments["options"].as_object().into_iter().flatten();
    let flags = options.filter(|(_, value)| **value != false).map(|(name, value)| {
        let flag = format!("--{}", name.replace('_', "-"));
        match value {
            Value::Bool(_) => flag,
            Value::String(text) => format!("{flag}={text}"),
            number => format!("{flag}={number}"),
        }
    });
    let mut command = Command::new(build::tool("diagnose", Profile::Dev)?);
    command.arg("diagnose").arg(&file).arg("--json").args(flags).stdin(Stdio::null());
    let output = command.output()?;
    let Ok(mut report) = serde_json::from_slice(&output.stdout) else {
        bail!("{}", String::from_utf8_lossy(&output.stderr).trim())
    };
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
