//! `cargo learn`: the book, then the notebooks, and beside them what completes the book.

use std::io::{self, IsTerminal, stderr};
use std::process::{Child, ChildStdin, Command, Stdio};
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::thread;
use std::time::Duration;

use anyhow::{Context, Result, ensure};
use workshop::build::Profile;
use workshop::{parent, paths, stamp};

use crate::tool;

/// Between two looks at a program that runs.
const PAUSE: Duration = Duration::from_millis(50);

/// How book and notebooks are shown.
#[derive(Debug, clap::Args)]
pub struct Args {
    /// Open no browser, for a machine without a screen
    #[arg(long)]
    no_open: bool,
    /// Leave figures still where the WebAssembly target is not installed: do not have rustup
    /// add it
    #[arg(long)]
    still: bool,
}

/// Starts the book, then the notebooks, and stays until Ctrl-C, which reaches all programs:
/// each stops by itself.
///
/// # Errors
/// A book or notebooks that do not compile. What keeps the notebooks from running they say
/// themselves, and the book stays.
pub fn run(args: &Args) -> Result<()> {
    // A reader opens these in an editor, with or without a book.
    if let Err(error) = checks::prepare() {
        println!("Exercises  {error:#}");
    }
    let session = Session::new()?;
    let is_first = !stamp::is_sealed(&paths::book());
    if !is_first {
        let is_drawn = session.runs("book", &["draw"])?;
        // What is wrong it has said itself.
        ensure!(is_drawn || session.is_over(), "the book could not be built");
    }
    if session.is_over() {
        return Ok(());
    }
    // The first time it opens with figures that are kept: drawing needs all crates, and these
    // twice the time to compile.
    let mut book = open_book(args)?;

    let rest = if is_first { ["figures", "encoder"] } else { ["live", "encoder"] };
    let rest = completing(args, &rest);
    let mut is_set_up = true;
    if is_first {
        // These compile for minutes: one after the other, as a reader comes to them, and the
        // pages themselves come first.
        session.runs_modestly("pages", &completing(args, &["live"]))?;
        // What answers use, so that a first check waits for nothing; a check says what fails.
        let _ = checks::compile();
        is_set_up = session.runs("notebooks", &["setup"]).unwrap_or_else(no_notebooks);
    }
    if session.is_over() {
        return Ok(());
    }
    // Before the rest of the book: while that is compiled, cargo compiles nothing else here.
    let lab = tool::command("notebooks", Profile::Dev);
    let _rest = complete_book(&rest)?;
    let start = || session.follows(lab?.args(["start", "--no-open"]));
    let works = is_set_up && start().unwrap_or_else(no_notebooks);
    if !works && !session.is_over() {
        println!("The book stays open. Ctrl-C stops it.");
        book.wait()?;
    }
    Ok(())
}

/// Opens the book that is there, or one with the figures that are kept.
fn open_book(args: &Args) -> Result<Stopped> {
    let mut pages = tool::command("pages", Profile::Dev)?;
    pages.arg("serve").args(args.no_open.then_some("--no-open"));
    Stopped::start(&mut pages).context("the book could not be started")
}

/// What `pages` is asked for these parts of the book.
fn completing<'a>(args: &Args, parts: &[&'a str]) -> Vec<&'a str> {
    let still = args.still.then_some("--still");
    ["complete"].into_iter().chain(still).chain(parts.iter().copied()).collect()
}

/// Adds parts to the book while the reader works: they may have most of the processor.
fn complete_book(asked: &[&str]) -> Result<Stopped> {
    let pages = tool::command("pages", Profile::Dev)?;
    let start = |mut complete: Command| {
        if stderr().is_terminal() {
            // A terminal has room for one that shows its progress: the notebooks.
            complete.stderr(Stdio::null());
        }
        Stopped::start(complete.args(asked))
    };
    let rest = start(modest(&pages)).or_else(|_| start(pages));
    rest.context("the figures could not be made live")
}

/// A tool that leaves the processor to others. Not every system has `nice`.
fn modest(tool: &Command) -> Command {
    let mut modest = Command::new("nice");
    modest.args(["-n", "19"]).arg(tool.get_program());
    modest
}

/// Says what keeps the notebooks from running.
fn no_notebooks(error: anyhow::Error) -> bool {
    println!("Notebooks  {error:#}");
    false
}

/// A run of `cargo learn`, until Ctrl-C.
struct Session {
    interrupted: Arc<AtomicBool>,
}

impl Session {
    fn new() -> Result<Self> {
        let interrupted = Arc::new(AtomicBool::new(false));
        let on_ctrl_c = {
            let interrupted = Arc::clone(&interrupted);
            move || interrupted.store(true, Ordering::Relaxed)
        };
        ctrlc::set_handler(on_ctrl_c).context("cannot wait for Ctrl-C")?;
        Ok(Self { interrupted })
    }

    fn is_over(&self) -> bool {
        self.interrupted.load(Ordering::Relaxed)
    }

    /// Runs a tool to its end, which Ctrl-C brings about; says whether all went well.
    fn runs(&self, name: &str, args: &[&str]) -> Result<bool> {
        match self.is_over() {
            true => Ok(false),
            false => self.follows(tool::command(name, Profile::Dev)?.args(args)),
        }
    }

    /// The same beside what a reader waits for.
    fn runs_modestly(&self, name: &str, args: &[&str]) -> Result<bool> {
        let ran = self.follows(modest(&tool::command(name, Profile::Dev)?).args(args));
        ran.or_else(|_| self.runs(name, args))
    }

    /// The same for a tool that is ready.
    fn follows(&self, tool: &mut Command) -> Result<bool> {
        let name = tool.get_program().display().to_string();
        let tool = parent::tie(tool).spawn();
        let mut tool = tool.with_context(|| format!("{name} could not be started"))?;
        let mut tie = tool.stdin.take();
        loop {
            if let Some(status) = tool.try_wait()? {
                return Ok(status.success());
            }
            // Ctrl-C reaches every program of a terminal, `kill` only this one.
            if self.is_over() {
                drop(tie.take());
            }
            thread::sleep(PAUSE);
        }
    }
}

/// A program that ends with this one, also where this one is killed.
struct Stopped {
    child: Child,
    /// What it is tied by.
    _tie: Option<ChildStdin>,
}

impl Stopped {
    fn start(command: &mut Command) -> io::Result<Self> {
        let mut child = parent::tie(command).spawn()?;
        Ok(Self { _tie: child.stdin.take(), child })
    }

    fn wait(&mut self) -> io::Result<()> {
        self.child.wait().map(drop)
    }
}

impl Drop for Stopped {
    fn drop(&mut self) {
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}
