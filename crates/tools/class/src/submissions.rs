//! What was handed in: the answers of each student, read from folders and zip files.
//!
//! Only files that are named as an exercise are read, in the root of a submission or in a
//! folder `exercises`. Nothing else of a checkout is used, so that changing it gains nothing.

use std::collections::{BTreeMap, BTreeSet};
use std::ffi::OsStr;
use std::fs;
use std::io::{Cursor, Read};
use std::path::{Component, Path, PathBuf};

use anyhow::{Context, Result, bail, ensure};
use zip::ZipArchive;

/// A student's submission.
#[derive(Debug, Default)]
pub struct Submission {
    /// The name of its folder or zip file.
    pub student: String,
    /// One for each exercise at most.
    pub answers: Vec<Answer>,
    /// What was answered to the question about an answer, by exercise.
    pub defences: BTreeMap<String, String>,
    /// What is refused of it, and why.
    pub refused: Vec<String>,
    /// The names of files that are no answers.
    pub unknown: Vec<String>,
}

/// An answer as it was handed in.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Answer {
    /// The name of the exercise.
    pub exercise: String,
    /// What it is.
    pub kind: Kind,
    /// Its place in the submission.
    pub file: String,
    /// What it holds.
    pub bytes: Vec<u8>,
}

/// What an answer is; of several, the first counts.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, serde::Serialize)]
pub enum Kind {
    /// A file of Rust, as a reader's.
    Rust,
    /// A program in Python, which is given the inputs.
    Python,
    /// Numbers, in a file of any kind that is read here.
    Numbers,
    /// No answer, but what its author said to the question about it.
    Defence,
}

/// So many bytes of a submission are read at most.
const LARGEST: u64 = 50_000_000;

/// So many folders in each other are looked into.
const DEEPEST: usize = 5;

/// Folders of a checkout or of a build in which no answer is.
const PASSED_OVER: [&str; 8] = [
    "target",
    "crates",
    "chapters",
    "notebooks",
    "tests",
    "node_modules",
    "__MACOSX",
    "__pycache__",
];

/// Files that come with the exercises, or with any folder.
const OURS: [&str; 4] = ["learn.py", "AGENTS.md", "README.md", "LICENSE"];

/// A file of a submission: what it holds is read only if its name is that of an answer.
struct Entry {
    path: PathBuf,
    content: Result<Vec<u8>, String>,
}

/// The submissions in these folders, for exercises of these names.
///
/// # Errors
/// A folder that is not there.
pub fn read(folders: &[PathBuf], names: &BTreeSet<String>) -> Result<Vec<Submission>> {
    let mut all: Vec<Submission> = Vec::new();
    for folder in folders {
        let is_one = is_zip(folder) || is_submission(folder, names)?;
        let paths = if is_one { vec![folder.clone()] } else { children(folder)? };
        for path in paths.iter().filter(|path| is_zip(path) || path.is_dir()) {
            let mut submission = one(path, names);
            let base = student(path);
            let taken = |name: &String| all.iter().any(|it| it.student == *name);
            let numbered = (2..).map(|n| format!("{base} ({n})"));
            submission.student = [base.clone()]
                .into_iter()
                .chain(numbered)
                .find(|it| !taken(it))
                .unwrap_or(base);
            all.push(submission);
        }
    }
    ensure!(!all.is_empty(), "no folder and no zip file is in what you gave");
    Ok(all)
}

fn student(path: &Path) -> String {
    let whole = path.canonicalize().unwrap_or_else(|_| path.to_owned());
    let name = if is_zip(&whole) { whole.file_stem() } else { whole.file_name() };
    name.unwrap_or(OsStr::new("submission")).to_string_lossy().into_owned()
}

fn is_zip(path: &Path) -> bool {
    path.extension().is_some_and(|end| end.eq_ignore_ascii_case("zip")) && path.is_file()
}

/// What is in a folder and not hidden, in order; no links.
fn children(folder: &Path) -> Result<Vec<PathBuf>> {
    let entries = fs::read_dir(folder).with_context(|| folder.display().to_string())?;
    let mut paths: Vec<PathBuf> = entries
        .filter_map(Result::ok)
        .filter(|entry| !entry.file_name().to_string_lossy().starts_with('.'))
        .map(|entry| entry.path())
        .collect();
    paths.sort();
    Ok(paths)
}

/// Whether a folder is a submission, and not a folder of several.
fn is_submission(folder: &Path, names: &BTreeSet<String>) -> Result<bool> {
    let inner = children(&folder.join("exercises")).unwrap_or_default();
    let is_answer = |path: &PathBuf| kind(path, names).is_some() && !path.is_dir();
    Ok(folder.join("Cargo.toml").is_file()
        || children(folder)?.iter().chain(&inner).any(is_answer))
}

/// The exercise that a file answers by its name, and how.
fn kind(path: &Path, names: &BTreeSet<String>) -> Option<(String, Kind)> {
    let stem = path.file_stem()?.to_str()?;
    let kind = match path.extension()?.to_str()? {
        "rs" => Kind::Rust,
        "py" => Kind::Python,
        "defence" => Kind::Defence,
        "json" | "jsonl" | "txt" | "npy" | "npz" | "safetensors" => Kind::Numbers,
        _ => return None,
    };
    names.contains(stem).then(|| (stem.to_owned(), kind))
}

fn one(path: &Path, names: &BTreeSet<String>) -> Submission {
    let mut submission = Submission::default();
    let entries = if is_zip(path) { zip_file(path, names) } else { folder(path, names) };
    let mut entries = entries.unwrap_or_else(|error| {
        submission.refused.push(format!("{error:#}"));
        Vec::new()
    });
    // A zip file, or one that lies alone in a folder, may hold all in a folder of its own.
    while let Some(first) = entries.first().and_then(|it| it.path.iter().next()) {
        let first = PathBuf::from(first);
        if first == Path::new("exercises")
            || entries.iter().any(|it| it.path == first || !it.path.starts_with(&first))
        {
            break;
        }
        for Entry { path, .. } in &mut entries {
            *path = path.strip_prefix(&first).map(Path::to_owned).unwrap_or_default();
        }
    }
    let is_checkout = entries.iter().any(|it| it.path == Path::new("Cargo.toml"));
    let mut found: BTreeMap<String, Vec<Answer>> = BTreeMap::new();
    for Entry { path, content } in entries {
        let parent = path.parent().unwrap_or(Path::new(""));
        let is_root = parent.as_os_str().is_empty();
        let file = path.display().to_string();
        if !is_root && !parent.ends_with("exercises") {
            continue;
        }
        match (kind(&path, names), content) {
            (None, _)
                if is_root && is_checkout || OURS.iter().any(|it| path.ends_with(it)) => {
            }
            (None, _) => submission.unknown.push(file),
            (_, Err(why)) => submission.refused.push(format!("{file} {why}")),
            (Some((exercise, Kind::Defence)), Ok(bytes)) => {
                let text = String::from_utf8_lossy(&bytes).into_owned();
                submission.defences.insert(exercise, text);
            }
            (Some((exercise, kind)), Ok(bytes)) => {
                let answer = Answer { exercise: exercise.clone(), kind, file, bytes };
                found.entry(exercise).or_default().push(answer);
            }
        }
    }
    for mut answers in found.into_values() {
        // The file that everyone is given counts where there is no other.
        answers.sort_by_key(|it| (it.is_given(), it.kind, it.file.len()));
        let others = answers.split_off(1).into_iter().filter(|it| !it.is_given());
        for other in others {
            let first = &answers[0].file;
            submission.refused.push(format!("{} is left out beside {first}", other.file));
        }
        submission.answers.append(&mut answers);
    }
    submission
}

impl Answer {
    /// Whether nothing is written in it yet.
    fn is_given(&self) -> bool {
        self.kind == Kind::Rust && self.bytes.windows(7).any(|it| it == b"todo!()")
    }
}

/// The files of a folder and of those in it.
fn folder(root: &Path, names: &BTreeSet<String>) -> Result<Vec<Entry>> {
    let mut entries = Vec::new();
    let (mut folders, mut n_bytes) = (vec![(root.to_owned(), 0)], 0);
    while let Some((folder, depth)) = folders.pop() {
        for path in children(&folder)? {
            let found = fs::symlink_metadata(&path)?;
            let name = path.file_name().unwrap_or_default().to_string_lossy();
            let content = match found.file_type() {
                it if it.is_dir() => {
                    if depth < DEEPEST && !PASSED_OVER.contains(&&*name) {
                        folders.push((path, depth + 1));
                    }
                    continue;
                }
                it if it.is_file() && kind(&path, names).is_none() => Ok(Vec::new()),
                it if it.is_file() => {
                    n_bytes += found.len();
                    ensure!(n_bytes <= LARGEST, "its answers have more than 50 MB");
                    fs::read(&path).map_err(|error| error.to_string())
                }
                it if it.is_symlink() => Err("is a link, and no link is followed".into()),
                _ => Err("is no regular file".into()),
            };
            let path = path.strip_prefix(root).unwrap_or(&path).to_owned();
            entries.push(Entry { path, content });
        }
    }
    let mut zips = entries.iter().filter(|it| is_zip(&root.join(&it.path)));
    let has_answers = entries.iter().any(|it| kind(&it.path, names).is_some());
    match (zips.next(), zips.next()) {
        // As a platform for courses hands submissions out.
        (Some(only), None) if !has_answers => zip_file(&root.join(&only.path), names),
        _ => Ok(entries),
    }
}

/// The files of a zip file.
fn zip_file(path: &Path, names: &BTreeSet<String>) -> Result<Vec<Entry>> {
    let shown = path.file_name().unwrap_or_default().to_string_lossy().into_owned();
    ensure!(fs::metadata(path)?.len() <= LARGEST, "{shown} has more than 50 MB");
    let bytes = fs::read(path).with_context(|| shown.clone())?;
    let mut archive =
        ZipArchive::new(Cursor::new(bytes)).with_context(|| shown.clone())?;
    let (mut entries, mut n_bytes) = (Vec::new(), 0);
    for at in 0..archive.len() {
        let mut entry = archive.by_index(at).with_context(|| shown.clone())?;
        let name = entry.name().to_owned();
        let Some(path) = entry.enclosed_name() else {
            bail!("{shown} is refused: the entry {name:?} leaves the folder");
        };
        let passed_over = |part: Component| {
            let part = part.as_os_str().to_string_lossy();
            part.starts_with('.') || PASSED_OVER.contains(&&*part)
        };
        if entry.is_dir() || path.components().any(passed_over) {
            continue;
        }
        let mut content = Ok(Vec::new());
        if entry.is_symlink() {
            content = Err("is a link, and no link is followed".into());
        } else if kind(&path, names).is_some() {
            let mut bytes = Vec::new();
            let read = entry.by_ref().take(LARGEST - n_bytes + 1).read_to_end(&mut bytes);
            n_bytes += bytes.len() as u64;
            ensure!(
                n_bytes <= LARGEST,
                "{shown} is refused: its answers have more than 50 MB"
            );
            content = read.map(|_| bytes).map_err(|error| error.to_string());
        }
        entries.push(Entry { path, content });
    }
    Ok(entries)
}
