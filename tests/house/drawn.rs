//! A figure says what is drawn of it and nothing else: each field of a figure in the book
//! is read by the page's scripts.

use std::collections::BTreeMap;
use std::fs;
use std::path::Path;

use serde_json::Value;
use workshop::paths;

/// The names of all fields below a value, each with where it was found.
fn fields(value: &Value, place: &str, found: &mut BTreeMap<String, String>) {
    match value {
        Value::Object(object) => {
            for (name, inner) in object {
                found.entry(name.clone()).or_insert_with(|| place.to_owned());
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
            for part in ["marks", "wide", "narrow"] {
                fields(&spec[part], &name, &mut found);
            }
        }
    }
    found
}

#[test]
fn every_field_of_a_figure_is_read_by_the_pages_scripts() {
    let folder = paths::workspace().join("crates/tools/assets/figures");
    let scripts: String =
        files(&folder, "js").into_iter().map(|(_, text)| text).collect();
    let words: Vec<&str> =
        scripts.split(|c: char| !c.is_alphanumeric() && c != '_').collect();
    let figures = of_figures();
    assert!(figures.len() > 50, "{} fields", figures.len());
    for (field, figure) in &figures {
        assert!(words.contains(&field.as_str()), "{field}, in {figure}");
    }
}
