//! Python: found, and its packages put into an environment of their own.

use std::fs;
use std::path::PathBuf;
use std::process::{Command, Stdio};

use anyhow::{Context, Result};

use super::place;
use workshop::{paths, stamp, step};

const OLDEST: (u32, u32) = (3, 10);

/// There is no Python to run JupyterLab with. The book needs none.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Missing {
    /// No program `python3` or `python`.
    Python,
    /// Only one that the packages have left behind.
    NewerPython {
        /// What is there, as in "3.8.10".
        found: String,
    },
    /// One that Debian and its kin have split: the module `venv` comes by itself.
    Venv {
        /// The version, as in "3.11.2".
        found: String,
    },
}

impl std::fmt::Display for Missing {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        let (major, minor) = OLDEST;
        let how = "Get it from your system's packages (Debian, Ubuntu: \
                   `apt install python3 python3-venv`; Fedora: `dnf install python3`; \
                   macOS: `brew install python`; Windows: `winget install \
                   Python.Python.3.12`) or from python.org, then run `cargo learn` again.";
        match self {
            Self::Python => {
                write!(f, "The notebooks need Python {major}.{minor} or newer. {how}")
            }
            Self::NewerPython { found } => write!(
                f,
                "The notebooks need Python {major}.{minor} or newer; here is {found}. {how}"
            ),
            Self::Venv { found } => write!(
                f,
                "Python {found} is here without its module venv, which the notebooks \
                 need. {how}"
            ),
        }
    }
}

impl std::error::Error for Missing {}

/// A Python that can make environments.
pub struct Python {
    program: String,
    version: String,
}

/// The first of `python3`, `python` and `py` that is new enough and whole.
pub fn find() -> Result<Python, Missing> {
    let mut missing = Missing::Python;
    for program in ["python3", "python", "py"] {
        match ask(program) {
            Ok(python) => return Ok(python),
            // The most telling: a Python that nearly does says more than none.
            Err(Missing::Python) => {}
            Err(reason) if missing == Missing::Python => missing = reason,
            Err(_) => {}
        }
    }
    Err(missing)
}

/// The environment in `.learn/venv`, made from `notebooks/requirements.txt`.
pub struct Environment<'a> {
    python: &'a Python,
    folder: PathBuf,
    requirements: PathBuf,
    ingredients: String,
}

impl<'a> Environment<'a> {
    /// What there must be.
    pub fn wanted(python: &'a Python) -> Result<Self> {
        let folder = place::state("venv");
        let requirements = place::notebooks().join("requirements.txt");
        let packages = fs::read_to_string(&requirements)
            .with_context(|| format!("{} could not be read", requirements.display()))?;
        // Its programs name the folder in their first line.
        let ingredients = format!("{}\n{}\n{packages}", python.version, folder.display());
        Ok(Self { python, folder, requirements, ingredients })
    }

    /// Whether it is there.
    pub fn is_there(&self) -> bool {
        stamp::holds(&self.folder, &self.ingredients)
    }

    /// Makes it unless it is there. True if there was something to do.
    pub fn install(&self) -> Result<bool> {
        stamp::once(&self.folder, &self.ingredients, || {
            let mut make = Command::new(&self.python.program);
            make.args(["-m", "venv", "--clear"]).arg(&self.folder);
            step::run("python-venv", &mut make)?;
            let mut pip = Command::new(paths::venv("python"));
            pip.args(["-m", "pip", "install", "--no-deps", "--no-cache-dir"])
                .args(["--no-input", "--disable-pip-version-check", "--requirement"])
                .arg(&self.requirements)
                .env("PYTHONNOUSERSITE", "1")
                .env_remove("PYTHONPATH");
            step::run("python-packages", &mut pip).map_err(|error| match self.is_too_deep() {
                true => error.context(format!(
                    "Windows may refuse paths of 260 characters and more, and the packages \
                     in {} have such: move the checkout to where its own path has at most \
                     {} characters",
                    self.folder.display(),
                    WINDOWS_LIMIT - LONGEST_PATH
                )),
                false => error,
            })
        })
    }

    /// Whether paths in it are longer than Windows takes, where nobody told it otherwise.
    fn is_too_deep(&self) -> bool {
        let n = paths::workspace().as_os_str().len();
        cfg!(windows) && n + LONGEST_PATH > WINDOWS_LIMIT
    }
}

/// The longest path in the environment, from the workspace's root on.
const LONGEST_PATH: usize = 180;
const WINDOWS_LIMIT: usize = 259;

fn ask(program: &str) -> Result<Python, Missing> {
    let question = "import sys; print('.'.join(map(str, sys.version_info[:3])))\n\
                    import venv, ensurepip";
    let output = Command::new(program)
        .args(["-I", "-c", question])
        .stdin(Stdio::null())
        .output()
        .map_err(|_| Missing::Python)?;
    let found = String::from_utf8_lossy(&output.stdout).trim().to_owned();
    let Some(version) = version(&found) else { return Err(Missing::Python) };
    if version < OLDEST {
        return Err(Missing::NewerPython { found });
    }
    if !output.status.success() {
        return Err(Missing::Venv { found });
    }
    Ok(Python { program: program.to_owned(), version: found })
}

fn version(text: &str) -> Option<(u32, u32)> {
    let mut numbers = text.split('.').map(str::parse);
    Some((numbers.next()?.ok()?, numbers.next()?.ok()?))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_version_is_compared_as_numbers() {
        assert!(version("3.9.18").unwrap() < OLDEST);
        assert!(version("3.10.0").unwrap() >= OLDEST);
        assert_eq!(version("Python was not found"), None);
    }

    #[test]
    fn no_python_is_told_with_the_way_to_get_one() {
        assert_eq!(ask("no-such-python").err(), Some(Missing::Python));
        let text = Missing::NewerPython { found: "3.8.10".into() }.to_string();
        assert!(text.contains("3.8.10") && text.contains("apt install"), "{text}");
    }
}
