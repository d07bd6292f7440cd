//! The exercises for other languages and for other programs.

mod check;
mod defend;
mod next;
mod notes;
mod protocol;
#[cfg(test)]
mod tests;
mod tutor;
mod what_if;

use std::process::ExitCode;

use clap::Parser;

/// The exercises for other languages and other programs.
#[derive(Parser)]
#[command(name = "cargo learn", bin_name = "cargo learn")]
enum Command {
    /// Check an answer in any language, or give the verdict as data
    Check(checks::Args),
    Tutor(tutor::Args),
}

fn main() -> ExitCode {
    let command = Command::try_parse().unwrap_or_else(|error| {
        workshop::refuse(&error.to_string(), error.exit_code(), || error.exit())
    });
    match command {
        Command::Tutor(args) => workshop::exit(tutor::run(args)),
        Command::Check(args) => match check::run(&args) {
            // The verdict says what is wrong.
            Ok(false) => ExitCode::FAILURE,
            outcome => workshop::exit(outcome.map(drop)),
        },
    }
}
