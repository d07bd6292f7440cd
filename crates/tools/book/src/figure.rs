//! Figures, drawn from the crates.
//!
//! The seam to [`lessons::gallery`], which knows every figure that a chapter may show: a
//! chapter's `{{#figure name key=value …}}` is looked up there.

use std::collections::BTreeMap;
use std::fs;
use std::io::ErrorKind;
use std::path::Path;
use std::sync::{Arc, Mutex, PoisonError};

use anyhow::{Context, Result};
use figures::Figure;
use lessons::Args;
use lessons::live::{Control, Kind, Live, PageQuestion, Weights};
use pages::{FigureFolder, Figures};
use runs::Run;
use serde_json::{Value, json};
use workshop::paths;

/// Every figure, as the crates draw it, once.
#[derive(Default)]
pub(crate) struct FigureCache {
    /// What the reader's own benchmark found.
    run: Option<Run>,
    /// What was asked for, and the figure with [`FigureFolder::ID`].
    figures: Mutex<BTreeMap<String, Arc<str>>>,
}

impl FigureCache {
    /// With what the reader's own benchmark found, if it ran.
    ///
    /// # Errors
    /// A file of the reader's benchmark that cannot be read, or holds no run.
    pub(crate) fn here() -> Result<Self> {
        Ok(Self { run: run_of(&paths::bench_run())?, ..Self::default() })
    }

    /// Whether what is drawn is the same on every machine.
    pub(crate) fn is_of_no_machine(&self) -> bool {
        self.run.is_none()
    }

    /// What was asked for so far, with its figure.
    pub(crate) fn all(&self) -> Vec<(String, Arc<str>)> {
        let figures = self.figures.lock().unwrap_or_else(PoisonError::into_inner);
        figures.iter().map(|(asked, html)| (asked.clone(), Arc::clone(html))).collect()
    }

    /// What `name key=value …` asks for.
    fn html(&self, asked: &str) -> Result<Arc<str>> {
        let known = || self.figures.lock().unwrap_or_else(PoisonError::into_inner);
        if let Some(html) = known().get(asked) {
            return Ok(Arc::clone(html));
        }
        let html: Arc<str> = self.draw(asked)?.into();
        known().insert(asked.to_owned(), Arc::clone(&html));
        Ok(html)
    }

    /// The fragment has no empty line, at which Markdown would stop to take it as HTML.
    fn draw(&self, asked: &str) -> Result<String> {
        let mut words = asked.split_whitespace();
        let name = words.next().unwrap_or_default();
        let words: Vec<&str> = words.collect();
        let args: Option<Args> = words.iter().map(|word| word.split_once('=')).collect();
        let args = args.context("write key=value")?.with_run(self.run.as_ref());
        let figure = lessons::gallery::draw(name, &args)?;
        if name == STRIP {
            return Ok(figure.to_picture());
        }
        let html = figure.to_html(FigureFolder::ID);
        let html = match lessons::gallery::find(name) {
            Ok(live) => live_place(live, &figure, &html)?,
            Err(_) if name == HEADS => heads_place(&html)?,
            Err(_) => html,
        };
        let lines = html.lines().filter(|line| !line.trim().is_empty());
        Ok(lines.collect::<Vec<_>>().join("\n"))
    }
}

impl Figures for FigureCache {
    fn figure(&self, asked: &str, id: &str) -> Result<String> {
        let html = self.html(asked).with_context(|| format!("figure {asked}"))?;
        Ok(FigureFolder::with_id(&html, id))
    }
}

/// The figure that is a link on every chapter.
const STRIP: &str = "line-strip";

/// The figure that becomes an explorer of heads.
const HEADS: &str = "heads-at-once";

/// It and what `trained-layer.js` needs to make it one.
fn heads_place(figure: &str) -> Result<String> {
    let source = lessons::trained_heads::at_once::source()?;
    let source = source.to_string().replace('<', "\\u003c");
    Ok(format!(
        "<div class=\"heads\" data-heads>\
         <script type=\"application/json\">{source}</script>{figure}</div>"
    ))
}

/// A live figure: as any other, and beside it what `live.js` needs to make it live.
fn live_place(live: &dyn Live, drawn: &Figure, figure: &str) -> Result<String> {
    let name = live.name();
    let question = |it: &PageQuestion| {
        let [ask, found] = [it.ask, it.found].map(figures::formula);
        json!({ "ask": ask, "answer": it.answer, "found": found })
    };
    let by_hand = drawn.set_by_hand();
    // What is played has its button, wherever else it is set.
    let is_folded = |it: &Control| {
        let in_plane = matches!(it.kind, Kind::Point { .. }) && drawn.has_plane();
        !it.is_played && (in_plane || by_hand.contains(it.key))
    };
    let control = |it: &Control| {
        let mut control = it.to_json();
        control["is_folded"] = json!(is_folded(it));
        control
    };
    let controls: Vec<Value> = live.controls().iter().map(control).collect();
    // Weights are not fetched, and nothing is trained, before a reader is there.
    let is_drawn_at_once = live.weights().is_none() && !live.is_trained();
    let words = if is_drawn_at_once { live.draw(&[])?.words } else { String::new() };
    let is_played = controls.iter().any(|control| control["is_played"] == true);
    let class = if is_played { "live is-played" } else { "live" };
    let room = room(live, &words);
    let about = json!({
        "words": words,
        "longest": longest(live),
        "questions": live.questions().iter().map(question).collect::<Value>(),
        "controls": controls,
        "weights": live.weights().map(Weights::name),
        "training": live.is_trained(),
    });
    // No tag can begin inside the text, so none can end the script.
    let about = about.to_string().replace('<', "\\u003c");
    Ok(format!(
        "<div class=\"{class}\" id=\"live-{name}\" data-live=\"{name}\" data-room>\
         <script type=\"application/json\">{about}</script>{room}{figure}</div>"
    ))
}

/// What takes the place of the questions, of the words and of the buttons of a training until
/// a script makes them: as long, and never seen. The search does not find it.
fn room(live: &dyn Live, words: &str) -> String {
    let one = if live.questions().len() == 1 { " live-one" } else { "" };
    let quoted = |text: &str| figures::escaped(text).replace('"', "&quot;");
    let [ask, found] = longest(live).map(|text| quoted(&text));
    let words = quoted(words);
    let buttons = match live.is_trained() {
        true => "<div class=\"live-buttons live-room\"></div>",
        false => "",
    };
    format!(
        "<div class=\"live-questions live-room\"><p class=\"live-ask\" \
         data-room=\"{ask}\"></p><div class=\"live-turns{one}\"></div>\
         <div class=\"live-below\" data-room=\"{found}\"></div></div>{buttons}\
         <div class=\"live-room live-words\"><span data-room=\"{words}\"></span></div>"
    )
}

/// The longest of the questions and of what is found, as a page writes them: the room that
/// is kept for any.
fn longest(live: &dyn Live) -> [String; 2] {
    let questions = live.questions();
    let n = questions.len();
    let nth = if n == 1 { String::new() } else { format!("1 of {n} ") };
    let of = |part: fn(&PageQuestion) -> &'static str| {
        questions.iter().map(part).max_by_key(|text| text.len()).unwrap_or_default()
    };
    [format!("{nth}{}", of(|it| it.ask)), format!("✓ Found: {}", of(|it| it.found))]
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
        let drawn = FigureCache::default();
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
        let drawn = FigureCache::default();
        let still = drawn.figure("tile-plan mask=none", "f1").unwrap();
        assert!(still.starts_with("<figure class=\"figure\" id=\"f1\""), "{still}");
        let live = drawn.figure("blend", "f2").unwrap();
        assert!(live.contains("data-live=\"blend\"") && live.contains("id=\"f2\""));
        assert!(!still.contains("\n\n") && !live.contains("\n\n"));
        let [ask, _] = longest(lessons::gallery::find("blend").unwrap());
        let room = format!("data-room=\"{ask}\"");
        assert!(live.contains(&room) && !still.contains("live-room"), "{room}: {live}");
        let strip = drawn.figure("line-strip at=scores", "f3").unwrap();
        assert!(strip.starts_with("<div ") && strip.ends_with("</div>"), "{strip}");
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
}
