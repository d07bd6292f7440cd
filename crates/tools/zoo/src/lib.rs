//! A zoo of attention layers for PyTorch: one file of Python, with a right layer and a switch
//! for every mistake of the bank. People run the tests of their own layer on each of them, and
//! see which mistakes they would not notice.
//!
//! `python/zoo.py` is written by hand but for its table of mistakes, which [`with_table`] makes
//! of the bank: an id, the choices that it changes, and what the catalogue says of it. Its
//! neighbour `keep.py` runs every switch on small layers under PyTorch, and keeps the layers and
//! their outputs in `tests/data/zoo`, as files that the diagnosis reads. A test computes each
//! output anew by the bank and compares. The kept files name the sources that they are from, so
//! this test needs no PyTorch and sees when they are old.

mod table;

use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;

use anyhow::{Context, Result, bail, ensure};
use workshop::output::print;
use workshop::{paths, step};

pub use table::with_table;

/// The file that readers get.
pub const SOURCE: &str = include_str!("../python/zoo.py");

/// Wrong attention layers for PyTorch, to test your tests with
///
/// Writes a file of Python: a right multi-head attention, a switch for each of the mistakes
/// that this book knows, and a program that runs your tests on all of them.
#[derive(Debug, clap::Args)]
pub struct Args {
    /// Where to write it
    #[arg(default_value = "zoo.py")]
    file: PathBuf,
    /// Overwrite another file of this name
    #[arg(long)]
    force: bool,
    /// Make the table of mistakes, run the file in this Python, which has PyTorch and pytest,
    /// and keep what it computes (for those who change it)
    #[arg(long, value_name = "PYTHON")]
    keep: Option<PathBuf>,
}

/// Writes the file, or keeps what it computes.
///
/// # Errors
/// A file of the reader's that would be lost, or one that cannot be written; a Python that
/// fails.
pub fn run(args: &Args) -> Result<()> {
    if let Some(python) = &args.keep {
        return keep(python);
    }
    write(&args.file, args.force)?;
    let file = args.file.display();
    Ok(print(format_args!(
        "{file}: a right attention layer for PyTorch, and {} wrong ones.\n\
         Write tests that make their layers with make_layer, as the head of the file says.\n\
         python {file} your_tests.py    says which mistakes your tests would not notice.\n",
        diagnosis::bank().count()
    ))?)
}

/// Writes the file where there is none, or the same.
fn write(file: &Path, is_forced: bool) -> Result<()> {
    let source = SOURCE.replace("\r\n", "\n");
    let is_other = fs::read_to_string(file)
        .map_or_else(|_| file.exists(), |own| own.replace("\r\n", "\n") != source);
    if is_other && !is_forced {
        bail!("{} is there and differs; --force overwrites it", file.display());
    }
    step::write(file, source)
}

/// Makes the table of mistakes anew, runs every switch and every suite under PyTorch, and keeps
/// what comes out.
fn keep(python: &Path) -> Result<()> {
    let folder = paths::workspace().join("crates/tools/zoo/python");
    let zoo = folder.join("zoo.py");
    step::write(&zoo, with_table(&fs::read_to_string(&zoo)?)?)?;
    let mut run = Command::new(python);
    run.arg("-B").arg(folder.join("keep.py"));
    run.arg(paths::workspace().join("tests/data/zoo"));
    ensure!(run.status().context("no such Python")?.success(), "keep.py failed");
    Ok(print("tests/data/zoo is kept\n")?)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_file_of_the_readers_is_kept() {
        let folder = std::env::temp_dir().join(format!("zoo-{}", std::process::id()));
        let file = folder.join("zoo.py");
        write(&file, false).unwrap();
        write(&file, false).unwrap();
        fs::write(&file, "mine").unwrap();
        let refused = write(&file, false).unwrap_err().to_string();
        assert!(refused.contains("--force"), "{refused}");
        assert_eq!(fs::read_to_string(&file).unwrap(), "mine");
        write(&file, true).unwrap();
        assert_ne!(fs::read_to_string(&file).unwrap(), "mine");
        fs::remove_dir_all(folder).unwrap();
    }
}
