//! An answer compiled and run in the sandbox: what comes out is numbers, and no verdict.

use std::ffi::OsString;
use std::fs::{self, File};
use std::path::{Path, PathBuf};
use std::process::{Command, ExitStatus, Stdio};
use std::time::Duration;

use anyhow::{Context, Result, bail, ensure};
use checks::{ProgramOutput, run_checked, run_within};
use serde::{Deserialize, Serialize};
use serde_json::Value;
use sha2::{Digest, Sha256};
use workshop::{build, group, paths, step};

use crate::sandbox::{Room, Sandbox};
use crate::submissions::{Answer, Kind};

/// What came of running an answer.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub enum Run {
    /// The line of outcomes that its own check printed.
    Outcomes(String),
    /// What a program in Python replied.
    Replies(String),
    /// Nothing that could be judged.
    Failed {
        /// Why, in a line.
        why: String,
        /// What the compiler or the program said, for whoever wrote it.
        more: String,
    },
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
    /// `--extern NAME=FILE`, of each.
    externs: Vec<(&'static str, PathBuf)>,
    dependencies: PathBuf,
    stamp: String,
}

struct Python {
    program: PathBuf,
    readable: Vec<PathBuf>,
}

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
        let kept =
            self.kept.as_ref().map(|folder| folder.join(self.key(answer, seed, inputs)));
        let text = kept.as_ref().and_then(|path| fs::read_to_string(path).ok());
        if let Some(run) = text.and_then(|text| serde_json::from_str(&text).ok()) {
            return run;
        }
        let run = match answer.kind {
            Kind::Python => self.python(answer, inputs),
            _ => self.rust(answer, seed),
        };
        let run = run.unwrap_or_else(|error| failed(format!("{error:#}"), ""));
        if let Some(path) = kept {
            // A run that is not kept is run again.
            let _ = step::write(&path, serde_json::json!(run).to_string());
        }
        run
    }

    /// What a run depends on, as the name of a file.
    pub fn key(&self, answer: &Answer, seed: u64, inputs: &str) -> String {
        let stamp = self.crates.as_ref().map_or("", |crates| &crates.stamp);
        let head = format!(
            "{:?} {} {seed} {} {stamp}\n{inputs}\n",
            answer.kind,
            answer.exercise,
            self.sandbox.name()
        );
        let digest =
            Sha256::new().chain_update(head).chain_update(&answer.bytes).finalize();
        digest.iter().map(|byte| format!("{byte:02x}")).collect::<String>() + ".json"
    }

    fn rust(&self, answer: &Answer, seed: u64) -> Result<Run> {
        let crates = self.crates.as_ref().context("nothing is compiled for Rust")?;
        let Ok(text) = str::from_utf8(&answer.bytes) else {
            return Ok(failed("it is no UTF-8 text", ""));
        };
        let folder = tempfile::tempdir()?;
        let [source, out] = ["answer", "out"].map(|it| folder.path().join(it));
        open_to_all(&out)?;
        let name = &answer.exercise;
        let file = Path::new("exercises").join(name).with_extension("rs");
        let mut root = file.clone();
        let mut text = text.to_owned();
        if exercises::any(name).is_none() {
            // A main of its own could print what it likes: it is not called.
            text += "\npub(super) fn checked() -> std::process::ExitCode \
                     { ::layers::check(test) }\n";
            root = "main.rs".into();
            let main = format!(
                "#[path = {:?}] mod answer;\n\
                 fn main() -> std::process::ExitCode {{ answer::checked() }}\n",
                file.display().to_string().replace('\\', "/")
            );
            step::write(&source.join(&root), main)?;
        }
        step::write(&source.join(&file), text)?;
        let errors = folder.path().join("errors");
        let program = out.join("program").with_extension(std::env::consts::EXE_EXTENSION);
        let mut rustc = self.sandbox.command(
            &crates.room(&source, &out),
            &crates.sysroot.join("bin/rustc"),
            &crates.arguments(&root, &program),
        );
        rustc.stderr(File::create(&errors)?);
        let compiled = run_within(Duration::from_secs(60), rustc, "");
        let is_there = fs::symlink_metadata(&program).is_ok_and(|it| it.is_file());
        match compiled {
            Ok(output) if output.status.success() && is_there => {}
            Ok(output) => return Ok(not_compiled(&said(&errors), output.status)),
            Err(error) => {
                return Ok(failed(format!("it does not compile: {error:#}"), ""));
            }
        }
        let variables =
            [("LEARN_CHECK_OUTCOMES", "1".into()), ("LEARN_SEED", seed.to_string())];
        let room = Room {
            readable: vec![out],
            folder: folder.path().join("out"),
            variables: [("LEARN_CHECK_WORD", "1".into())]
                .into_iter()
                .chain(variables)
                .collect(),
            memory: GB,
            seconds: 10,
            n_processes: 16,
            file: 16 * MB,
            ..Room::default()
        };
        let mut command = self.sandbox.command(&room, &program, &[]);
        command.stderr(Stdio::null());
        let output = match run_checked(Duration::from_secs(12), command) {
            Ok(output) => output,
            Err(error) => return Ok(failed(format!("{error:#}"), "")),
        };
        let line = output.text.lines().last().filter(|_| output.is_checked);
        Ok(line
            .map_or_else(|| without_numbers(&output), |it| Run::Outcomes(it.to_owned())))
    }

    fn python(&self, answer: &Answer, inputs: &str) -> Result<Run> {
        let python = self.python.as_ref().context("no Python was found")?;
        let folder = tempfile::tempdir()?;
        let [source, errors] = ["answer", "errors"].map(|it| folder.path().join(it));
        let file = source.join(&answer.exercise).with_extension("py");
        step::write(&file, &answer.bytes)?;
        step::write(&source.join("learn.py"), checks::LEARN_PY)?;
        let mut readable = python.readable.clone();
        readable.push(source.clone());
        let room = Room {
            readable,
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
        let output = match run_within(Duration::from_secs(30), command, inputs) {
            Ok(output) => output,
            Err(error) => return Ok(failed(format!("{error:#}"), "")),
        };
        // A place in it is named as in the submission.
        let inside = format!("{}{}", source.display(), std::path::MAIN_SEPARATOR);
        let said = said(&errors).replace(&inside, "exercises/");
        Ok(match said.lines().last() {
            Some(last) if !output.status.success() => {
                failed(format!("it failed: {last}"), &said)
            }
            None if !output.status.success() => without_numbers(&output),
            _ => Run::Replies(output.text.replace(&inside, "exercises/")),
        })
    }
}

impl Crates {
    fn compiled() -> Result<Self> {
        let mut cargo = build::cargo();
        cargo.args(["build", "--package", "exercises", "--package", "layers"]);
        cargo.args([
            "--config",
            "profile.dev.debug=false",
            "--message-format=json",
            "--quiet",
        ]);
        cargo.arg("--target-dir").arg(paths::workspace().join("target/class"));
        let output = group::output(&mut cargo).context("cargo cannot be started")?;
        let text = String::from_utf8_lossy(&output.stdout);
        ensure!(output.status.success(), "what answers use does not compile");
        let mut crates = Self {
            sysroot: sysroot()?,
            externs: Vec::new(),
            dependencies: PathBuf::new(),
            stamp: String::new(),
        };
        for name in ["exercises", "layers"] {
            let messages =
                text.lines().filter_map(|it| serde_json::from_str::<Value>(it).ok());
            let mut files = messages
                .filter(|it| it["target"]["name"] == name)
                .flat_map(|it| it["filenames"].as_array().cloned().unwrap_or_default())
                .filter_map(|it| it.as_str().map(PathBuf::from));
            let file = files.find(|it| it.extension().is_some_and(|end| end == "rlib"));
            let file = file.with_context(|| format!("cargo made no {name}"))?;
            let found = fs::metadata(&file)?;
            crates.stamp += &format!("{:?} {} ", found.modified()?, found.len());
            let folder = file.parent().unwrap_or(Path::new("/"));
            let is_deps = folder.ends_with("deps");
            crates.dependencies =
                if is_deps { folder.into() } else { folder.join("deps") };
            crates.externs.push((name, file));
        }
        Ok(crates)
    }

    fn arguments(&self, root: &Path, program: &Path) -> Vec<OsString> {
        let mut arguments: Vec<OsString> = "--edition 2024 --crate-name answer --crate-type bin \
            -A warnings -F unsafe_code -C debuginfo=line-tables-only --diagnostic-width 84"
            .split_whitespace()
            .map(OsString::from)
            .collect();
        for (name, file) in &self.externs {
            arguments
                .extend(["--extern".into(), format!("{name}={}", file.display()).into()]);
        }
        let dependencies = format!("dependency={}", self.dependencies.display());
        arguments.extend(["-L".into(), dependencies.into(), "-o".into(), program.into()]);
        arguments.push(root.into());
        arguments
    }

    fn room(&self, source: &Path, out: &Path) -> Room {
        let linker = ["/usr/bin", "/bin", "/usr/libexec", "/etc/alternatives"];
        let mut readable: Vec<PathBuf> = linker.map(PathBuf::from).into();
        readable.extend([&self.sysroot, &self.dependencies].map(PathBuf::from));
        readable.extend(self.externs.iter().map(|(_, file)| file.clone()));
        readable.push(source.to_owned());
        let path = std::env::var("PATH").unwrap_or_default();
        Room {
            readable,
            writable: Some(out.to_owned()),
            folder: source.to_owned(),
            variables: vec![("PATH", path), ("TMPDIR", out.display().to_string())],
            memory: 4 * GB,
            seconds: 60,
            n_processes: 128,
            file: 128 * MB,
        }
    }
}

fn sysroot() -> Result<PathBuf> {
    let rustc = std::env::var_os("RUSTC").unwrap_or_else(|| "rustc".into());
    let mut rustc = Command::new(rustc);
    rustc.args(["--print", "sysroot"]).current_dir(paths::workspace());
    let output = rustc.output().context("rustc cannot be started")?;
    Ok(String::from_utf8_lossy(&output.stdout).trim().into())
}

impl Python {
    fn found(program: &str) -> Result<Self> {
        const ASK: &str = "import sys; \
            print('\\n'.join([sys.executable, sys.prefix, sys.base_prefix, *sys.path[1:]]))";
        let output = Command::new(program).args(["-c", ASK]).output();
        let output = output.with_context(|| format!("{program} cannot be started"))?;
        let text = String::from_utf8_lossy(&output.stdout).into_owned();
        let mut lines = text.lines().map(PathBuf::from);
        let Some(program) = lines.next() else { bail!("{program} is no Python") };
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

fn failed(why: impl Into<String>, more: &str) -> Run {
    let more = more.lines().take(60).collect::<Vec<_>>().join("\n");
    Run::Failed { why: why.into(), more }
}

/// What a program wrote to standard error.
fn said(file: &Path) -> String {
    let bytes = fs::read(file).unwrap_or_default();
    String::from_utf8_lossy(&bytes[..bytes.len().min(64 * 1024)]).into_owned()
}

fn not_compiled(said: &str, status: ExitStatus) -> Run {
    let mut lines = said.lines().skip_while(|line| !line.starts_with("error"));
    let Some(error) = lines.next() else {
        return failed(
            format!("the compiler was ended by the limits of a sandbox ({status})"),
            said,
        );
    };
    let place = lines.find_map(|line| line.trim().strip_prefix("--> "));
    let place = place.and_then(|place| place.split(':').nth(1));
    let place = place.map(|line| format!(" (line {line})")).unwrap_or_default();
    failed(format!("it does not compile: {error}{place}"), said)
}

/// Why a program that ended gave nothing.
fn without_numbers(output: &ProgramOutput) -> Run {
    #[cfg(unix)]
    let signal = std::os::unix::process::ExitStatusExt::signal(&output.status);
    #[cfg(not(unix))]
    let signal: Option<i32> = None;
    // A sandbox passes a signal on as a code.
    let signal =
        signal.or(output.status.code().filter(|code| *code > 128).map(|code| code - 128));
    failed(
        match signal {
            None => "it ended without its numbers: does it end the program?".to_owned(),
            Some(6) => {
                "it was ended by the system: more memory than an answer may have, or a \
                        function that calls itself without an end"
                    .to_owned()
            }
            Some(24) => {
                "it was ended: it took more time of a processor than it may".to_owned()
            }
            Some(25) => "it was ended: it wrote a larger file than it may".to_owned(),
            Some(signal) => format!("it was ended by the system (signal {signal})"),
        },
        "",
    )
}
