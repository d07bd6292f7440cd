//! A tool: compiled, and run in place of this program.

use std::ffi::OsString;
use std::process::{Command, ExitCode};

use anyhow::{Context, Result};
use workshop::build::{self, Profile};

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
        replace(&mut tool).with_context(|| format!("{package} could not be started"))
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

/// Becomes the program, or says what it exited with where that cannot be.
#[cfg(unix)]
pub fn replace(tool: &mut Command) -> std::io::Result<ExitCode> {
    // Returns only if it fails.
    Err(std::os::unix::process::CommandExt::exec(tool))
}

/// Runs the program, and says what it exited with.
#[cfg(not(unix))]
pub fn replace(tool: &mut Command) -> std::io::Result<ExitCode> {
    // Ctrl-C reaches the program too, and what follows is its business.
    let _ = ctrlc::set_handler(|| {});
    workshop::group::end_with_parent();
    let code = tool.status()?.code().and_then(|code| u8::try_from(code).ok());
    Ok(code.map_or(ExitCode::FAILURE, ExitCode::from))
}
