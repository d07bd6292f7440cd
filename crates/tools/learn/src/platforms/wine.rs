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

/// Whose tests compute what the commands show, show it, and serve the book.
pub const COMPUTING: [&str; 8] = [
    "attention",
    "tiles",
    "kernels",
    "model-files",
    "predict",
    "terminal",
    "look",
    "pages",
];

/// Some that are checked: an answer in a loop, in matrices, and with a mask.
const EXERCISES: [&str; 3] = ["weighted_average", "scale", "masks"];

/// Tests that start a cargo, which Windows has and wine has not.
const NEED_CARGO: [&str; 2] = ["build::tests::a_", "the_kernel_needs_nothing"];

/// Crates that are compiled with optimisation, and whose loops no test of a tool needs fast.
const SLOW_IS_ENOUGH: [&str; 12] = [
    "block",
    "cached",
    "kernels",
    "libm",
    "matrixmultiply",
    "model-files",
    "models",
    "pulp",
    "runs",
    "sensors",
    "tiles",
    "variants",
];

/// A command of a tool, as it is typed in the workspace, with [`PLACES`] in it.
const COMMANDS: [(&str, &str); 6] = [
    ("terminal", "count --d-model 256 --heads 8"),
    ("terminal", "tour"),
    ("terminal", "train lookups --steps 20"),
    ("terminal", "attend LAYER LAYER --heads 8 --output MODEL/out.safetensors"),
    ("look", "model MODEL --text SENTENCE --output MODEL/out.safetensors"),
    ("look", "look SENTENCE --model MODEL --html MODEL/heads.html"),
];

/// What stands for what in a command: a folder with a tiny BERT, which is made anew for each.
const PLACES: [(&str, &str); 3] = [
    ("MODEL", ".learn/wine-model"),
    ("LAYER", "tests/data/torch-vectors/self_d256_h8_t30_bias.safetensors"),
    ("SENTENCE", "the bank"),
];

/// What the stages may differ by.
const BOUND: f64 = 1e-12;

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

/// Each command in wine, and on this system: they say and write the same.
///
/// # Errors
/// A command that fails, or says or writes something else.
pub fn commands() -> Result<String> {
    let mut n_numbers = 0;
    for (tool, args) in COMMANDS {
        let there = run("wine-command", wine(&built(tool, WINDOWS)?)?, args)?;
        let here = run("command", Command::new(built(tool, THIS)?), args)?;
        ensure!(
            words(&there.said) == words(&here.said),
            "`cargo learn {args}` says in wine\n{}\nand here\n{}",
            there.said,
            here.said
        );
        let agrees = |(a, b): (&f64, &f64)| (a - b).abs() <= BOUND;
        ensure!(
            there.written.len() == here.written.len()
                && there.written.iter().zip(&here.written).all(agrees),
            "`cargo learn {args}` writes other numbers in wine"
        );
        n_numbers += there.written.len();
    }
    Ok(format!(
        "{} commands say what they say here, and write {n_numbers} numbers to {BOUND:e}",
        COMMANDS.len()
    ))
}

/// The checks of some exercises.
///
/// # Errors
/// A check that does not compile, or says something else than here.
pub fn exercises() -> Result<String> {
    checks::verify_on(WINDOWS, &EXERCISES, wine)?;
    Ok(format!(
        "{} exercises as given and their solutions are told what they are told here",
        EXERCISES.len()
    ))
}

/// Runs a program.
fn wine(path: &Path) -> Result<Command> {
    let mut wine = Command::new(program(WINE).context("looked for before")?);
    in_prefix(wine.arg(path))?;
    Ok(wine)
}

/// The program of a tool.
fn built(tool: &str, target: &str) -> Result<PathBuf> {
    let mut cargo = cargo("build", target);
    cargo.args(["--package", tool]);
    Ok(build::program(cargo, tool)?.program)
}

/// What came of a command.
struct Outcome {
    said: String,
    /// Of `out.safetensors`, in `f64`.
    written: Vec<f64>,
}

fn run(step: &str, mut command: Command, args: &str) -> Result<Outcome> {
    let folder = paths::workspace().join(PLACES[0].1);
    tiny_model(&folder)?;
    let place =
        |arg: &str| PLACES.iter().fold(arg.to_owned(), |a, (x, y)| a.replace(x, y));
    command.args(args.split(' ').map(place)).current_dir(paths::workspace());
    step::run(step, &mut command)?;
    Ok(Outcome {
        said: fs::read_to_string(log(step))?.replace('\\', "/"),
        written: numbers(&folder.join("out.safetensors"))?,
    })
}

/// All numbers of a file of `f64`, behind its header; none where there is no file.
fn numbers(file: &Path) -> Result<Vec<f64>> {
    if !file.is_file() {
        return Ok(Vec::new());
    }
    let bytes = fs::read(file)?;
    let (length, rest) = bytes.split_first_chunk().context("a file has a header")?;
    let data = rest.get(usize::try_from(u64::from_le_bytes(*length))?..);
    let (numbers, _) = data.context("the file is cut")?.as_chunks();
    Ok(numbers.iter().map(|&number| f64::from_le_bytes(number)).collect())
}

/// The words of a text without the time that a model or a step took, and without numbers such as
/// `2.0e-15`: how far stages are from each other is in last bits, which the system's `exp`
/// decides.
fn words(text: &str) -> Vec<&str> {
    let is_tiny = |word: &str| word.contains("e-") && word.starts_with(char::is_numeric);
    let has_time =
        |line: &&str| line.contains(": loaded in ") || line.contains(": done in ");
    let lines = text.lines().filter(|line| !has_time(line));
    lines.flat_map(str::split_whitespace).filter(|word| !is_tiny(word)).collect()
}

/// A model of three layers, with its tokenizer.
fn tiny_model(folder: &Path) -> Result<()> {
    if folder.is_dir() {
        fs::remove_dir_all(folder)?;
    }
    let models = paths::workspace().join("tests/data/models");
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
    // Without optimisation a mask of 10,000 levels takes more stack than a test has.
    cargo.args(["--config", "profile.dev.package.attention.opt-level=1"]);
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
        let said = "naive  2.0e-15\nhead 0  flew → paris  0.147\nm: loaded in 0.04 s\n";
        assert_eq!(words(said), words(&said.replace("2.0e-15", "2.2e-15")));
        assert_eq!(words(said), words(&said.replace("0.04", "0.05")));
        assert_ne!(words(said), words(&said.replace("0.147", "0.148")));
        assert_ne!(words(said), words(&said.replace("naive", "one-e-head")));
    }
}
