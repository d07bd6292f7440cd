//! A program of ours that ends with the one that started it, also where that one is killed.
//!
//! The child's standard input is a pipe into which its parent never writes. The pipe ends
//! when the parent has ended, however that came about. Where the parent is not ours, Unix is
//! asked again and again who it is.

use std::process::{Command, Stdio};
use std::{env, io, thread};

/// Says that standard input is such a pipe.
pub(crate) const TIED: &str = "LEARN_STDIN_IS_THE_PARENT";

/// Ties a program that is about to be started to this one. It is to call [`at_end`], and its
/// [`Child`](std::process::Child) must keep `stdin`, which `wait` closes.
pub fn tie(command: &mut Command) -> &mut Command {
    command.stdin(Stdio::piped()).env(TIED, "1")
}

/// Does this when the program that has tied this one to itself is gone; where none has, never.
pub fn at_end(end: impl FnOnce() + Send + 'static) {
    if env::var_os(TIED).is_none() {
        return;
    }
    thread::spawn(|| {
        let _ = io::copy(&mut io::stdin().lock(), &mut io::sink());
        end();
    });
}

/// From here on this process ends soon after whatever started it. On Windows nobody says so:
/// there the job of JupyterLab ends its kernels.
pub fn exit_after() {
    #[cfg(unix)]
    {
        use std::os::unix::process::parent_id;
        let parent = parent_id();
        thread::spawn(move || {
            while parent_id() == parent {
                thread::sleep(std::time::Duration::from_millis(200));
            }
            std::process::exit(1);
        });
    }
}

#[cfg(test)]
mod tests {
    use std::time::{Duration, Instant};

    use super::*;

    const CHILD: &str = "parent::tests::a_child_hears_that_its_parent_is_gone";

    #[test]
    fn a_child_hears_that_its_parent_is_gone() {
        if env::var_os(TIED).is_some() {
            at_end(|| std::process::exit(7));
            thread::sleep(Duration::from_secs(60));
            return;
        }
        let mut command = Command::new(env::current_exe().unwrap());
        command.args(["--exact", CHILD]).stdout(Stdio::null());
        let mut child = tie(&mut command).spawn().unwrap();
        thread::sleep(Duration::from_millis(200));
        assert!(child.try_wait().unwrap().is_none(), "ended while its parent lived");
        let start = Instant::now();
        // Closes the pipe, as the end of this program would.
        assert_eq!(child.wait().unwrap().code(), Some(7));
        assert!(start.elapsed() < Duration::from_secs(50));
    }
}
