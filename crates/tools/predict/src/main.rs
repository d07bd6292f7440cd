//! `cargo learn predict`, as a program.

use std::process::ExitCode;

use clap::Parser;

/// Questions to answer before the thing itself runs.
#[derive(Parser)]
#[command(name = "cargo learn", bin_name = "cargo learn")]
enum Command {
    Predict(predict::Args),
}

fn main() -> ExitCode {
    let Command::Predict(args) = Command::try_parse().unwrap_or_else(|error| {
        workshop::refuse(&error.to_string(), error.exit_code(), || error.exit())
    });
    workshop::exit(predict::run(&args))
}
