//! A zoo of attention layers for PyTorch: one file of Python, with a right layer and a switch
//! for every mistake of the bank. People run the tests of their own layer on each of them, and
//! see which mistakes they would not notice.
//!
//! `python/zoo.py` is written by hand but for its table of mistakes, which [`table`] makes of
//! the bank: an id, the choices that it changes, and what the catalogue says of it. That each
//! switch computes what the bank computes is shown by [`cases`]: `zoo.py` ran on them under
//! PyTorch, what it gave is kept in `tests/data/zoo`, and a test computes the bank's numbers
//! anew and compares. The kept files name the sources that they are from, so a test that needs
//! no PyTorch sees when they are old.

mod cases;
mod keep;
mod table;

use std::fs;
use std::path::{Path, PathBuf};

use anyhow::{Result, bail};
use workshop::output::print;
use workshop::step;

pub use cases::{Case, Outcome, numbers, outcomes};
pub use keep::{hash, kept_folder, python};
pub use table::{block, with_block};

/// The file that readers get.
pub const SOURCE: &str = include_str!("../python/zoo.py");

/// A mistake that is drawn: the zoo runs it on the first case, and its own map is kept.
pub const DRAWN: &str = "dropout-in-evaluation";

/// Wrong attention layers in PyTorch, to test your tests with
///
/// Writes a file of Python: a right multi-head attention, a switch for each of the mistakes
/// that this book knows, and a program that runs your tests on all of them.
#[derive(Debug, clap::Args)]
pub struct Args {
    /// Where to write it
    #[arg(default_value = "zoo.py")]
    file: PathBuf,
    /// Also where there is another file of this name
    #[arg(long)]
    force: bool,
    /// Make the table of mistakes, run the file in this Python, and keep what it computes (for
    /// those who change it)
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
        return keep::keep(python);
    }
    write(&args.file, args.force)?;
    let file = args.file.display();
    Ok(print(format_args!(
        "{file}: a right attention layer for PyTorch, and {} wrong ones.\n\
         Write tests that make their layers with `make_layer`, as the head of the file says.\n\
         python {file} your_tests.py    says which mistakes your tests do not see.\n",
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
