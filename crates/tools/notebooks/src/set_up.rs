//! Everything that notebooks need, made once, each step timed.

use std::panic::resume_unwind;
use std::sync::Mutex;
use std::thread;
use std::time::Instant;

use anyhow::Result;

use super::warm::{self, Reach};
use super::{place, python, tools};
use workshop::lock::Lock;
use workshop::progress::Progress;
use workshop::step;

/// Makes everything that these notebooks need, once: some minutes the first time, most of
/// them compiling evcxr, and no time at all when nothing has changed.
///
/// `progress` shows which step is on; the output of the tools goes to `.learn/log/`.
///
/// # Errors
/// [`python::Missing`] if there is no Python to work with; the end of a tool's log if it
/// fails.
pub fn set_up(progress: &Progress, reach: Reach) -> Result<()> {
    let python = python::find()?;
    // A second `cargo learn` waits here for the first and then finds all done.
    let _lock = Lock::wait(&place::state("set-up.lock"), || {
        progress.set_message("notebooks: another command sets them up");
    })?;
    let times = Times::default();
    let environment = python::Environment::wanted(&python)?;
    if !environment.is_there() {
        progress.set_message("notebooks: downloading JupyterLab, beside what follows");
    }
    thread::scope(|scope| {
        // One waits for the network, the other for the processor.
        let packages = scope.spawn(|| times.of("JupyterLab", || environment.install()));
        let evcxr = times.of("evcxr", || tools::install(progress));
        let packages = packages.join().unwrap_or_else(|panic| resume_unwind(panic));
        evcxr.and(packages)
    })?;
    tools::configure()?;
    times.of("crates", || warm::warm(progress, reach))?;
    times.tell(progress)
}

/// How long the steps took that had something to do.
struct Times {
    start: Instant,
    steps: Mutex<Vec<String>>,
}

impl Default for Times {
    fn default() -> Self {
        Self { start: Instant::now(), steps: Mutex::default() }
    }
}

impl Times {
    /// Does a step, which says whether it had something to do.
    fn of(&self, step: &str, work: impl FnOnce() -> Result<bool>) -> Result<()> {
        let start = Instant::now();
        if work()? {
            let took = format!("{step} {:.0} s", start.elapsed().as_secs_f64());
            self.steps.lock().expect("no step panics with it").push(took);
        }
        Ok(())
    }

    /// Says it in one line, and keeps it beside the logs.
    fn tell(&self, progress: &Progress) -> Result<()> {
        let steps = self.steps.lock().expect("no step panics with it").join(", ");
        if steps.is_empty() {
            return Ok(());
        }
        let all = self.start.elapsed().as_secs_f64();
        let line = format!("notebooks: set up in {all:.0} s ({steps})");
        step::write(&place::state("log/set-up.log"), format!("{line}\n"))?;
        progress.println(&line);
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_steps_that_did_something_are_timed() {
        let times = Times::default();
        times.of("evcxr", || Ok(false)).unwrap();
        times.of("crates", || Ok(true)).unwrap();
        assert_eq!(*times.steps.lock().unwrap(), ["crates 0 s"]);
    }
}
