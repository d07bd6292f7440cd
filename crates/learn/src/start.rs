//! `cargo learn`: the book, first with the figures that are kept, then with those that the
//! crates draw, and live; then the notebooks.

use std::path::PathBuf;
use std::process::{Child, Command};
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::thread;
use std::time::Duration;

use anyhow::{Context, Result, ensure};
use workshop::build::{self, Profile};
use workshop::{paths, stamp};

use crate::tool;

/// Between two looks at a program that runs.
const PAUSE: Duration = Duration::from_millis(50);

/// How book and notebooks are shown.
#[derive(Debug, clap::Args)]
pub struct Args {
    /// Open no browser, for a machine without a screen
    #[arg(long)]
    no_open: bool,
}

/// Starts the book, then the notebooks, and stays until Ctrl-C, which reaches all programs:
/// each stops by itself.
///
/// # Errors
/// A book or notebooks that do not compile. What keeps the notebooks from running they say
/// themselves, and the book stays.
pub fn run(args: &Args) -> Result<()> {
    let interrupted = Arc::new(AtomicBool::new(false));
    let on_ctrl_c = {
        let interrupted = Arc::clone(&interrupted);
        move || interrupted.store(true, Ordering::Relaxed)
    };
    ctrlc::set_handler(on_ctrl_c).context("cannot wait for Ctrl-C")?;
    let is_stopped = || interrupted.load(Ordering::Relaxed);

    let is_first = !stamp::is_sealed(&paths::book());
    let (mut pages, book) = open_book(args, is_first, is_stopped)?;
    if is_stopped() {
        return Ok(());
    }
    let enliven = Command::new(book).arg("enliven").spawn();
    let mut enliven = Stopped(enliven.context("the figures could not be made live")?);
    // The first time both compile for minutes. Side by side, the live figures would come as
    // late as the notebooks.
    while is_first && enliven.0.try_wait()?.is_none() {
        if is_stopped() {
            return Ok(());
        }
        thread::sleep(PAUSE);
    }

    let works = notebooks(&interrupted).unwrap_or_else(|error| {
        println!("Notebooks  {error:#}");
        false
    });
    if !works && !is_stopped() {
        println!("The book stays open. Ctrl-C stops it.");
        pages.0.wait()?;
    }
    Ok(())
}

/// Opens the book, with figures as the crates draw them now; gives its server and the
/// program that draws. The first time none was drawn yet: it opens with the figures that are kept:
/// drawing needs all crates, and these twice the time to compile.
fn open_book(
    args: &Args,
    is_first: bool,
    is_stopped: impl Fn() -> bool,
) -> Result<(Stopped, PathBuf)> {
    let open = || -> Result<Stopped> {
        let mut pages = tool::command("pages", Profile::Dev)?;
        pages.args(args.no_open.then_some("--no-open"));
        Ok(Stopped(pages.spawn().context("the book could not be started")?))
    };
    let early = is_first.then(open).transpose()?;
    let book = build::tool("book", Profile::Dev)?;
    let drawn = Command::new(&book).arg("draw").status();
    let is_drawn = drawn.context("the figures could not be drawn")?.success();
    // What is wrong it has said itself.
    ensure!(is_drawn || is_stopped(), "the book could not be built");
    Ok((early.map_or_else(open, Ok)?, book))
}

/// Sets the notebooks up and starts JupyterLab; says at its end whether all went well.
fn notebooks(interrupted: &AtomicBool) -> Result<bool> {
    let mut lab = tool::command("lab", Profile::Dev)?;
    let mut lab = lab
        .args(["start", "--no-open"])
        .spawn()
        .context("JupyterLab could not be started")?;
    let mut asked = false;
    loop {
        if let Some(status) = lab.try_wait()? {
            return Ok(status.success());
        }
        // Ctrl-C reaches every program of a terminal, `kill` only this one.
        if interrupted.load(Ordering::Relaxed) && !asked {
            asked = true;
            let pid = lab.id().to_string();
            let _ = Command::new("kill").args(["-TERM", &pid]).status();
        }
        thread::sleep(PAUSE);
    }
}

/// A program that ends with this one.
struct Stopped(Child);

impl Drop for Stopped {
    fn drop(&mut self) {
        let _ = self.0.kill();
        let _ = self.0.wait();
    }
}
