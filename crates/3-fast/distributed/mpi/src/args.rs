//! What is asked for.

use std::path::PathBuf;

use anyhow::{Context, Result, ensure};
use attention::Dims;
use clap::{Parser, ValueEnum};
use distributed::Split;

/// One layer by many processes: checked next to one machine, then timed.
#[derive(Debug, Parser)]
#[command(name = "ranks")]
pub struct Args {
    /// Sequences, tokens of each, width of the model and heads; or 003 or 004, as the
    /// sources have them
    #[arg(long, default_value = "1,4096,256,8", value_parser = case)]
    pub case: Case,
    /// What is shared out among the processes; all splits in turn without it
    #[arg(long)]
    pub split: Option<Way>,
    /// How many groups of heads `both` has; the others share out the tokens
    #[arg(long, default_value_t = 2)]
    pub by_heads: usize,
    /// Every token sees every other, and not only those before it
    #[arg(long)]
    pub open: bool,
    /// Threads of each process
    #[arg(long, default_value_t = 1, value_parser = threads)]
    pub threads: usize,
    /// How often each split is timed; the median counts
    #[arg(long, default_value_t = 5, value_parser = repeats)]
    pub repeats: usize,
    /// Add what is measured to this file, a line of JSON for each split
    #[arg(long, value_name = "FILE")]
    pub record: Option<PathBuf>,
    /// A rank that fails after the check, to see what becomes of the others
    #[arg(long, hide = true)]
    pub fail: Option<usize>,
    /// A rank that panics then, while messages are on their way
    #[arg(long, hide = true)]
    pub panic: Option<usize>,
    /// A rank that is killed then
    #[arg(long, hide = true)]
    pub abort: Option<usize>,
}

/// What can be shared out.
#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
pub enum Way {
    /// Heads
    Heads,
    /// Tokens
    Tokens,
    /// Heads and tokens
    Both,
    /// Sequences
    Batch,
}

impl Args {
    /// The splits that are timed on so many processes.
    pub fn splits(&self, size: usize) -> Vec<Split> {
        let both = Split::Both { by_heads: self.by_heads };
        let all = [
            (Way::Heads, Split::Heads),
            (Way::Tokens, Split::Tokens),
            (Way::Both, both),
            (Way::Batch, Split::Batch),
        ];
        let is_sensible = |way| match way {
            Way::Both => {
                size > self.by_heads && size.is_multiple_of(self.by_heads.max(1))
            }
            Way::Batch => self.case.n_sequences > 1,
            _ => true,
        };
        let is_asked = |way| self.split.map_or(is_sensible(way), |asked| asked == way);
        all.into_iter()
            .filter(|(way, _)| is_asked(*way))
            .map(|(_, split)| split)
            .collect()
    }
}

/// A layer and its input.
#[derive(Debug, Clone, Copy)]
pub struct Case {
    /// The number of sequences.
    pub n_sequences: usize,
    /// The tokens of each.
    pub n_tokens: usize,
    /// The sizes of the layer.
    pub dims: Dims,
}

fn threads(text: &str) -> Result<usize> {
    let most = std::thread::available_parallelism().map_or(1, usize::from);
    within(text, most).with_context(|| format!("this machine runs 1 to {most} at once"))
}

fn repeats(text: &str) -> Result<usize> {
    within(text, MOST_REPEATS).with_context(|| format!("1 to {MOST_REPEATS} are timed"))
}

/// More would be timed for days.
const MOST_REPEATS: usize = 10_000;

fn within(text: &str, most: usize) -> Result<usize> {
    let number: usize = text.parse()?;
    ensure!((1..=most).contains(&number), "{number} is not among 1 to {most}");
    Ok(number)
}

fn case(text: &str) -> Result<Case> {
    let text = match text {
        "003" => "1,30,256,8",
        "004" => "32,100,512,8",
        other => other,
    };
    let numbers: Vec<usize> = text
        .split(',')
        .map(|number| number.trim().parse().with_context(|| format!("{number:?}")))
        .collect::<Result<_>>()?;
    let [n_sequences, n_tokens, d_model, n_heads] = numbers[..] else {
        anyhow::bail!("four numbers are needed: sequences,tokens,d_model,heads");
    };
    ensure!(n_sequences > 0 && n_tokens > 0, "there must be a token");
    Ok(Case { n_sequences, n_tokens, dims: Dims::new(d_model, n_heads)? })
}
