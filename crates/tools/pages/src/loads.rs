//! What a page of this book loads.

use anyhow::Result;
use assets::{Asset, address, figures, live, own_sentence, wrong_layer};
use std::path::Path;
use workshop::step;

/// What a page with a figure has at its end, on a page that needs `up` to get to the book's
/// root: the style sheets, and the names of the scripts, which `theme/learn.js` loads once.
/// The names carry the text's hash, so that a browser keeps them between pages.
pub fn page_end(up: &str) -> String {
    let named = |suffix: &'static str| {
        let fits = move |asset: &&Asset| asset.0.ends_with(suffix);
        of_figures().iter().filter(fits).map(address).collect::<Vec<_>>()
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
    format!(
        "\n\n<div hidden data-figure-scripts=\"{scripts}\" \
         data-worker=\"{worker}\">{styles}</div>\n"
    )
}

/// A place for a reader's own sentence, `{{#own-sentence}}`: the command that does the
/// same, which is all there is where the module cannot run. `own-sentence.js` puts what can
/// be done in the page before it.
pub fn own_sentence(id: &str, up: &str) -> String {
    let [style, heads, own] = own_sentence::LOADED.map(|asset| address(&asset));
    let scripts = format!("{heads} {own}");
    place("own-sentence", id, &scripts, &[style], own_sentence::COMMAND, up)
}

/// A place for a reader's own layer, `{{#wrong-layer}}`, in the same way.
pub fn wrong_layer(up: &str) -> String {
    let [style, script] = wrong_layer::LOADED.map(|asset| address(&asset));
    // Its controls look as those of the live figures, of which the page has none.
    let styles = [address(&live::LOADED[0]), style];
    place("wrong-layer", "wrong-layer", &script, &styles, wrong_layer::COMMAND, up)
}

/// A place that scripts fill by the module of a reader's own files.
fn place(
    name: &str,
    id: &str,
    scripts: &str,
    styles: &[String],
    command: &str,
    up: &str,
) -> String {
    let worker = address(&own_sentence::WORKER);
    let link = |style: &String| format!("<link rel=\"stylesheet\" href=\"{up}{style}\">");
    let styles: String = styles.iter().map(link).collect();
    let command = command.replace('"', "&quot;");
    format!(
        "<div class=\"{name} live\" id=\"{id}\" data-{name} \
         data-figure-scripts=\"{scripts}\" data-encoder-worker=\"{worker}\">{styles}\
         <p>In a terminal:</p><pre><code class=\"language-sh\">{command}\n</code></pre></div>"
    )
}

/// Writes all of it beside the chapters, from where mdBook copies it into the book: a
/// preprocessor has no say after that. A file that is as it should be is not touched, so
/// that `mdbook serve`, which watches the folder, does not build for ever.
pub fn write(folder: &Path) -> Result<()> {
    for (name, text) in all() {
        step::write(&folder.join(name), text)?;
    }
    Ok(())
}

/// Every file. Until there is a module, pages are told that there is none.
fn all() -> Vec<Asset> {
    let workers = [live::WORKER, live::NO_MODULE, own_sentence::WORKER];
    [&of_figures()[..], &own_sentence::LOADED, &wrong_layer::LOADED, &workers].concat()
}

/// What a page with a figure loads, scripts in the order they run in, and their licences.
fn of_figures() -> Vec<Asset> {
    [&figures::ALL[..], &live::LOADED].concat()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_page_names_its_assets_once_and_by_hash() {
        let end = page_end("../");
        assert_eq!(end.matches("assets/figures.js?v=").count(), 1, "{end}");
        assert!(end.contains("assets/live.css?v=") && !end.contains("href"), "{end}");
        assert!(!end.contains("LICENSE"), "{end}");
    }

    #[test]
    fn pages_name_all_that_they_load() {
        let named = page_end("") + &own_sentence("a", "") + &wrong_layer("");
        for (name, _) in all() {
            let is_loaded = name.ends_with(".css") || name.ends_with(".js");
            assert_eq!(named.contains(&format!("assets/{name}?v=")), is_loaded, "{name}");
        }
        assert!(named.contains("cargo learn look &quot;Your"), "{named}");
    }
}
