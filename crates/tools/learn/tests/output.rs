//! The command as it is run: where nobody reads, and where a disk is full.

use std::process::{Command, Stdio};

fn hint() -> Command {
    let mut command = Command::new(env!("CARGO_BIN_EXE_learn"));
    command.args(["check", "4", "--hint"]).stderr(Stdio::piped());
    command
}

#[test]
fn nobody_who_reads_is_no_failure() {
    let mut child = hint().stdout(Stdio::piped()).spawn().unwrap();
    drop(child.stdout.take());
    let output = child.wait_with_output().unwrap();
    assert!(output.status.success() && output.stderr.is_empty(), "{output:?}");
}

#[test]
#[cfg(target_os = "linux")]
fn a_full_disk_is_an_error_and_no_panic() {
    let full = std::fs::File::options().write(true).open("/dev/full").unwrap();
    let output = hint().stdout(full).output().unwrap();
    let said = String::from_utf8_lossy(&output.stderr);
    assert!(
        said.starts_with("error: cannot write to standard output: No space"),
        "{said}"
    );
    assert_eq!(output.status.code(), Some(1));
}
