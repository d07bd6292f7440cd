//! Compiles an answer as its file is now.
//!
//! Cargo goes by times: a file that is older than the last build counts as built, even if
//! it holds something else by now (what comes back from a backup keeps its old time). So
//! the text that a program was made from is kept beside the program, and where the file
//! holds another, cargo is shown a new time.

use std::fs::{self, File};
use std::io;
use std::path::{Path, PathBuf};
use std::process::Command;
use std::time::SystemTime;

use anyhow::{Context, Result, anyhow, bail};
use workshop::build::{self, BuildOutput, NotCompiled};
use workshop::paths;

/// Compiles an answer, which is the program of this name, `scale`, and gives the program.
///
/// `cargo` makes the command in the folder of the package.
pub fn build(answer: &Path, name: &str, cargo: impl Fn() -> Command) -> Result<PathBuf> {
    let read = || {
        fs::read(answer).with_context(|| format!("{} cannot be read", answer.display()))
    };
    // A file that is saved meanwhile is compiled again.
    for _ in 0..3 {
        let text = read()?;
        let mut built = built(cargo(), name)?;
        if built.is_fresh && !is_of(&built, &text) {
            built = as_if_saved_now(answer, || self::built(cargo(), name))?;
        }
        if read()? == text {
            keep(&built, &text)?;
            return Ok(built.program);
        }
    }
    bail!("{} is saved again and again while it is compiled", answer.display())
}

/// Whether this very program was made from this text.
fn is_of(built: &BuildOutput, text: &[u8]) -> bool {
    let kept = fs::read(source(built)).ok();
    kept.is_some_and(|kept| record(built, text).is_ok_and(|record| record == kept))
}

fn keep(built: &BuildOutput, text: &[u8]) -> Result<()> {
    if is_of(built, text) {
        return Ok(());
    }
    let source = source(built);
    fs::write(&source, record(built, text)?)
        .with_context(|| format!("{} cannot be written", source.display()))
}

/// When the program was made, and from what: somebody else may have made it anew.
fn record(built: &BuildOutput, text: &[u8]) -> io::Result<Vec<u8>> {
    let program = fs::metadata(&built.program)?;
    let made = format!("{:?}, {} bytes\n", program.modified()?, program.len());
    Ok([made.as_bytes(), text].concat())
}

fn source(built: &BuildOutput) -> PathBuf {
    built.program.with_extension("source")
}

/// Has cargo compile one program.
fn built(mut cargo: Command, name: &str) -> Result<BuildOutput> {
    cargo.args(["build", "--bin", name]);
    build::program(cargo, name).map_err(|error| match error.downcast::<NotCompiled>() {
        Ok(NotCompiled { diagnostics, .. }) => {
            // As a reader finds the file from where they gave the command.
            let root = format!("{}/", paths::workspace().display());
            let diagnostics = diagnostics.replace(&root, "");
            anyhow!("it does not compile yet:\n\n{diagnostics}")
        }
        Err(error) => error,
    })
}

/// Does `work` while the file has the time of now, and gives it its own back, which an
/// editor or a backup may go by.
fn as_if_saved_now<T>(path: &Path, work: impl FnOnce() -> Result<T>) -> Result<T> {
    let why = || {
        format!(
            "cargo takes {} for older than its program, and its time cannot be changed",
            path.display()
        )
    };
    let file = File::options().read(true).write(cfg!(windows)).open(path);
    let file = file.with_context(why)?;
    let modified = || file.metadata().and_then(|data| data.modified());
    let own = modified().with_context(why)?;
    file.set_modified(SystemTime::now()).with_context(why)?;
    let shown = modified().with_context(why)?;
    let outcome = work();
    // Unless it was saved meanwhile.
    if modified().with_context(why)? == shown {
        file.set_modified(own).with_context(why)?;
    }
    outcome
}

#[cfg(test)]
mod tests {
    use std::time::Duration;

    use super::*;

    const NAME: &str = "scale";

    /// A set with one exercise, which uses nothing.
    fn set() -> (tempfile::TempDir, PathBuf) {
        let set = tempfile::tempdir().unwrap();
        let manifest = "[workspace]\n[package]\nname = \"set\"\nedition = \"2024\"\n\
                        [[bin]]\nname = \"scale\"\npath = \"exercises/scale.rs\"\n";
        fs::create_dir(set.path().join("exercises")).unwrap();
        fs::write(set.path().join("Cargo.toml"), manifest).unwrap();
        let answer = set.path().join("exercises/scale.rs");
        (set, answer)
    }

    fn cargo_in(set: &Path) -> Command {
        let mut cargo = Command::new("cargo");
        cargo.current_dir(set).env("CARGO_TARGET_DIR", set.join("target"));
        cargo
    }

    #[test]
    fn a_file_is_judged_as_it_is_whatever_its_time() {
        let (set, answer) = set();
        let write = |word: &str| {
            let text = format!("fn main() {{ print!({word:?}) }}");
            fs::write(&answer, text).unwrap();
        };
        let said = || {
            let program = build(&answer, NAME, || cargo_in(set.path())).unwrap();
            String::from_utf8(Command::new(program).output().unwrap().stdout).unwrap()
        };
        write("right");
        assert_eq!(said(), "right");

        // As `mv` brings a file back: with the time that it had.
        write("wrong");
        let yesterday = SystemTime::now() - Duration::from_secs(86_400);
        let file = File::options().write(true).open(&answer).unwrap();
        file.set_modified(yesterday).unwrap();
        assert_eq!(said(), "wrong");
        let now = fs::metadata(&answer).unwrap().modified().unwrap();
        assert_eq!(now, yesterday, "the reader's file keeps its time");
        assert_eq!(said(), "wrong");

        // Somebody else, such as rustlings, compiles between two checks.
        write("right");
        let mut other = cargo_in(set.path());
        assert!(other.args(["build", "--quiet"]).status().unwrap().success());
        write("wrong");
        file.set_modified(yesterday).unwrap();
        assert_eq!(said(), "wrong");
    }

    #[test]
    fn a_platform_of_its_own_has_a_folder_of_its_own() {
        let (set, answer) = set();
        fs::write(&answer, "fn main() {}").unwrap();
        let version = Command::new("rustc").arg("-vV").output().unwrap().stdout;
        let version = String::from_utf8(version).unwrap();
        let host = version.lines().find_map(|line| line.strip_prefix("host: ")).unwrap();
        let cargo = |set: &Path| {
            let mut cargo = cargo_in(set);
            cargo.env("CARGO_BUILD_TARGET", host);
            cargo
        };
        let program = build(&answer, NAME, || cargo(set.path())).unwrap();
        assert!(program.starts_with(set.path().join("target").join(host)));
        assert!(program.is_file());
    }
}
