//! What the logs of steps say: tests that passed, and warnings.

use std::path::PathBuf;

use anyhow::Result;
use workshop::paths;

/// How many tests passed, by the closing lines in the log of a step.
pub fn passed(step: &str) -> Result<usize> {
    Ok(count_passed(&std::fs::read_to_string(log(step))?))
}

/// `no warnings`, or how many and where.
pub fn warnings(step: &str) -> Result<String> {
    let log = log(step);
    Ok(match count_warnings(&std::fs::read_to_string(&log)?) {
        0 => "no warnings".into(),
        n => format!("{n} warnings: {}", log.display()),
    })
}

/// Where the output of a step is.
pub fn log(step: &str) -> PathBuf {
    paths::state().join("log").join(step).with_extension("log")
}

/// Leaves out the lines in which cargo sums up, one a crate.
fn count_warnings(log: &str) -> usize {
    let warnings = log.lines().filter_map(|line| line.strip_prefix("warning: "));
    warnings.filter(|text| !text.contains(" generated ")).count()
}

fn count_passed(log: &str) -> usize {
    let closing = log.lines().filter_map(|line| line.strip_prefix("test result: ok. "));
    closing.filter_map(|rest| rest.split(' ').next()?.parse::<usize>().ok()).sum()
}

#[cfg(test)]
mod unit_tests {
    use super::*;

    #[test]
    fn the_closing_lines_of_every_binary_are_added_up() {
        let log = "test result: ok. 26 passed; 0 failed\nx\ntest result: ok. 4 passed; 0 failed";
        assert_eq!(count_passed(log), 30);
    }

    #[test]
    fn warnings_are_counted_without_the_sums() {
        let log = "warning: unused variable: `x`\n --> a.rs:1:1\nwarning: `a` (lib) \
                   generated 1 warning\n    Finished\nwarning: `a` (lib test) generated 1 \
                   warning (1 duplicate)\n";
        assert_eq!(count_warnings(log), 1);
        assert_eq!(count_warnings("    Finished `dev` profile\n"), 0);
    }
}
