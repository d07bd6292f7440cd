//! The page draws what figures say. A field that it does not know it would pass over
//! without a word: so each field of a figure in the book is read by the page's scripts, or
//! stands here.

use std::collections::BTreeMap;
use std::fs;
use std::path::Path;

use serde_json::Value;
use workshop::paths;

/// What a page does not need: what the notebooks' plotly is told to leave alone, and what a
/// page does in its own way (letters and lines of its theme, a gap between cells).
const LEFT_OUT: [&str; 26] = [
    "arrowhead",
    "autoexpand",
    "autosize",
    "axref",
    "dragmode",
    "family",
    "fixedrange",
    "gridcolor",
    "hovermode",
    "hoverongaps",
    "insidetextanchor",
    "lenmode",
    "method",
    "outlinewidth",
    "pad",
    "paper_bgcolor",
    "plot_bgcolor",
    "showline",
    "showscale",
    "textangle",
    "tickformat",
    "ticklen",
    "traceorder",
    "xgap",
    "ygap",
    "zerolinecolor",
];

/// The names of all fields below a value, each with where it was found; axes without their
/// numbers.
fn fields(value: &Value, place: &str, found: &mut BTreeMap<String, String>) {
    match value {
        Value::Object(object) => {
            for (key, inner) in object {
                let name = key.trim_end_matches(|c: char| c.is_ascii_digit());
                let name = if name.ends_with("axis") { name } else { key };
                found.entry(name.to_owned()).or_insert_with(|| place.to_owned());
                fields(inner, place, found);
            }
        }
        Value::Array(list) => list.iter().for_each(|inner| fields(inner, place, found)),
        _ => {}
    }
}

fn files(folder: &Path, ending: &str) -> Vec<(String, String)> {
    let entries = fs::read_dir(folder).unwrap().map(|entry| entry.unwrap().path());
    let fitting = entries.filter(|path| path.extension().is_some_and(|it| it == ending));
    let name = |path: &Path| path.file_name().unwrap().to_string_lossy().into_owned();
    fitting.map(|path| (name(&path), fs::read_to_string(&path).unwrap())).collect()
}

/// Of every figure that is kept, what is drawn along axes.
fn of_figures() -> BTreeMap<String, String> {
    let mut found = BTreeMap::new();
    for (name, html) in files(&paths::workspace().join("chapters/figures"), "html") {
        for script in html.split("<script type=\"application/json\">").skip(1) {
            let (json, _) = script.split_once("</script>").unwrap();
            let spec: Value = serde_json::from_str(json).unwrap();
            for part in ["data", "wide", "narrow"] {
                fields(&spec[part], &name, &mut found);
            }
        }
    }
    found
}

#[test]
fn every_field_of_a_figure_is_drawn_or_left_out_by_name() {
    let folder = paths::workspace().join("crates/tools/assets/figures");
    let scripts: String =
        files(&folder, "js").into_iter().map(|(_, text)| text).collect();
    let words: Vec<&str> =
        scripts.split(|c: char| !c.is_alphanumeric() && c != '_').collect();
    let figures = of_figures();
    assert!(figures.len() > 50, "{} fields", figures.len());
    for (field, figure) in &figures {
        let is_left_out = LEFT_OUT.contains(&field.as_str());
        let is_drawn = words.contains(&field.as_str());
        assert!(
            is_drawn != is_left_out,
            "{field}, in {figure}: {is_drawn}, {is_left_out}"
        );
    }
    let unused = LEFT_OUT.iter().filter(|it| !figures.contains_key(**it));
    assert_eq!(unused.count(), 0, "a field that no figure has needs no place here");
}
