//! The book in a browser: `cargo learn` runs this.

use std::process::ExitCode;
use std::sync::Arc;

use anyhow::Result;
use clap::Parser;
use pages::Kept;
use workshop::progress;

/// mdBook's own port.
const PORT: u16 = 3000;

/// Serve the book and open it, until Ctrl-C; where there is none it is built first, with the
/// figures that are kept
#[derive(Parser)]
#[command(name = "pages")]
struct Cli {
    /// Open no browser, for a machine without a screen
    #[arg(long)]
    no_open: bool,
}

fn main() -> ExitCode {
    workshop::exit(serve(!Cli::parse().no_open))
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
