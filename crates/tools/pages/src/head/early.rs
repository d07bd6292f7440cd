//! What a page needs before it is first laid out, as links of its head: the style sheets of
//! its figures, and the fonts of its text. What comes later moves what is already being read.

use std::fs;
use std::path::Path;

use anyhow::{Context, Result};

/// How the files of fonts begin, and what a page has whose text is set in them.
const FONTS: [(&str, &str); 6] = [
    ("open-sans-regular", "<body"),
    ("open-sans-700", "<strong"),
    ("open-sans-italic", "<em>"),
    ("code-500", "<code"),
    ("stix-two-math", "<math"),
    ("stix-two-text", "<h1"),
];

/// How a style sheet begins that stands in the text.
const STYLE: &str = "<link rel=\"stylesheet\" href=\"assets/";

/// How the list begins of what a page loads at its end.
const LOADED: &str = "data-figure-scripts=\"";

/// The names of the book's fonts.
///
/// # Errors
/// A folder that is there and cannot be read.
pub(super) fn fonts(built: &Path) -> Result<Vec<String>> {
    let folder = built.join("fonts");
    if !folder.is_dir() {
        return Ok(Vec::new());
    }
    let files = fs::read_dir(folder).context("cannot list the fonts")?;
    let name = |file: std::io::Result<fs::DirEntry>| Ok(file?.file_name().into_string());
    let names: Vec<_> = files.map(name).collect::<Result<_>>()?;
    Ok(names.into_iter().flatten().filter(|name| name.ends_with(".woff2")).collect())
}

/// The links of a page that needs `up` to get to the book's root, and its text without what
/// named them there.
pub(super) fn lifted(html: &str, up: &str, fonts: &[String]) -> (String, String) {
    let (styles, text) = styles(html, up);
    let open = unfolded(html);
    let named = FONTS.iter().filter(|(_, mark)| open.contains(mark));
    let named =
        named.filter_map(|(begin, _)| fonts.iter().find(|name| name.starts_with(begin)));
    let fonts = named.map(|name| {
        format!(
            "<link rel=\"preload\" as=\"font\" type=\"font/woff2\" crossorigin \
             href=\"{up}fonts/{name}\">"
        )
    });
    (fonts.collect::<String>() + &styles, text)
}

/// The style sheets of figures, each once: those that stand in the text, and those of a page
/// below the root, which its script would load.
fn styles(html: &str, up: &str) -> (String, String) {
    let (mut styles, mut rest) = (String::new(), html.to_owned());
    let mut add = |style: &str| {
        if !styles.contains(style) {
            styles += style;
        }
    };
    while let Some(begin) = rest.find(STYLE) {
        let end = rest[begin..].find('>').map_or(rest.len(), |length| begin + length + 1);
        add(&rest.drain(begin..end).collect::<String>());
    }
    let mut text = String::new();
    let mut lists = rest.split(LOADED);
    text += lists.next().unwrap_or_default();
    for list in lists {
        let (names, after) = list.split_once('"').unwrap_or((list, ""));
        let (sheets, scripts): (Vec<&str>, Vec<&str>) =
            names.split(' ').partition(|name| name.contains(".css?"));
        for sheet in sheets {
            add(&format!("<link rel=\"stylesheet\" href=\"{up}{sheet}\">"));
        }
        text += &format!("{LOADED}{}\"{after}", scripts.join(" "));
    }
    (styles, text)
}

/// A page without what is folded away: its fonts are not needed yet.
fn unfolded(html: &str) -> String {
    let after = |part: &str| part.rsplit("</details>").next().map(str::to_owned);
    let mut parts = html.split("<details");
    let first = parts.next().unwrap_or_default().to_owned();
    first + &parts.filter_map(after).collect::<String>()
}

#[cfg(test)]
mod tests {
    use super::*;

    const PAGE: &str = "<body><h1>A</h1><details><em>b</em></details><code>c</code>\
        <div data-figure-scripts=\"assets/a.css?v=1 assets/a.js?v=2\" data-worker=\"w\">\
        </div></body>";

    #[test]
    fn a_page_below_the_root_names_its_style_sheets_in_its_head() {
        let (links, text) = lifted(PAGE, "../", &[]);
        assert_eq!(links, "<link rel=\"stylesheet\" href=\"../assets/a.css?v=1\">");
        assert!(text.contains("scripts=\"assets/a.js?v=2\" data-worker=\"w\""), "{text}");
    }

    #[test]
    fn fonts_come_early_that_a_page_shows_at_once() {
        let names = FONTS.map(|(begin, _)| format!("{begin}-1.woff2"));
        let (links, _) = lifted(PAGE, "", &names);
        let named = names.iter().filter(|name| links.contains(&format!("fonts/{name}")));
        assert_eq!(named.collect::<Vec<_>>(), [&names[0], &names[3], &names[5]]);
    }
}
