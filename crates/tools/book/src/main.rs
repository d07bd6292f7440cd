//! The book, from the command line: `cargo learn` runs this, and mdBook.

use std::path::PathBuf;
use std::process::{self, ExitCode};

use anyhow::Result;
use clap::{Parser, Subcommand};
use pages::Solutions;
use workshop::{parent, progress};

#[derive(Parser)]
#[command(name = "book")]
struct Cli {
    #[command(subcommand)]
    command: Command,
}

#[derive(Subcommand)]
enum Command {
    /// Build the book and check it: includes, numbers, figures, links
    Check,
    /// Write the book into a new folder, for any web server
    Write {
        /// Where to
        folder: PathBuf,
        /// Without the solutions of exercises, for a class
        #[arg(long)]
        without_solutions: bool,
    },
    /// Build the book with figures of now, where it is not there as its sources are
    Draw,
    /// Draw every figure and keep it with the sources
    Keep,
    /// What mdBook runs on the chapters
    Preprocess {
        /// mdBook asks `preprocess supports RENDERER` first.
        #[arg(hide = true)]
        supports: Vec<String>,
    },
}

fn main() -> ExitCode {
    parent::at_end(|| process::exit(1));
    workshop::exit(match Cli::parse().command {
        Command::Check => book::built_and_checked().map(|summary| println!("{summary}")),
        Command::Write { folder, without_solutions } => {
            let solutions = match without_solutions {
                true => Solutions::Withheld,
                false => Solutions::Shown,
            };
            while_drawing(|| book::written(&folder, solutions)).map(|it| println!("{it}"))
        }
        Command::Draw => draw(),
        Command::Keep => keep(),
        Command::Preprocess { supports } if supports.is_empty() => book::preprocess(),
        Command::Preprocess { .. } => Ok(()),
    })
}

fn draw() -> Result<()> {
    if pages::is_current()? {
        return Ok(());
    }
    while_drawing(book::build).map(drop)
}

fn keep() -> Result<()> {
    while_drawing(book::keep_figures).map(|changed| println!("{changed}"))
}

fn while_drawing<T>(draw: impl FnOnce() -> Result<T>) -> Result<T> {
    let bar = progress::spinner("book: drawing its figures");
    let drawn = draw();
    bar.finish_and_clear();
    drawn
}
