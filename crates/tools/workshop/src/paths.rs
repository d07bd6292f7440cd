//! Where things are: the workspace, and the folder that git ignores in which set-up
//! keeps tools, the Python environment and the notebooks' caches.

use std::path::{Path, PathBuf};

/// The workspace's root, known since this binary was compiled in it.
#[expect(clippy::missing_panics_doc, reason = "the manifest lies where it was compiled")]
pub fn workspace() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR"))
        .ancestors()
        .nth(3)
        .expect("crates/tools/workshop lies three folders below the workspace")
        .to_path_buf()
}

/// A path with this system's separators, where one with `/` was joined to it: as a reader
/// knows it.
pub fn native(path: impl AsRef<Path>) -> PathBuf {
    path.as_ref().components().collect()
}

/// A path of the workspace as messages name it, from the workspace's root.
pub fn shown(path: &Path) -> String {
    native(path.strip_prefix(workspace()).unwrap_or(path)).display().to_string()
}

/// What the reader's own `cargo learn bench` found, once there was one.
pub fn bench_run() -> PathBuf {
    state().join("bench.json")
}

/// The built book, with `index.html` in it.
pub fn book() -> PathBuf {
    book_of(&workspace())
}

/// The same for another workspace. As `build-dir` in book.toml has it.
pub fn book_of(workspace: &Path) -> PathBuf {
    native(workspace.join("target/book"))
}

/// `.learn`, made by set-up, safe to delete: the next `cargo learn` makes it again, all but
/// what you answered to `cargo learn predict`.
pub fn state() -> PathBuf {
    workspace().join(".learn")
}

/// A program of the notebooks' Python environment, with this system's ending.
pub fn venv(program: &str) -> PathBuf {
    let folder = state().join("venv").join(if cfg!(windows) { "Scripts" } else { "bin" });
    folder.join(program).with_extension(std::env::consts::EXE_EXTENSION)
}

/// Trained models, those that the reader had fetched.
pub fn models() -> PathBuf {
    state().join("models")
}

/// The whole model all-MiniLM-L6-v2, once the reader had it fetched: a folder as
/// `save_pretrained` writes it.
pub fn minilm() -> PathBuf {
    models().join("all-MiniLM-L6-v2")
}

/// The whole model SmolLM2-135M-Instruct, once the reader had it fetched: a GGUF file.
pub fn smollm2() -> PathBuf {
    native(models().join("SmolLM2-135M-Instruct/SmolLM2-135M-Instruct.Q4_1.gguf"))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_reader_sees_the_separators_of_the_system() {
        let place = Path::new("target").join("book");
        assert_eq!(
            native("target/book").display().to_string(),
            place.display().to_string()
        );
        assert_eq!(shown(&workspace().join("target/book")), place.display().to_string());
        assert_eq!(native("/a/b"), Path::new("/a/b"));
    }
}
