//! `cargo learn bench`: the ladder on this machine, beside other implementations.

mod decode;
mod growth;
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
mod writing;

use std::collections::BTreeMap;
use std::env;
use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;
use std::thread;

use anyhow::{Context, Result, ensure};
use tiles::Instructions;

use runs::{CASES, Case, CaseReport, Machine, Pass, Point, Run};
use workshop::output::print;
use workshop::{paths, progress, whole};

use measure::{Measurement, Plan, TakesPart, measure};
use side::Program;

pub use ours::{Args as OursArgs, serve};

/// The ladder timed on your machine, and beside PyTorch, candle and burn
///
/// Everyone first gives the right answer, within 1e-4 of f64, or has no row. Then come
/// rounds, in each of which everyone runs once, in turn.
#[derive(Debug, clap::Args)]
pub struct Args {
    /// What is timed: 003, 004, 1k-causal, 4k, 16k [default: all, or none with --growth]
    #[arg(long = "case", value_name = "NAME")]
    cases: Vec<String>,

    /// Beside PyTorch, candle and burn: the last two are compiled (minutes, once)
    #[arg(long)]
    peers: bool,

    /// A Python that has torch and safetensors [default: the first that has]
    #[arg(long, value_name = "P", requires = "peers")]
    python: Option<PathBuf>,

    /// Also forward and backward: the gradients of the input and of all parameters
    #[arg(long)]
    backward: bool,

    /// Only the product of one projection, which --peers measures too: how much of a layer's
    /// speed is that of its products
    #[arg(long, conflicts_with_all = ["backward", "growth", "rungs"])]
    product: bool,

    /// Only one new token on a cache, of 9 query heads that share 3 of keys and values, for
    /// 512, 4,096 and 16,384 cached tokens of 1 and of 8 sequences; with --peers beside
    /// PyTorch. With --model a whole model that writes
    #[arg(long, conflicts_with_all = ["cases", "backward", "growth", "product", "rungs"])]
    decode: bool,

    /// A GGUF file or a folder: a prompt and the tokens behind it, with weights as floats and
    /// as the file has them; with --peers beside llama.cpp
    #[arg(long, value_name = "MODEL", requires = "decode")]
    model: Option<PathBuf>,

    /// How many rounds count
    #[arg(long, value_name = "N", default_value_t = 7)]
    rounds: usize,

    /// How many threads everyone has [default: all]
    #[arg(long, value_name = "N")]
    threads: Option<usize>,

    /// The vector instructions of the last rung and the FMA peak: avx-512, avx2, neon, scalar [default: the
    /// best of this processor]
    #[arg(long, value_name = "NAME")]
    simd: Option<String>,

    /// Only these of ours
    #[arg(long = "rung", value_name = "NAME")]
    rungs: Vec<String>,

    /// What an implementation's n × n matrices may take [default: 4, or what is free]
    #[arg(long, value_name = "GIB")]
    memory: Option<f64>,

    /// Time and memory of 256, 512, … up to N tokens [default N: 32768]
    #[arg(
        long,
        value_name = "N",
        num_args = 0..=1,
        require_equals = true,
        default_missing_value = "32768"
    )]
    growth: Option<usize>,

    /// Where to write what was found, besides .learn/bench.json
    #[arg(long, value_name = "F")]
    json: Option<PathBuf>,
}

/// Beyond these a median moves no more, and a bench takes days.
const MOST_ROUNDS: usize = 10_000;

/// What is to be done, after all arguments were found good.
struct Settings {
    cases: Vec<Case>,
    rungs: Vec<String>,
    instructions: Instructions,
    threads: usize,
    rounds: usize,
    memory: u64,
}

/// Checks, times and prints.
///
/// # Errors
/// An argument that does not fit, with what there is.
pub fn run(args: &Args) -> Result<()> {
    let settings = Settings::new(args)?;
    ensure!(
        !cfg!(debug_assertions),
        "what is timed must be optimised: `cargo learn bench`, or `cargo run --release`"
    );
    let python = args.peers.then_some(args.python.as_deref());
    match &args.model {
        Some(model) => return writing::run(&settings, model, python),
        None if args.decode => return decode::run(&settings, python),
        None => {}
    }
    let mut programs = vec![ours()?];
    if args.peers {
        let (there, missing) = peers::all(args.python.as_deref());
        programs.extend(there);
        for why in &missing {
            print(format_args!("{why}\n"))?;
        }
    }
    let run = settings.run(args, &programs)?;
    if let Some(file) = &args.json {
        save(&run, file)?;
    }
    keep(run)
}

impl Args {
    /// What is timed of each case.
    fn passes(&self) -> Vec<Pass> {
        let is_wanted = |pass: &Pass| match pass {
            Pass::Forward => !self.product,
            Pass::ForwardBackward => self.backward,
            Pass::Product => self.product || self.peers,
        };
        Pass::ALL.into_iter().filter(is_wanted).collect()
    }
}

impl Settings {
    fn new(args: &Args) -> Result<Self> {
        let no_cases = args.cases.is_empty() && args.growth.is_some();
        let cases = match args.cases.is_empty() {
            true if no_cases => Vec::new(),
            true => CASES.to_vec(),
            false => Case::named(&args.cases)?,
        };
        let names = ours::names()?;
        for rung in &args.rungs {
            ensure!(
                names.contains(&rung.as_str()),
                "there is no rung {rung:?}; there are {}",
                names.join(", ")
            );
        }
        if let Some(longest) = args.growth {
            ensure!(
                longest >= growth::SHORTEST,
                "--growth is {longest}, and must be at least {}",
                growth::SHORTEST
            );
            ensure!(
                longest <= growth::LONGEST,
                "--growth is {longest}, and must be at most {}",
                growth::LONGEST
            );
        }
        ensure!(args.rounds > 0, "--rounds is 0, and must be at least 1");
        ensure!(
            args.rounds <= MOST_ROUNDS,
            "--rounds is {}, and must be at most {MOST_ROUNDS}",
            args.rounds
        );
        let all = thread::available_parallelism().map_or(1, usize::from);
        let threads = args.threads.unwrap_or(all);
        ensure!(
            (1..=all).contains(&threads),
            "--threads is {threads}, and this machine runs 1 to {all} at once"
        );
        let instructions = match &args.simd {
            Some(name) => ours::instructions(name).context("--simd")?,
            None => Instructions::best(),
        };
        let free = memory::available().unwrap_or(u64::MAX);
        let memory = match args.memory {
            Some(gib) => limit(gib, free)?,
            None => free.min(4 << 30),
        };
        let (rungs, rounds) = (args.rungs.clone(), args.rounds);
        Ok(Self { cases, rungs, instructions, threads, rounds, memory })
    }

    fn run(&self, args: &Args, programs: &[Program]) -> Result<Run> {
        let mut machine = self.machine()?;
        print(table::machine(&machine))?;
        let wanted = |program: &Program, variant: &str| {
            program.is_peer
                || self.rungs.is_empty()
                || self.rungs.iter().any(|rung| rung == variant)
        };
        let mut cases = Vec::new();
        for case in &self.cases {
            let mut rows = Vec::new();
            for pass in args.passes() {
                let takes_part: TakesPart<'_> = match pass {
                    Pass::Product => &|_, _| true,
                    _ => &wanted,
                };
                let found = measure(case, pass, &self.plan(programs, takes_part))?;
                tell(
                    &format!("{} {case} · {}", case.name, pass.name()),
                    &found,
                    &mut machine,
                )?;
                rows.extend(found.rows);
            }
            cases.push(CaseReport::new(case, rows));
        }
        let growth = match args.growth {
            None => Vec::new(),
            Some(longest) => self.growth(longest, programs, &mut machine)?,
        };
        print(table::LEGEND)?;
        Ok(Run { machine, cases, growth })
    }

    /// The last rung and the first, and PyTorch with and without n × n matrices.
    fn growth(
        &self,
        longest: usize,
        programs: &[Program],
        machine: &mut Machine,
    ) -> Result<Vec<Point>> {
        let last = ours::last_rung()?;
        let grows = |_: &Program, variant: &str| {
            [last, "plain", "PyTorch sdpa", "PyTorch textbook"].contains(&variant)
        };
        let programs: Vec<_> = programs
            .iter()
            .filter(|program| program.name != peers::RUST)
            .cloned()
            .collect();
        let plan = self.plan(&programs, &grows);
        let growth = growth::measure_all(&plan, longest, |case, found| {
            tell(&case.to_string(), found, machine)
        })?;
        print(growth::slopes(&growth))?;
        Ok(growth)
    }

    fn plan<'a>(&self, programs: &'a [Program], takes_part: TakesPart<'a>) -> Plan<'a> {
        Plan {
            programs,
            threads: self.threads,
            instructions: self.instructions,
            n_rounds: self.rounds,
            memory: self.memory,
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
    let asked = Command::new("sysctl").args(["-n", "machdep.cpu.brand_string"]).output();
    let said =
        asked.map(|output| String::from_utf8_lossy(&output.stdout).trim().to_owned());
    said.ok()
        .filter(|name| !name.is_empty())
        .unwrap_or_else(|| "unknown processor".into())
}

fn rustc() -> Result<String> {
    let said = Command::new("rustc").arg("--version").output().context("rustc")?;
    let said = String::from_utf8_lossy(&said.stdout);
    Ok(said.split_whitespace().nth(1).unwrap_or("unknown").to_owned())
}

#[cfg(test)]
mod tests;
