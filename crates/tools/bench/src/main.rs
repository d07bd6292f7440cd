//! `cargo learn bench`, and our side of it, which speaks as the peers do.

use std::process::ExitCode;

use clap::{Parser, Subcommand};

#[derive(Parser)]
#[command(name = "cargo learn bench", bin_name = "cargo learn bench")]
struct Cli {
    #[command(flatten)]
    args: bench::Args,
    #[command(subcommand)]
    side: Option<Side>,
}

#[derive(Subcommand)]
enum Side {
    /// Our side of the benchmark
    #[command(hide = true)]
    Ours(bench::OursArgs),
}

fn main() -> ExitCode {
    let cli = Cli::parse();
    workshop::exit(match &cli.side {
        None => bench::run(&cli.args),
        Some(Side::Ours(args)) => bench::serve(args),
    })
}
