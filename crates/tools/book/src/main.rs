//! The book, from the command line: `cargo learn` runs this, and mdBook.

use std::process::ExitCode;

use anyhow::Result;
use book::Live;
use clap::{Parser, Subcommand};
use workshop::progress;

/// mdBook's own port.
const PORT: u16 = 3000;

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
    /// Build the book, serve it and open it, until Ctrl-C
    Serve {
        /// Open no browser, for a machine without a screen
        #[arg(long)]
        no_open: bool,
    },
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
        Command::Serve { no_open } => serve(!no_open),
        Command::Preprocess { supports } if supports.is_empty() => book::preprocess(),
        Command::Preprocess { .. } => Ok(()),
    })
}

fn serve(opens: bool) -> Result<()> {
    let bar = progress::spinner("book: building");
    let built = book::build_if_changed();
    bar.finish_and_clear();
    built?;
    let server = book::serve(PORT)?;
    println!("Book       {}", server.url());
    if opens && let Err(error) = book::open(server.url()) {
        println!("           {error:#}");
    }
    // The book is open already: this takes a minute, the first time.
    match book::add_live()? {
        Live::Added { .. } => {
            println!("Figures    live: reload a page that is open already")
        }
        none @ Live::NoTarget => println!("           {none}"),
    }
    // Another minute, for those who bring their own model.
    book::add_encoder()?;
    server.wait();
    Ok(())
}
