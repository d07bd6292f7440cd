//! The book in a browser: `cargo learn` runs this.

use std::process::{Command, ExitCode};
use std::sync::Arc;

use anyhow::{Context, Result, ensure};
use clap::{Parser, Subcommand, ValueEnum};
use pages::{FigureFolder, Live};
use workshop::build::{self, Profile};
use workshop::{group, parent, progress};

/// mdBook's own port.
const PORT: u16 = 3000;

#[derive(Parser)]
#[command(name = "pages")]
struct Cli {
    #[command(subcommand)]
    task: Task,
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
    /// Complete the book that is served
    Complete {
        /// Install nothing for it
        #[arg(long)]
        still: bool,
        /// With what, in this order
        parts: Vec<Part>,
    },
    /// Take the pictures that links to pages show, with a Chromium of this machine
    Cards {
        /// Those of chapters alone, which are kept in chapters/images/cards
        #[arg(long)]
        thumbnails: bool,
    },
}

#[derive(Clone, Copy, ValueEnum)]
enum Part {
    /// Figures that move, where this machine can
    Live,
    /// Figures of now in place of those that were kept
    Figures,
    /// What reads a reader's own model in a page
    Encoder,
}

fn main() -> ExitCode {
    parent::at_end(|| std::process::exit(1));
    workshop::exit(match Cli::parse().task {
        Task::Serve { no_open } => serve(!no_open),
        Task::Cards { thumbnails } => {
            pages::add_cards(thumbnails).map(|n| println!("{n} pages have their picture"))
        }
        // Its errors too: where the notebooks show their progress, ours is not shown.
        Task::Complete { still, parts } => {
            if !still && let Err(error) = pages::add_target() {
                println!("Figures    {error:#}");
            }
            parts.into_iter().try_for_each(|part| {
                complete(part).inspect_err(|error| println!("Figures    {error:#}"))
            })
        }
    })
}

fn serve(opens: bool) -> Result<()> {
    if !pages::is_drawn() {
        let bar = progress::spinner("book: its pages");
        let built = pages::build(Arc::new(FigureFolder::here()));
        bar.finish_and_clear();
        built?;
    }
    pages::announce_live()?;
    let server = pages::serve(PORT)?;
    println!("Book       {}", server.url());
    if opens && let Err(error) = pages::open(server.url()) {
        println!("           {error:#}");
    }
    server.wait();
    Ok(())
}

fn complete(part: Part) -> Result<()> {
    match part {
        Part::Live => match pages::add_live()? {
            Live::Added { .. } => println!("Figures    live"),
            none @ Live::NoTarget => println!("           {none}"),
        },
        Part::Figures => draw()?,
        Part::Encoder => drop(pages::add_encoder()?),
    }
    Ok(())
}

/// Draws the figures: all crates are compiled for it.
fn draw() -> Result<()> {
    let book = build::tool("book", Profile::Dev)?;
    let drawn = group::output(Command::new(book).arg("draw"));
    let drawn = drawn.context("the figures could not be drawn")?;
    ensure!(drawn.status.success(), "{}", String::from_utf8_lossy(&drawn.stderr).trim());
    // The new folder replaces the one with the module.
    pages::add_live().map(drop)
}
