//! The commands of `cargo learn` that run whole models.

use std::process::ExitCode;

use clap::Parser;
use look::{model, sentence, write};

/// Whole models.
#[derive(Parser)]
#[command(name = "cargo learn", bin_name = "cargo learn")]
enum Command {
    Look(Box<sentence::Args>),
    Model(model::Args),
    Write(write::Args),
}

fn main() -> ExitCode {
    let command = Command::try_parse().unwrap_or_else(|error| {
        workshop::refuse(&error.to_string(), error.exit_code(), || error.exit())
    });
    let outcome = match command {
        Command::Look(args) => sentence::run(&args),
        Command::Model(args) => model::run(&args),
        Command::Write(args) => write::run(&args),
    };
    workshop::exit(outcome)
}
