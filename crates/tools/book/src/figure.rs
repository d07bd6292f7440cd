//! Figures: drawn from the crates while the book is built.
//!
//! The seam to [`gallery`], which knows every figure that a chapter may show: a
//! chapter's `{{#figure name key=value …}}` is looked up there.

use std::fs;
use std::io::ErrorKind;
use std::path::Path;

use anyhow::{Context, Result, ensure};
use lessons::Args;
use lessons::live::{Control, Live, Weights};
use record::Run;
use serde_json::{Value, json};
use workshop::{paths, step};

use crate::asset::{Asset, address};
use crate::own_sentence;

/// Draws the figure of a name as a fragment of HTML that stands by itself, with an id
/// that is unique in the book (the print page holds all chapters).
pub type Draw = fn(name: &str, args: &Args, id: &str) -> Result<String>;

/// What draws figures, and the files that pages with a figure load.
pub struct Registry {
    /// From name to HTML.
    pub draw: Draw,
    /// File name and text: style sheets, licences, and scripts in the order they run in.
    pub assets: &'static [&'static [Asset]],
    /// The script that a page does not load, but one of its scripts starts.
    pub worker: Asset,
    /// What is only in pages that ask for it by another name.
    pub others: &'static [Asset],
    /// What the reader's own benchmark found.
    pub run: Option<Run>,
}

/// Where pages look for the module of the live figures, and what they find before there
/// is one.
pub(crate) const NO_MODULE: Asset = ("live.json", "{}");

/// What the chapters may show.
///
/// # Errors
/// A file of the reader's benchmark that cannot be read, or holds no run.
pub fn registry() -> Result<Registry> {
    Ok(Registry {
        draw: |name, args, id| {
            let html = gallery::draw(name, args)?.to_html(id);
            Ok(match gallery::find(name) {
                Ok(live) => live_place(live, &html),
                Err(_) => html,
            })
        },
        assets: &[&figures::assets::ALL, &live::page::LOADED],
        worker: live::page::WORKER,
        others: &own_sentence::ASSETS,
        run: run_of(&paths::bench_run())?,
    })
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

impl Registry {
    /// Draws what `{{#figure rest}}` asks for. The fragment has no empty line, at which
    /// Markdown would stop to take it as HTML.
    pub fn draw(&self, rest: &str, id: &str) -> Result<String> {
        let mut words = rest.split_whitespace();
        let name = words.next().unwrap_or_default();
        let words: Vec<&str> = words.collect();
        let args: Option<Args> = words.iter().map(|word| word.split_once('=')).collect();
        let args = args.with_context(|| format!("figure {rest}: write key=value"))?;
        let args = args.with_run(self.run.as_ref());
        let html =
            (self.draw)(name, &args, id).with_context(|| format!("figure {rest}"))?;
        ensure!(html.trim().starts_with('<'), "figure {rest} is not HTML");
        let lines = html.lines().filter(|line| !line.trim().is_empty());
        Ok(lines.collect::<Vec<_>>().join("\n"))
    }

    /// What a page with a figure has at its end: the style sheet, and the names of the
    /// scripts, which `theme/learn.js` loads once (the print page holds many chapters).
    /// The names carry the text's hash, so that a browser keeps them between pages.
    pub fn page_end(&self, up: &str) -> String {
        let named = |suffix: &'static str| {
            let fits = move |asset: &&Asset| asset.0.ends_with(suffix);
            self.assets.concat().iter().filter(fits).map(address).collect::<Vec<_>>()
        };
        let styles = named(".css");
        let link =
            |style: &String| format!("<link rel=\"stylesheet\" href=\"{up}{style}\">");
        let styles: String = styles.iter().map(link).collect();
        let (scripts, worker) = (named(".js").join(" "), address(&self.worker));
        format!(
            "\n\n<div hidden data-figure-scripts=\"{scripts}\" \
             data-worker=\"{worker}\">{styles}</div>\n"
        )
    }
}

/// Writes the assets beside the chapters, from where mdBook copies them into the book: a
/// preprocessor has no say after that. A file that is as it should be is not touched, so
/// that `mdbook serve`, which watches the folder, does not build for ever.
pub fn write_assets(folder: &Path, registry: &Registry) -> Result<()> {
    // Until there is a module, pages are told that there is none.
    let beside = [&[registry.worker, NO_MODULE], registry.others].concat();
    for (name, text) in registry.assets.concat().into_iter().chain(beside) {
        step::write(&folder.join(name), text)?;
    }
    Ok(())
}

/// Small figures for the tests of this folder.
#[cfg(test)]
pub static SAMPLE: Registry = Registry {
    draw: |name, args, id| match name {
        "bars" => {
            let head = args.get("head").unwrap_or("all");
            Ok(format!("<figure class=\"figure\" id=\"{id}\">\n\n{head}</figure>"))
        }
        _ => anyhow::bail!("no figure {name}"),
    },
    assets: &[&[("a.css", "a{}"), ("a.js", "0")], &[("a-LICENSE.txt", "free")]],
    worker: ("worker.js", "1"),
    others: &[],
    run: None,
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
        for (rest, said) in [("lines", "no figure lines"), ("bars 3", "key=value")] {
            let error = format!("{:#}", SAMPLE.draw(rest, "f").unwrap_err());
            assert!(error.contains(said), "{error}");
        }
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
        let end = SAMPLE.page_end("../");
        assert!(end.contains("href=\"../assets/a.css?v="), "{end}");
        assert!(end.contains("scripts=\"assets/a.js?v="), "{end}");
        assert!(!end.contains("LICENSE"), "{end}");
    }
}
