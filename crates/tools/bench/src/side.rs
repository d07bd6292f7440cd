//! One side of the comparison: a process that holds the layer and answers questions.
//!
//! All sides speak alike, ours too, so that all are timed and measured alike. A side is
//! started with `FILE HEADS THREADS CAUSAL INSTRUCTIONS`, says its versions and variants
//! on one line (`PyTorch 2.15.0⇥textbook⇥sdpa`), and then answers a line with a line, all
//! parts separated by tabs:
//!
//! | question | answer |
//! | --- | --- |
//! | `needs VARIANT PASS` | the bytes of its n × n matrices at once, or `no` if it has no such pass |
//! | `check VARIANT PASS FILE` | `written`, after it wrote the results |
//! | `time VARIANT PASS` | milliseconds of one pass; of short ones the mean of many |
//! | `memory VARIANT PASS` | peak bytes beyond input, parameters and results, or `-` |
//!
//! A variant of the pass `product` has no other: it multiplies all tokens by W^Q, by the
//! product that this side's layer calls.

use std::io::{self, BufRead, BufReader, Read, Write};
use std::path::{Path, PathBuf};
use std::process::{Child, ChildStdin, ChildStdout, Command, Stdio};
use std::sync::mpsc::{self, Receiver, RecvTimeoutError};
use std::thread;
use std::time::Duration;

use anyhow::{Context, Result, bail, ensure};
use tempfile::NamedTempFile;

use super::memory;
use runs::{Case, Pass};
use workshop::group::{self, Group};
use workshop::step;

/// How long a side may take to answer. The slowest pass of the longest case, in loops and
/// back, takes a few minutes.
const PATIENCE: Duration = Duration::from_secs(30 * 60);

/// The longest line that is an answer.
const LONGEST_LINE: u64 = 64 * 1024;

/// How a side is started.
#[derive(Debug, Clone)]
pub struct Program {
    /// What it is called in messages.
    pub name: &'static str,
    /// Whether it is one of the peers, and not ours.
    pub is_peer: bool,
    pub program: PathBuf,
    pub args: Vec<String>,
}

/// What a side works on.
#[derive(Debug, Clone, Copy)]
pub struct Job<'a> {
    pub file: &'a Path,
    pub case: Case,
    pub threads: usize,
    pub instructions: &'static str,
}

/// A side that runs.
pub struct Side {
    /// As in `("PyTorch", "2.15.0")`.
    pub versions: Vec<(String, String)>,
    pub variants: Vec<String>,
    /// What it says on standard error.
    log: NamedTempFile,
    process: Child,
    _group: Group,
    stdin: ChildStdin,
    lines: Receiver<io::Result<Vec<u8>>>,
    patience: Duration,
}

impl Side {
    /// Starts a side that is to be timed.
    pub fn start(program: &Program, job: &Job<'_>) -> Result<Self> {
        Self::start_with(program, job, &[])
    }

    /// Starts a side whose memory is to be measured.
    pub fn start_for_memory(program: &Program, job: &Job<'_>) -> Result<Self> {
        Self::start_with(program, job, &memory::GIVE_BACK)
    }

    fn start_with(
        program: &Program,
        job: &Job<'_>,
        environment: &[(&str, &str)],
    ) -> Result<Self> {
        let log = NamedTempFile::new().context("no place for a log")?;
        let threads = job.threads.to_string();
        let mut command = Command::new(&program.program);
        command
            .args(&program.args)
            .arg(job.file)
            .args([&job.case.heads.to_string(), &threads])
            .args([if job.case.causal { "1" } else { "0" }, job.instructions])
            .envs(environment.iter().copied());
        for library in ["OMP", "MKL", "OPENBLAS", "RAYON", "MATMUL"] {
            command.env(format!("{library}_NUM_THREADS"), &threads);
        }
        Self::speak(command, log, PATIENCE)
    }

    fn speak(
        mut command: Command,
        log: NamedTempFile,
        patience: Duration,
    ) -> Result<Self> {
        command.stdin(Stdio::piped()).stdout(Stdio::piped()).stderr(log.reopen()?);
        let (mut process, _group) = group::spawn(&mut command)
            .with_context(|| format!("{:?} does not start", command.get_program()))?;
        let stdin = process.stdin.take().context("a side has no standard input")?;
        let stdout = process.stdout.take().context("a side has no standard output")?;
        let (versions, variants, lines) = (Vec::new(), Vec::new(), lines(stdout));
        let mut side =
            Self { versions, variants, log, process, _group, stdin, lines, patience };
        let line = side.answer()?;
        let (versions, variants) = greeting(&line).with_context(|| {
            format!("it said {line:?}, not its versions and variants")
        })?;
        (side.versions, side.variants) = (versions, variants);
        Ok(side)
    }

    /// The bytes of the n × n matrices that a pass has at once; `None` if the variant has
    /// no such pass.
    pub fn needs(&mut self, variant: &str, pass: Pass) -> Result<Option<u64>> {
        let answer = self.ask(&["needs", variant, pass.name()])?;
        if answer == "no" {
            return Ok(None);
        }
        answer.parse().map(Some).with_context(|| unclear(&answer, "a number of bytes"))
    }

    /// Has the results of a pass written to a file.
    pub fn check(&mut self, variant: &str, pass: Pass, file: &Path) -> Result<()> {
        let file = file.to_str().context("the folder for results is not UTF-8")?;
        let answer = self.ask(&["check", variant, pass.name(), file])?;
        ensure!(answer == "written", unclear(&answer, "that it wrote its results"));
        Ok(())
    }

    /// The milliseconds of one run.
    pub fn time(&mut self, variant: &str, pass: Pass) -> Result<f64> {
        let answer = self.ask(&["time", variant, pass.name()])?;
        let ms: f64 = answer.parse().with_context(|| unclear(&answer, "milliseconds"))?;
        ensure!(ms.is_finite() && ms > 0.0, unclear(&answer, "milliseconds"));
        Ok(ms)
    }

    /// The peak of a pass's memory beyond input, parameters and results, where the system
    /// says it.
    pub fn memory(&mut self, variant: &str, pass: Pass) -> Result<Option<u64>> {
        let answer = self.ask(&["memory", variant, pass.name()])?;
        if answer == "-" {
            return Ok(None);
        }
        answer.parse().map(Some).with_context(|| unclear(&answer, "a number of bytes"))
    }

    fn ask(&mut self, question: &[&str]) -> Result<String> {
        let asked = writeln!(self.stdin, "{}", question.join("\t"));
        // If it cannot be asked any more, what it wrote last says why.
        asked.or_else(|_| self.stopped())?;
        self.answer()
    }

    fn answer(&mut self) -> Result<String> {
        let line = match self.lines.recv_timeout(self.patience) {
            Ok(line) => line?,
            Err(RecvTimeoutError::Disconnected) => Vec::new(),
            Err(RecvTimeoutError::Timeout) => {
                // What it says later would be taken for the answer to another question.
                self.process.kill()?;
                bail!(
                    "it said nothing for {} s, and was stopped",
                    self.patience.as_secs()
                );
            }
        };
        if line.is_empty() {
            self.stopped()?;
        }
        Ok(String::from_utf8_lossy(&line).trim_end().to_owned())
    }

    /// Why there is no answer.
    fn stopped(&mut self) -> Result<()> {
        let status = self.process.wait()?;
        match step::tail(&self.log.path().to_owned()) {
            end if end.is_empty() => bail!("it stopped ({status}) and said nothing"),
            end => bail!("it stopped ({status}):\n{end}"),
        }
    }
}

impl Drop for Side {
    fn drop(&mut self) {
        let _ = self.process.kill();
        let _ = self.process.wait();
    }
}

/// Lines as they come, read on a thread of its own: a read from a pipe has no time limit.
fn lines(stdout: ChildStdout) -> Receiver<io::Result<Vec<u8>>> {
    let (send, lines) = mpsc::sync_channel(1);
    thread::spawn(move || {
        let mut stdout = BufReader::new(stdout);
        loop {
            let mut line = Vec::new();
            let read = (&mut stdout).take(LONGEST_LINE).read_until(b'\n', &mut line);
            let is_over = !matches!(read, Ok(1..));
            if send.send(read.map(|_| line)).is_err() || is_over {
                return;
            }
        }
    });
    lines
}

fn unclear(answer: &str, expected: &str) -> String {
    format!("it said {answer:?}, not {expected}")
}

type Greeting = (Vec<(String, String)>, Vec<String>);

/// `candle 0.11.1, burn 0.21.0⇥candle⇥burn`.
fn greeting(line: &str) -> Option<Greeting> {
    let (versions, variants) = line.split_once('\t')?;
    let version = |text: &str| {
        let (name, version) = text.trim().rsplit_once(' ')?;
        Some((name.to_owned(), version.to_owned()))
    };
    let versions = versions.split(',').map(version).collect::<Option<_>>()?;
    Some((versions, variants.split('\t').map(str::to_owned).collect()))
}

#[cfg(test)]
mod tests;
