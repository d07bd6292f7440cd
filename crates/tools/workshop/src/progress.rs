//! Progress on standard error, for anything that takes over a second.

use std::time::Duration;

use indicatif::{ProgressBar, ProgressStyle};

/// A spinner with the elapsed time, for a step whose length is not known.
/// Where standard error is no terminal, nothing is drawn.
pub fn spinner(message: impl Into<String>) -> ProgressBar {
    let style = ProgressStyle::with_template("{spinner} {msg} ({elapsed})")
        .expect("the template is a constant");
    let bar = ProgressBar::new_spinner().with_style(style).with_message(message.into());
    bar.enable_steady_tick(Duration::from_millis(100));
    bar
}

/// A bar for so many steps, with what is said of the last one.
pub fn steps(n_steps: usize) -> ProgressBar {
    let style =
        ProgressStyle::with_template("{bar:30} step {pos} of {len}  {msg} ({eta} left)")
            .expect("the template is a constant");
    ProgressBar::new(n_steps as u64).with_style(style)
}
