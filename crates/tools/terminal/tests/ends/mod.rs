//! How a command ends where nobody reads, and where a disk is full: of every tool that prints.

use std::process::{Command, Output, Stdio};

pub fn errors(output: &Output) -> String {
    String::from_utf8_lossy(&output.stderr).into_owned()
}

/// As after `| head -1`, when head has gone: that is no failure.
pub fn well_where_nobody_reads(mut command: Command) {
    let streams = command.stdout(Stdio::piped()).stderr(Stdio::piped());
    let mut child = streams.spawn().unwrap();
    drop(child.stdout.take());
    let output = child.wait_with_output().unwrap();
    assert!(output.status.success(), "{command:?}: {}", errors(&output));
    assert!(!errors(&output).contains("error"), "{command:?}: {}", errors(&output));
}

/// An error and no panic.
#[cfg(target_os = "linux")]
pub fn with_an_error_on_a_full_disk(mut command: Command) {
    let full = std::fs::File::options().write(true).open("/dev/full").unwrap();
    let output = command.stdout(full).stderr(Stdio::piped()).output().unwrap();
    assert_eq!(output.status.code(), Some(1), "{command:?}: {}", errors(&output));
    let expected = "error: cannot write to standard output: No space left on device \
                    (os error 28)\n";
    assert!(errors(&output).ends_with(expected), "{command:?}: {}", errors(&output));
}
