//! Runs a reader's function, which may panic or never end.

use std::backtrace::Backtrace;
use std::panic::{self, AssertUnwindSafe};
use std::path::MAIN_SEPARATOR_STR;
use std::sync::mpsc::{self, RecvTimeoutError};
use std::sync::{Mutex, Once};
use std::thread;
use std::time::Duration;

use serde::{Deserialize, Serialize};

/// What became of a call.
#[derive(Debug, Clone)]
pub enum Outcome<O> {
    /// It gave an answer.
    Value(O),
    /// It panicked.
    Panicked(Panic),
}

/// What a panic said, and where.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Panic {
    /// Its message.
    pub message: String,
    /// File and line.
    pub at: String,
}

impl Panic {
    /// Whether this is `todo!()`, the mark of an exercise as given.
    pub fn is_todo(&self) -> bool {
        self.message.starts_with("not yet implemented")
    }
}

/// Calls `f` and catches its panic.
pub fn call<O>(f: impl FnOnce() -> O) -> Outcome<O> {
    note_panics_instead_of_printing();
    let around = IN_CALL.replace(true);
    let outcome = panic::catch_unwind(AssertUnwindSafe(f));
    IN_CALL.set(around);
    match outcome {
        Ok(value) => Outcome::Value(value),
        Err(_) => Outcome::Panicked(LAST_PANIC.take().unwrap_or_else(|| Panic {
            message: "a panic without a message".into(),
            at: "an unknown place".into(),
        })),
    }
}

thread_local! {
    static LAST_PANIC: std::cell::RefCell<Option<Panic>> =
        const { std::cell::RefCell::new(None) };
    static IN_CALL: std::cell::Cell<bool> = const { std::cell::Cell::new(false) };
}

/// The default hook prints at once, in front of the verdict. One hook serves all calls,
/// and hands panics from elsewhere to the one before.
fn note_panics_instead_of_printing() {
    static ONCE: Once = Once::new();
    ONCE.call_once(|| {
        let before = panic::take_hook();
        panic::set_hook(Box::new(move |info| {
            if !IN_CALL.get() {
                return before(info);
            }
            let payload = info.payload();
            let text = payload.downcast_ref::<&str>().map(|text| (*text).to_string());
            let message = text.or_else(|| payload.downcast_ref::<String>().cloned());
            let message = message.unwrap_or_else(|| "a panic without a message".into());
            let at = info.location().map_or("an unknown place".into(), place);
            let at = match line_of_the_answer() {
                Some(line) if !is_an_answer(&at) => format!("{line}, in a call of {at}"),
                _ => at,
            };
            let at = at.replace('/', MAIN_SEPARATOR_STR);
            LAST_PANIC.set(Some(Panic { message, at }));
        }));
    });
}

/// File and line; of a package, without the folder that holds all packages, and of this
/// workspace, from its root on.
fn place(at: &panic::Location) -> String {
    let file = at.file().replace('\\', "/");
    let file = file.split_once("/registry/src/").map_or(file.as_str(), |(_, file)| {
        file.split_once('/').map_or(file, |(_, file)| file)
    });
    format!("{}:{}", within(file), at.line())
}

/// The line of the reader's file that the panic came through, wherever it was raised: a
/// product of matrices that do not fit panics deep in another package.
fn line_of_the_answer() -> Option<String> {
    let trace = Backtrace::force_capture().to_string().replace('\\', "/");
    let places = trace.lines().filter_map(|line| line.trim().strip_prefix("at "));
    let place = places.map(within).find(|place| is_an_answer(place))?;
    place.rsplit_once(':').map(|(file_and_line, _)| file_and_line.to_string())
}

/// Whether a file is a reader's: where they work, or in a folder that somebody names.
fn is_an_answer(file: &str) -> bool {
    ["exercises/", ".learn/"].iter().any(|folder| file.starts_with(folder))
        || file.contains("/exercises/") && !file.contains("/crates/")
}

/// A file from the workspace's root on, where it is in it.
fn within(file: &str) -> &str {
    let root = catalogue::root();
    let inside = file.strip_prefix(root.to_string_lossy().as_ref());
    inside.map_or(file, |file| file.trim_start_matches('/'))
}

/// The seed of the inputs, where a check is asked for outcomes by `LEARN_CHECK_OUTCOMES`.
///
/// # Panics
/// If that is no number, which no command of ours sets.
pub fn seed() -> Option<u64> {
    let seed = std::env::var_os("LEARN_CHECK_OUTCOMES")?;
    let number = seed.to_str().and_then(|seed| seed.parse().ok());
    Some(number.unwrap_or_else(|| panic!("LEARN_CHECK_OUTCOMES is {seed:?}, no seed")))
}

/// How the verdict is said.
pub struct Words {
    /// What stands behind it, where `cargo learn check` has asked for a word of its own: what
    /// an answer prints, or leaves out by ending the program, is then not taken for a verdict.
    word: Option<String>,
}

/// Takes the word away before the answer runs: what it reads there, it reads in vain.
pub fn words() -> Words {
    let is_asked = std::env::var_os("LEARN_CHECK_WORD").is_some();
    let read = || {
        let mut word = String::new();
        std::io::stdin().read_line(&mut word).ok()?;
        Some(word)
    };
    Words { word: is_asked.then(read).flatten() }
}

impl Words {
    /// Prints a verdict: in words, or as data where `cargo learn check --json` asks for it.
    pub fn say<R: Serialize>(&self, message: &str, report: impl FnOnce() -> R) {
        match std::env::var_os("LEARN_CHECK_JSON") {
            Some(_) => self.print(&serde_json::json!(report()).to_string()),
            None => self.print(message),
        }
    }

    /// Prints a text and the word behind it, at once: an answer may print meanwhile.
    pub(crate) fn print(&self, text: &str) {
        match &self.word {
            Some(word) => println!("{text}\n{}", word.trim_end()),
            None => println!("{text}"),
        }
    }
}

/// How long an answer may take on all of its inputs: a right one takes milliseconds.
const LIMIT: Duration = Duration::from_secs(5);

/// The input that is being worked on, for the message when time is up.
static RUNNING: Mutex<String> = Mutex::new(String::new());

/// Says which input the answer is given next.
pub fn now_running(sizes: &str) {
    if let Ok(mut running) = RUNNING.lock() {
        *running = sizes.to_string();
    }
}

/// Time was up.
pub struct TimeUp {
    /// The input that the answer was working on.
    pub running: String,
    /// The limit.
    pub seconds: u64,
}

/// Runs `work` on a thread of its own, which ends with the process.
///
/// # Panics
/// If `work` panics: with its panic.
pub fn within_time_limit<R: Send + 'static>(
    work: impl FnOnce() -> R + Send + 'static,
) -> Result<R, TimeUp> {
    let (done, wait) = mpsc::channel();
    let worker = thread::spawn(move || done.send(work()).is_ok());
    match wait.recv_timeout(LIMIT) {
        Ok(value) => Ok(value),
        // The check itself panicked, which has nothing to do with time.
        Err(RecvTimeoutError::Disconnected) => match worker.join() {
            Err(panic) => panic::resume_unwind(panic),
            Ok(_) => unreachable!("a worker that does not panic sends its value"),
        },
        Err(RecvTimeoutError::Timeout) => Err(TimeUp {
            running: RUNNING.lock().map(|running| running.clone()).unwrap_or_default(),
            seconds: LIMIT.as_secs(),
        }),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_worker_that_panics_is_not_said_to_be_slow() {
        let outcome = panic::catch_unwind(|| within_time_limit(|| panic!("a fault")));
        let panic = outcome.err().expect("a panic, and no time that was up");
        assert_eq!(panic.downcast_ref(), Some(&"a fault"));
        assert_eq!(within_time_limit(|| 3).ok(), Some(3));
    }
}
