//! What every tool stands on: where things are ([`paths`]), programs of this workspace
//! compiled ([`mod@build`]), a step of set-up run to its end and not done twice ([`step`]), and
//! what is shown meanwhile ([`progress`]).

pub mod build;
pub mod output;
pub mod paths;
pub mod progress;
pub mod step;
pub mod whole;

use std::process::ExitCode;

/// What a program of the workspace exits with, after an error was printed.
pub fn exit(outcome: anyhow::Result<()>) -> ExitCode {
    match outcome {
        Ok(()) => ExitCode::SUCCESS,
        // `| head -1` has what it wanted.
        Err(error) if output::was_closed(&error) => ExitCode::SUCCESS,
        Err(error) => {
            eprintln!("error: {error:#}");
            ExitCode::FAILURE
        }
    }
}
