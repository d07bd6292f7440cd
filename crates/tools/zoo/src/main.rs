//! `cargo learn zoo` writes the zoo's file; with `--keep`, those who change it compute anew.

use std::process::ExitCode;

use clap::Parser;

/// Wrong attention layers in PyTorch, to test your tests with.
#[derive(Parser)]
#[command(name = "cargo learn", bin_name = "cargo learn")]
enum Command {
    Zoo(zoo::Args),
}

fn main() -> ExitCode {
    let Command::Zoo(args) = Command::try_parse().unwrap_or_else(|error| {
        workshop::refuse(&error.to_string(), error.exit_code(), || error.exit())
    });
    workshop::exit(zoo::run(&args))
}
