//! What a page of this book loads.

use std::fs;
use std::path::Path;

use anyhow::{Context, Result, bail, ensure};
use assets::{
    Asset, address, answers, explorer, figures, first_look, live, own_sentence, predict,
    wrong_layer,
};
use base64::Engine;
use base64::prelude::BASE64_STANDARD;
use serde_json::{Value, json};
use workshop::{paths, step};

use super::elsewhere;

/// What a page has at its end, on one that needs `up` to get to the book's root: the style
/// sheets, and the names of the scripts, which `theme/learn.js` loads once; and how many questions
/// each topic has. The names carry the text's hash, so that a browser keeps them between pages.
pub fn page_end(text: &str, up: &str, totals: &str) -> String {
    let loaded = loaded_by(text);
    let named = |suffix: &'static str| {
        let fits = move |asset: &&Asset| asset.0.ends_with(suffix);
        loaded.iter().filter(fits).map(address).collect::<Vec<_>>()
    };
    let link = |style: &String| format!("<link rel=\"stylesheet\" href=\"{up}{style}\">");
    // The print page stands at the root and has the chapters' styles: there a page from
    // below names none by a path of its own.
    let below = if up.is_empty() { String::new() } else { named(".css").join(" ") + " " };
    let styles: String = match up {
        "" => named(".css").iter().map(link).collect(),
        _ => String::new(),
    };
    let (scripts, worker) = (below + &named(".js").join(" "), address(&live::WORKER));
    let [encoder, answers] =
        [own_sentence::WORKER, answers::WORKER].map(|worker| address(&worker));
    format!(
        "\n\n<div hidden data-figure-scripts=\"{scripts}\" data-worker=\"{worker}\" \
         data-encoder-worker=\"{encoder}\" data-answers-worker=\"{answers}\" \
         data-questions=\"{totals}\">{styles}</div>\n"
    )
}

/// What a page with this text needs, and no more. Scripts stand in the order they run in.
fn loaded_by(text: &str) -> Vec<Asset> {
    let has = |mark: &str| text.contains(mark);
    let (is_live, has_heads) = (has("data-live="), has("data-heads"));
    let (is_own, is_wrong) = (has("data-own-sentence"), has("data-wrong-layer"));
    let (is_first, is_answer) = (has("data-first-look"), has("data-answer="));
    let mut loaded = Vec::new();
    let mut load = |is_needed: bool, assets: &[Asset]| {
        if is_needed {
            loaded.extend_from_slice(assets);
        }
    };
    load(true, &[predict::PROGRESS]);
    load(has("data-predict="), &predict::LOADED);
    load(has("figure-plot"), &figures::PLOT);
    load(is_live, &[figures::MOTION]);
    load(has("<figure ") || has("figure-diagram"), &figures::LOADED);
    load(has("data-left="), &[figures::SUMS]);
    load(has("data-draw="), &predict::DRAW);
    let asks_layer = is_wrong || is_answer;
    load(is_live || has_heads || is_first || is_own || asks_layer, &[live::MODULE]);
    load(is_live || is_own || asks_layer, &live::LOADED[..1]);
    load(is_live, &live::LOADED[1..]);
    load(has_heads || is_own || is_first, &[own_sentence::ENCODER]);
    load(has_heads || is_own || is_first, &explorer::LOADED);
    load(has_heads, &[explorer::TRAINED_LAYER]);
    load(is_first, &first_look::LOADED);
    load(is_own, &own_sentence::LOADED);
    load(asks_layer, &answers::MAPS);
    load(is_wrong, &wrong_layer::LOADED);
    load(is_answer, &answers::LOADED);
    loaded
}

/// A sentence as text, and where its words look, `{{#first-look KEY QUERY KEY HEAD HEAD}}`: the
/// key of the sentence, the token that asks, the one that it looks at, and two heads.
/// `first-look.js` fills it, from maps that stand in the page.
///
/// # Errors
/// Other words than five; a sentence that does not come with the book.
pub fn first_look(asked: &str) -> Result<String> {
    let words: Vec<&str> = asked.split_whitespace().collect();
    let [key, query, looked, heads @ ..] = &words[..] else { bail!(FIRST_LOOK) };
    ensure!(heads.len() == 2, FIRST_LOOK);
    let mut sentences: Vec<_> = own_sentence::sentences().collect();
    let first = sentences.iter().position(|(it, _)| it == key);
    let first = first.with_context(|| format!("no sentence {key}"))?;
    sentences[..=first].rotate_right(1);
    let text = sentences[0].1;
    let about = json!({
        "asks": query, "looked": looked, "heads": heads, "sentences": listed(&sentences),
        "maps": BASE64_STANDARD.encode(maps_of(key)?),
    });
    let about = about.to_string().replace('<', "\\u003c");
    Ok(format!(
        "<div class=\"first-look\" data-first-look>\
         <script type=\"application/json\">{about}</script>\
         <p class=\"first-ask\">Which word does <em>{query}</em> look at? Pick one.</p>\
         <div class=\"first-stage\"><p class=\"first-line\">{text}</p></div>\
         <p class=\"first-says\" aria-live=\"polite\">A trained sentence model has 72 heads, and \
         in each of them every word looks at the others. Guess what head {} does.</p>\
         <div class=\"first-next\"></div>\
         <p class=\"first-caption\">All heads, a row per layer. In each, rows are the words that \
         look, columns those that they look at; dark is much. Choose a head to see its arcs.</p>\
         <div class=\"first-heads\" role=\"group\" aria-label=\"All heads: a row per layer\">\
         </div><div class=\"first-others\"></div></div>",
        heads[0]
    ))
}

const FIRST_LOOK: &str = "write {{#first-look SENTENCE QUERY KEY HEAD HEAD}}";

/// A place for a reader's own sentence, `{{#own-sentence}}`, in the encoder that the host has,
/// beside those that come with the book. `own-sentence.js` fills it.
pub fn own_sentence(id: &str) -> String {
    let sentences = listed(&own_sentence::sentences().collect::<Vec<_>>());
    let sentences = sentences.to_string().replace('&', "&amp;").replace('\'', "&#39;");
    let data = format!(" data-model=\"minilm\" data-sentences='{sentences}'");
    place("own-sentence", id, &data, own_sentence::COMMAND)
}

/// The same without sentences, `{{#own-model}}`, where the chapter is about a model that
/// writes.
pub fn own_model(id: &str) -> String {
    let data = " data-model=\"smollm2\" data-sentences='[]'";
    place("own-sentence", id, data, own_sentence::WRITE)
}

/// A place for a reader's own layer, `{{#wrong-layer}}`. `wrong-layer.js` fills it.
pub fn wrong_layer(id: &str) -> String {
    place("wrong-layer", id, "", wrong_layer::COMMAND)
}

/// A place that a script fills by the module of a reader's own files. In it stands the
/// command that does the same, which is all there is where the module cannot run.
fn place(name: &str, id: &str, data: &str, command: &str) -> String {
    let command = command.replace('"', "&quot;");
    format!(
        "<div class=\"{name} live\" id=\"{id}\" data-{name}{data}>\
         <p>In a terminal:</p><pre><code class=\"language-sh\">{command}\n</code></pre></div>"
    )
}

/// Sentences that come with the book, as a script reads them.
fn listed(sentences: &[(&str, &str)]) -> Value {
    let one = |(key, name): &(&str, &str)| json!({ "key": key, "name": name, "file": maps_address(key) });
    sentences.iter().map(one).collect()
}

/// The file with the maps of a sentence.
fn maps_of(key: &str) -> Result<Vec<u8>> {
    let file = paths::workspace().join(own_sentence::MAPS).join(key);
    let file = file.with_extension("safetensors");
    fs::read(&file).with_context(|| file.display().to_string())
}

/// Where a page finds the maps of a sentence.
fn maps_address(key: &str) -> String {
    format!("assets/sentence-{key}.safetensors")
}

/// Writes all of it beside the chapters, from where mdBook copies it into the book: a
/// preprocessor has no say after that. A file that is as it should be is not touched, so
/// that `mdbook serve`, which watches the folder, does not build for ever.
pub fn write(folder: &Path) -> Result<()> {
    for (name, text) in all() {
        step::write(&folder.join(name), text)?;
    }
    for (key, _) in own_sentence::sentences() {
        step::write(&folder.join("..").join(maps_address(key)), maps_of(key)?)?;
    }
    elsewhere::write(folder)
}

/// What pages find of models where none is, and neither a server that knows of others.
const NO_MODELS: Asset = ("models.json", "{}");

/// The same of notebooks.
const NO_LAB: Asset = ("lab.json", "{}");

/// Every file. Until there is a module, pages are told that there is none.
fn all() -> Vec<Asset> {
    let single = [
        predict::PROGRESS,
        figures::MOTION,
        figures::SUMS,
        live::MODULE,
        live::WORKER,
        live::NO_MODULE,
        NO_MODELS,
        NO_LAB,
        explorer::TRAINED_LAYER,
        own_sentence::WORKER,
        own_sentence::ENCODER,
        answers::WORKER,
    ];
    [
        &figures::PLOT[..],
        &figures::LOADED,
        &live::LOADED,
        &explorer::LOADED,
        &first_look::LOADED,
        &own_sentence::LOADED,
        &wrong_layer::LOADED,
        &answers::MAPS,
        &answers::LOADED,
        &predict::LOADED,
        &predict::DRAW,
        &single,
    ]
    .concat()
}

#[cfg(test)]
mod tests {
    use super::*;

    const EVERY_MARK: &str = "<figure figure-plot data-live= data-heads data-own-sentence \
                              data-wrong-layer data-predict= data-draw= data-first-look \
                              data-left= data-answer=";

    #[test]
    fn a_page_names_its_assets_once_and_by_hash() {
        let end = page_end(EVERY_MARK, "../", "a:2");
        assert_eq!(end.matches("assets/figures.js?v=").count(), 1, "{end}");
        assert!(end.contains("assets/live.css?v=") && !end.contains("href"), "{end}");
    }

    #[test]
    fn a_page_loads_what_its_figures_need() {
        let still = page_end("<figure >", "", "");
        let drawn = "figure-plot.js";
        assert!(!still.contains(drawn) && !still.contains("live-controls"), "{still}");
        let heads = page_end("data-heads", "", "");
        assert!(heads.contains("trained-layer.js") && !heads.contains(drawn), "{heads}");
        assert!(page_end("figure-plot", "", "").contains(drawn));
        let words = page_end("words", "", "a:2");
        assert!(words.contains("\"a:2\"") && words.contains("progress.js"), "{words}");
        assert!(!words.contains("figures."), "{words}");
    }

    #[test]
    fn pages_name_all_that_they_load() {
        let places = own_sentence("a") + &wrong_layer("b") + &own_model("c");
        let named = page_end(EVERY_MARK, "", "") + &places;
        for (name, _) in all() {
            let is_loaded = name.ends_with(".css") || name.ends_with(".js");
            assert_eq!(named.contains(&format!("assets/{name}?v=")), is_loaded, "{name}");
        }
        for command in ["cargo learn look &quot;Your", "cargo learn write &quot;Your"] {
            assert!(named.contains(command), "{named}");
        }
    }
}
