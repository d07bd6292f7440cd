//! README shows what the book and the command say: its table of chapters, and a diagnosis.

use std::fs;

use workshop::chapters;
use workshop::paths;

fn read(place: &str) -> String {
    fs::read_to_string(paths::workspace().join(place)).unwrap()
}

#[test]
fn its_table_is_that_of_the_chapters() {
    let readme = read("README.md");
    for chapter in chapters::of(&read("chapters/SUMMARY.md")) {
        let page = format!("chapters/{}.md", chapter.page);
        let text = read(&page);
        let (_, asks) = text.split_once("{{#asks ").unwrap();
        let (question, _) = asks.split_once(" | ").unwrap();
        let row = format!(
            "| [{} · {}]({page}) | {question} |\n",
            chapter.number, chapter.title
        );
        assert!(readme.contains(&row), "README has no row\n{row}");
    }
}

#[test]
fn its_diagnosis_is_what_the_command_prints() {
    let shown = read("README.md");
    let (_, shown) = shown.split_once("layer.safetensors\n").unwrap();
    let (shown, _) = shown.split_once("```").unwrap();
    let printed =
        read("crates/tools/diagnose/tests/snapshots/diagnose__what_it_says.snap");
    assert!(shown.lines().count() > 1 && printed.contains(shown), "{shown}");
}
