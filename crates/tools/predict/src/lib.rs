//! `cargo learn predict`: say what will come out, then see it run.
//!
//! A prediction makes a reader commit to an idea before the numbers arrive. So a question
//! here has an answer that can be compared with yours: a number, a shape, a token. Once you
//! have typed it, the thing itself runs, and its ledger, its trace or its map is the answer.
//! **No answer is stored in this code**: each is computed from the crates when it is asked.
//!
//! What you answered is kept in `.learn/predictions.json`, and what you missed comes back
//! with other numbers (`memory` says when). A sitting is one run of the command in which
//! you answer something.
//!
//! A question is one `Question` in the file of its chapter; everything else is the same
//! for all: `answer` reads a line and judges it, `plan` picks the questions of a
//! sitting, `ask` asks them, `store` keeps the answers.

mod answer;
mod ask;
mod list;
mod memory;
mod plan;
mod questions;
mod store;
#[cfg(test)]
mod tests;
mod text;

use std::io::{self, BufRead, IsTerminal, Write};
use std::path::PathBuf;

use anyhow::Result;

use ask::Desk;
use plan::{A_SITTING, Plan, plan};
use questions::Asked;
use store::Store;
use text::{counted, wrapped};
use workshop::output::Output;
use workshop::paths;

/// Questions: you say what comes out, then it runs
///
/// Asks 5 questions at most: first those that you missed, with other numbers, then new
/// ones in the order of the chapters. An empty line skips, ? gives a hint, and q or Ctrl-D
/// ends. Each answer is kept at once, in .learn/predictions.json.
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
    run_at(args, paths::state().join("predictions.json"), desk)
}

fn run_at<R: BufRead, W: Write>(
    args: &Args,
    path: PathBuf,
    mut desk: Desk<R, W>,
) -> Result<()> {
    let questions: Vec<Asked> = match args.chapter {
        None => questions::all().collect(),
        Some(number) => questions::of_chapter(number)?,
    };
    if args.list {
        let (memory, notice) = Store::peek(&path);
        if let Some(notice) = notice {
            writeln!(desk.to, "{}\n", wrapped(&notice, 0))?;
        }
        return list::list(&questions, &memory, &mut desk.to);
    }
    let (mut store, notices) = Store::open(path);
    for notice in notices {
        writeln!(desk.to, "{}\n", wrapped(&notice, 0))?;
    }
    let plan = plan(&questions, store.memory(), args.all);
    let sitting = store.memory().next_sitting();
    writeln!(desk.to, "{}", greeting(&plan, questions.len(), sitting))?;
    if plan.asked.is_empty() {
        return Ok(());
    }
    ask::sit(&plan, &mut store, &mut desk)
}

fn greeting(plan: &Plan, of: usize, sitting: u64) -> String {
    let Plan { asked, n_due, is_early } = plan;
    if asked.is_empty() {
        let known = format!("You know all of them: {}.", counted(of, "question"));
        return format!("{known} --all asks them again.");
    }
    let mut told =
        format!("Sitting {sitting}: {} of {of}", counted(asked.len(), "question"));
    match (n_due, is_early) {
        (_, true) => told += ", ahead of time, since none is due or new",
        (0, _) => {}
        (n, _) => told += &format!(", {n} of them again"),
    }
    if asked.len() == A_SITTING && asked.len() < of {
        told += &format!(" (a sitting has {A_SITTING}; --all asks every one)");
    }
    let told = wrapped(&format!("{told}."), 0);
    format!(
        "{told}\nPredict, and then it runs. ? gives a hint, an empty line skips, q ends."
    )
}
