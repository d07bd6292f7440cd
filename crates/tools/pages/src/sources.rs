//! What a citation stands for, for the margin of a page that is wide enough.

use std::collections::BTreeMap;
use std::fs;
use std::ops::Range;
use std::path::Path;

use anyhow::{Context, Result};

/// Where citations lead.
const PAGE: &str = "bibliography.md";

/// The works of the bibliography: title, venue and place, by id.
#[derive(Debug, Default)]
pub struct Sources(BTreeMap<String, String>);

impl Sources {
    /// Those of the book in this folder; none where it has no bibliography.
    ///
    /// # Errors
    /// A bibliography that cannot be read.
    pub fn of(chapters: &Path) -> Result<Self> {
        let path = chapters.join(PAGE);
        if !path.exists() {
            return Ok(Self::default());
        }
        let text =
            fs::read_to_string(&path).with_context(|| path.display().to_string())?;
        Ok(Self(text.lines().filter_map(entry).collect()))
    }

    /// Where a text cites a work, and what stands in the margin there. Only running text has a
    /// margin: no table, and no code.
    pub fn cited(&self, text: &str) -> Vec<(Range<usize>, String)> {
        let mut cited = Vec::new();
        let link = format!("{PAGE}#");
        for (at, _) in text.match_indices(&link) {
            let line = &text[text[..at].rfind('\n').map_or(0, |it| it + 1)..at];
            let Some((id, _)) = text[at + link.len()..].split_once(')') else { continue };
            let is_running = line.contains("](") && !line.starts_with(['|', ' ']);
            let Some(work) = self.0.get(id).filter(|_| is_running) else { continue };
            let end = at + link.len() + id.len() + 1;
            let work = work.replace('&', "&amp;").replace('"', "&quot;");
            let note = format!("<span class=\"source\" data-source=\"{work}\"></span>");
            cited.push((end..end, note));
        }
        cited
    }
}

/// The id of a line of the bibliography, and its work without labels, authors and links.
fn entry(line: &str) -> Option<(String, String)> {
    let (id, rest) = line.strip_prefix("- <a id=\"")?.split_once("\"></a>")?;
    let (_, work) = rest.split_once(": *")?;
    let parts = work.split('[').map(|part| match part.split_once("](") {
        Some((label, rest)) => {
            format!("{label}{}", rest.split_once(')').map_or("", |(_, rest)| rest))
        }
        None => part.to_owned(),
    });
    Some((id.to_owned(), parts.collect::<String>().replace('*', "")))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn running_text_has_its_sources_and_a_table_has_none() {
        let folder = tempfile::tempdir().unwrap();
        let line = "- <a id=\"a-2020\"></a>**A 2020.** B A: *C: \"D\"*. E. [arXiv:1](https://a.b/1).\n";
        fs::write(folder.path().join(PAGE), line).unwrap();
        let sources = Sources::of(folder.path()).unwrap();
        let text =
            "As [A](bibliography.md#a-2020) says.\n| [A](bibliography.md#a-2020) |\n";
        let [(place, note)] = &sources.cited(text)[..] else { panic!("one") };
        assert_eq!(&text[..place.start], "As [A](bibliography.md#a-2020)");
        let work = "data-source=\"C: &quot;D&quot;. E. arXiv:1.\"";
        assert!(note.contains(work), "{note}");
        assert!(sources.cited("[B](bibliography.md#b-1)").is_empty());
    }
}
