//! The book in a browser: `cargo learn` runs this.

use std::process::{Command, ExitCode};
use std::sync::Arc;

use anyhow::{Context, Result, ensure};
use clap::{Parser, Subcommand};
use pages::{Kept, Live};
use workshop::build::{self, Profile};
use workshop::progress;

/// mdBook's own port.
const PORT: u16 = 3000;

#[derive(Parser)]
#[command(name = "pages")]
struct Cli {
    #[command(subcommand)]
    command: Task,
}

#[derive(Subcommand)]
enum Task {
    /// Serve the book and open it, until Ctrl-C; where there is none it is built first, with
    /// the figures that are kept
    Serve {
        /// Open no browser, for a machine without a screen
        #[arg(long)]
        no_open: bool,
    },
    /// Complete the book that is served: make its figures live, where this machine can, draw
    /// those that were kept, and let a page read a reader's own model
    Complete,
}

fn main() -> ExitCode {
    workshop::exit(match Cli::parse().command {
        Task::Serve { no_open } => serve(!no_open),
        // Beside the notebooks, whose progress is on the terminal.
        Task::Complete => {
            complete().inspect_err(|error| println!("Figures    {error:#}"))
        }
    })
}

fn serve(opens: bool) -> Result<()> {
    if !pages::is_drawn() {
        let bar = progress::spinner("book: its pages");
        let built = pages::build(Arc::new(Kept::here()));
        bar.finish_and_clear();
        built?;
    }
    let server = pages::serve(PORT)?;
    println!("Book       {}", server.url());
    if opens && let Err(error) = pages::open(server.url()) {
        println!("           {error:#}");
    }
    server.wait();
    Ok(())
}

/// What a reader misses most comes first.
fn complete() -> Result<()> {
    match pages::add_live()? {
        Live::Added { .. } => {
            println!("Figures    live: reload a page that is open already")
        }
        none @ Live::NoTarget => println!("           {none}"),
    }
    if !pages::is_drawn() {
        draw()?;
        // Drawing has put a new folder in the place of the one with the module.
        pages::add_live()?;
    }
    pages::add_encoder().map(drop)
}

/// Draws the figures that were kept until now: all crates are compiled for it.
fn draw() -> Result<()> {
    let book = build::tool("book", Profile::Dev)?;
    let drawn = Command::new(book).arg("draw").output();
    let drawn = drawn.context("the figures could not be drawn")?;
    ensure!(drawn.status.success(), "{}", String::from_utf8_lossy(&drawn.stderr).trim());
    Ok(())
}
