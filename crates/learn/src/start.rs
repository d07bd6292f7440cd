//! `cargo learn`: the book, then the notebooks, and beside them what completes the book.

use std::io::{IsTerminal, stderr};
use std::process::{Child, Command, Stdio};
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

    let mut book = open_book(args, is_stopped)?;
    if is_stopped() {
        return Ok(());
    }
    let _rest = complete_book()?;

    let works = notebooks(&interrupted).unwrap_or_else(|error| {
        println!("Notebooks  {error:#}");
        false
    });
    if !works && !is_stopped() {
        println!("The book stays open. Ctrl-C stops it.");
        book.0.wait()?;
    }
    Ok(())
}

/// Opens the book, with figures as the crates draw them now. The first time it opens with
/// those that are kept: drawing needs all crates, and these twice the time to compile.
fn open_book(args: &Args, is_stopped: impl Fn() -> bool) -> Result<Stopped> {
    if stamp::is_sealed(&paths::book()) {
        let drawn = tool::command("book", Profile::Dev)?.arg("draw").status();
        let is_drawn = drawn.context("the figures could not be drawn")?.success();
        // What is wrong it has said itself.
        ensure!(is_drawn || is_stopped(), "the book could not be built");
    }
    let mut pages = tool::command("pages", Profile::Dev)?;
    pages.arg("serve").args(args.no_open.then_some("--no-open"));
    Ok(Stopped(pages.spawn().context("the book could not be started")?))
}

/// Makes the figures live, and all else that is not wanted at once, beside the notebooks. The
/// first time both compile for minutes: then the notebooks go first, and this takes what
/// they leave of the processor.
fn complete_book() -> Result<Stopped> {
    let pages = build::tool("pages", Profile::Dev)?;
    let start = |mut rest: Command| {
        if stderr().is_terminal() {
            // A terminal has room for one that shows its progress: the notebooks.
            rest.stderr(Stdio::null());
        }
        rest.arg("complete").spawn()
    };
    let mut modest = Command::new("nice");
    modest.args(["-n", "19"]).arg(&pages);
    // Not every system has `nice`.
    let rest = start(modest).or_else(|_| start(Command::new(&pages)));
    Ok(Stopped(rest.context("the figures could not be made live")?))
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
