//! The commands of `cargo learn` that run whole encoders.

use std::process::ExitCode;

use clap::Parser;
use look::{model, sentence};

/// Whole encoders.
#[derive(Parser)]
#[command(name = "cargo learn", bin_name = "cargo learn")]
enum Command {
    Look(sentence::Args),
    Model(model::Args),
}

fn main() -> ExitCode {
    let outcome = match Command::parse() {
        Command::Look(args) => sentence::run(&args),
        Command::Model(args) => model::run(&args),
    };
    workshop::exit(outcome)
}
