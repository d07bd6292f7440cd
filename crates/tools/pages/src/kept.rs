//! Figures that are kept with the sources, in `chapters/figures`.
//!
//! A chapter's numbers come from snapshots, and so do its figures at first: a reader has
//! the whole book before the crates that draw are compiled. As for every snapshot there is
//! a check that what is kept is what comes out now (`cargo learn book`), and a command that
//! keeps what comes out (`cargo learn figures`).

use std::fs;
use std::path::{Path, PathBuf};

use anyhow::{Context, Result};
use serde_json::Value;
use workshop::{near, paths, step};

use crate::figures::Figures;

/// The numbers of a figure stand between these.
const DATA: [&str; 2] = ["<script type=\"application/json\">", "</script>"];

/// Where they lie among the chapters, and mdBook copies them to among the pages.
pub(crate) const FOLDER: &str = "figures";

/// A folder of figures.
pub struct FigureFolder {
    folder: PathBuf,
}

impl FigureFolder {
    /// The id that a figure has here, where every page has one of its own for it.
    pub const ID: &'static str = "figure-kept";

    /// Those of this workspace.
    pub fn here() -> Self {
        Self::of(&paths::workspace())
    }

    /// Those of the workspace in this folder.
    pub fn of(workspace: &Path) -> Self {
        Self { folder: workspace.join("chapters").join(FOLDER) }
    }

    /// A figure with the id of its place on a page.
    pub fn with_id(html: &str, id: &str) -> String {
        html.replace(Self::ID, id)
    }

    /// The file of the figure that `{{#figure asked}}` asks for.
    pub fn file(&self, asked: &str) -> PathBuf {
        self.folder.join(asked.replace([' ', '='], "-")).with_extension("html")
    }

    /// Keeps a figure, which has [`Self::ID`]; says whether it was another one before.
    ///
    /// # Errors
    /// A file that cannot be written.
    pub fn keep(&self, asked: &str, html: &str) -> Result<bool> {
        let is_new = self.difference(asked, html)?.is_some();
        if is_new {
            step::write(&self.file(asked), html)?;
        }
        Ok(is_new)
    }

    /// What is kept beside the figures in these files.
    ///
    /// # Errors
    /// A folder that cannot be read.
    pub fn others(&self, files: &[PathBuf]) -> Result<Vec<PathBuf>> {
        let mut others = Vec::new();
        for entry in fs::read_dir(&self.folder).into_iter().flatten() {
            let path = entry?.path();
            if !files.contains(&path) {
                others.push(path);
            }
        }
        others.sort();
        Ok(others)
    }

    /// How a figure differs from the one that is kept: in its text, or in a number by more
    /// than processors make of it.
    ///
    /// # Errors
    /// A file that cannot be read.
    pub fn difference(&self, asked: &str, html: &str) -> Result<Option<String>> {
        let Some(kept) = self.read(asked)? else {
            return Ok(Some("it is not kept".to_owned()));
        };
        let (kept, now) = (Parts::of(&kept), Parts::of(html));
        let mut numbers = kept.data.iter().zip(&now.data);
        Ok(match kept.text == now.text && kept.data.len() == now.data.len() {
            false => Some("its text or its drawing is another".to_owned()),
            true => numbers.find_map(|(kept, now)| near::difference(kept, now)),
        })
    }

    fn read(&self, asked: &str) -> Result<Option<String>> {
        let file = self.file(asked);
        if !file.exists() {
            return Ok(None);
        }
        let read = fs::read_to_string(&file);
        read.map(Some).with_context(|| format!("cannot read {}", file.display()))
    }
}

impl Figures for FigureFolder {
    fn figure(&self, asked: &str, id: &str) -> Result<String> {
        Ok(match self.read(asked)? {
            Some(html) => Self::with_id(html.trim_end(), id),
            None => format!(
                "<figure class=\"undrawn\" id=\"{id}\"><p>This figure is new: it is there \
                 when <code>cargo learn</code> has drawn it and you reload the \
                 page.</p></figure>"
            ),
        })
    }

    fn are_of_now(&self) -> bool {
        false
    }
}

/// A figure's text, and its numbers.
struct Parts {
    text: Vec<String>,
    data: Vec<Value>,
}

impl Parts {
    fn of(html: &str) -> Self {
        let [begin, end] = DATA;
        let mut pieces = html.trim_end().split(begin);
        let mut text = vec![pieces.next().unwrap_or_default().to_owned()];
        let mut data = Vec::new();
        for piece in pieces {
            let (json, rest) = piece.split_once(end).unwrap_or((piece, ""));
            data.push(serde_json::from_str(json).unwrap_or_else(|_| json.into()));
            text.push(rest.to_owned());
        }
        Self { text, data }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const BARS: &str = "<figure id=\"figure-kept\"><script type=\"application/json\">\
                        {\"z\":[0.25,2]}</script></figure>";

    fn kept() -> (tempfile::TempDir, FigureFolder) {
        let place = tempfile::tempdir().unwrap();
        let kept = FigureFolder::of(place.path());
        assert!(kept.keep("bars head=2", BARS).unwrap());
        (place, kept)
    }

    #[test]
    fn a_figure_is_kept_once_and_given_with_an_id() {
        let (_place, kept) = kept();
        assert!(!kept.keep("bars head=2", BARS).unwrap());
        assert!(kept.file("bars head=2").ends_with("chapters/figures/bars-head-2.html"));
        let shown = kept.figure("bars head=2", "figure-01-1").unwrap();
        assert!(shown.contains("id=\"figure-01-1\""), "{shown}");
        assert!(!kept.are_of_now());
    }

    #[test]
    fn one_that_is_not_kept_yet_has_its_place() {
        let (_place, kept) = kept();
        let place = kept.figure("lines", "figure-01-2").unwrap();
        assert!(place.contains("id=\"figure-01-2\""), "{place}");
    }

    #[test]
    fn last_digits_and_the_order_of_names_are_no_difference() {
        let (_place, kept) = kept();
        let as_good = BARS.replace("0.25", "0.25000000000001");
        assert_eq!(kept.difference("bars head=2", &as_good).unwrap(), None);
        let two = BARS.replace("\"z\":", "\"a\":1,\"z\":");
        kept.keep("two", &two).unwrap();
        let turned = BARS.replace("[0.25,2]", "[0.25,2],\"a\":1");
        assert_eq!(kept.difference("two", &turned).unwrap(), None);
    }

    #[test]
    fn planted_faults_are_found() {
        let (_place, kept) = kept();
        for (from, to, said) in [
            ("0.25", "0.26", "/z/0: 0.25, now 0.26"),
            ("[0.25,2]", "[0.25]", "/z"),
            ("<figure ", "<figure class=\"a\" ", "text"),
            ("</figure>", "<i></i></figure>", "text"),
        ] {
            let found = kept.difference("bars head=2", &BARS.replace(from, to)).unwrap();
            assert!(found.as_ref().is_some_and(|it| it.contains(said)), "{found:?}");
        }
        assert!(kept.difference("lines", BARS).unwrap().unwrap().contains("not kept"));
    }

    #[test]
    fn what_nobody_asks_for_is_told() {
        let (_place, kept) = kept();
        let asked = [kept.file("lines")];
        assert_eq!(kept.others(&asked).unwrap(), [kept.file("bars head=2")]);
        assert_eq!(kept.others(&[kept.file("bars head=2")]).unwrap(), [] as [PathBuf; 0]);
    }
}
