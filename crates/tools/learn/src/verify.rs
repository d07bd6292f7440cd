//! `cargo learn verify`: everything that must hold.

use std::ffi::OsString;
use std::process::{Command, Stdio};
use std::sync::{Mutex, PoisonError};
use std::time::Instant;

use anyhow::{Context, Result, ensure};
use workshop::build::{self, Profile};
use workshop::group;
use workshop::in_ci;
use workshop::output::print;
use workshop::progress::{self, Progress};
use workshop::tool::Tool;
use workshop::{at_once, paths, step};

use crate::logs::{log, passed, warnings};
use crate::{spread, tool};

/// What is installed where there is none.
const INSTA: Tool = Tool { package: "cargo-insta", version: "1.49.0" };

/// One thing that must hold, and how it is found out.
struct Part {
    name: &'static str,
    check: fn(&Progress) -> Result<String>,
}

/// What must hold, in rows that go on side by side: pages wait for a browser while kernels
/// compute. Within a row one part comes after the other, since what the tests have compiled
/// serves those behind them, and `pages` takes the place of what `book` has built. The first
/// row is the longest, and so it goes first where both want a processor; and the parts that
/// compile into its folder, which cargo allows one command at a time, come when it is at its
/// pages.
const ROWS: [&[Part]; 2] = [
    &[
        Part { name: "format", check: format },
        Part { name: "tests", check: tests },
        Part { name: "book", check: built_book },
        Part { name: PAGES, check: pages },
    ],
    &[
        Part { name: "exercises", check: exercises },
        Part { name: "ranks", check: ranks },
        Part { name: "notebooks", check: run_notebooks },
        Part { name: "lints", check: lints },
        Part { name: "docs", check: docs },
        Part { name: "mutations", check: mutations },
    ],
];

/// The part that asks for a browser.
const PAGES: &str = "pages";

/// What is looked at.
#[derive(Debug, clap::Args)]
pub struct Args {
    /// Open every page of the book in Chromium too
    #[arg(long)]
    pages: bool,
    /// Only these: format, tests, book, pages, exercises, ranks, notebooks, lints, docs,
    /// mutations
    parts: Vec<String>,
}

/// Checks every part, also after one has failed, and says of each how it went.
///
/// # Errors
/// The number of parts that failed, after the reasons were printed.
pub fn run(args: &Args) -> Result<()> {
    let rows = asked_for(args)?;
    let outcomes = at_once::map(&rows, rows.len(), |row| {
        if row.first().is_none_or(|part| part.name != ROWS[0][0].name) {
            give_way();
        }
        row.iter().map(|part| part.passes()).collect::<Result<Vec<bool>>>()
    });
    let outcomes = outcomes.into_iter().collect::<Result<Vec<_>>>()?.concat();
    if !args.pages && args.parts.is_empty() {
        print(
            "The pages were not opened in a browser: `cargo learn verify --pages` does.\n",
        )?;
    }
    let failed = outcomes.iter().filter(|passes| !**passes).count();
    print(format_args!("{} passed, {failed} failed\n", outcomes.len() - failed))?;
    ensure!(failed == 0, "{failed} of {} parts failed", outcomes.len());
    Ok(())
}

/// From here on this thread, and what it starts, gives way to others. Linux alone has that for
/// a thread.
fn give_way() {
    let thread = std::fs::read_link("/proc/thread-self").unwrap_or_default();
    if let Some(id) = thread.file_name() {
        let mut renice = Command::new("renice");
        // Without it both rows go at the same pace.
        let _ = renice.args(["-n", "5", "-p"]).arg(id).output();
    }
}

impl Part {
    /// Whether it holds; what was found is printed.
    fn passes(&self) -> Result<bool> {
        let (progress, start) = (progress::lines(self.name), Instant::now());
        let outcome = (self.check)(&progress);
        progress.finish_and_clear();
        let (name, seconds) = (self.name, start.elapsed().as_secs_f64());
        match &outcome {
            Ok(summary) => {
                print(format_args!("ok      {name:<10} {seconds:>6.1} s  {summary}\n"))?;
            }
            Err(error) => {
                print(format_args!(
                    "FAILED  {name:<10} {seconds:>6.1} s\n{error:#}\n\n"
                ))?;
            }
        }
        Ok(outcome.is_ok())
    }
}

/// The parts in their rows: those that are named, or all, with the pages where these are
/// asked for.
fn asked_for(args: &Args) -> Result<Vec<Vec<&'static Part>>> {
    for name in &args.parts {
        ensure!(
            names().any(|known| known == name),
            "verify has no part {name}; there are: {}",
            names().collect::<Vec<_>>().join(", ")
        );
    }
    let is_asked_for = |part: &&Part| match args.parts.is_empty() {
        true => part.name != PAGES || args.pages,
        false => args.parts.iter().any(|name| name == part.name),
    };
    Ok(ROWS.iter().map(|row| row.iter().filter(is_asked_for).collect()).collect())
}

fn names() -> impl Iterator<Item = &'static str> {
    ROWS.into_iter().flatten().map(|part| part.name)
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

/// A minute of broken files through every reader of them.
fn mutations(bar: &Progress) -> Result<String> {
    bar.set_message("mutations: a minute of broken files");
    // Of the whole workspace, as the tests have compiled it.
    let mut cargo = cargo();
    cargo.args(["build", "--workspace", "--example", "mutate"]);
    let mut mutate = Command::new(build::program(cargo, "mutate")?.program);
    step::run(
        "mutations",
        mutate.args(["--seconds", "60"]).current_dir(paths::workspace()),
    )?;
    let log = std::fs::read_to_string(log("mutations"))?;
    let last = log.lines().rfind(|line| line.contains(" files from seed "));
    Ok(last.unwrap_or("a minute of broken files").to_owned())
}

fn exercises(bar: &Progress) -> Result<String> {
    install_insta(bar)?;
    let held = checks::verify(bar, &path_with_tools())?;
    bar.set_message("exercises: a set of them, handed out");
    let place = paths::state().join("handed-out");
    if place.exists() {
        std::fs::remove_dir_all(&place)?;
    }
    let place = place.display().to_string();
    said_by("hand-out", &["hand-out", &place, "--seed", "17"])?;
    Ok(format!("{held}; a set of them handed out"))
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
    let mut tool = tool::command(package, Profile::WithTests)?;
    let output = group::output(tool.args(args).stderr(Stdio::inherit()))
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
    // Each opens several browsers.
    let run = ["--", "--ignored", "--show-output", "--test-threads", "1"];
    step::run("pages", cargo().args(test).args(run))?;
    Ok("every page in Chromium: at 1280 and 390 px, one light and one dark".into())
}

/// The cargo that runs this, in the workspace.
fn cargo() -> Command {
    let mut cargo = build::cargo_of_checks();
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

/// `cargo insta`, where it is missing; two parts ask for it, and the second waits.
fn install_insta(bar: &Progress) -> Result<()> {
    static ONE: Mutex<()> = Mutex::new(());
    let _one = ONE.lock().unwrap_or_else(PoisonError::into_inner);
    let is_there =
        cargo().args(["insta", "--version"]).output().is_ok_and(|o| o.status.success());
    if is_there {
        return Ok(());
    }
    INSTA.install(bar, "tests: compiling cargo-insta (a minute, once)")
}

#[cfg(test)]
mod unit_tests {
    use super::*;
    use clap::Args as _;

    #[test]
    fn parts_are_chosen_by_name_and_kept_in_their_rows() {
        let chosen = |pages, parts: &[&str]| {
            let parts = parts.iter().map(|&part| part.to_owned()).collect();
            let rows = asked_for(&Args { pages, parts })?;
            let names = |row: Vec<&Part>| row.iter().map(|part| part.name).collect();
            Ok::<Vec<Vec<&str>>, anyhow::Error>(rows.into_iter().map(names).collect())
        };
        assert_eq!(chosen(false, &[]).unwrap().concat().len(), 9);
        assert!(chosen(true, &[]).unwrap()[0].contains(&PAGES));
        let some = chosen(false, &["book", "lints", "tests"]).unwrap();
        assert_eq!(some, [vec!["tests", "book"], vec!["lints"]]);
        let error = chosen(false, &["ladder"]).unwrap_err().to_string();
        assert!(error.starts_with("verify has no part ladder; there are: "), "{error}");
    }

    #[test]
    fn the_help_names_every_part() {
        let help = Args::augment_args(clap::Command::new("verify")).render_long_help();
        let help = help.to_string();
        assert!(help.contains(&names().collect::<Vec<_>>().join(", ")), "{help}");
    }
}
