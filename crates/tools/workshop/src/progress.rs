//! Progress on standard error, for anything that takes over a second: a spinner on a
//! terminal, and elsewhere (a file, a CI log, another program) a line per step.

use std::io::{IsTerminal, Write};
use std::sync::{Mutex, PoisonError};
use std::time::{Duration, Instant};

use indicatif::{ProgressBar, ProgressStyle};

use crate::output::printable;

/// A step that took less is not worth a second line.
const WORTH_TELLING: Duration = Duration::from_secs(1);

/// What is being done, shown while it is done.
pub struct Progress {
    shown: Style,
}

enum Style {
    Spinner(ProgressBar),
    Lines(Mutex<Lines>),
}

/// Steps as plain lines: each when it begins, and how long it took.
struct Lines {
    out: Box<dyn Write + Send>,
    step: Option<(String, Instant)>,
}

/// Shows a step whose length is not known: what it is, and for how long it has been on.
#[expect(clippy::missing_panics_doc, reason = "the template is a constant")]
pub fn spinner(message: impl Into<String>) -> Progress {
    if !std::io::stderr().is_terminal() {
        return lines(message);
    }
    let style = ProgressStyle::with_template("{spinner} {msg} ({elapsed})")
        .expect("the template is a constant");
    let bar = ProgressBar::new_spinner().with_style(style).with_message(message.into());
    bar.enable_steady_tick(Duration::from_millis(100));
    Progress { shown: Style::Spinner(bar) }
}

/// Says each step on a line of its own, on a terminal too: for work beside other work.
pub fn lines(message: impl Into<String>) -> Progress {
    Progress::lines(message.into(), Box::new(std::io::stderr()))
}

/// A bar for so many steps, with what is said of the last one.
#[expect(clippy::missing_panics_doc, reason = "the template is a constant")]
pub fn steps(n_steps: usize) -> ProgressBar {
    let style =
        ProgressStyle::with_template("{bar:30} step {pos} of {len}  {msg} ({eta} left)")
            .expect("the template is a constant");
    ProgressBar::new(n_steps as u64).with_style(style)
}

impl Progress {
    fn lines(message: String, out: Box<dyn Write + Send>) -> Self {
        let mut lines = Lines { out, step: None };
        lines.begin(message);
        Self { shown: Style::Lines(Mutex::new(lines)) }
    }

    /// Says which step is on now.
    pub fn set_message(&self, message: impl Into<String>) {
        match &self.shown {
            Style::Spinner(bar) => bar.set_message(message.into()),
            Style::Lines(lines) => {
                lines.lock().unwrap_or_else(PoisonError::into_inner).begin(message.into())
            }
        }
    }

    /// Says how far the step has come: on a terminal only, where it takes no further line.
    pub fn set_detail(&self, message: impl Into<String>) {
        if let Style::Spinner(bar) = &self.shown {
            bar.set_message(message.into());
        }
    }

    /// Says something that stays, of no step.
    pub fn println(&self, line: &str) {
        let line = printable(line);
        match &self.shown {
            Style::Spinner(bar) => bar.println(line),
            Style::Lines(lines) => {
                let mut lines = lines.lock().unwrap_or_else(PoisonError::into_inner);
                lines.end();
                let _ = writeln!(lines.out, "{line}");
            }
        }
    }

    /// Ends the last step; a spinner goes away, lines stay.
    pub fn finish_and_clear(&self) {
        match &self.shown {
            Style::Spinner(bar) => bar.finish_and_clear(),
            Style::Lines(lines) => {
                lines.lock().unwrap_or_else(PoisonError::into_inner).end()
            }
        }
    }
}

impl Drop for Progress {
    fn drop(&mut self) {
        self.finish_and_clear();
    }
}

impl Lines {
    fn begin(&mut self, message: String) {
        if self.step.as_ref().is_some_and(|(current, _)| *current == message) {
            return;
        }
        self.end();
        // Nobody reads on: no reason to stop working.
        let _ = writeln!(self.out, "{message}");
        self.step = Some((message, Instant::now()));
    }

    fn end(&mut self) {
        let Some((step, since)) = self.step.take() else { return };
        let took = since.elapsed();
        if took >= WORTH_TELLING {
            let _ = writeln!(self.out, "{step}: done in {:.0} s", took.as_secs_f64());
        }
    }
}

#[cfg(test)]
mod tests {
    use std::sync::{Arc, Mutex};

    use super::*;

    /// Standard error, caught.
    #[derive(Clone, Default)]
    struct Caught(Arc<Mutex<Vec<u8>>>);

    impl Write for Caught {
        fn write(&mut self, bytes: &[u8]) -> std::io::Result<usize> {
            self.0.lock().unwrap().extend(bytes);
            Ok(bytes.len())
        }

        fn flush(&mut self) -> std::io::Result<()> {
            Ok(())
        }
    }

    #[test]
    fn without_a_terminal_each_step_is_a_line_when_it_begins() {
        let caught = Caught::default();
        let text = || String::from_utf8(caught.0.lock().unwrap().clone()).unwrap();
        let progress = Progress::lines("notebooks".to_owned(), Box::new(caught.clone()));
        progress.set_message("notebooks: compiling evcxr");
        assert_eq!(text(), "notebooks\nnotebooks: compiling evcxr\n");
        progress.set_message("notebooks: compiling evcxr");
        progress.set_detail("3 of 20");
        std::thread::sleep(WORTH_TELLING);
        progress.finish_and_clear();
        drop(progress);
        assert_eq!(
            text(),
            "notebooks\nnotebooks: compiling evcxr\nnotebooks: compiling evcxr: done in 1 s\n"
        );
    }
}
