//! A tool: compiled, and run in place of this program.

use std::ffi::OsString;
use std::process::{Command, ExitCode};

use anyhow::{Context, Result};
use workshop::build::{self, Profile};
use workshop::group;

/// Runs a command of the tool `terminal`.
pub fn shows(
    command: &str,
    args: impl IntoIterator<Item = impl Into<OsString>>,
) -> ExitCode {
    run("terminal", Profile::Dev, named(command, args))
}

/// Runs a command of the tool `look`, in which a whole model computes.
pub fn looks(
    command: &str,
    args: impl IntoIterator<Item = impl Into<OsString>>,
) -> ExitCode {
    run("look", Profile::Release, named(command, args))
}

fn named(
    command: &str,
    args: impl IntoIterator<Item = impl Into<OsString>>,
) -> impl Iterator<Item = OsString> {
    [OsString::from(command)].into_iter().chain(args.into_iter().map(Into::into))
}

/// Runs the preprocessor: mdBook hands over the book on standard input.
pub fn preprocess(args: Vec<OsString>) -> ExitCode {
    run("book", Profile::Dev, [OsString::from("preprocess")].into_iter().chain(args))
}

/// Compiles a tool where it is not as its sources are, and becomes it: what it is sent (a
/// Ctrl-C, say) and what it exits with are its own.
pub fn run(
    package: &str,
    profile: Profile,
    args: impl IntoIterator<Item = impl Into<OsString>>,
) -> ExitCode {
    let become_it = || -> Result<ExitCode> {
        let mut tool = command(package, profile)?;
        tool.args(args.into_iter().map(Into::into));
        group::replace(&mut tool)
            .with_context(|| format!("{package} could not be started"))
    };
    become_it().unwrap_or_else(|error| workshop::exit(Err(error)))
}

/// A tool that is ready to run.
///
/// # Errors
/// Sources that do not compile.
pub fn command(package: &str, profile: Profile) -> Result<Command> {
    build::tool(package, profile).map(Command::new)
}
