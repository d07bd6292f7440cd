//! Other systems and processors, as far as this machine shows them: what compiles for them,
//! and what an emulator makes of it.
//!
//! | system | `platforms` | `systems`, which takes longer |
//! | --- | --- | --- |
//! | Linux on Arm | tests of the stages and `tiles`, by qemu | of `cached` and `kernels`; clippy on the three with vectors |
//! | x86-64 without AVX2 | tests of the stages and of all code with vectors, by qemu | |
//! | Windows | libraries and programs compile; tests of what asks the system, by wine | every target compiles; tests of what computes, of commands and of the book's server, six commands and three exercises, by wine |
//! | macOS on Arm | | clippy on every target |
//!
//! A warning is an error. Linux on x86-64 alone has what this takes, and where something is
//! missing the rest is looked at. What an emulator cannot show, machines of the workflow
//! `ci.yml` do, and one of them looks at all of this.

mod wine;

use std::env;
use std::path::PathBuf;
use std::process::Command;

use anyhow::{Result, ensure};
use workshop::build;
use workshop::progress::Progress;
use workshop::step;

use crate::logs::passed;

const WINDOWS: &str = "x86_64-pc-windows-gnu";
const MAC: &str = "aarch64-apple-darwin";
const ARM: &str = "aarch64-unknown-linux-gnu";
const THIS: &str = "x86_64-unknown-linux-gnu";

const MINGW: &str = "x86_64-w64-mingw32-gcc";
const ARM_LINKER: &str = "aarch64-linux-gnu-gcc";
const ARM_QEMU: &str = "qemu-aarch64-static";
const QEMU: &str = "qemu-x86_64-static";
const WINE: &str = "wine64";

/// The stages, and where all vectors are.
const STAGES: [&str; 5] =
    ["attention", "single-head", "per-head", "fused-heads", "tiles"];

/// What stands on the vectors.
const KERNELS: [&str; 3] = ["tiles", "cached", "kernels"];

/// One look at another system.
struct Look {
    system: &'static str,
    /// What a compiler for it and an emulator of it take.
    target: &'static str,
    programs: &'static [&'static str],
    /// What was found.
    found: fn() -> Result<String>,
}

const QUICK: [Look; 4] = [
    Look {
        system: "Windows",
        target: WINDOWS,
        programs: &[MINGW],
        found: || windows(&[]),
    },
    Look {
        system: "Arm",
        target: ARM,
        programs: &[ARM_LINKER, ARM_QEMU],
        found: || arm(&STAGES),
    },
    Look { system: "without AVX2", target: THIS, programs: &[QEMU], found: old },
    Look {
        system: "wine",
        target: WINDOWS,
        programs: &[MINGW, WINE],
        found: || wine::tests(&wine::TOOLS),
    },
];

const LONG: [Look; 7] = [
    Look {
        system: "Windows",
        target: WINDOWS,
        programs: &[MINGW],
        found: || windows(&["--all-targets"]),
    },
    Look { system: "macOS", target: MAC, programs: &[], found: mac },
    Look { system: "Arm", target: ARM, programs: &[ARM_LINKER], found: arm_lints },
    Look {
        system: "Arm",
        target: ARM,
        programs: &[ARM_LINKER, ARM_QEMU],
        found: || arm(&KERNELS),
    },
    Look {
        system: "wine",
        target: WINDOWS,
        programs: &[MINGW, WINE],
        found: || wine::tests(&wine::COMPUTING),
    },
    Look {
        system: "wine",
        target: WINDOWS,
        programs: &[MINGW, WINE],
        found: wine::commands,
    },
    Look {
        system: "wine",
        target: WINDOWS,
        programs: &[MINGW, WINE],
        found: wine::exercises,
    },
];

/// What takes a few minutes.
///
/// # Errors
/// What does not hold, with the end of its log.
pub fn quick(bar: &Progress) -> Result<String> {
    each(&QUICK, bar)
}

/// What takes longer.
///
/// # Errors
/// What does not hold, with the end of its log.
pub fn long(bar: &Progress) -> Result<String> {
    each(&LONG, bar)
}

fn each(looks: &[Look], bar: &Progress) -> Result<String> {
    let (mut said, mut faults) = (Vec::new(), Vec::new());
    for look in looks {
        let system = look.system;
        bar.set_message(format!("platforms: {system}"));
        match look.missing() {
            Some(missing) => said.push(format!(
                "{system}: not looked at, since there is no {missing} here"
            )),
            None => match (look.found)() {
                Ok(found) => said.push(format!("{system}: {found}")),
                Err(error) => faults.push(format!("{system}: {error:#}")),
            },
        }
    }
    ensure!(faults.is_empty(), "{}", faults.join("\n\n"));
    Ok(said.join("; "))
}

impl Look {
    /// The first thing that it takes and this machine has not.
    fn missing(&self) -> Option<&'static str> {
        if !build::has_target(self.target) {
            return Some(self.target);
        }
        self.programs.iter().find(|name| program(name).is_none()).copied()
    }
}

/// A program of the system. Debian keeps wine's in a folder of its own.
fn program(name: &str) -> Option<PathBuf> {
    let path = env::var_os("PATH").unwrap_or_default();
    let mut folders = env::split_paths(&path).chain(["/usr/lib/wine".into()]);
    folders.find_map(|folder| Some(folder.join(name)).filter(|path| path.is_file()))
}

/// Cargo, which takes a warning in our own crates for an error.
fn strict_cargo(command: &str, target: &str) -> Command {
    let mut cargo = build::cargo_of_checks();
    cargo.args([command, "--target", target]);
    cargo.env(variable(target, "RUSTFLAGS"), "-D warnings");
    cargo
}

/// The variable by which cargo is told something of a target.
fn variable(target: &str, what: &str) -> String {
    format!("CARGO_TARGET_{}_{what}", target.to_uppercase().replace('-', "_"))
}

fn packages(names: &[&str]) -> Vec<String> {
    names.iter().flat_map(|name| ["--package", name]).map(str::to_owned).collect()
}

fn windows(targets: &[&str]) -> Result<String> {
    let mut cargo = strict_cargo("check", WINDOWS);
    step::run("windows", cargo.arg("--workspace").args(targets))?;
    let of =
        if targets.is_empty() { "every library and program" } else { "every target" };
    Ok(format!("{of} compiles"))
}

fn mac() -> Result<String> {
    let mut cargo = strict_cargo("clippy", MAC);
    // Nothing is linked: what a dependency has in assembly need not be assembled.
    cargo.env(format!("CC_{MAC}"), "true").env(format!("AR_{MAC}"), "true");
    cargo.env("SDKROOT", "/");
    step::run("macos", cargo.args(["--workspace", "--all-targets"]))?;
    Ok("no warnings from clippy on any target".into())
}

fn arm_lints() -> Result<String> {
    let mut cargo = strict_cargo("clippy", ARM);
    step::run("arm-lints", cargo.arg("--all-targets").args(packages(&KERNELS)))?;
    Ok(format!("no warnings from clippy on {}", KERNELS.join(", ")))
}

fn arm(of: &[&str]) -> Result<String> {
    let mut cargo = strict_cargo("test", ARM);
    cargo.arg("--lib").args(packages(of)).env("INSTA_UPDATE", "no");
    // What is compiled for an emulator serves nobody twice.
    cargo.env("CARGO_PROFILE_DEV_DEBUG", "0");
    cargo.env(variable(ARM, "LINKER"), ARM_LINKER);
    cargo.env(variable(ARM, "RUNNER"), format!("{ARM_QEMU} -L /usr/aarch64-linux-gnu"));
    all_pass("arm", &mut cargo)
}

/// The tests that are compiled already, on a processor of 2008.
fn old() -> Result<String> {
    let mut n_passed = 0;
    for test in build::test_programs(&[&STAGES[..], &KERNELS].concat())? {
        let mut qemu = Command::new(QEMU);
        qemu.args(["-cpu", "Nehalem"]).arg(test.program);
        qemu.current_dir(&test.folder).env("CARGO_MANIFEST_DIR", &test.folder);
        step::run("old", &mut qemu)?;
        n_passed += passed("old")?;
    }
    n_tests(n_passed)
}

fn all_pass(name: &str, cargo: &mut Command) -> Result<String> {
    step::run(name, cargo)?;
    n_tests(passed(name)?)
}

/// So many, and at least one.
fn n_tests(n_passed: usize) -> Result<String> {
    ensure!(n_passed > 0, "no test was found");
    Ok(format!("{n_passed} tests pass"))
}

#[cfg(test)]
mod unit_tests {
    use anyhow::bail;

    use super::*;

    #[test]
    fn what_is_missing_is_named_and_not_looked_at() {
        let look = |target, programs| Look {
            system: "none",
            target,
            programs,
            found: || unreachable!("it is not looked at"),
        };
        assert_eq!(look("pdp11-unknown-unix", &[]).missing(), Some("pdp11-unknown-unix"));
        if build::has_target(THIS) {
            let missing = look(THIS, &["no-such-program"]).missing();
            assert_eq!(missing, Some("no-such-program"));
        }
    }

    #[test]
    fn what_is_wrong_is_said_after_all_were_looked_at() {
        let look = |found| Look { system: "this", target: THIS, programs: &[], found };
        let looks: [Look; 3] =
            [look(|| bail!("wrong")), look(|| Ok("right".into())), look(|| bail!("bad"))];
        let bar = workshop::progress::lines("platforms");
        if build::has_target(THIS) {
            let faults = each(&looks, &bar).unwrap_err().to_string();
            assert_eq!(faults, "this: wrong\n\nthis: bad");
            assert_eq!(each(&looks[1..2], &bar).unwrap(), "this: right");
        }
    }

    #[test]
    fn a_target_is_told_as_cargo_asks() {
        let expected = "CARGO_TARGET_AARCH64_APPLE_DARWIN_RUNNER";
        assert_eq!(variable(MAC, "RUNNER"), expected);
    }
}
