//! `cargo learn`: the command line.

use std::process::ExitCode;

use clap::{Parser, Subcommand};
use learn::{start, verify};
use terminal::{attend, count, predict, tour, train};

/// Learn multi-head attention: the book, the notebooks, and a trained layer.
///
/// Without a command: builds the book and opens it, sets up the notebooks (the first time
/// takes minutes) and starts JupyterLab. Ctrl-C stops both.
#[derive(Parser)]
#[command(name = "cargo learn", bin_name = "cargo learn", version)]
struct Cli {
    #[command(subcommand)]
    command: Option<Command>,
    #[command(flatten)]
    start: start::Args,
}

#[derive(Subcommand)]
enum Command {
    /// A sentence through a trained layer, in every stage
    Tour(tour::Args),
    /// The parameters of a layer, and what a pass costs
    Count(count::Args),
    Attend(attend::Args),
    /// Heads that specialise while you watch: a layer trained in seconds
    Train(train::Args),
    Bench(bench::Args),
    // Its help is longer than a line, and a line here would hide it.
    Predict(predict::Args),
    /// Work on the exercises with rustlings: it checks each time you save
    Exercises,
    /// Check your answer to an exercise, or to all of them
    Check(practice::Args),
    /// Everything that must hold: format, lints, tests, docs, exercises, book, notebooks
    Verify(verify::Args),
    /// Build the book and check it: includes, numbers, figures, links
    Book,
    /// Run every notebook and keep what it printed (for those who change one)
    Notebooks,
    /// What mdBook runs on the chapters
    #[command(hide = true)]
    Preprocess(Preprocess),
    /// Our side of the benchmark, which speaks as the peers do
    #[command(hide = true)]
    BenchOurs(bench::OursArgs),
}

/// mdBook asks `preprocess supports RENDERER` first.
#[derive(clap::Args)]
struct Preprocess {
    #[arg(hide = true)]
    supports: Vec<String>,
}

fn main() -> ExitCode {
    let cli = Cli::parse();
    let outcome = match cli.command {
        None => start::run(&cli.start),
        Some(Command::Tour(args)) => tour::run(&args),
        Some(Command::Count(args)) => count::run(&args),
        Some(Command::Attend(args)) => attend::run(args),
        Some(Command::Predict(args)) => predict::run(&args),
        Some(Command::Exercises) => practice::watch(),
        Some(Command::Check(args)) => match practice::run(&args) {
            // The check has said what is wrong.
            Ok(false) => return ExitCode::FAILURE,
            outcome => outcome.map(drop),
        },
        Some(Command::Train(args)) => train::run(&args),
        Some(Command::Bench(args)) => match bench::run(&args) {
            // The release build has said what is wrong.
            Ok(false) => return ExitCode::FAILURE,
            outcome => outcome.map(drop),
        },
        Some(Command::BenchOurs(args)) => bench::serve(&args),
        Some(Command::Verify(args)) => verify::run(&args),
        Some(Command::Book) => {
            book::built_and_checked().map(|summary| println!("{summary}"))
        }
        Some(Command::Notebooks) => start::rewrite_notebooks(),
        Some(Command::Preprocess(args)) if args.supports.is_empty() => book::preprocess(),
        Some(Command::Preprocess(_)) => Ok(()),
    };
    match outcome {
        Ok(()) => ExitCode::SUCCESS,
        Err(error) => {
            eprintln!("error: {error:#}");
            ExitCode::FAILURE
        }
    }
}
