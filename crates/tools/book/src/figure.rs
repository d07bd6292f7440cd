//! Figures: drawn from the crates while the book is built.
//!
//! The seam to [`gallery`], which knows every figure that a chapter may show: a
//! chapter's `{{#figure name key=value …}}` is looked up there.

use std::fs;
use std::io::ErrorKind;
use std::path::Path;

use anyhow::{Context, Result};
use lessons::Args;
use lessons::live::{Control, Live, Weights};
use pages::{Asset, Figures, address};
use record::Run;
use serde_json::{Value, json};
use workshop::paths;

use crate::own_sentence;

/// Where pages look for the module of the live figures, and what they find before there
/// is one.
pub(crate) const NO_MODULE: Asset = ("live.json", "{}");

/// Every figure, as the crates draw it.
pub(crate) struct Drawn {
    /// What the reader's own benchmark found.
    run: Option<Run>,
}

impl Drawn {
    /// # Errors
    /// A file of the reader's benchmark that cannot be read, or holds no run.
    pub(crate) fn new() -> Result<Self> {
        Ok(Self { run: run_of(&paths::bench_run())? })
    }

    /// What `name key=value …` asks for.
    fn html(&self, asked: &str, id: &str) -> Result<String> {
        let mut words = asked.split_whitespace();
        let name = words.next().unwrap_or_default();
        let words: Vec<&str> = words.collect();
        let args: Option<Args> = words.iter().map(|word| word.split_once('=')).collect();
        let args = args.context("write key=value")?.with_run(self.run.as_ref());
        let html = gallery::draw(name, &args)?.to_html(id);
        Ok(match gallery::find(name) {
            Ok(live) => live_place(live, &html),
            Err(_) => html,
        })
    }
}

impl Figures for Drawn {
    /// The fragment has no empty line, at which Markdown would stop to take it as HTML.
    fn figure(&self, asked: &str, id: &str) -> Result<String> {
        let html = self.html(asked, id).with_context(|| format!("figure {asked}"))?;
        let lines = html.lines().filter(|line| !line.trim().is_empty());
        Ok(lines.collect::<Vec<_>>().join("\n"))
    }

    fn own_sentence(&self, id: &str, up: &str) -> String {
        own_sentence::element(id, up)
    }

    /// The names carry the text's hash, so that a browser keeps them between pages.
    fn page_end(&self, up: &str) -> String {
        let named = |suffix: &'static str| {
            let fits = move |asset: &&Asset| asset.0.ends_with(suffix);
            loaded().iter().filter(fits).map(address).collect::<Vec<_>>()
        };
        let link =
            |style: &String| format!("<link rel=\"stylesheet\" href=\"{up}{style}\">");
        let styles: String = named(".css").iter().map(link).collect();
        let (scripts, worker) = (named(".js").join(" "), address(&live::page::WORKER));
        format!(
            "\n\n<div hidden data-figure-scripts=\"{scripts}\" \
             data-worker=\"{worker}\">{styles}</div>\n"
        )
    }

    fn assets(&self) -> Vec<Asset> {
        // Until there is a module, pages are told that there is none.
        let beside = [live::page::WORKER, NO_MODULE];
        [&loaded()[..], &beside, &own_sentence::ASSETS].concat()
    }
}

/// What a page with a figure loads, scripts in the order they run in, and their licences.
fn loaded() -> Vec<Asset> {
    [&figures::assets::ALL[..], &live::page::LOADED].concat()
}

/// A live figure: as any other, and beside it what `live.js` needs to make it live.
fn live_place(live: &Live, figure: &str) -> String {
    let Live { name, ask, weights, controls, training, .. } = live;
    let controls: Vec<Value> = controls().iter().map(Control::to_json).collect();
    let about = json!({
        "ask": figures::formula(ask),
        "controls": controls,
        "weights": weights.map(Weights::name),
        "training": training.is_some(),
    });
    // No tag can begin inside the text, so none can end the script.
    let about = about.to_string().replace('<', "\\u003c");
    format!(
        "<div class=\"live\" id=\"live-{name}\" data-live=\"{name}\">\
         <script type=\"application/json\">{about}</script>{figure}</div>"
    )
}

/// The run in a file, if there is the file.
fn run_of(file: &Path) -> Result<Option<Run>> {
    let text = match fs::read_to_string(file) {
        Err(error) if error.kind() == ErrorKind::NotFound => return Ok(None),
        text => text.with_context(|| format!("cannot read {}", file.display()))?,
    };
    let run = Run::parse(&text).with_context(|| {
        format!("{}: remove it, or run `cargo learn bench` again", file.display())
    })?;
    Ok(Some(run))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_unknown_or_failing_figure_is_an_error_with_its_name() {
        let drawn = Drawn { run: None };
        for (asked, said) in [
            ("lines", "no figure lines"),
            ("tile-plan 3", "key=value"),
            ("", "no figure"),
        ] {
            let error = format!("{:#}", drawn.figure(asked, "f").unwrap_err());
            assert!(error.contains(said), "{error}");
            assert!(error.starts_with(&format!("figure {asked}")), "{error}");
        }
    }

    #[test]
    fn a_figure_has_its_id_and_a_live_one_its_controls() {
        let drawn = Drawn { run: None };
        let still = drawn.figure("tile-plan mask=none", "f1").unwrap();
        assert!(still.starts_with("<figure class=\"figure\" id=\"f1\""), "{still}");
        let live = drawn.figure("blend", "f2").unwrap();
        assert!(live.contains("data-live=\"blend\"") && live.contains("id=\"f2\""));
        assert!(!still.contains("\n\n") && !live.contains("\n\n"));
    }

    #[test]
    fn a_run_that_is_none_is_named_and_no_run_is_fine() {
        let folder = tempfile::tempdir().unwrap();
        let file = folder.path().join("bench.json");
        assert!(run_of(&file).unwrap().is_none());
        fs::write(&file, "").unwrap();
        let error = format!("{:#}", run_of(&file).unwrap_err());
        assert!(error.contains("bench.json: remove it"), "{error}");
    }

    #[test]
    fn a_page_names_its_assets_once_and_by_hash() {
        let end = Drawn { run: None }.page_end("../");
        assert_eq!(end.matches("assets/figures.js?v=").count(), 1, "{end}");
        assert!(end.contains("href=\"../assets/live.css?v="), "{end}");
        assert!(!end.contains("LICENSE"), "{end}");
    }
}
