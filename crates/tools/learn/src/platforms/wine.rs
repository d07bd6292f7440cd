//! Windows by wine: tests, and commands beside the same commands on this system.

use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;

use anyhow::{Context, Result, ensure};
use workshop::{build, paths, step};

use super::{
    MINGW, THIS, WINDOWS, WINE, all_pass, packages, program, strict_cargo, variable,
};
use crate::logs::log;

/// Whose tests ask Windows for files, processes, locks and paths.
pub const TOOLS: [&str; 4] = ["workshop", "checks", "learn", "notebooks"];

/// Whose tests compute what the commands show, and show it.
pub const COMPUTING: [&str; 7] =
    ["attention", "tiles", "kernels", "model-files", "predict", "terminal", "look"];

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

/// A command of a tool, as it is typed in the workspace; `FOLDER` is a tiny BERT.
const COMMANDS: [(&str, &str); 6] = [
    ("terminal", "count --d-model 256 --heads 8"),
    ("terminal", "tour"),
    ("terminal", "train lookups --steps 20"),
    ("terminal", "attend LAYER LAYER --heads 8 --output FOLDER/attended.safetensors"),
    ("look", "model FOLDER --text bank --output FOLDER/hidden.safetensors"),
    ("look", "look bank --model FOLDER --html FOLDER/heads.html"),
];

const LAYER: &str = "tests/torch-vectors/self_d256_h8_t30_bias.safetensors";

/// The tests of these packages.
///
/// # Errors
/// A test that fails, or a warning.
pub fn tests(of: &[&str]) -> Result<String> {
    let mut cargo = cargo("test", WINDOWS);
    cargo.arg("--tests").args(packages(of));
    cargo.env(variable(WINDOWS, "RUNNER"), program(WINE).context("looked for before")?);
    cargo.arg("--").args(NEED_CARGO.iter().flat_map(|test| ["--skip", test]));
    // Which insta asks a cargo for, too.
    cargo.env("INSTA_WORKSPACE_ROOT", paths::workspace()).env("INSTA_UPDATE", "no");
    in_prefix(&mut cargo)?;
    all_pass("wine", &mut cargo)
}

/// Each command in wine, and on this system: they say the same.
///
/// # Errors
/// A command that fails, or says something else.
pub fn commands() -> Result<String> {
    for (tool, args) in COMMANDS {
        let mut there = Command::new(program(WINE).context("looked for before")?);
        there.arg(built(tool, WINDOWS)?);
        in_prefix(&mut there)?;
        let there = said("wine-command", there, args)?;
        let here = said("command", Command::new(built(tool, THIS)?), args)?;
        ensure!(
            words(&there) == words(&here),
            "`cargo learn {args}` says in wine\n{there}\nand here\n{here}"
        );
    }
    Ok(format!("{} commands say what they say here", COMMANDS.len()))
}

/// The program of a tool.
fn built(tool: &str, target: &str) -> Result<PathBuf> {
    let mut cargo = cargo("build", target);
    cargo.args(["--package", tool]);
    Ok(build::program(cargo, tool)?.program)
}

/// What a command prints, from a folder that is new for each.
fn said(step: &str, mut command: Command, args: &str) -> Result<String> {
    let folder = ".learn/wine-model";
    tiny_model(&paths::workspace().join(folder))?;
    let args = args.replace("FOLDER", folder).replace("LAYER", LAYER);
    command.args(args.split(' ')).current_dir(paths::workspace());
    step::run(step, &mut command)?;
    Ok(fs::read_to_string(log(step))?.replace('\\', "/"))
}

/// The words of a text without numbers such as `2.0e-15`: how far stages are from each other
/// is in last bits, which the system's `exp` decides.
fn words(text: &str) -> Vec<&str> {
    let is_tiny = |word: &&str| word.contains("e-") && word.starts_with(char::is_numeric);
    text.split_whitespace().filter(|word| !is_tiny(word)).collect()
}

/// A model of three layers, with its tokenizer.
fn tiny_model(folder: &Path) -> Result<()> {
    if folder.is_dir() {
        fs::remove_dir_all(folder)?;
    }
    let models = paths::workspace().join("tests/models");
    for file in ["bert-1/config.json", "bert-1/model.safetensors", "tokenizer.json"] {
        let from = models.join(file);
        step::copy(&from, &folder.join(from.file_name().context("a file has a name")?))?;
    }
    Ok(())
}

/// A cargo that compiles quickly, whatever that makes of the loops.
fn cargo(command: &str, target: &str) -> Command {
    let mut cargo = strict_cargo(command, target);
    cargo.env("CARGO_PROFILE_DEV_OPT_LEVEL", "0").env("CARGO_PROFILE_DEV_DEBUG", "0");
    for name in SLOW_IS_ENOUGH {
        cargo.args(["--config", &format!("profile.dev.package.{name}.opt-level=0")]);
    }
    cargo
}

/// Has a program, or those that it starts, use a Windows of its own, which is made where it
/// is not there yet.
fn in_prefix(command: &mut Command) -> Result<()> {
    let prefix = paths::state().join("wine");
    let settings = [("WINEDEBUG", "-all"), ("WINEDLLOVERRIDES", "mscoree,mshtml=")];
    if !prefix.join("system.reg").is_file() {
        let mut boot = Command::new(program(WINE).context("looked for before")?);
        boot.args(["wineboot", "--init"]).env("WINEPREFIX", &prefix).envs(settings);
        step::run("wine-boot", &mut boot)?;
    }
    give_random_numbers(&prefix.join("drive_c/windows/system32"))?;
    command.env("WINEPREFIX", prefix).envs(settings);
    Ok(())
}

/// Wine before 9 lacks a library from which Rust's standard library takes random numbers.
fn give_random_numbers(system: &Path) -> Result<()> {
    const SOURCE: &str = "unsigned char SystemFunction036(void *, unsigned long);\n\
        __declspec(dllexport) int ProcessPrng(void *to, unsigned long long n)\n\
        { return SystemFunction036(to, (unsigned long)n); }\n";
    let library = system.join("bcryptprimitives.dll");
    if library.is_file() {
        return Ok(());
    }
    let source = paths::state().join("wine/random.c");
    step::write(&source, SOURCE)?;
    let mut gcc = Command::new(MINGW);
    gcc.args(["-shared", "-o"]).arg(library).arg(&source).arg("-ladvapi32");
    step::run("wine-random", &mut gcc)?;
    Ok(fs::remove_file(source)?)
}

#[cfg(test)]
mod unit_tests {
    use super::*;

    #[test]
    fn two_texts_may_differ_in_last_bits_alone() {
        let said = "naive  2.0e-15\nhead 0  flew → paris  0.147\n";
        assert_eq!(words(said), words(&said.replace("2.0e-15", "2.2e-15")));
        assert_ne!(words(said), words(&said.replace("0.147", "0.148")));
        assert_ne!(words(said), words(&said.replace("naive", "one-e-head")));
    }
}
