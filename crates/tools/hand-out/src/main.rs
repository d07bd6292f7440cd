//! `cargo learn hand-out` writes a set of exercises without solutions.

use std::process::ExitCode;

use clap::Parser;

/// A set of exercises for a class, without solutions.
#[derive(Parser)]
#[command(name = "cargo learn", bin_name = "cargo learn")]
enum Command {
    HandOut(hand_out::Args),
}

fn main() -> ExitCode {
    let Command::HandOut(args) = Command::try_parse().unwrap_or_else(|error| {
        workshop::refuse(&error.to_string(), error.exit_code(), || error.exit())
    });
    workshop::exit(hand_out::run(&args))
}
