//! `cargo learn spread`: a layer by many processes, compiled where there is an MPI.

use std::ffi::OsString;
use std::fs;
use std::path::{Path, PathBuf};
use std::process::{Command, ExitCode};

use anyhow::{Context, Result, bail, ensure};
use workshop::build::{self, NotCompiled};
use workshop::{group, in_ci, paths, step};

/// What must be installed.
const INSTALL: &str = "Needed are an MPI (Open MPI or MPICH) and libclang:\n  Debian, \
    Ubuntu  sudo apt install libopenmpi-dev openmpi-bin libclang-dev\n  Fedora          \
    sudo dnf install openmpi-devel clang-devel\n  macOS           brew install open-mpi \
    llvm\nEverything else works without them.";

/// How many processes, on which machines, and what they compute.
#[derive(Debug, clap::Args)]
pub struct Args {
    /// How many processes
    #[arg(long, default_value_t = 2)]
    processes: usize,
    /// A file with one host per line, as mpirun takes it; this machine without it
    #[arg(long, value_name = "FILE")]
    hostfile: Option<PathBuf>,
    /// Sequences, tokens of each, width of the model and heads: 1,4096,256,8; or 003 or 004
    #[arg(long)]
    case: Option<String>,
    /// heads, tokens, both or batch; all in turn without it
    #[arg(long)]
    split: Option<String>,
    /// How many groups of heads `both` has
    #[arg(long, value_name = "N")]
    by_heads: Option<usize>,
    /// Every token sees every other, and not only those before it
    #[arg(long)]
    open: bool,
    /// Threads of each process
    #[arg(long, value_name = "N", value_parser = threads)]
    threads: Option<usize>,
    /// How often each split is timed
    #[arg(long, value_name = "N", value_parser = repeats)]
    repeats: Option<usize>,
    /// Add what is measured to this file, a line of JSON for each split
    #[arg(long, value_name = "FILE")]
    record: Option<PathBuf>,
}

/// As the program asks too, of which each process would say it.
fn threads(text: &str) -> Result<usize> {
    within(text, std::thread::available_parallelism().map_or(1, usize::from))
}

fn repeats(text: &str) -> Result<usize> {
    within(text, 10_000)
}

fn within(text: &str, most: usize) -> Result<usize> {
    let number: usize = text.parse()?;
    ensure!((1..=most).contains(&number), "expected 1 to {most}");
    Ok(number)
}

/// Compiles the program, and becomes the `mpirun` that starts it.
pub fn run(args: &Args) -> ExitCode {
    let become_it = || -> Result<ExitCode> {
        let mut mpirun = mpirun(args)?;
        mpirun.arg(program()?).args(args.of_each());
        group::replace(&mut mpirun).context("mpirun could not be started")
    };
    become_it().unwrap_or_else(|error| workshop::exit(Err(error)))
}

impl Args {
    /// What every process is given.
    fn of_each(&self) -> Vec<OsString> {
        let count = |n: Option<usize>| n.map(|n| n.to_string());
        let values = [
            ("--case", self.case.clone()),
            ("--split", self.split.clone()),
            ("--by-heads", count(self.by_heads)),
            ("--threads", count(self.threads)),
            ("--repeats", count(self.repeats)),
        ];
        let given = values.into_iter().filter_map(|(name, value)| Some((name, value?)));
        let mut all: Vec<OsString> =
            given.flat_map(|(name, value)| [name.into(), value.into()]).collect();
        let record = self.record.as_ref().map(|file| ["--record".into(), file.into()]);
        all.extend(record.into_iter().flatten());
        all.extend(self.open.then(|| "--open".into()));
        all
    }
}

/// Format, lints and tests of `crates/3-fast/distributed/mpi`, where there is an MPI.
///
/// # Errors
/// What does not hold, with the end of its log.
pub fn verify() -> Result<String> {
    if version().is_none() {
        return Ok("not looked at: there is no MPI here".into());
    }
    let mut format = build::cargo();
    step::run("ranks-format", format.args(["fmt", "--check"]).current_dir(folder()))?;
    let mut clippy = cargo("clippy");
    clippy.arg("--all-targets");
    if in_ci() {
        clippy.args(["--", "-D", "warnings"]);
    }
    step::run("ranks-lints", &mut clippy)?;
    step::run("ranks", &mut cargo("test"))?;
    Ok("a layer by 1, 2, 3, 4 and 8 processes, and what becomes of those that fail"
        .into())
}

/// A command of cargo on `crates/3-fast/distributed/mpi`.
fn cargo(command: &str) -> Command {
    let mut cargo = build::cargo();
    cargo.args([command, "--release", "--locked"]).current_dir(folder());
    cargo.env("CARGO_TARGET_DIR", paths::state().join("ranks"));
    cargo
}

fn folder() -> PathBuf {
    paths::workspace().join("crates/3-fast/distributed/mpi")
}

/// The program of `crates/3-fast/distributed/mpi`.
fn program() -> Result<PathBuf> {
    let mut cargo = cargo("build");
    cargo.args(["--bin", "ranks"]);
    match build::program(cargo, "ranks") {
        Ok(built) => Ok(built.program),
        Err(error) => match error.downcast_ref::<NotCompiled>() {
            Some(why) if why.diagnostics.contains("libclang") => {
                bail!("libclang was not found.\n{INSTALL}")
            }
            _ => Err(error),
        },
    }
}

/// The `mpirun` of this machine, with what it needs.
fn mpirun(args: &Args) -> Result<Command> {
    ensure!(args.processes > 0, "--processes is 0, and must be at least 1");
    let Some(version) = version() else {
        bail!("There is no MPI here: mpirun and mpicc were not both found.\n{INSTALL}");
    };
    let is_open_mpi = version.contains("Open MPI") || version.contains("OpenRTE");
    let mut mpirun = Command::new("mpirun");
    mpirun.arg("-n").arg(args.processes.to_string());
    if is_open_mpi {
        // Not bound to one processor, so that each can have several threads.
        mpirun.args(["--bind-to", "none"]);
        // Told of more processes than it knows processors for, Open MPI lets others go first
        // while a process waits: a message then takes milliseconds.
        let n_here = std::thread::available_parallelism().map_or(1, usize::from);
        if args.hostfile.is_none() && args.processes > n_here {
            mpirun.arg("--oversubscribe");
        }
        if says("id", "-u").is_some_and(|id| id.trim() == "0") {
            mpirun.arg("--allow-run-as-root");
        }
    }
    if let Some(file) = &args.hostfile {
        check_hosts(file)?;
        mpirun.arg(if is_open_mpi { "--hostfile" } else { "-f" }).arg(file);
    }
    Ok(mpirun)
}

/// What MPI there is, with which programs can be compiled and started.
fn version() -> Option<String> {
    says("mpicc", "-show")?;
    says("mpirun", "--version")
}

fn says(program: &str, arg: &str) -> Option<String> {
    let output = Command::new(program).arg(arg).output().ok()?;
    Some(String::from_utf8_lossy(&output.stdout).into_owned())
}

/// A list of hosts that names at least one.
fn check_hosts(file: &Path) -> Result<()> {
    let text = fs::read_to_string(file)
        .with_context(|| format!("the hostfile {} cannot be read", file.display()))?;
    let is_host = |line: &str| !line.trim().is_empty() && !line.trim().starts_with('#');
    ensure!(
        text.lines().any(is_host),
        "the hostfile {} names no host: one per line is needed, such as `node1 slots=4`",
        file.display()
    );
    Ok(())
}

#[cfg(test)]
mod unit_tests {
    use super::*;

    #[test]
    fn a_hostfile_must_name_a_host() {
        let folder = std::env::temp_dir().join(format!("hosts-{}", std::process::id()));
        fs::create_dir_all(&folder).unwrap();
        let check = |text: &str| {
            let file = folder.join("hosts");
            fs::write(&file, text).unwrap();
            check_hosts(&file).map_err(|error| error.to_string())
        };
        assert!(check("# ours\nnode1 slots=4\n").is_ok());
        for text in ["", "\n \n", "# node1\n"] {
            let why = check(text).unwrap_err();
            assert!(
                why.ends_with(
                    "names no host: one per line is needed, such as `node1 slots=4`"
                ),
                "{why}"
            );
        }
        let why = check_hosts(&folder.join("none")).unwrap_err().to_string();
        assert!(why.ends_with("none cannot be read"), "{why}");
        fs::remove_dir_all(&folder).unwrap();
    }
}
