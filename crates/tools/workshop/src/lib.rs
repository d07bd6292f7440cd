//! What every tool stands on: where things are ([`paths`]), the chapters and their numbers
//! ([`chapters`]), programs of this workspace compiled ([`mod@build`]) and programs from
//! crates.io ([`tool`]), a step of set-up run to its end ([`step`]), what need not be made
//! twice ([`stamp`]), what only one process may do at a time ([`lock`]), a file that is never
//! half written ([`whole`]), models that pages may fetch ([`models`]) and notebooks that they
//! lead to ([`lab`]), programs that end with another ([`group`], [`parent`]), work on many
//! things at once ([`at_once`]), what was kept compared with what comes out now ([`near`]), and
//! what is shown meanwhile ([`progress`]) and at the end ([`output`]).

pub mod at_once;
pub mod build;
pub mod chapters;
pub mod group;
pub mod lab;
pub mod lock;
pub mod models;
pub mod near;
pub mod output;
pub mod parent;
pub mod paths;
pub mod progress;
pub mod stamp;
pub mod step;
pub mod tool;
pub mod whole;

use std::process::ExitCode;

/// What a program of the workspace exits with, after an error was printed.
pub fn exit(outcome: anyhow::Result<()>) -> ExitCode {
    match outcome {
        Ok(()) => ExitCode::SUCCESS,
        // `| head -1` has what it wanted.
        Err(error) if output::was_closed(&error) => ExitCode::SUCCESS,
        Err(error) => {
            tell(&error);
            ExitCode::FAILURE
        }
    }
}

/// Ends the program where what was typed makes no sense: what is said of it quotes it,
/// [fit to be printed](output::printable), and is otherwise printed in its own way.
pub fn refuse(text: &str, code: i32, print: impl FnOnce()) -> ! {
    let shown = output::printable(text);
    if shown == text {
        print()
    } else {
        eprint!("{shown}")
    }
    std::process::exit(code)
}

/// Prints an error.
pub fn tell(error: &anyhow::Error) {
    eprintln!("error: {}", output::printable(format_args!("{error:#}")));
}

/// Whether this runs where the project is checked. Warnings fail there and not on a reader's
/// machine: the next compiler may warn of what this one does not, and no reader can do
/// anything about it.
pub fn in_ci() -> bool {
    std::env::var_os("CI").is_some()
}
