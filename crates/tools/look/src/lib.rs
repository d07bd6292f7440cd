//! Whole models in the terminal, a command for each purpose ([`Command`]): your own sentence
//! through all heads of a trained model, maps of any framework from a file, two texts side by
//! side, many texts, heads switched off, what heads add to a logit and what they carry; any
//! model of the families on any ids, and a model that goes on with a text. Trained models are
//! fetched when the reader says so ([`fetch`]).

mod ablate;
mod args;
mod compare;
pub mod fetch;
pub mod few_bits;
mod habits;
mod logits;
mod map_file;
mod model;
mod page;
mod patch;
mod prose;
mod report;
mod rows;
mod save;
mod sentence;
mod shown;
mod sizes;
mod source;
mod study;
pub mod texts;
mod translate;
mod view;
mod write;

#[cfg(test)]
mod tests;

use anyhow::Result;
use clap::Parser;

/// Whole models.
#[derive(Debug, Parser)]
#[command(name = "cargo learn", bin_name = "cargo learn")]
#[expect(missing_docs, reason = "a command's words are those of its arguments")]
pub enum Command {
    Look(Box<sentence::Args>),
    Maps(Box<map_file::Args>),
    Compare(Box<compare::Args>),
    Habits(Box<habits::Args>),
    Ablate(Box<ablate::Args>),
    Logits(Box<logits::Args>),
    Patch(Box<patch::Args>),
    Model(Box<model::Args>),
    Write(Box<write::Args>),
    Fetch(fetch::Args),
}

impl Command {
    /// Runs it.
    ///
    /// # Errors
    /// Those of the command.
    pub fn run(&self) -> Result<()> {
        match self {
            Self::Look(args) => sentence::run(args),
            Self::Maps(args) => map_file::run(args),
            Self::Compare(args) => compare::run(args),
            Self::Habits(args) => habits::run(args),
            Self::Ablate(args) => ablate::run(args),
            Self::Logits(args) => logits::run(args),
            Self::Patch(args) => patch::run(args),
            Self::Model(args) => model::run(args),
            Self::Write(args) => write::run(args),
            Self::Fetch(args) => fetch::run(args),
        }
    }
}

/// Options that `look` had, and the commands that they became.
const RENAMED: [(&str, &str); 9] = [
    ("--maps", "cargo learn maps FILE"),
    ("--texts", "cargo learn habits FILE"),
    ("--against", "cargo learn compare TEXT OTHER"),
    ("--against-model", "cargo learn compare TEXT --other-model FOLDER"),
    ("--without", "cargo learn ablate TEXT --heads 5.3"),
    ("--adds", "cargo learn logits TEXT"),
    ("--adds-json", "cargo learn logits TEXT --json FILE"),
    ("--patch-from", "cargo learn patch TEXT FROM --of TOKENS"),
    ("--layer", "cargo learn look TEXT --head 5"),
];

/// What an option of `look` is called now, if these words have one that it had.
pub fn renamed<'a>(words: impl IntoIterator<Item = &'a str>) -> Option<String> {
    let mut words = words.into_iter();
    if words.next() != Some("look") {
        return None;
    }
    let old = words.find_map(|word| {
        let name = word.split_once('=').map_or(word, |(name, _)| name);
        RENAMED.iter().find(|(old, _)| *old == name)
    });
    old.map(|(old, new)| format!("`look {old}` is `{new}` now"))
}
