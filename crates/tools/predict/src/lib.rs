//! `cargo learn predict`: say what will come out, then see it run.
//!
//! The questions are those of the crate `questions`, here asked in a terminal, in the order
//! of the chapters. Once you have typed an answer, the thing itself runs, and its ledger, its
//! trace or its map is shown with what you gave.
//!
//! What you missed and what you knew is kept in `.learn/predictions.json`, and what you
//! missed comes first the next time, with other numbers.
//!
//! `entries` finds the chapter of each question, `plan` picks the questions, `ask` asks them,
//! `store` keeps how they went.

mod ask;
mod entries;
mod list;
mod plan;
mod store;
#[cfg(test)]
mod tests;
mod text;

use std::io::{self, BufRead, IsTerminal, Write};
use std::path::PathBuf;

use anyhow::Result;

use ask::Desk;
use entries::Entry;
use plan::{AT_MOST, plan};
use store::{Answers, State, Store};
use text::{counted, wrapped};
use workshop::chapters::{self, Chapter};
use workshop::output::Output;
use workshop::paths;

/// Questions: you say what comes out, then it runs
///
/// Asks 5 questions at most: first those that you missed, with other numbers, then new
/// ones in the order of the chapters. An empty line skips, ? gives a hint, and q or Ctrl-D
/// ends. What you missed and what you knew is kept at once, in .learn/predictions.json.
#[derive(Debug, clap::Args)]
pub struct Args {
    /// Only the questions of this chapter
    #[arg(long, value_name = "N")]
    chapter: Option<u8>,
    /// Every question, also what you know already
    #[arg(long)]
    all: bool,
    /// Ask nothing: show the questions by chapter, and how you stand with each
    #[arg(long, conflicts_with = "all")]
    list: bool,
}

/// Asks at the terminal, or answers lines that come from elsewhere.
///
/// # Errors
/// A chapter without questions; an input or output that fails.
pub fn run(args: &Args) -> Result<()> {
    let (stdin, stdout) = (io::stdin().lock(), Output::locked());
    let echoes = !stdin.is_terminal();
    let desk = Desk { from: stdin, to: stdout, echoes };
    run_at(args, &chapters::all()?, paths::state().join("predictions.json"), desk)
}

fn run_at<R: BufRead, W: Write>(
    args: &Args,
    chapters: &[Chapter],
    path: PathBuf,
    mut desk: Desk<R, W>,
) -> Result<()> {
    let topics = questions::topics()?;
    let questions = match args.chapter {
        None => entries::all(&topics, chapters),
        Some(number) => entries::of_chapter(&topics, chapters, number)?,
    };
    if args.list {
        let answers = Store::peek(&path);
        if let Err(error) = &answers {
            writeln!(desk.to, "{}\n", wrapped(&format!("{error:#}."), 0))?;
        }
        return list::list(&questions, &answers.unwrap_or_default(), &mut desk.to);
    }
    let (mut store, notice) = Store::open(path);
    if let Some(notice) = notice {
        writeln!(desk.to, "{}\n", wrapped(&notice, 0))?;
    }
    let asked = plan(&questions, store.answers(), args.all);
    writeln!(desk.to, "{}", greeting(&asked, store.answers(), questions.len()))?;
    if asked.is_empty() {
        return Ok(());
    }
    ask::ask(&asked, &mut store, &mut desk)
}

fn greeting(asked: &[Entry], answers: &Answers, of: usize) -> String {
    if asked.is_empty() {
        let known = format!("You know all of them: {}.", counted(of, "question"));
        return format!("{known} --all asks them again.");
    }
    let mut told = format!("{} of {of}", counted(asked.len(), "question"));
    let is_missed = |entry: &&Entry| answers.state(&entry.question.id) == State::Missed;
    let n_missed = asked.iter().filter(is_missed).count();
    if n_missed > 0 {
        told += &format!(", {n_missed} of them missed before");
    }
    if asked.len() == AT_MOST && asked.len() < of {
        told += &format!(" ({AT_MOST} at a time; --all asks every one)");
    }
    let told = wrapped(&format!("{told}."), 0);
    format!(
        "{told}\nPredict, and then it runs. ? gives a hint, an empty line skips, q ends."
    )
}
