//! The command as it is run, where nobody reads and where a disk is full.

use std::process::Command;

#[path = "../../terminal/tests/ends/mod.rs"]
mod ends;

fn command() -> Command {
    let mut command = Command::new(env!("CARGO_BIN_EXE_predict"));
    command.args("predict --list".split(' '));
    command
}

#[test]
fn nobody_who_reads_is_no_failure() {
    ends::well_where_nobody_reads(command());
}

#[test]
#[cfg(target_os = "linux")]
fn a_full_disk_is_an_error_and_no_panic() {
    ends::with_an_error_on_a_full_disk(command());
}
