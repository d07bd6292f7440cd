//! `cargo learn diagnose`, as a program.

use std::process::ExitCode;

use clap::Parser;

/// What is wrong with a layer, by its numbers.
#[derive(Parser)]
#[command(name = "cargo learn", bin_name = "cargo learn")]
enum Command {
    Diagnose(diagnose::Args),
}

fn main() -> ExitCode {
    let Command::Diagnose(args) = Command::try_parse().unwrap_or_else(|error| {
        workshop::refuse(&error.to_string(), error.exit_code(), || error.exit())
    });
    diagnose::main(&args)
}
