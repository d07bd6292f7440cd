//! `cargo learn train`, as a program.

use std::process::ExitCode;

use clap::Parser;

/// Heads that specialise while you watch: a layer trained in seconds.
#[derive(Parser)]
#[command(name = "cargo learn", bin_name = "cargo learn")]
enum Command {
    Train(train::Args),
}

fn main() -> ExitCode {
    let Command::Train(args) = Command::try_parse().unwrap_or_else(|error| {
        workshop::refuse(&error.to_string(), error.exit_code(), || error.exit())
    });
    workshop::exit(train::run(&args))
}
