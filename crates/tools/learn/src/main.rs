//! The command `cargo learn`.
//!
//! It is thin: what a command needs is a tool of its own in `crates/tools`, compiled when it
//! is asked for and run in place of this program ([`tool`]). So `cargo learn check 2`
//! compiles no book, and a new tool makes nothing here thicker. Four commands are here,
//! since they are about the others or as light as this: [`start`], [`verify`], the exercises
//! (`checks`), and [`mod@spread`], whose program stands outside this workspace.

mod logs;
mod platforms;
mod spread;
mod start;
mod tool;
mod verify;

use std::ffi::OsString;
use std::process::ExitCode;

use clap::{CommandFactory, Parser, Subcommand};
use workshop::build::Profile;

/// Learn multi-head attention: the book, the notebooks, and a trained layer.
///
/// Without a command: builds the book and opens it, sets up the notebooks (the first time
/// takes minutes) and starts JupyterLab. Ctrl-C stops both.
#[derive(Parser)]
#[command(name = "cargo learn", bin_name = "cargo learn", version)]
#[command(disable_help_subcommand = true)]
struct Cli {
    #[command(subcommand)]
    command: Option<Command>,
    #[command(flatten)]
    start: start::Args,
}

#[derive(Subcommand)]
enum Command {
    /// A sentence through a trained layer, in every stage
    #[command(disable_help_flag = true)]
    Tour(Rest),
    /// The parameters of a layer, and what a pass costs
    #[command(disable_help_flag = true)]
    Count(Rest),
    /// Your own layer, from files, in every stage
    #[command(disable_help_flag = true)]
    Attend(Rest),
    /// What is wrong with your attention, by its numbers
    #[command(disable_help_flag = true)]
    Diagnose(Rest),
    /// Your own sentence in all heads of a trained model
    #[command(disable_help_flag = true)]
    Look(Rest),
    /// Your own model: every hidden state and every map
    #[command(disable_help_flag = true)]
    Model(Rest),
    /// A model that goes on with your text
    #[command(disable_help_flag = true)]
    Write(Rest),
    /// Heads that specialise while you watch, in seconds
    #[command(disable_help_flag = true)]
    Train(Rest),
    /// How fast the layer is on your machine, rung by rung
    #[command(disable_help_flag = true)]
    Bench(Rest),
    /// A layer by many processes, on one machine or many, with MPI
    Spread(spread::Args),
    /// Say what will come out, then run it
    #[command(disable_help_flag = true)]
    Predict(Rest),
    /// The exercises, checked by rustlings each time you save
    Exercises,
    /// Check your answer to an exercise, or to all of them
    Check(checks::Args),
    /// Everything that must hold: tests, exercises, book, notebooks
    Verify(verify::Args),
    /// Build and check the book: includes, numbers, figures, links
    Book,
    /// Draw every figure of the book and keep it (for those who change one)
    Figures,
    /// Compute the numbers of every mistake and keep them (for those who change one)
    Mistakes(checks::mistakes::Args),
    /// Run every notebook and keep what it printed (for those who change one)
    Notebooks,
    /// What mdBook runs on the chapters
    #[command(hide = true, disable_help_flag = true)]
    Preprocess(Rest),
    /// Say more about a command
    Help {
        /// The command
        command: Option<String>,
    },
}

/// What a tool is given as it stands.
#[derive(clap::Args)]
struct Rest {
    /// The tool's own arguments
    #[arg(trailing_var_arg = true, allow_hyphen_values = true)]
    args: Vec<OsString>,
}

fn main() -> ExitCode {
    let cli = Cli::parse();
    let Some(command) = cli.command else {
        return workshop::exit(start::run(&cli.start));
    };
    match command {
        Command::Tour(rest) => tool::shows("tour", rest.args),
        Command::Count(rest) => tool::shows("count", rest.args),
        Command::Attend(rest) => tool::shows("attend", rest.args),
        Command::Diagnose(rest) => tool::shows("diagnose", rest.args),
        Command::Look(rest) => tool::looks("look", rest.args),
        Command::Model(rest) => tool::looks("model", rest.args),
        Command::Write(rest) => tool::looks("write", rest.args),
        Command::Train(rest) => tool::shows("train", rest.args),
        Command::Predict(rest) => tool::shows("predict", rest.args),
        Command::Bench(rest) => tool::run("bench", Profile::Release, rest.args),
        Command::Spread(args) => spread::run(&args),
        Command::Book => tool::run("book", Profile::Dev, ["check"]),
        Command::Figures => tool::run("book", Profile::Dev, ["keep"]),
        Command::Notebooks => tool::run("notebooks", Profile::Dev, ["rewrite"]),
        Command::Preprocess(rest) => tool::preprocess(rest.args),
        Command::Exercises => {
            checks::watch().unwrap_or_else(|error| workshop::exit(Err(error)))
        }
        Command::Check(args) => match checks::run(&args) {
            // The check has said what is wrong.
            Ok(false) => ExitCode::FAILURE,
            outcome => workshop::exit(outcome.map(drop)),
        },
        Command::Mistakes(args) => match checks::mistakes::run(&args) {
            // The pages say what the numbers are.
            Ok(()) => tool::run("mistakes", Profile::Dev, [] as [&str; 0]),
            Err(error) => workshop::exit(Err(error)),
        },
        Command::Verify(args) => workshop::exit(verify::run(&args)),
        Command::Help { command } => help(command),
    }
}

#[cfg(test)]
mod tests;

/// The help of a command, which a tool prints itself.
fn help(command: Option<String>) -> ExitCode {
    let name = command.as_deref().unwrap_or_default();
    let mut cli = Cli::command();
    match name {
        "tour" | "count" | "attend" | "diagnose" | "train" | "predict" => {
            tool::shows(name, ["--help"])
        }
        "look" | "model" | "write" => tool::looks(name, ["--help"]),
        "bench" => tool::run(name, Profile::Release, ["--help"]),
        _ => {
            let of = cli.find_subcommand_mut(name).map(clap::Command::render_long_help);
            println!("{}", of.unwrap_or_else(|| cli.render_long_help()));
            ExitCode::SUCCESS
        }
    }
}
