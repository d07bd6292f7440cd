//! The command `cargo learn`.
//!
//! It is thin: what a command needs is a tool of its own in `crates/tools`, compiled when it
//! is asked for and run in place of this program ([`tool::TOOLS`]). So `cargo learn check 2`
//! compiles no book, and a new tool makes nothing here thicker. Four commands are here,
//! since they are about the others or as light as this: [`start`], [`verify`], the exercises
//! (`checks`), and [`mod@spread`], whose program stands outside this workspace.

mod help;
mod logs;
mod spread;
mod start;
mod tool;
mod verify;

use std::ffi::OsString;
use std::path::PathBuf;
use std::process::ExitCode;

use clap::{ArgMatches, Command, CommandFactory, FromArgMatches, Parser, Subcommand};
use workshop::build::Profile;

use crate::tool::TOOLS;

/// Learn multi-head attention: the book, the notebooks, and a trained layer.
///
/// Without a command: builds the book and opens it, sets up the notebooks (the first time
/// takes minutes) and starts JupyterLab. Ctrl-C stops both.
#[derive(Parser)]
#[command(name = "cargo learn", bin_name = "cargo learn", version)]
#[command(disable_help_subcommand = true)]
struct Cli {
    #[command(subcommand)]
    command: Option<Here>,
    #[command(flatten)]
    start: start::Args,
}

/// The commands that are no tools.
#[derive(Subcommand)]
enum Here {
    /// A layer by many processes, on one machine or many, with MPI
    Spread(spread::Args),
    /// The exercises, checked by rustlings each time you save
    Exercises,
    /// Check your answer to an exercise, or to all of them
    Check(checks::Args),
    /// Everything that must hold: tests, exercises, book, notebooks
    Verify(verify::Args),
    /// Build and check the book: includes, numbers, figures, links
    Book(BookArgs),
    /// Draw every figure of the book and keep it (for those who change one)
    Figures,
    /// Compute the numbers of every mistake and keep them (for those who change one)
    Mistakes(checks::mistakes::Args),
    /// Run every notebook and keep what it printed (for those who change one)
    Notebooks,
    /// What mdBook runs on the chapters
    #[command(hide = true, disable_help_flag = true)]
    Preprocess {
        /// The preprocessor's own arguments
        #[arg(trailing_var_arg = true, allow_hyphen_values = true)]
        args: Vec<OsString>,
    },
    /// Say more about a command
    Help {
        /// The command
        command: Option<String>,
        /// Every command
        #[arg(long)]
        all: bool,
    },
}

/// Without a folder the book is checked, in `target/book`.
#[derive(clap::Args)]
struct BookArgs {
    /// Write the book into this new folder instead, for any web server
    folder: Option<PathBuf>,
    /// Leave the solutions of exercises out, for a class
    #[arg(long, requires = "folder")]
    without_solutions: bool,
}

impl BookArgs {
    /// As the tool that is asked takes them.
    fn of_tool(self) -> Vec<OsString> {
        let Some(folder) = self.folder else { return vec!["check".into()] };
        let mut args = vec!["write".into(), folder.into()];
        args.extend(self.without_solutions.then(|| "--without-solutions".into()));
        args
    }
}

/// All commands, with those of tools.
fn commands() -> Command {
    let with_tools =
        TOOLS.iter().fold(Cli::command(), |all, it| all.subcommand(it.command()));
    let short = help::of(&with_tools, false);
    with_tools.override_help(short)
}

fn main() -> ExitCode {
    let matches = commands().get_matches();
    if let Some((tool, args)) = asked_tool(&matches) {
        return tool.run(args);
    }
    let cli = Cli::from_arg_matches(&matches).unwrap_or_else(|error| error.exit());
    let Some(command) = cli.command else {
        return workshop::exit(start::run(&cli.start));
    };
    match command {
        Here::Spread(args) => spread::run(&args),
        Here::Book(args) => tool::run("book", Profile::Dev, args.of_tool()),
        Here::Figures => tool::run("book", Profile::Dev, ["keep"]),
        Here::Notebooks => tool::run("notebooks", Profile::Dev, ["rewrite"]),
        Here::Preprocess { args } => tool::preprocess(args),
        Here::Exercises => {
            checks::watch().unwrap_or_else(|error| workshop::exit(Err(error)))
        }
        Here::Check(args) if args.is_elsewhere() => tool::run(
            "tutor",
            Profile::Dev,
            std::env::args_os().skip_while(|it| it != "check"),
        ),
        Here::Check(args) => match checks::run(&args) {
            // The check has said what is wrong.
            Ok(false) => ExitCode::FAILURE,
            outcome => workshop::exit(outcome.map(drop)),
        },
        Here::Mistakes(args) => match checks::mistakes::run(&args) {
            // The pages say what the numbers are.
            Ok(()) => tool::run("mistakes", Profile::Dev, [] as [&str; 0]),
            Err(error) => workshop::exit(Err(error)),
        },
        Here::Verify(args) => workshop::exit(verify::run(&args)),
        Here::Help { command, all } => help::print(command.as_deref(), all),
    }
}

/// The tool whose command is asked for, and what it is given.
fn asked_tool(matches: &ArgMatches) -> Option<(&'static tool::Tool, Vec<OsString>)> {
    let (name, matches) = matches.subcommand()?;
    let tool = TOOLS.iter().find(|it| it.name == name)?;
    let args = matches.get_many::<OsString>(tool::ARGS).into_iter().flatten().cloned();
    Some((tool, args.collect()))
}

#[cfg(test)]
mod tests;
