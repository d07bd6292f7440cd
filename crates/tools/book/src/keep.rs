//! The figures that are kept with the sources: whether they are those that the crates draw.

use std::fmt;
use std::fs;
use std::path::{Path, PathBuf};

use anyhow::{Context, Result, ensure};
use pages::{FigureFolder, Figures};

use crate::figure::FigureCache;

/// What keeping the figures changed.
#[derive(Debug, PartialEq, Eq)]
pub struct Changes {
    n_figures: usize,
    pub(crate) written: Vec<PathBuf>,
    removed: Vec<PathBuf>,
}

impl fmt::Display for Changes {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self { n_figures, written, removed } = self;
        for (what, files) in [("written", written), ("removed", removed)] {
            for file in files {
                writeln!(f, "{what}  {}", file.display())?;
            }
        }
        write!(
            f,
            "{} files were others, of {n_figures} figures and the questions",
            written.len()
        )
    }
}

/// Keeps what was drawn, and nothing else.
///
/// # Errors
/// A file that cannot be read, written or removed.
pub(crate) fn keep(drawn: &FigureCache, kept: &FigureFolder) -> Result<Changes> {
    let (mut written, mut files) = (Vec::new(), Vec::new());
    let figures = drawn.all();
    for (asked, html) in &figures {
        if kept.keep(asked, html)? {
            written.push(kept.file(asked));
        }
        files.push(kept.file(asked));
    }
    let removed = kept.others(&files)?;
    for file in &removed {
        let gone = fs::remove_file(file);
        gone.with_context(|| format!("cannot remove {}", file.display()))?;
    }
    Ok(Changes { n_figures: figures.len(), written, removed })
}

/// # Errors
/// Every figure that is kept as another one than it is, not kept, or kept in vain.
pub(crate) fn check(drawn: &FigureCache, kept: &FigureFolder) -> Result<()> {
    let everywhere = FigureCache::default();
    let (mut problems, mut files) = (String::new(), Vec::new());
    let mut problem = |file: &Path, what: &str| {
        problems += &format!("\n{}: {what}", file.display());
    };
    for (asked, mut html) in drawn.all() {
        // The reader's own benchmark shows in the book, and is not kept.
        if !drawn.is_of_no_machine() {
            html = everywhere.figure(&asked, FigureFolder::ID)?.into();
        }
        let file = kept.file(&asked);
        if let Some(what) = kept.difference(&asked, &html)? {
            problem(&file, &what);
        }
        files.push(file);
    }
    for file in kept.others(&files)? {
        problem(&file, "no chapter asks for it");
    }
    ensure!(
        problems.is_empty(),
        "figures that are kept are not those that the crates draw (`cargo learn figures` \
         keeps these):{problems}"
    );
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_drawn_is_kept_and_what_changes_is_told() {
        let place = tempfile::tempdir().unwrap();
        let kept = FigureFolder::of(place.path());
        let drawn = FigureCache::default();
        let blend = drawn.figure("blend", FigureFolder::ID).unwrap();
        assert!(check(&drawn, &kept).unwrap_err().to_string().contains("it is not kept"));

        let changed = keep(&drawn, &kept).unwrap();
        assert_eq!(
            (changed.n_figures, &changed.written[..]),
            (1, &[kept.file("blend")][..])
        );
        check(&drawn, &kept).unwrap();
        assert!(keep(&drawn, &kept).unwrap().written.is_empty());

        kept.keep("blend", &blend.replace("figure-plot", "figure-plan")).unwrap();
        kept.keep("bars", "<figure></figure>").unwrap();
        let told = check(&drawn, &kept).unwrap_err().to_string();
        for said in ["blend.html: its text", "bars.html: no chapter", "learn figures"] {
            assert!(told.contains(said), "{told}");
        }
        let changed = keep(&drawn, &kept).unwrap();
        assert_eq!(changed.removed, [kept.file("bars")]);
        check(&drawn, &kept).unwrap();
    }
}
