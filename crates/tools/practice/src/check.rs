//! Compiles an answer, runs it, and passes on what it says.

use std::io::{IsTerminal, Read};
use std::path::{Path, PathBuf};
use std::process::{Command, ExitStatus, Stdio};
use std::thread;
use std::time::{Duration, Instant};

use crate::entry::{self, Entry};
use anyhow::{Context, Result, bail};

use super::files;
use workshop::progress;

/// A program ends itself after five seconds; this is for one whose `main` never gets there.
const LIMIT: Duration = Duration::from_secs(60);

/// Checks one exercise, prints all that its check says, and tells whether it passed.
pub fn one(entry: &Entry) -> Result<bool> {
    files::expect_text(entry)?;
    compile(entry)?;
    let said = run(&files::set(), entry)?;
    print!("{}", said.text);
    verdict(&said)?;
    Ok(said.status.success())
}

/// Checks every exercise, says of each how it stands, and tells whether all passed.
pub fn all() -> Result<bool> {
    let entries = entry::all()?;
    let mut passed = 0;
    for entry in &entries {
        let standing = standing(entry).unwrap_or_else(|error| {
            let number = entry.number();
            let title = entry.title();
            let text = format!("{error:#}");
            match text.split_once('\n') {
                Some((first, _)) => format!(
                    "✗ {number:02} · {title}: {}; `cargo learn check {number}` shows more",
                    first.trim_end_matches(['.', ':'])
                ),
                None => format!("✗ {number:02} · {title}: {text}"),
            }
        });
        passed += usize::from(standing.starts_with('✓'));
        println!("{standing}");
    }
    println!("\n{passed} of {} passed", entries.len());
    Ok(passed == entries.len())
}

/// The first line of the verdict.
fn standing(entry: &Entry) -> Result<String> {
    files::expect_text(entry)?;
    compile(entry)?;
    let said = run(&files::set(), entry)?;
    verdict(&said).map(str::to_string)
}

/// The first line of what the check says, under whatever the answer itself printed.
fn verdict(said: &Said) -> Result<&str> {
    let mut lines = said.text.lines();
    let verdict = lines.rfind(|line| line.starts_with(['✓', '✗', '○']));
    verdict.with_context(|| match said.status.code() {
        Some(_) => "it ended without a verdict: does the answer end the program?".to_string(),
        None => format!(
            "it was ended by the system ({}): a function that calls itself without an end, \
             or more memory than there is",
            said.status
        ),
    })
}

fn compile(entry: &Entry) -> Result<()> {
    let bar = progress::spinner(format!(
        "compiling {} (the first time, a minute)",
        entry.name()
    ));
    let color = if std::io::stderr().is_terminal() { "always" } else { "never" };
    let mut build = files::cargo(&files::set());
    build.args(["build", "--quiet", "--color", color, "--bin", entry.name()]);
    let built = build.stdin(Stdio::null()).output().context("cargo cannot be started")?;
    bar.finish_and_clear();
    if !built.status.success() {
        let text = String::from_utf8_lossy(&built.stderr);
        bail!("it does not compile yet:\n\n{}", text.trim_end());
    }
    Ok(())
}

/// What a program printed, and how it ended.
pub struct Said {
    /// What it printed.
    pub text: String,
    /// How it ended.
    pub status: ExitStatus,
}

/// Runs the compiled exercise of a set.
pub fn run(set: &Path, entry: &Entry) -> Result<Said> {
    let program = program(set, entry)?;
    let mut child = Command::new(&program)
        .current_dir(set)
        .stdin(Stdio::null())
        .stdout(Stdio::piped())
        .spawn()
        .with_context(|| format!("{} cannot be started", program.display()))?;
    let mut pipe = child.stdout.take().context("the program has no output")?;
    let reader = thread::spawn(move || {
        let mut bytes = Vec::new();
        let _ = pipe.read_to_end(&mut bytes);
        String::from_utf8_lossy(&bytes).into_owned()
    });
    let start = Instant::now();
    let status = loop {
        if let Some(status) = child.try_wait()? {
            break status;
        }
        if start.elapsed() > LIMIT {
            child.kill()?;
            child.wait()?;
            bail!("{} was stopped after {} s", entry.name(), LIMIT.as_secs());
        }
        thread::sleep(Duration::from_millis(5));
    };
    let text = reader.join().unwrap_or_default();
    Ok(Said { text, status })
}

/// Where cargo puts the program; only cargo knows, since a reader may have set another
/// folder.
fn program(set: &Path, entry: &Entry) -> Result<PathBuf> {
    let metadata = files::cargo(set)
        .args(["metadata", "--format-version", "1", "--no-deps", "--offline"])
        .output()
        .context("cargo cannot be started")?;
    let metadata: serde_json::Value = serde_json::from_slice(&metadata.stdout)
        .context("cargo says nothing of its folders")?;
    let target = metadata["target_directory"].as_str();
    let target = target.context("cargo names no target folder")?;
    let program = Path::new(target).join("debug").join(entry.name());
    Ok(program.with_extension(std::env::consts::EXE_EXTENSION))
}
