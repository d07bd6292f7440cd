//! The commands of `cargo learn` that run whole models.

use std::env;
use std::process::ExitCode;

use clap::Parser;
use look::{Command, renamed};

fn main() -> ExitCode {
    let words: Vec<String> =
        env::args_os().skip(1).map(|word| word.to_string_lossy().into_owned()).collect();
    let command = match Command::try_parse() {
        Ok(command) => command,
        Err(error) => {
            if let Some(now) = renamed(words.iter().map(String::as_str)) {
                eprintln!("error: {now}");
                return ExitCode::from(2);
            }
            workshop::refuse(&error.to_string(), error.exit_code(), || error.exit())
        }
    };
    workshop::exit(command.run())
}
