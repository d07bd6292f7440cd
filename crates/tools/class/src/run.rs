//! An answer compiled and run in the sandbox: what comes out is numbers, and no verdict.

use std::ffi::OsString;
use std::fs::{self, File};
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};
use std::time::Duration;

use anyhow::{Context, Result, bail, ensure};
use checks::{ProgramOutput, run_checked, run_within};
use serde::{Deserialize, Serialize};
use sha2::{Digest, Sha256};
use tempfile::TempDir;
use workshop::{build, paths, step};

use crate::sandbox::{Room, Sandbox};
use crate::submissions::{Answer, Kind};

/// What came of running an answer.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub enum Run {
    /// The line of outcomes that its own check printed.
    Outcomes(String),
    /// What a program in Python replied.
    Replies(String),
    /// Nothing that could be judged: why, in a line, and below it what the compiler said.
    Failed(String),
}

/// What answers are compiled and run with.
pub struct Runner {
    sandbox: Sandbox,
    /// Where runs are kept; nowhere in a test.
    kept: Option<PathBuf>,
    crates: Option<Crates>,
    python: Option<Python>,
}

/// What every answer in Rust uses, compiled.
struct Crates {
    sysroot: PathBuf,
    folder: PathBuf,
    stamp: String,
}

struct Python {
    program: PathBuf,
    readable: Vec<PathBuf>,
}

/// What an answer uses.
const USED: [&str; 2] = ["exercises", "layers"];

const GB: u64 = 1 << 30;
const MB: u64 = 1 << 20;

impl Runner {
    /// Compiles what answers in Rust use, and asks the Python where it lives, where any of
    /// these answers needs it.
    ///
    /// # Errors
    /// What does not compile; a Python that cannot be started.
    pub fn new<'a>(
        sandbox: Sandbox,
        kept: Option<PathBuf>,
        answers: impl Iterator<Item = &'a Answer> + Clone,
        python: &str,
    ) -> Result<Self> {
        let any = |kind| answers.clone().any(|it| it.kind == kind);
        let crates = any(Kind::Rust).then(Crates::compiled).transpose()?;
        let python = any(Kind::Python).then(|| Python::found(python)).transpose()?;
        Ok(Self { sandbox, kept, crates, python })
    }

    /// Runs an answer, or takes what is kept of a run of the same text. `inputs` are for a
    /// program in Python, and a check in Rust draws its own by the seed.
    pub fn run(&self, answer: &Answer, seed: u64, inputs: &str) -> Run {
        let key = || self.key(answer, seed, inputs) + ".json";
        let kept = self.kept.as_ref().map(|folder| folder.join(key()));
        let text = kept.as_ref().and_then(|path| fs::read_to_string(path).ok());
        if let Some(run) = text.and_then(|text| serde_json::from_str(&text).ok()) {
            return run;
        }
        let run = match answer.kind {
            Kind::Python => self.python(answer, inputs),
            _ => self.rust(answer, seed),
        };
        let run = run.unwrap_or_else(|error| Run::Failed(format!("{error:#}")));
        if let Some(path) = kept {
            // A run that is not kept is run again.
            let _ = step::write(&path, serde_json::json!(run).to_string());
        }
        run
    }

    /// What a run depends on, as a name.
    pub fn key(&self, answer: &Answer, seed: u64, inputs: &str) -> String {
        let stamp = self.crates.as_ref().map_or("", |crates| &crates.stamp);
        let (name, sandbox) = (&answer.exercise, self.sandbox.name());
        let head =
            format!("{:?} {name} {seed} {sandbox} {stamp}\n{inputs}\n", answer.kind);
        let digest =
            Sha256::new().chain_update(head).chain_update(&answer.bytes).finalize();
        digest.iter().map(|byte| format!("{byte:02x}")).collect()
    }

    fn rust(&self, answer: &Answer, seed: u64) -> Result<Run> {
        let folder = tempfile::tempdir()?;
        let program = self.program(answer, &folder)?;
        let out = folder.path().join("out");
        let room = Room {
            readable: vec![out.clone()],
            folder: out,
            variables: vec![
                ("LEARN_CHECK_WORD", "on standard input".into()),
                ("LEARN_CHECK_OUTCOMES", seed.to_string()),
            ],
            memory: GB,
            seconds: 10,
            n_processes: 16,
            file: 16 * MB,
            ..Room::default()
        };
        let mut command = self.sandbox.command(&room, &program, &[]);
        command.stderr(Stdio::null());
        let output = run_checked(Duration::from_secs(20), command)?;
        let line = output.checked_line();
        Ok(Run::Outcomes(line.with_context(|| without_numbers(&output))?.to_owned()))
    }

    /// Compiles an answer, and gives the program.
    fn program(&self, answer: &Answer, folder: &TempDir) -> Result<PathBuf> {
        let crates = self.crates.as_ref().context("nothing is compiled for Rust")?;
        let [source, out, errors] =
            ["answer", "out", "errors"].map(|it| folder.path().join(it));
        open_to_all(&out)?;
        let name = &answer.exercise;
        let file = format!("exercises/{name}.rs");
        let (mut root, mut text) = (file.as_str(), answer.bytes.clone());
        if exercises::any(name).is_none() {
            // A main of its own could print what it likes: it is not called.
            text.extend(b"\npub(super) fn checked() -> std::process::ExitCode");
            text.extend(b"{ ::layers::check(test) }\n");
            root = "main.rs";
            let main = "fn main() -> std::process::ExitCode { answer::checked() }";
            step::write(
                &source.join(root),
                format!("#[path = {file:?}] mod answer;\n{main}"),
            )?;
        }
        step::write(&source.join(&file), text)?;
        let program = out.join("program").with_extension(std::env::consts::EXE_EXTENSION);
        let mut rustc = self.sandbox.command(
            &crates.room(&source, &out),
            &crates.sysroot.join("bin/rustc"),
            &crates.arguments(root, &program),
        );
        rustc.stderr(File::create(&errors)?);
        let output = run_within(Duration::from_secs(30), rustc, "");
        let output = output.context("it does not compile")?;
        let is_there = fs::symlink_metadata(&program).is_ok_and(|it| it.is_file());
        if !output.status.success() || !is_there {
            bail!("it does not compile{}", diagnostics(&errors));
        }
        Ok(program)
    }

    fn python(&self, answer: &Answer, inputs: &str) -> Result<Run> {
        let python = self.python.as_ref().context("no Python was found")?;
        let folder = tempfile::tempdir()?;
        let [source, errors] = ["answer", "errors"].map(|it| folder.path().join(it));
        let file = source.join(&answer.exercise).with_extension("py");
        step::write(&file, &answer.bytes)?;
        step::write(&source.join("learn.py"), checks::LEARN_PY)?;
        let room = Room {
            readable: python.readable.iter().chain([&source]).cloned().collect(),
            folder: source.clone(),
            variables: ["OPENBLAS_NUM_THREADS", "OMP_NUM_THREADS"]
                .map(|name| (name, "1".to_owned()))
                .into(),
            memory: 4 * GB,
            seconds: 30,
            n_processes: 64,
            file: 16 * MB,
            ..Room::default()
        };
        let args = ["-B".into(), OsString::from(file)];
        let mut command = self.sandbox.command(&room, &python.program, &args);
        command.stderr(File::create(&errors)?);
        let output = run_within(Duration::from_secs(30), command, inputs)?;
        // A place in it is named as in the submission.
        let inside = format!("{}{}", source.display(), std::path::MAIN_SEPARATOR);
        let errors = text_of(&errors).replace(&inside, "exercises/");
        if !output.status.success() {
            let last = errors.lines().last().map(str::to_owned);
            bail!("{}\n\n{errors}", last.unwrap_or_else(|| without_numbers(&output)));
        }
        Ok(Run::Replies(output.text.replace(&inside, "exercises/")))
    }
}

impl Crates {
    fn compiled() -> Result<Self> {
        let target = paths::workspace().join("target/class");
        let mut cargo = build::cargo();
        cargo.arg("build").args(USED.iter().flat_map(|it| ["--package", it]));
        cargo.args(["--config", "profile.dev.debug=false", "--target-dir"]).arg(&target);
        cargo.env_remove("CARGO_BUILD_TARGET").env("CARGO_INCREMENTAL", "0");
        step::run("class", &mut cargo)?;
        let rustc = std::env::var_os("RUSTC").unwrap_or_else(|| "rustc".into());
        let mut rustc = Command::new(rustc);
        rustc.args(["--print", "sysroot"]).current_dir(paths::workspace());
        let output = rustc.output().context("rustc cannot be started")?;
        let sysroot = String::from_utf8_lossy(&output.stdout).trim().into();
        let mut crates =
            Self { sysroot, folder: target.join("debug"), stamp: String::new() };
        for name in USED {
            let file = crates.file(name);
            let found =
                fs::metadata(&file).with_context(|| file.display().to_string())?;
            crates.stamp += &format!("{:?} {} ", found.modified()?, found.len());
        }
        Ok(crates)
    }

    fn file(&self, name: &str) -> PathBuf {
        self.folder.join(format!("lib{name}.rlib"))
    }

    fn arguments(&self, root: &str, program: &Path) -> Vec<OsString> {
        let fixed = "--edition 2024 --crate-name answer --crate-type bin -A warnings \
                     -F unsafe_code -C debuginfo=line-tables-only --diagnostic-width 84";
        let fixed = fixed.split_whitespace().map(OsString::from);
        let externs = USED.map(|name| format!("{name}={}", self.file(name).display()));
        let externs = externs.into_iter().flat_map(|it| ["--extern".into(), it.into()]);
        let deps = format!("dependency={}", self.folder.join("deps").display());
        let rest = ["-L".into(), deps.into(), "-o".into(), program.into(), root.into()];
        fixed.chain(externs).chain(rest).collect()
    }

    fn room(&self, source: &Path, out: &Path) -> Room {
        let linker = ["/usr/bin", "/bin", "/usr/libexec", "/etc/alternatives"];
        let own = [self.sysroot.clone(), self.folder.join("deps"), source.to_owned()];
        let files = USED.map(|name| self.file(name));
        let path = std::env::var("PATH").unwrap_or_default();
        Room {
            readable: linker
                .map(PathBuf::from)
                .into_iter()
                .chain(own)
                .chain(files)
                .collect(),
            writable: Some(out.to_owned()),
            folder: source.to_owned(),
            variables: vec![("PATH", path), ("TMPDIR", out.display().to_string())],
            memory: 2 * GB,
            seconds: 30,
            n_processes: 128,
            file: 128 * MB,
        }
    }
}

impl Python {
    fn found(program: &str) -> Result<Self> {
        const ASK: &str = "import sys; \
            print('\\n'.join([sys.executable, sys.prefix, sys.base_prefix, *sys.path[1:]]))";
        let output = Command::new(program).args(["-c", ASK]).output();
        let output = output.with_context(|| format!("{program} cannot be started"))?;
        ensure!(output.status.success(), "{program} is no Python");
        let text = String::from_utf8_lossy(&output.stdout).into_owned();
        let mut lines = text.lines().map(PathBuf::from);
        let program = lines.next().with_context(|| format!("{program} is no Python"))?;
        Ok(Self { program, readable: lines.filter(|path| path.exists()).collect() })
    }
}

/// A folder to which another user may write: it lies in one that only this user may enter.
fn open_to_all(folder: &Path) -> Result<()> {
    fs::create_dir_all(folder)?;
    #[cfg(unix)]
    fs::set_permissions(folder, std::os::unix::fs::PermissionsExt::from_mode(0o777))?;
    Ok(())
}

/// The start of what a program wrote to standard error.
fn text_of(file: &Path) -> String {
    let bytes = fs::read(file).unwrap_or_default();
    let text = String::from_utf8_lossy(&bytes[..bytes.len().min(64 * 1024)]).into_owned();
    text.lines().take(60).collect::<Vec<_>>().join("\n")
}

/// The first error of the compiler with its line, and below it all that it said.
fn diagnostics(file: &Path) -> String {
    let text = text_of(file);
    let mut lines = text.lines().skip_while(|line| !line.starts_with("error"));
    let Some(error) = lines.next() else {
        return " within the limits of memory and of file sizes".into();
    };
    let place =
        lines.find_map(|line| line.trim().strip_prefix("--> ")?.split(':').nth(1));
    let place = place.map(|line| format!(" (line {line})")).unwrap_or_default();
    format!(": {error}{place}\n\n{text}")
}

/// Why a program that ended gave nothing.
fn without_numbers(output: &ProgramOutput) -> String {
    #[cfg(unix)]
    let signal = std::os::unix::process::ExitStatusExt::signal(&output.status);
    #[cfg(not(unix))]
    let signal: Option<i32> = None;
    // A sandbox passes a signal on as a code.
    let by_code = output.status.code().filter(|code| *code > 128).map(|code| code - 128);
    match signal.or(by_code) {
        None => "it ended without its numbers: does it end the program?".into(),
        Some(6) => {
            "it was ended by the system: more memory than an answer may have, or a \
                    function that calls itself without an end"
                .into()
        }
        Some(24) => "it was ended: it took more time of a processor than it may".into(),
        Some(25) => "it was ended: it wrote a larger file than it may".into(),
        Some(signal) => format!("it was ended by the system (signal {signal})"),
    }
}
