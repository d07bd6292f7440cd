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
//! figure is its type engine reading the sources of the standard library and of the
//! crates that these crates use. That is why kernels are started by a program of ours
//! ([`kernel`]): it hands each one a folder in which everything is compiled already, with
//! the workspace's `Cargo.lock` in it, and shows the type engine ([`kernel_cargo`]) the
//! crates of this workspace and no others, without the bodies of their functions. What
//! that costs: a `let` needs its type written out where it comes from elsewhere.
//!
//! Everything lies in `.learn/`. No file of the user's own Jupyter or evcxr is read or
//! written, with the exception of cargo's registry, where crates are downloaded to.

mod analyzer;
mod compare;
mod execute;
mod kernel;
mod lab;
mod outline;
mod place;
mod python;
mod set_up;
mod tools;
mod verify;
mod warm;

use std::ffi::OsString;
use std::process::ExitCode;

use anyhow::Result;

pub use lab::Lab;
pub use python::Missing;
pub use set_up::set_up;
pub use verify::{Outcome, rewrite, verify};
pub use warm::Reach;

/// Runs a kernel, as Jupyter asks for it: the whole of the program `learn-kernel`.
pub fn kernel(args: impl Iterator<Item = OsString>) -> ExitCode {
    exit_code(kernel::run(args))
}

/// Does what cargo does, as a kernel's type engine asks for it: the whole of the program
/// `kernel-cargo`.
pub fn kernel_cargo(args: impl Iterator<Item = OsString>) -> ExitCode {
    exit_code(analyzer::run(args))
}

fn exit_code(outcome: Result<ExitCode>) -> ExitCode {
    outcome.unwrap_or_else(|error| {
        eprintln!("{error:#}");
        ExitCode::FAILURE
    })
}

/// Whether this comes true within ten seconds. A lock is free a little after it was given
/// back: a child that another test starts has every open file until it runs its program.
#[cfg(test)]
fn soon(mut is_true: impl FnMut() -> bool) -> bool {
    (0..1000).any(|_| {
        std::thread::sleep(std::time::Duration::from_millis(10));
        is_true()
    })
}
