//! Other systems and processors, as far as this machine shows them: what compiles for them,
//! and what an emulator makes of it.
//!
//! | system | `platforms` | `systems`, where it is named |
//! | --- | --- | --- |
//! | Linux on Arm | tests of the stages and `tiles`, by qemu | of `cached` and `kernels` too |
//! | x86-64 without AVX2 | tests of the code with vectors, by qemu | |
//! | Windows | tests of what asks the system, by wine | of commands too; every target compiles |
//! | macOS on Arm | | clippy on every target |
//!
//! A warning is an error. Linux on x86-64 alone has what this takes, and where something is
//! missing the rest is looked at. What an emulator cannot show, and what takes long, machines
//! of the workflow `ci.yml` do.

use std::path::{Path, PathBuf};
use std::process::Command;
use std::{env, fs};

use anyhow::{Context, Result, ensure};
use workshop::build;
use workshop::progress::Progress;
use workshop::{paths, step};

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

/// Whose tests ask Windows for files, processes, locks and paths.
const TOOLS: [&str; 4] = ["workshop", "checks", "learn", "notebooks"];

/// What prints the commands' numbers.
const COMMANDS: [&str; 2] = ["predict", "terminal"];

/// Tests that start a cargo, which Windows has and wine has not.
const NEED_CARGO: [&str; 2] = ["build::tests::a_", "the_kernel_needs_nothing"];

/// Crates that are compiled with optimisation, and whose loops no test of a tool needs fast.
const SLOW_IS_ENOUGH: [&str; 12] = [
    "block",
    "cached",
    "decoders",
    "kernels",
    "libm",
    "matrixmultiply",
    "model-files",
    "pulp",
    "runs",
    "sensors",
    "tiles",
    "variants",
];

/// One look at another system.
struct Look {
    system: &'static str,
    /// What a compiler for it and an emulator of it take.
    target: &'static str,
    programs: &'static [&'static str],
    /// What was found.
    found: fn() -> Result<String>,
}

const QUICK: [Look; 3] = [
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
        found: || wine(&TOOLS),
    },
];

const LONG: [Look; 4] = [
    Look { system: "Windows", target: WINDOWS, programs: &[MINGW], found: windows },
    Look { system: "macOS", target: MAC, programs: &[], found: mac },
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
        found: || wine(&COMMANDS),
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
    let mut said = Vec::new();
    for look in looks {
        let system = look.system;
        bar.set_message(format!("platforms: {system}"));
        let found = match look.missing() {
            Some(missing) => format!("not looked at, since there is no {missing} here"),
            None => (look.found)()?,
        };
        said.push(format!("{system}: {found}"));
    }
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

fn windows() -> Result<String> {
    let mut cargo = strict_cargo("check", WINDOWS);
    step::run("windows", cargo.args(["--workspace", "--all-targets"]))?;
    Ok("every target compiles".into())
}

fn mac() -> Result<String> {
    let mut cargo = strict_cargo("clippy", MAC);
    // Nothing is linked: what a dependency has in assembly need not be assembled.
    cargo.env(format!("CC_{MAC}"), "true").env(format!("AR_{MAC}"), "true");
    cargo.env("SDKROOT", "/");
    step::run("macos", cargo.args(["--workspace", "--all-targets"]))?;
    Ok("no warnings from clippy on any target".into())
}

fn arm(of: &[&str]) -> Result<String> {
    let mut cargo = tests(ARM, of);
    cargo.env(variable(ARM, "LINKER"), ARM_LINKER);
    cargo.env(variable(ARM, "RUNNER"), format!("{ARM_QEMU} -L /usr/aarch64-linux-gnu"));
    all_pass("arm", &mut cargo)
}

/// The tests that are compiled already, on a processor of 2008.
fn old() -> Result<String> {
    let mut n_passed = 0;
    for test in build::test_programs(&KERNELS)? {
        let mut qemu = Command::new(QEMU);
        qemu.args(["-cpu", "Nehalem"]).arg(test.program);
        qemu.current_dir(&test.folder).env("CARGO_MANIFEST_DIR", &test.folder);
        step::run("old", &mut qemu)?;
        n_passed += passed("old")?;
    }
    ensure!(n_passed > 0, "no test was found");
    Ok(format!("{n_passed} tests pass"))
}

fn wine(of: &[&str]) -> Result<String> {
    let wine = program(WINE).context("looked for before")?;
    let prefix = paths::state().join("wine");
    let mut cargo = tests(WINDOWS, of);
    cargo.env("CARGO_PROFILE_DEV_OPT_LEVEL", "0");
    for name in SLOW_IS_ENOUGH {
        cargo.args(["--config", &format!("profile.dev.package.{name}.opt-level=0")]);
    }
    let settings = [("WINEDEBUG", "-all"), ("WINEDLLOVERRIDES", "mscoree,mshtml=")];
    if !prefix.join("system.reg").is_file() {
        let mut boot = Command::new(&wine);
        boot.args(["wineboot", "--init"]).env("WINEPREFIX", &prefix).envs(settings);
        step::run("wine-boot", &mut boot)?;
    }
    let system = prefix.join("drive_c/windows/system32");
    give_random_numbers(&system.join("bcryptprimitives.dll"))?;
    cargo.arg("--").args(NEED_CARGO.iter().flat_map(|test| ["--skip", test]));
    // Which insta asks a cargo for, too.
    cargo.env("INSTA_WORKSPACE_ROOT", paths::workspace());
    cargo
        .env("WINEPREFIX", &prefix)
        .envs(settings)
        .env(variable(WINDOWS, "RUNNER"), wine);
    all_pass("wine", &mut cargo)
}

/// Wine before 9 lacks a library from which Rust's standard library takes random numbers.
fn give_random_numbers(library: &Path) -> Result<()> {
    const SOURCE: &str = "unsigned char SystemFunction036(void *, unsigned long);\n\
        __declspec(dllexport) int ProcessPrng(void *to, unsigned long long n)\n\
        { return SystemFunction036(to, (unsigned long)n); }\n";
    if library.is_file() {
        return Ok(());
    }
    let source = paths::state().join("wine").join("random.c");
    step::write(&source, SOURCE)?;
    let mut gcc = Command::new(MINGW);
    gcc.args(["-shared", "-o"]).arg(library).arg(&source).arg("-ladvapi32");
    step::run("wine-random", &mut gcc)?;
    Ok(fs::remove_file(source)?)
}

/// The tests of these packages, for another system.
fn tests(target: &str, of: &[&str]) -> Command {
    let mut cargo = strict_cargo("test", target);
    cargo.arg("--tests").args(packages(of));
    // What is compiled for an emulator serves nobody twice.
    cargo.env("CARGO_PROFILE_DEV_DEBUG", "0").env("INSTA_UPDATE", "no");
    cargo
}

fn all_pass(name: &str, cargo: &mut Command) -> Result<String> {
    step::run(name, cargo)?;
    Ok(format!("{} tests pass", passed(name)?))
}

#[cfg(test)]
mod unit_tests {
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
    fn a_target_is_told_as_cargo_asks() {
        let expected = "CARGO_TARGET_AARCH64_APPLE_DARWIN_RUNNER";
        assert_eq!(variable(MAC, "RUNNER"), expected);
    }
}
