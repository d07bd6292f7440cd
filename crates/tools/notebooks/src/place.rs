//! Where the notebooks' things are, and the environment that keeps them there.

use std::ffi::OsString;
use std::fs;
use std::iter;
use std::path::{Path, PathBuf};
use std::process::Command;

use anyhow::{Context, Result};

use workshop::tool::Tool;
use workshop::{chapters, paths, step};

/// The Rust kernel.
pub const EVCXR: Tool = Tool { package: "evcxr_jupyter", version: "0.22.0" };

/// The warm folder that kernels' folders are copied from.
pub const WARM: &str = "evcxr/warm";

/// The variable that holds the user's cargo home while `CARGO_HOME` leads to the type
/// engine's cargo.
pub const REAL_CARGO_HOME: &str = "LEARN_CARGO_HOME";

/// The variable that says where set-up found cargo, for a kernel that was started by a
/// program whose `PATH` does not lead to it.
pub const CARGO_FOLDER: &str = "LEARN_CARGO_FOLDER";

/// The committed notebooks and their settings.
pub fn notebooks() -> PathBuf {
    paths::workspace().join("notebooks")
}

/// Our notebooks' files, in the order of the chapters: those that a chapter names as its own.
/// Any other one in the folder is the reader's: nothing here runs it, compiles for it or
/// writes it.
///
/// # Errors
/// A summary or a chapter that cannot be read: with fewer notebooks all would seem well.
pub fn all() -> Result<Vec<PathBuf>> {
    let mut notebooks = Vec::new();
    for chapter in chapters::all()? {
        let page = paths::workspace().join("chapters").join(&chapter.page);
        let page = page.with_extension("md");
        let text =
            fs::read_to_string(&page).with_context(|| page.display().to_string())?;
        let notebook = format!("notebooks/{}.ipynb", chapter.page);
        if text.contains(&notebook) {
            notebooks.push(paths::workspace().join(notebook));
        }
    }
    Ok(notebooks)
}

/// A notebook's name as a reader knows it: its file name without the ending.
pub fn name(notebook: &Path) -> String {
    notebook.file_stem().unwrap_or_default().to_string_lossy().into_owned()
}

/// A file or folder in `.learn`.
pub fn state(name: &str) -> PathBuf {
    paths::native(paths::state().join(name))
}

/// A program of the kernel's tools, with this system's ending.
pub fn tool(name: &str) -> PathBuf {
    paths::native(state("tools/bin").join(name))
        .with_extension(std::env::consts::EXE_EXTENSION)
}

/// The environment's Python, told to leave the user's Python, Jupyter and IPython alone.
pub fn python() -> Command {
    let jupyter = state("jupyter");
    let mut command = Command::new(paths::venv("python"));
    command
        .env("JUPYTER_DATA_DIR", jupyter.join("data"))
        .env("JUPYTER_CONFIG_DIR", jupyter.join("config"))
        .env("JUPYTER_RUNTIME_DIR", jupyter.join("runtime"))
        .env("JUPYTER_PLATFORM_DIRS", "1")
        .env("IPYTHONDIR", jupyter.join("ipython"))
        .env("PYTHONNOUSERSITE", "1")
        .env("PYTHONUTF8", "1")
        .env_remove("PYTHONPATH")
        .env_remove("PYTHONHOME")
        .env_remove("JUPYTER_PATH")
        .env_remove("JUPYTER_CONFIG_PATH")
        .env_remove("JUPYTERLAB_SETTINGS_DIR")
        .env_remove("JUPYTERLAB_WORKSPACES_DIR");
    command
}

/// The user's cargo home, where downloaded crates are.
pub fn cargo_home() -> PathBuf {
    std::env::var_os("CARGO_HOME").map_or_else(
        || std::env::home_dir().unwrap_or_default().join(".cargo"),
        PathBuf::from,
    )
}

/// The folder on the `PATH` in which cargo is.
pub fn cargo_folder() -> Result<PathBuf> {
    let path = std::env::var_os("PATH").unwrap_or_default();
    let program = Path::new("cargo").with_extension(std::env::consts::EXE_EXTENSION);
    std::env::split_paths(&path)
        .find(|folder| folder.join(&program).is_file())
        .context("cargo is not on the PATH")
}

/// The `PATH`, with the folder of the compiler and its cargo first. Through rustup, which
/// stands before them on most machines, each start takes 25 ms longer, and a notebook's
/// first figure takes forty.
pub fn path_with_toolchain() -> OsString {
    let path = path_with_cargo();
    let mut rustc = Command::new("rustc");
    let said = rustc.args(["--print", "sysroot"]).env("PATH", &path).output();
    let sysroot =
        said.map(|said| String::from_utf8_lossy(&said.stdout).trim().to_owned());
    let folder = PathBuf::from(sysroot.unwrap_or_default()).join("bin");
    let is_whole = ["rustc", "cargo"].iter().all(|program| {
        folder.join(program).with_extension(std::env::consts::EXE_EXTENSION).is_file()
    });
    if is_whole { with_first(folder, path) } else { path }
}

/// The `PATH`, with the folder first in which set-up found cargo.
fn path_with_cargo() -> OsString {
    let path = std::env::var_os("PATH").unwrap_or_default();
    match std::env::var_os(CARGO_FOLDER) {
        Some(cargo) => with_first(cargo.into(), path),
        None => path,
    }
}

fn with_first(folder: PathBuf, path: OsString) -> OsString {
    let folders = iter::once(folder).chain(std::env::split_paths(&path));
    std::env::join_paths(folders).unwrap_or(path)
}

/// Puts the workspace's versions before the next resolution in a kernel's folder. Cargo
/// cuts the file down to what a build uses, so this is done anew for each change of
/// dependencies.
pub fn seed(folder: &Path) -> Result<()> {
    let versions = fs::read_to_string(paths::workspace().join("Cargo.lock"))
        .context("the workspace's Cargo.lock")?;
    step::write(&folder.join("Cargo.lock"), &versions)
}

#[cfg(test)]
mod tests {
    use super::*;

    /// A notebook that is committed and that no chapter names would never be run.
    #[test]
    fn our_notebooks_are_those_that_git_tracks() {
        let mut git = Command::new("git");
        git.args(["ls-files", "*.ipynb"]).current_dir(notebooks());
        let listed: Vec<String> = all().unwrap().iter().map(|path| name(path)).collect();
        match git.output() {
            Ok(output) if output.status.success() => {
                let tracked = String::from_utf8(output.stdout).unwrap();
                let tracked: Vec<String> =
                    tracked.lines().map(|file| name(Path::new(file))).collect();
                assert_eq!(listed, tracked, "which notebooks chapters name");
            }
            // Without git: each is at least there.
            _ => assert!(all().unwrap().iter().all(|notebook| notebook.is_file())),
        }
    }

    #[test]
    fn a_readers_notebook_is_not_ours() {
        let ours = all().unwrap();
        let copy = format!("{}-Copy1.ipynb", name(&ours[1]));
        for theirs in ["Untitled.ipynb", &copy] {
            assert!(!ours.contains(&notebooks().join(theirs)), "{theirs}");
        }
    }
}
