//! `cargo learn verify`: everything that must hold.

use std::ffi::OsString;
use std::path::PathBuf;
use std::process::{Command, Stdio};
use std::time::Instant;

use anyhow::{Context, Result, bail, ensure};
use workshop::build::{self, Profile};
use workshop::in_ci;
use workshop::output::print;
use workshop::progress::{self, Progress};
use workshop::tool::Tool;
use workshop::{at_once, paths, step};

use crate::{spread, tool};

/// What is installed where there is none.
const INSTA: Tool = Tool { package: "cargo-insta", version: "1.49.0" };

/// One thing that must hold, and how it is found out.
struct Part {
    name: &'static str,
    check: fn(&Progress) -> Result<String>,
}

const PARTS: [Part; 8] = [
    Part { name: "format", check: format },
    Part { name: "lints", check: lints },
    Part { name: "tests", check: tests },
    Part { name: "docs", check: docs },
    Part { name: "exercises", check: exercises },
    Part { name: "ranks", check: ranks },
    Part { name: "book", check: built_book },
    Part { name: "notebooks", check: run_notebooks },
];

const PAGES: Part = Part { name: "pages", check: pages };

/// What is looked at.
#[derive(Debug, clap::Args)]
pub struct Args {
    /// Open every page of the book in Chromium too
    #[arg(long)]
    pages: bool,
    /// Only these: format, lints, tests, docs, exercises, ranks, book, notebooks, pages
    parts: Vec<String>,
}

/// Checks every part, also after one has failed, and says of each how it went.
///
/// # Errors
/// The number of parts that failed, after the reasons were printed.
pub fn run(args: &Args) -> Result<()> {
    let parts = asked_for(args)?;
    let mut failed = 0;
    for part in &parts {
        let bar = progress::spinner(part.name);
        let start = Instant::now();
        let outcome = (part.check)(&bar);
        bar.finish_and_clear();
        let seconds = start.elapsed().as_secs_f64();
        match outcome {
            Ok(summary) => {
                print(format_args!(
                    "ok      {:<10} {seconds:>6.1} s  {summary}\n",
                    part.name
                ))?;
            }
            Err(error) => {
                failed += 1;
                print(format_args!(
                    "FAILED  {:<10} {seconds:>6.1} s\n{error:#}\n\n",
                    part.name
                ))?;
            }
        }
    }
    if !args.pages && args.parts.is_empty() {
        print(
            "The pages were not opened in a browser: `cargo learn verify --pages` does.\n",
        )?;
    }
    print(format_args!("{} passed, {failed} failed\n", parts.len() - failed))?;
    if failed > 0 {
        bail!("{failed} of {} parts failed", parts.len());
    }
    Ok(())
}

/// The parts in their order: those that are named, or all, with the pages where these are
/// asked for.
fn asked_for(args: &Args) -> Result<Vec<&'static Part>> {
    let all = || PARTS.iter().chain([&PAGES]);
    for name in &args.parts {
        let known = || all().map(|part| part.name).collect::<Vec<_>>().join(", ");
        ensure!(
            all().any(|part| part.name == name),
            "verify has no part {name}; there are: {}",
            known()
        );
    }
    let is_asked_for = |part: &&Part| match args.parts.is_empty() {
        true => part.name != PAGES.name || args.pages,
        false => args.parts.iter().any(|name| name == part.name),
    };
    Ok(all().filter(is_asked_for).collect())
}

fn format(_: &Progress) -> Result<String> {
    step::run("format", cargo().args(["fmt", "--all", "--check"]))?;
    Ok("cargo fmt".into())
}

fn lints(bar: &Progress) -> Result<String> {
    bar.set_message("lints: clippy on every crate");
    let mut clippy = cargo();
    clippy.args(["clippy", "--workspace", "--all-targets"]);
    if in_ci() {
        clippy.args(["--", "-D", "warnings"]);
    }
    step::run("lints", &mut clippy)?;
    Ok(format!("clippy, {}", warnings("lints")?))
}

/// The tests and the examples in the documentation, with their snapshots: none written,
/// none left over.
fn tests(bar: &Progress) -> Result<String> {
    install_insta(bar)?;
    bar.set_message("tests: cargo insta test");
    let insta = ["insta", "test", "--workspace", "--check", "--unreferenced", "reject"];
    step::run("tests", cargo().args(insta))?;
    Ok(format!(
        "{} passed, doc tests among them; every snapshot met and referenced",
        passed("tests")?
    ))
}

fn docs(bar: &Progress) -> Result<String> {
    bar.set_message("docs: every link in the documentation");
    let mut doc = cargo();
    doc.args(["doc", "--workspace", "--no-deps"]);
    if in_ci() {
        doc.env("RUSTDOCFLAGS", "-D warnings");
    }
    step::run("docs", &mut doc)?;
    Ok(format!("cargo doc, {}", warnings("docs")?))
}

fn exercises(bar: &Progress) -> Result<String> {
    install_insta(bar)?;
    checks::verify(bar, &path_with_tools())
}

fn ranks(bar: &Progress) -> Result<String> {
    bar.set_message("ranks: a layer by many processes");
    spread::verify()
}

fn built_book(bar: &Progress) -> Result<String> {
    bar.set_message("book: every include, number, figure and link");
    said_by("book", &["check"])
}

fn run_notebooks(bar: &Progress) -> Result<String> {
    bar.set_message("notebooks: each from a fresh kernel");
    said_by("notebooks", &["verify"])
}

/// What a tool prints, if it finds nothing wrong.
fn said_by(package: &str, args: &[&str]) -> Result<String> {
    let output = tool::command(package, Profile::Dev)?
        .args(args)
        .stderr(Stdio::inherit())
        .output()
        .with_context(|| format!("{package} could not be started"))?;
    let text = String::from_utf8_lossy(&output.stdout).trim_end().to_owned();
    ensure!(output.status.success(), "{text}");
    Ok(text)
}

fn pages(bar: &Progress) -> Result<String> {
    bar.set_message("pages: every page in Chromium");
    // The whole workspace is named, so that cargo settles on the features that `tests` has
    // compiled already, and compiles nothing twice.
    let test = ["test", "--workspace", "--test", "pages"];
    // A hand waits more than it computes: a processor serves two.
    let n_threads = (2 * at_once::n_processors()).to_string();
    let run = ["--", "--ignored", "--show-output", "--test-threads", &n_threads];
    step::run("pages", cargo().args(test).args(run))?;
    Ok("every page at 1280 and 390 px, light and dark, in Chromium".into())
}

/// The cargo that runs this, in the workspace.
fn cargo() -> Command {
    let mut cargo = build::cargo();
    cargo.env("PATH", path_with_tools());
    cargo
}

/// Tools that set-up installed are found before others.
fn path_with_tools() -> OsString {
    let path = std::env::var_os("PATH").unwrap_or_default();
    let mut folders = vec![paths::state().join("tools/bin")];
    folders.extend(std::env::split_paths(&path));
    std::env::join_paths(folders).unwrap_or(path)
}

/// `cargo insta`, where it is missing.
fn install_insta(bar: &Progress) -> Result<()> {
    let is_there =
        cargo().args(["insta", "--version"]).output().is_ok_and(|o| o.status.success());
    if is_there {
        return Ok(());
    }
    INSTA.install(bar, "tests: compiling cargo-insta (a minute, once)")
}

/// How many tests passed, by the closing lines in the log of a step.
fn passed(step: &str) -> Result<usize> {
    Ok(count_passed(&std::fs::read_to_string(log(step))?))
}

/// `no warnings`, or how many and where.
fn warnings(step: &str) -> Result<String> {
    let log = log(step);
    Ok(match count_warnings(&std::fs::read_to_string(&log)?) {
        0 => "no warnings".into(),
        n => format!("{n} warnings: {}", log.display()),
    })
}

fn log(step: &str) -> PathBuf {
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
    use clap::Args as _;

    #[test]
    fn parts_are_chosen_by_name_and_kept_in_order() {
        let names = |pages, parts: &[&str]| {
            let parts = parts.iter().map(|&part| part.to_owned()).collect();
            let parts = asked_for(&Args { pages, parts })?;
            Ok::<_, anyhow::Error>(parts.iter().map(|part| part.name).collect::<Vec<_>>())
        };
        assert_eq!(names(false, &[]).unwrap().len(), 8);
        assert_eq!(names(true, &[]).unwrap().last(), Some(&"pages"));
        assert_eq!(names(false, &["book", "lints"]).unwrap(), ["lints", "book"]);
        let error = names(false, &["ladder"]).unwrap_err().to_string();
        assert!(error.starts_with("verify has no part ladder; there are: "), "{error}");
    }

    #[test]
    fn the_help_names_every_part() {
        let help = Args::augment_args(clap::Command::new("verify")).render_long_help();
        let names =
            PARTS.iter().chain([&PAGES]).map(|part| part.name).collect::<Vec<_>>();
        let help = help.to_string();
        assert!(help.contains(&names.join(", ")), "{help}");
    }

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
