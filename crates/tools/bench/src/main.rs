//! `cargo learn bench`, and our side of it, which speaks as the peers do.

use std::process::ExitCode;

use clap::{Parser, Subcommand};

#[derive(Parser)]
#[command(name = "cargo learn bench", bin_name = "cargo learn bench")]
#[command(args_conflicts_with_subcommands = true)]
struct Cli {
    #[command(subcommand)]
    command: Option<Command>,
    // Its words are those of the command: the last that is named gives them.
    #[command(flatten)]
    ladder: bench::Ladder,
}

#[derive(Subcommand)]
enum Command {
    #[command(flatten)]
    Another(bench::Command),
    /// Our side of the benchmark
    #[command(hide = true)]
    Ours(bench::OursArgs),
}

fn main() -> ExitCode {
    let cli = Cli::parse();
    workshop::exit(match &cli.command {
        None => cli.ladder.run(),
        Some(Command::Another(command)) => command.run(),
        Some(Command::Ours(args)) => bench::serve(args),
    })
}
