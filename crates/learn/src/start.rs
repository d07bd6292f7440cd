//! `cargo learn`: the book at once, the notebooks as soon as they are set up.

use std::sync::mpsc;
use std::time::Duration;

use anyhow::{Context, Result, ensure};

use lab as notebooks;
use workshop::progress;

/// mdBook's own port.
const BOOK_PORT: u16 = 3000;

/// How book and notebooks are shown.
#[derive(Debug, clap::Args)]
pub struct Args {
    /// Open no browser, for a machine without a screen
    #[arg(long)]
    no_open: bool,
}

/// Builds, serves and opens the book, sets up the notebooks beside it, starts JupyterLab,
/// and stays until Ctrl-C.
///
/// # Errors
/// A book that cannot be built. What keeps the notebooks from running is said, and the
/// book stays.
pub fn run(args: &Args) -> Result<()> {
    let bar = progress::spinner("book: building");
    let built = book::build();
    bar.finish_and_clear();
    built?;
    let server = book::serve(BOOK_PORT)?;
    println!("Book       {}", server.url());
    if !args.no_open
        && let Err(error) = book::open(server.url())
    {
        println!("           {error:#}");
    }

    let (stop, stopped) = mpsc::channel();
    match set_up_notebooks() {
        Ok(()) => {
            // From here on JupyterLab must be stopped in order.
            let on_ctrl_c = move || stop.send(()).unwrap_or_default();
            ctrlc::set_handler(on_ctrl_c).context("cannot wait for Ctrl-C")?;
            let mut lab = notebooks::Lab::start()?;
            println!("Notebooks  {}\nCtrl-C stops both.", lab.url());
            while lab.is_running()
                && stopped.recv_timeout(Duration::from_secs(1)).is_err()
            {}
        }
        Err(error) => {
            println!("Notebooks  {error:#}\n\nThe book stays open. Ctrl-C stops it.");
            server.wait();
        }
    }
    Ok(())
}

/// Runs every notebook and keeps what it printed.
///
/// # Errors
/// A notebook that fails, with the cell; it is left as it was.
pub fn rewrite_notebooks() -> Result<()> {
    let bar = progress::spinner("notebooks");
    notebooks::set_up(&bar)?;
    let outcomes = notebooks::rewrite(&bar)?;
    bar.finish_and_clear();
    for outcome in &outcomes {
        println!("{outcome}");
    }
    let failed = outcomes.iter().filter(|outcome| outcome.difference.is_some()).count();
    ensure!(failed == 0, "{failed} of {} notebooks failed", outcomes.len());
    Ok(())
}

fn set_up_notebooks() -> Result<()> {
    let bar = progress::spinner("notebooks: setting up");
    let done = notebooks::set_up(&bar);
    bar.finish_and_clear();
    done
}
