//! Where the notebooks' things are, and the environment that keeps them there.

use std::path::{Path, PathBuf};
use std::process::Command;

use workshop::paths;

/// The version of the Rust kernel; its lock file fixes the rest.
pub const EVCXR: &str = "0.22.0";

/// The committed notebooks and their settings.
pub fn notebooks() -> PathBuf {
    paths::workspace().join("notebooks")
}

/// A file or folder in `.learn`.
pub fn state(name: &str) -> PathBuf {
    paths::state().join(name)
}

/// A program of the kernel's tools, with this system's ending.
pub fn tool(name: &str) -> PathBuf {
    state("tools/bin").join(name).with_extension(std::env::consts::EXE_EXTENSION)
}

/// A program of the Python environment.
pub fn venv(program: &str) -> PathBuf {
    let bin = if cfg!(windows) { "Scripts" } else { "bin" };
    state("venv").join(bin).join(program).with_extension(std::env::consts::EXE_EXTENSION)
}

/// The environment's Python, told to leave the user's Python, Jupyter and IPython alone.
pub fn python() -> Command {
    let jupyter = state("jupyter");
    let mut command = Command::new(venv("python"));
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

/// The committed notebooks, in the order of their names.
pub fn all() -> std::io::Result<Vec<PathBuf>> {
    let mut found: Vec<PathBuf> = std::fs::read_dir(notebooks())?
        .filter_map(|entry| Some(entry.ok()?.path()))
        .filter(|path| path.extension().is_some_and(|ending| ending == "ipynb"))
        .collect();
    found.sort();
    Ok(found)
}

/// A notebook's name as a reader knows it: its file name without the ending.
pub fn name(notebook: &Path) -> String {
    notebook.file_stem().unwrap_or_default().to_string_lossy().into_owned()
}
