//! Trains the model of remaining life, and measures what each of its parts is for.
//!
//! ```text
//! cd crates/4-models/sensors/framework
//! cargo run --release -- train                      the model of the workspace
//! cargo run --release -- train --data FOLDER        on NASA's files
//! cargo run --release -- seeds                      the numbers of ../data/seeds.json
//! ```
//!
//! A seed gives the same weights again on one kind of machine. Ctrl-C ends a training, and
//! what was best on the validation engines so far is kept.

mod evaluate;
mod file;
mod learn;
mod model;
mod seeds;
mod start;

use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicBool, Ordering};

use anyhow::Result;
use clap::{Args, Parser, Subcommand};
use sensors::{Architecture, Fleet, Plain, Prepared, Readings, Features};

use evaluate::Evaluation;
use learn::{Plan, learn};

#[derive(Parser)]
#[command(about = "Trains the model of remaining life")]
struct Arguments {
    #[command(subcommand)]
    command: Command,
}

#[derive(Subcommand)]
enum Command {
    /// One model, written as safetensors with what the framework makes of some windows.
    Train {
        #[command(flatten)]
        common: Common,
        /// Where the weights go; the reference goes next to it.
        #[arg(long, default_value = "../data/remaining.safetensors")]
        output: PathBuf,
    },
    /// Every variant with several seeds, into a file that grows run by run.
    Seeds {
        #[command(flatten)]
        common: Common,
        /// How many seeds.
        #[arg(long, default_value_t = 5)]
        seeds: u64,
        /// Where the numbers go; runs that it has are not made again.
        #[arg(long, default_value = "../data/seeds.json")]
        output: PathBuf,
    },
    /// The generated engines, as files of NASA's format.
    Write {
        /// A folder that is there.
        folder: PathBuf,
    },
}

#[derive(Args)]
struct Common {
    /// A folder with NASA's files, in place of the generated engines.
    #[arg(long)]
    data: Option<PathBuf>,
    /// Which set of the folder.
    #[arg(long, default_value = "FD001")]
    set: String,
    /// The seed of the weights and of the order of windows.
    #[arg(long, default_value_t = 1)]
    seed: u64,
    /// Rounds of 128 steps.
    #[arg(long, default_value_t = 5)]
    epochs: usize,
    /// The first rate.
    #[arg(long, default_value_t = 2e-3)]
    rate: f64,
    /// Threads: 1 or 2.
    #[arg(long, default_value_t = 2)]
    threads: usize,
}

/// Whether Ctrl-C was pressed.
static STOPPED: AtomicBool = AtomicBool::new(false);

fn main() -> Result<()> {
    ctrlc::set_handler(|| STOPPED.store(true, Ordering::Relaxed))?;
    match Arguments::parse().command {
        Command::Train { common, output } => train(&common, &output),
        Command::Seeds { common, seeds, output } => seeds::run(&common, seeds, &output),
        Command::Write { folder } => {
            Ok(Fleet::default().readings(0).0.save(&folder, "FD001")?)
        }
    }
}

fn train(common: &Common, output: &Path) -> Result<()> {
    let prepared = prepared(common)?;
    let baseline = Plain::fit(&prepared.train, Features::Last)?;
    let plain = evaluate::judge(&prepared.test, 1, |all| {
        Ok(all
            .iter()
            .map(|at| baseline.predict(&prepared.test, at))
            .collect::<Result<_, _>>()?)
    })?;
    println!("linear on the last reading: {plain}");
    let architecture = Architecture::SOURCE;
    let mut net = learn(architecture, &prepared, &plan(common, common.seed), &STOPPED)?;
    let exact = Evaluation::of(&net, &prepared.test, 1)?;
    println!("on the test engines: {exact}");
    net.round_to_half()?;
    println!("rounded to f16:      {}", Evaluation::of(&net, &prepared.test, 1)?);
    println!("{:.2} of the baseline's RMSE", exact.rmse / plain.rmse);
    file::save(output, &net, &prepared)?;
    println!("wrote {}", output.display());
    Ok(())
}

fn prepared(common: &Common) -> Result<Prepared> {
    let readings = match &common.data {
        Some(folder) => Readings::open(folder, &common.set)?,
        None => Fleet::default().readings(0).0,
    };
    let prepared = Prepared::of(&readings, 0)?;
    let all = [
        ("train", &prepared.train),
        ("validation", &prepared.validation),
        ("test", &prepared.test),
    ];
    for (name, windows) in all {
        let (n, short) = (windows.at.len(), windows.n_short);
        let engines = windows.n_engines();
        println!("{name}: {n} windows of {engines} engines; {short} were too short");
    }
    Ok(prepared)
}

fn plan(common: &Common, seed: u64) -> Plan {
    let (epochs, rate, threads) = (common.epochs, common.rate, common.threads);
    Plan { epochs, rate, threads, seed, steps: 128, batch: 32 }
}
