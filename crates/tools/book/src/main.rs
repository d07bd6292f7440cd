//! The book, from the command line: `cargo learn` runs this, and mdBook.

use std::process::ExitCode;

use anyhow::Result;
use book::Live;
use clap::{Parser, Subcommand};
use workshop::progress;

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
    /// Build the book with its figures, where it is not there as its sources are
    Draw,
    /// Make the figures of the built book live, where this machine can
    Enliven,
    /// What mdBook runs on the chapters
    Preprocess {
        /// mdBook asks `preprocess supports RENDERER` first.
        #[arg(hide = true)]
        supports: Vec<String>,
    },
}

fn main() -> ExitCode {
    workshop::exit(match Cli::parse().command {
        Command::Check => book::built_and_checked().map(|summary| println!("{summary}")),
        Command::Draw => draw(),
        Command::Enliven => enliven(),
        Command::Preprocess { supports } if supports.is_empty() => book::preprocess(),
        Command::Preprocess { .. } => Ok(()),
    })
}

fn draw() -> Result<()> {
    if pages::is_current()? {
        return Ok(());
    }
    let bar = progress::spinner("book: drawing its figures");
    let built = book::build();
    bar.finish_and_clear();
    built.map(drop)
}

fn enliven() -> Result<()> {
    match book::add_live()? {
        Live::Added { .. } => {
            println!("Figures    live: reload a page that is open already")
        }
        none @ Live::NoTarget => println!("           {none}"),
    }
    // Another minute, for those who bring their own model.
    book::add_encoder().map(drop)
}
