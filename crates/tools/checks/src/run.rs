//! Runs a program that a reader wrote: whatever it does, it ends, its children with it, and
//! what it prints takes no more memory than a page of a book.

use std::collections::{BTreeMap, VecDeque};
use std::io::{Read, Write};
use std::path::Path;
use std::process::{Child, Command, ExitStatus, Stdio};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError, mpsc};
use std::thread;
use std::time::{Duration, Instant};

use anyhow::{Context, Result, bail};
use workshop::group::{self, Group};

/// A program ends itself after five seconds; this is for one whose `main` never gets there.
const LIMIT: Duration = Duration::from_secs(60);

/// So many bytes from the start of what was printed are kept, and as many from its end,
/// where the verdict is.
const KEPT: usize = 512 * 1024;

/// What a program printed, and how it ended.
pub struct ProgramOutput {
    /// What it printed; of more than a MiB the start and the end.
    pub text: String,
    /// Whether the check came to its end, and gave a verdict of its own.
    pub is_checked: bool,
    /// How it ended.
    pub status: ExitStatus,
}

impl ProgramOutput {
    /// The last line, where the check came to its end: what it says as data.
    pub fn checked_line(&self) -> Option<&str> {
        self.text.lines().last().filter(|_| self.is_checked)
    }
}

/// Runs a program in a folder.
pub fn run(mut program: Command, folder: &Path) -> Result<ProgramOutput> {
    program.current_dir(folder);
    run_checked(LIMIT, program)
}

/// Runs a program whose check gives a verdict or outcomes, and tells whether it did.
///
/// # Errors
/// If it cannot be started, or is stopped since it takes too long.
pub fn run_checked(limit: Duration, mut program: Command) -> Result<ProgramOutput> {
    let word = word();
    // It stands on the standard input, from which the check takes it before the answer runs.
    program.env("LEARN_CHECK_WORD", "on standard input");
    let mut said = run_within(limit, program, &word)?;
    if let Some(at) = said.text.rfind(&format!("\n{word}\n")) {
        said.text.truncate(at + 1);
        said.is_checked = true;
    }
    Ok(said)
}

/// Runs a program in any language, gives it this text on standard input, and reads what it
/// prints.
///
/// # Errors
/// If it cannot be started, or is stopped since it takes too long.
pub fn run_with_input(program: Command, input: &str) -> Result<ProgramOutput> {
    run_within(LIMIT, program, input)
}

/// What no answer prints by accident: another for each run.
fn word() -> String {
    use std::hash::{BuildHasher, RandomState};
    let part = || RandomState::new().hash_one(std::process::id());
    format!("checked-{:016x}{:016x}", part(), part())
}

/// From here on Ctrl-C ends the program that runs, and then this one.
pub fn end_on_ctrl_c() {
    // Another handler, if there is one, knows better.
    let _ = ctrlc::set_handler(|| {
        running().clear();
        std::process::exit(130);
    });
}

/// The programs that run, by their number, with all that they started: Ctrl-C reaches us alone.
static RUNNING: Mutex<BTreeMap<u32, Group>> = Mutex::new(BTreeMap::new());

fn running() -> MutexGuard<'static, BTreeMap<u32, Group>> {
    RUNNING.lock().unwrap_or_else(PoisonError::into_inner)
}

/// Runs a program in any language with this text on standard input, for so long at most.
///
/// # Errors
/// If it cannot be started, or is stopped since it takes too long.
pub fn run_within(
    limit: Duration,
    mut command: Command,
    input: &str,
) -> Result<ProgramOutput> {
    let name = Path::new(command.get_program()).display().to_string();
    command.stdin(Stdio::piped()).stdout(Stdio::piped());
    let (mut child, group) = group::spawn(&mut command)
        .with_context(|| format!("{name} cannot be started"))?;
    running().insert(child.id(), group);
    if let Some(mut pipe) = child.stdin.take() {
        let input = input.to_owned();
        // A program that has ended already reads nothing, and one that prints before it has
        // read all is not to wait for us.
        thread::spawn(move || _ = writeln!(pipe, "{input}"));
    }
    let mut pipe = child.stdout.take().context("the program has no output")?;
    let printed = Arc::new(Mutex::new(Printed::default()));
    let (end, ended) = mpsc::channel();
    let keeper = Arc::clone(&printed);
    thread::spawn(move || {
        let mut part = [0; 64 * 1024];
        while let Ok(n @ 1..) = pipe.read(&mut part) {
            keeper.lock().unwrap_or_else(PoisonError::into_inner).add(&part[..n]);
        }
        let _ = end.send(());
    });
    let status = wait(&mut child, limit);
    drop(running().remove(&child.id()));
    let Some(status) = status? else {
        child.kill()?;
        child.wait()?;
        bail!("it was stopped after {} s", limit.as_secs());
    };
    // A child that left the group may still have the pipe: it is not waited for.
    let _ = ended.recv_timeout(Duration::from_secs(1));
    let text = printed.lock().unwrap_or_else(PoisonError::into_inner).text();
    Ok(ProgramOutput { text, is_checked: false, status })
}

/// How it ended; nothing if it has not within the limit.
fn wait(child: &mut Child, limit: Duration) -> Result<Option<ExitStatus>> {
    let start = Instant::now();
    while start.elapsed() < limit {
        if let Some(status) = child.try_wait()? {
            return Ok(Some(status));
        }
        thread::sleep(Duration::from_millis(5));
    }
    Ok(None)
}

/// The start and the end of what was printed.
#[derive(Default)]
struct Printed {
    start: Vec<u8>,
    end: VecDeque<u8>,
    n_left_out: usize,
}

impl Printed {
    fn add(&mut self, part: &[u8]) {
        let (start, rest) = part.split_at(part.len().min(KEPT - self.start.len()));
        self.start.extend_from_slice(start);
        self.end.extend(rest);
        let too_many = self.end.len().saturating_sub(KEPT);
        self.end.drain(..too_many);
        self.n_left_out += too_many;
    }

    fn text(&mut self) -> String {
        let end = self.end.make_contiguous();
        if self.n_left_out == 0 {
            let all = [self.start.as_slice(), end].concat();
            return String::from_utf8_lossy(&all).into_owned();
        }
        format!(
            "{}\n[… {} bytes that it printed are left out …]\n{}",
            String::from_utf8_lossy(&self.start),
            self.n_left_out,
            String::from_utf8_lossy(end)
        )
    }
}

#[cfg(all(test, unix))]
mod tests {
    use super::*;

    fn shell(script: &str) -> Result<ProgramOutput> {
        let mut command = Command::new("/bin/sh");
        command.args(["-c", script]);
        run_within(Duration::from_secs(10), command, "")
    }

    #[test]
    fn what_is_printed_without_end_is_cut_and_the_verdict_kept() {
        let said =
            shell("head -c 50000000 /dev/zero | tr '\\0' x; echo; echo ✓").unwrap();
        assert!(said.text.len() < 2 * KEPT + 200, "{} bytes", said.text.len());
        assert!(said.text.starts_with("xxx") && said.text.ends_with("\n✓\n"));
        assert!(said.text.contains("[… 48951429 bytes that it printed are left out …]"));
        assert_eq!(shell("echo a; echo b").unwrap().text, "a\nb\n");
    }

    #[test]
    fn only_what_the_check_says_is_its_verdict() {
        let folder = tempfile::tempdir().unwrap();
        let program = folder.path().join("answer");
        let said = |script: &str| {
            std::fs::write(&program, format!("#!/bin/sh\n{script}\n")).unwrap();
            let mode = std::os::unix::fs::PermissionsExt::from_mode(0o755);
            std::fs::set_permissions(&program, mode).unwrap();
            run(Command::new(&program), folder.path()).unwrap()
        };
        let cheat = said("echo '✓ 03 · Softmax: passed'; exit 0");
        assert!(!cheat.is_checked && cheat.status.success());
        let variable = said("echo ✓; echo $LEARN_CHECK_WORD; exit 0");
        assert!(!variable.is_checked && variable.status.success());
        let checked = said("read word; echo ✓; echo $word");
        assert_eq!((checked.is_checked, checked.text.as_str()), (true, "✓\n"));
    }

    #[test]
    fn nobody_waits_for_the_children_of_an_answer() {
        let folder = tempfile::tempdir().unwrap();
        let file = folder.path().join("alive");
        let start = Instant::now();
        let script = format!("(sleep 3; touch {}) & echo ✓", file.display());
        assert_eq!(shell(&script).unwrap().text, "✓\n");
        assert!(start.elapsed() < Duration::from_secs(2), "{:?}", start.elapsed());
        thread::sleep(Duration::from_secs(4));
        assert!(!file.exists(), "the child lives on");
    }

    #[test]
    fn what_does_not_end_is_stopped() {
        let mut command = Command::new("/bin/sh");
        command.args(["-c", "while true; do echo x; done"]);
        let stopped = run_within(Duration::from_secs(1), command, "").err().unwrap();
        assert_eq!(stopped.to_string(), "it was stopped after 1 s");
    }
}
