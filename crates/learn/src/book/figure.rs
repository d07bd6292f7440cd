//! Figures: drawn from the crates while the book is built.
//!
//! The seam to crate `figures`: a chapter's `{{#figure name key=value …}}` is looked up
//! in [`REGISTRY`], which holds every figure that a chapter may show.

use std::fs;
use std::path::Path;

use anyhow::{Context, Result, ensure};

/// What a chapter asks a figure for.
pub struct Request<'a> {
    /// The element's id, unique in the book (the print page holds all chapters).
    pub id: &'a str,
    args: Vec<(&'a str, &'a str)>,
}

/// Draws a figure as a fragment of HTML that stands by itself.
pub type Draw = fn(&Request) -> Result<String>;

/// The figures by name, and the files that pages with a figure load.
pub struct Registry {
    /// Name and drawing.
    pub figures: &'static [(&'static str, Draw)],
    /// File name and text: style sheets, licences, and scripts in the order they run in.
    pub assets: &'static [(&'static str, &'static str)],
}

/// What the chapters may show.
pub static REGISTRY: Registry = Registry { figures: &[], assets: &figures::assets::ALL };

impl<'a> Request<'a> {
    /// The value of `key=value`, if it was given.
    pub fn arg(&self, key: &str) -> Option<&'a str> {
        self.args.iter().find(|(name, _)| *name == key).map(|(_, value)| *value)
    }
}
impl Registry {
    /// Draws what `{{#figure rest}}` asks for. The fragment has no empty line, at which
    /// Markdown would stop to take it as HTML.
    pub fn draw(&self, rest: &str, id: &str) -> Result<String> {
        let mut words = rest.split_whitespace();
        let name = words.next().unwrap_or_default();
        let (_, draw) =
            self.figures.iter().find(|(known, _)| *known == name).with_context(|| {
                let known: Vec<&str> =
                    self.figures.iter().map(|(name, _)| *name).collect();
                format!("no figure {name}; there are: {}", known.join(", "))
            })?;
        let pair = |word: &'_ str| word.contains('=');
        let args: Vec<_> = words.collect();
        ensure!(args.iter().all(|word| pair(word)), "figure {rest}: write key=value");
        let args = args.iter().filter_map(|word| word.split_once('=')).collect();
        let html =
            draw(&Request { id, args }).with_context(|| format!("figure {rest}"))?;
        ensure!(html.trim().starts_with('<'), "figure {rest} is not HTML");
        let lines = html.lines().filter(|line| !line.trim().is_empty());
        Ok(lines.collect::<Vec<_>>().join("\n"))
    }

    /// What a page with a figure has at its end: the style sheet, and the names of the
    /// scripts, which `theme/learn.js` loads once (the print page holds many chapters).
    /// The names carry the text's hash, so that a browser keeps them between pages.
    pub fn page_end(&self, up: &str) -> String {
        let named = |suffix: &'static str| {
            let fits = move |asset: &&(&str, &str)| asset.0.ends_with(suffix);
            let address =
                |(name, text): &(&str, &str)| format!("assets/{name}?v={}", hash(text));
            self.assets.iter().filter(fits).map(address).collect::<Vec<_>>()
        };
        let styles = named(".css");
        let link =
            |style: &String| format!("<link rel=\"stylesheet\" href=\"{up}{style}\">");
        let styles: String = styles.iter().map(link).collect();
        let scripts = named(".js").join(" ");
        format!("\n\n<div hidden data-figure-scripts=\"{scripts}\">{styles}</div>\n")
    }
}

/// Writes the assets beside the chapters, from where mdBook copies them into the book: a
/// preprocessor has no say after that. A file that is as it should be is not touched, so
/// that `mdbook serve`, which watches the folder, does not build for ever.
pub fn write_assets(folder: &Path, registry: &Registry) -> Result<()> {
    fs::create_dir_all(folder)
        .with_context(|| format!("cannot make {}", folder.display()))?;
    for (name, text) in registry.assets {
        let path = folder.join(name);
        if fs::read(&path).is_ok_and(|there| there == text.as_bytes()) {
            continue;
        }
        fs::write(&path, text)
            .with_context(|| format!("cannot write {}", path.display()))?;
    }
    Ok(())
}

/// FNV-1a: the same on every machine, and enough to tell two versions of a file apart.
fn hash(text: &str) -> String {
    let mix =
        |hash: u64, byte: &u8| (hash ^ u64::from(*byte)).wrapping_mul(0x100_0000_01b3);
    format!("{:016x}", text.as_bytes().iter().fold(0xcbf2_9ce4_8422_2325, mix))
}

/// Small figures for the tests of this folder.
#[cfg(test)]
pub static SAMPLE: Registry = Registry {
    figures: &[
        ("bars", |request| {
            let head = request.arg("head").unwrap_or("all");
            Ok(format!(
                "<figure class=\"figure\" id=\"{}\">\n\n{head}</figure>",
                request.id
            ))
        }),
        ("broken", |_| anyhow::bail!("no such head")),
    ],
    assets: &[("a.css", "a{}"), ("a.js", "0"), ("a-LICENSE.txt", "free")],
};

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_figure_gets_its_id_and_words_and_has_no_empty_line() {
        let html = SAMPLE.draw("bars head=3", "f1").unwrap();
        assert_eq!(html, "<figure class=\"figure\" id=\"f1\">\n3</figure>");
    }

    #[test]
    fn an_unknown_or_failing_figure_is_an_error_with_its_name() {
        for (rest, said) in [
            ("lines", "there are: bars"),
            ("broken", "figure broken"),
            ("bars 3", "key=value"),
        ] {
            let error = SAMPLE.draw(rest, "f").unwrap_err().to_string();
            assert!(error.contains(said), "{error}");
        }
    }

    #[test]
    fn a_page_names_its_assets_once_and_by_hash() {
        let end = SAMPLE.page_end("../");
        assert!(end.contains("href=\"../assets/a.css?v="), "{end}");
        assert!(end.contains("scripts=\"assets/a.js?v="), "{end}");
        assert!(!end.contains("LICENSE"), "{end}");
        assert_ne!(hash("a"), hash("b"));
    }
}
