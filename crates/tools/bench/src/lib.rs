//! `cargo learn bench`: the ladder on this machine, beside other implementations.

mod decode;
mod gpt;
mod growth;
mod ladder;
mod layer;
mod measure;
mod memory;
mod ours;
mod peers;
mod reference;
mod results;
mod rounds;
mod side;
mod table;
#[cfg(feature = "whole-models")]
mod writing;

use std::collections::BTreeMap;
use std::env;
use std::fs;
use std::path::{Path, PathBuf};
use std::{process, thread};

use anyhow::{Context, Result, ensure};
use tiles::Instructions;

use runs::{Machine, Run};
use workshop::output::print;
use workshop::{paths, progress, whole};

use measure::{Measurement, Plan, TakesPart};
use peers::InPython;
use side::Program;

pub use ladder::Ladder;
pub use ours::{Args as OursArgs, serve};

/// What is timed.
#[derive(Debug, Clone, clap::Subcommand)]
pub enum Command {
    /// Time and memory of 256, 512, … up to N tokens
    Growth(growth::Args),
    /// One new token on a cache, of 9 query heads that share 3 of keys and values
    ///
    /// For 512, 4,096 and 16,384 cached tokens of 1 and of 8 sequences; with --peers beside
    /// PyTorch.
    Token(Common),
    /// A whole model: a prompt, and the tokens behind it
    ///
    /// With weights as floats and as the file has them; with --peers beside llama.cpp.
    Model(WholeModel),
    /// A step of training a small GPT, on each of its rungs
    ///
    /// On one thread; with --peers beside PyTorch.
    Gpt(gpt::Args),
}

impl Command {
    /// Checks, times and prints.
    ///
    /// # Errors
    /// An argument that does not fit, with what there is.
    pub fn run(&self) -> Result<()> {
        match self {
            Self::Growth(args) => growth::run(args),
            Self::Token(args) => decode::run(args),
            Self::Model(args) => args.run(),
            Self::Gpt(args) => gpt::run(args),
        }
    }
}

/// Which model.
#[derive(Debug, Clone, clap::Args)]
pub struct WholeModel {
    /// A GGUF file, or a folder
    model: PathBuf,

    #[command(flatten)]
    common: Common,
}

impl WholeModel {
    #[cfg(feature = "whole-models")]
    fn run(&self) -> Result<()> {
        writing::run(&self.model, &self.common)
    }

    #[cfg(not(feature = "whole-models"))]
    fn run(&self) -> Result<()> {
        let Self { model, .. } = self;
        anyhow::bail!("the bench was compiled without whole models: {}", model.display())
    }
}

/// What every benchmark takes.
#[derive(Debug, Clone, clap::Args)]
pub struct Common {
    #[command(flatten)]
    beside: Beside,

    /// How many threads everyone has [default: all]
    #[arg(long, value_name = "N")]
    threads: Option<usize>,

    /// The vector instructions of the last rung, of a model that writes, and of the FMA peak:
    /// avx-512, avx2, neon, scalar
    /// [default: the best of this processor]
    #[arg(long, value_name = "NAME")]
    simd: Option<String>,
}

/// Beside whom, and how often.
#[derive(Debug, Clone, clap::Args)]
struct Beside {
    /// Beside others: PyTorch, candle and burn, which is compiled (minutes, once), or llama.cpp
    #[arg(long)]
    peers: bool,

    /// A Python that has torch and safetensors [default: the first that has]
    #[arg(long, value_name = "P", requires = "peers")]
    python: Option<PathBuf>,

    /// How many rounds count
    #[arg(long, value_name = "N", default_value_t = 7)]
    rounds: usize,
}

/// Beyond these a median moves no more, and a bench takes days.
const MOST_ROUNDS: usize = 10_000;

/// How everyone is timed, after the arguments were found good.
struct Settings {
    instructions: Instructions,
    threads: usize,
    rounds: usize,
}

impl Common {
    fn settings(&self) -> Result<Settings> {
        let rounds = self.beside.rounds()?;
        let all = thread::available_parallelism().map_or(1, usize::from);
        let threads = self.threads.unwrap_or(all);
        ensure!(
            (1..=all).contains(&threads),
            "--threads is {threads}, and this machine runs 1 to {all} at once"
        );
        let instructions = match &self.simd {
            Some(name) => ours::instructions(name).context("--simd")?,
            None => Instructions::best(),
        };
        Ok(Settings { instructions, threads, rounds })
    }
}

impl Beside {
    fn rounds(&self) -> Result<usize> {
        let rounds = self.rounds;
        ensure!(rounds > 0, "--rounds is 0, and must be at least 1");
        ensure!(
            rounds <= MOST_ROUNDS,
            "--rounds is {rounds}, and must be at most {MOST_ROUNDS}"
        );
        Ok(rounds)
    }

    /// What a script calls, if peers are wanted; if it is not there, it is said why not.
    fn peer(&self, peer: &InPython, script: &str) -> Result<Option<Program>> {
        if !self.peers {
            return Ok(None);
        }
        match peer.with(self.python.as_deref(), script) {
            Ok(program) => Ok(Some(program)),
            Err(why) => {
                print(format_args!("{}: skipped: {why:#}\n", peer.name))?;
                Ok(None)
            }
        }
    }

    /// Ours, and the peers that are there; of the others it is said why not.
    fn programs(&self) -> Result<Vec<Program>> {
        let mut programs = vec![ours()?];
        if self.peers {
            let (there, missing) = peers::all(self.python.as_deref());
            programs.extend(there);
            for why in &missing {
                print(format_args!("{why}\n"))?;
            }
        }
        Ok(programs)
    }
}

/// Where numbers go, and what they may take.
#[derive(Debug, Clone, clap::Args)]
struct Limits {
    /// What an implementation's n × n matrices may take [default: 4, or what is free]
    #[arg(long, value_name = "GIB")]
    memory: Option<f64>,

    /// Where to write what was found, besides .learn/bench.json
    #[arg(long, value_name = "F")]
    json: Option<PathBuf>,
}

impl Limits {
    /// In bytes.
    fn memory(&self) -> Result<u64> {
        let free = memory::available().unwrap_or(u64::MAX);
        match self.memory {
            Some(gib) => limit(gib, free),
            None => Ok(free.min(4 << 30)),
        }
    }

    /// Keeps a run.
    fn keep(&self, run: Run) -> Result<()> {
        if let Some(file) = &self.json {
            save(&run, file)?;
        }
        keep(run)
    }
}

impl Settings {
    fn plan<'a>(
        &self,
        programs: &'a [Program],
        memory: u64,
        takes_part: TakesPart<'a>,
    ) -> Plan<'a> {
        Plan {
            programs,
            threads: self.threads,
            instructions: self.instructions,
            n_rounds: self.rounds,
            memory,
            takes_part,
        }
    }

    fn machine(&self) -> Result<Machine> {
        let bar = progress::spinner("what this machine can do");
        let (threads, instructions) = (self.threads, self.instructions);
        let peaks = (0..10).map(|_| runs::machine::fma_peak(threads, instructions));
        let machine = Machine {
            processor: processor(),
            simd: instructions.name().into(),
            threads,
            fma_peak_gflops: peaks.fold(0.0, f64::max),
            clock_ghz: runs::machine::clock_ghz(),
            bandwidth_gb_s: runs::machine::bandwidth(threads, instructions),
            versions: BTreeMap::from([("rustc".into(), rustc()?)]),
        };
        bar.finish_and_clear();
        Ok(machine)
    }
}

fn limit(gib: f64, free: u64) -> Result<u64> {
    ensure!(gib.is_finite() && gib > 0.0, "--memory is {gib}, and must be above 0");
    let limit = (gib * (1u64 << 30) as f64) as u64;
    ensure!(
        limit <= free,
        "--memory is {}, and this machine has {} free",
        table::bytes(limit),
        table::bytes(free)
    );
    Ok(limit)
}

/// What is timed must be optimised.
fn expect_optimised() -> Result<()> {
    ensure!(
        !cfg!(debug_assertions),
        "what is timed must be optimised: `cargo learn bench`, or `cargo run --release`"
    );
    Ok(())
}

/// Prints what was found, and adds to what is known of the machine.
fn tell(title: &str, found: &Measurement, machine: &mut Machine) -> Result<()> {
    machine.fma_peak_gflops = machine.fma_peak_gflops.max(found.best_peak);
    print(table::rows(title, machine, &found.rows, &found.remarks))?;
    let best = machine.fma_peak_gflops;
    if found.peak < 0.9 * best {
        print(format_args!(
            "  The machine was busy, or hot: an FMA peak of {:.0} GFLOP/s in these rounds, \
             and {best:.0} at best.\n",
            found.peak
        ))?;
    }
    machine.versions.extend(found.versions.clone());
    Ok(())
}

/// This program in its other part.
fn ours() -> Result<Program> {
    let program = env::current_exe().context("this program's own file")?;
    Ok(Program { name: "ours", is_peer: false, program, args: vec!["ours".into()] })
}

/// Keeps a run for the book and the notebooks.
fn keep(run: Run) -> Result<()> {
    let folder = paths::state();
    fs::create_dir_all(&folder)
        .with_context(|| format!("{} could not be made", folder.display()))?;
    let file = paths::bench_run();
    let earlier = fs::read_to_string(&file).ok().and_then(|text| Run::parse(&text).ok());
    let run = match earlier {
        Some(earlier) => run.over(earlier),
        None => run,
    };
    save(&run, &file)?;
    print(format_args!("Kept in {}.\n", file.display()))?;
    Ok(())
}

fn save(run: &Run, file: &Path) -> Result<()> {
    whole::write(file, run.to_text()?.as_bytes())
        .with_context(|| format!("{} could not be written", file.display()))
}

/// The processor's name, where the system says it.
fn processor() -> String {
    let linux = fs::read_to_string("/proc/cpuinfo").unwrap_or_default();
    let name = linux.lines().find_map(|line| line.strip_prefix("model name"));
    if let Some(name) = name {
        return name.trim_start_matches([' ', '\t', ':']).trim().to_owned();
    }
    let asked =
        process::Command::new("sysctl").args(["-n", "machdep.cpu.brand_string"]).output();
    let said =
        asked.map(|output| String::from_utf8_lossy(&output.stdout).trim().to_owned());
    said.ok()
        .filter(|name| !name.is_empty())
        .unwrap_or_else(|| "unknown processor".into())
}

fn rustc() -> Result<String> {
    let said =
        process::Command::new("rustc").arg("--version").output().context("rustc")?;
    let said = String::from_utf8_lossy(&said.stdout);
    Ok(said.split_whitespace().nth(1).unwrap_or("unknown").to_owned())
}

#[cfg(test)]
mod tests;
