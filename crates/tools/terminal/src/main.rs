//! The commands of `cargo learn` that show attention in the terminal.

use std::process::ExitCode;

use clap::Parser;
use terminal::{attend, count, tour};

/// Attention in the terminal.
#[derive(Parser)]
#[command(name = "cargo learn", bin_name = "cargo learn")]
enum Command {
    /// A sentence through a trained layer, in every stage
    Tour(tour::Args),
    /// The parameters of a layer, and what a pass costs
    Count(count::Args),
    Attend(attend::Args),
}

fn main() -> ExitCode {
    let command = Command::try_parse().unwrap_or_else(|error| {
        workshop::refuse(&error.to_string(), error.exit_code(), || error.exit())
    });
    let outcome = match command {
        Command::Tour(args) => tour::run(&args),
        Command::Count(args) => count::run(&args),
        Command::Attend(args) => attend::run(args),
    };
    workshop::exit(outcome)
}
