//! The notebooks: set up, shown in JupyterLab, run and compared.

use std::process::{self, ExitCode};
use std::sync::mpsc::{self, Receiver, Sender};
use std::thread;
use std::time::Duration;

use anyhow::{Context, Result, ensure};
use clap::{Parser, Subcommand};

use notebooks::{Lab, Outcome, Reach};
use workshop::{parent, progress};

/// The notebooks: set up, shown in JupyterLab, run and compared.
#[derive(Parser)]
#[command(version)]
struct Cli {
    #[command(subcommand)]
    command: Command,
}

#[derive(Subcommand)]
enum Command {
    /// Set up what notebooks need (the first time takes minutes), start JupyterLab, print
    /// its address, and stay until Ctrl-C
    Start {
        /// Open no browser, for a machine without a screen
        #[arg(long)]
        no_open: bool,
    },
    /// Set up what the first notebook needs; `start` compiles the others' crates beside it
    Setup,
    /// Run every notebook from a fresh kernel and compare with what is committed
    Verify,
    /// Run every notebook and keep what it printed (for those who change one)
    Rewrite,
}

/// How long JupyterLab has to end in order once the program that started this one is gone.
const LAST: Duration = Duration::from_secs(1);

fn main() -> ExitCode {
    let (stop, stopped) = mpsc::channel();
    let when_alone = stop.clone();
    parent::at_end(move || {
        let _ = when_alone.send(());
        thread::sleep(LAST);
        process::exit(1);
    });
    let outcome = match Cli::parse().command {
        Command::Start { no_open } => start(!no_open, stop, &stopped),
        Command::Setup => set_up(Reach::First),
        Command::Verify => run(notebooks::verify, "differ from what is committed"),
        Command::Rewrite => run(notebooks::rewrite, "failed"),
    };
    workshop::exit(outcome)
}

fn set_up(reach: Reach) -> Result<()> {
    notebooks::set_up(&progress::spinner("notebooks: setting up"), reach)
}

fn start(open: bool, stop: Sender<()>, stopped: &Receiver<()>) -> Result<()> {
    set_up(Reach::First)?;
    // From here on JupyterLab must be stopped in order.
    let on_signal = move || stop.send(()).unwrap_or_default();
    ctrlc::set_handler(on_signal).context("cannot wait for Ctrl-C")?;

    let progress = progress::spinner("notebooks: starting JupyterLab");
    let mut lab = Lab::start()?;
    drop(progress);
    println!("Notebooks  {}", lab.url());
    if open && let Err(error) = lab.open() {
        println!("           {error:#}");
    }
    // Ends with this process, if a reader does not stay as long.
    thread::spawn(|| {
        if let Err(error) = set_up(Reach::All) {
            println!("           {error:#}");
        }
    });
    while lab.is_running() && stopped.recv_timeout(Duration::from_secs(1)).is_err() {}
    Ok(())
}

type Run = fn(&progress::Progress) -> Result<Vec<Outcome>>;

fn run(run: Run, failure: &str) -> Result<()> {
    set_up(Reach::All)?;
    let progress = progress::spinner("notebooks");
    let outcomes = run(&progress)?;
    drop(progress);
    for outcome in &outcomes {
        println!("{outcome}");
    }
    let failed = outcomes.iter().filter(|outcome| outcome.difference.is_some()).count();
    ensure!(failed == 0, "{failed} of {} notebooks {failure}", outcomes.len());
    Ok(())
}
