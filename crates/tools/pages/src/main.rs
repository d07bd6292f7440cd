//! The book in a browser: `cargo learn` runs this.

use std::process::ExitCode;

use anyhow::Result;
use clap::Parser;
use workshop::progress;

/// mdBook's own port.
const PORT: u16 = 3000;

/// Serve the book and open it, until Ctrl-C; build its text first where there is no whole book
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
    if !pages::is_whole() {
        let bar = progress::spinner("book: its text");
        let built = pages::text();
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
