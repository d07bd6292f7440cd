//! The notebooks: the tools that run them, JupyterLab, and the proof that they still say
//! what they are committed to say.
//!
//! ```text
//! set_up      tools, Python packages and a kernel in .learn/, compiled crates for it
//! Lab::start  JupyterLab on 127.0.0.1, with a token that is kept
//! verify      every notebook from a fresh kernel, outputs compared with the committed
//! ```
//!
//! A notebook's kernel is evcxr, and two thirds of what a plain evcxr takes to its first
//! figure is its type engine reading the sources of the standard library, of nalgebra and
//! of plotly. That is why kernels are started by this program ([`take_over`]): it hands
//! each one a folder in which everything is compiled already, with the workspace's
//! `Cargo.lock` in it, and shows the type engine the crates of this workspace and no
//! others. What that costs: a `let` needs its type written out where it comes from
//! elsewhere.
//!
//! Everything lies in `.learn/`. No file of the user's own Jupyter or evcxr is read or
//! written, with the exception of cargo's registry, where crates are downloaded to.

mod analyzer;
mod compare;
mod execute;
mod kernel;
mod lab;
mod place;
mod python;
mod tools;
mod verify;
mod warm;

use std::process::ExitCode;

use anyhow::Result;
use indicatif::ProgressBar;

use workshop::step;

pub use lab::Lab;
pub use python::Missing;
pub use verify::{Outcome, verify, write};

/// Makes everything that notebooks need, once: about ten minutes the first time, most of
/// it compiling evcxr, and no time at all when nothing has changed.
///
/// `progress` shows which step is on; the output of the tools goes to `.learn/log/`.
///
/// # Errors
/// [`Missing`] if there is no Python to work with; the end of a tool's log if it fails.
pub fn set_up(progress: &ProgressBar) -> Result<()> {
    let python = python::find()?;
    // A second `cargo learn` waits here for the first and then finds all done.
    let lock = step::create(&place::state("set-up.lock"))?;
    lock.lock()?;
    python::install(&python, progress)?;
    tools::install(progress)?;
    warm::warm(progress)?;
    Ok(())
}

/// What `main` must call before anything else: if this process was started by Jupyter as
/// a kernel, or by a kernel's type engine as its cargo, does that and says with what to
/// exit; otherwise gives `None`.
pub fn take_over() -> Option<ExitCode> {
    let mut args = std::env::args_os();
    let program = args.next()?;
    let result = match std::path::Path::new(&program).file_stem()?.to_str()? {
        "cargo" => analyzer::run(args),
        "learn-kernel" => kernel::run(args),
        _ => return None,
    };
    Some(result.unwrap_or_else(|error| {
        eprintln!("{error:#}");
        ExitCode::FAILURE
    }))
}
