//! `mistakes keep` writes the pages of mistakes into `chapters/mistakes`, and the list of ids.

use std::process::ExitCode;

fn main() -> ExitCode {
    workshop::exit(mistakes::keep())
}
