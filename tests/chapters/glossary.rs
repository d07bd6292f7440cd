//! The glossary: in the order of the alphabet, and each word is in the chapter that it names.

use std::fs;

use workshop::paths;

type Row<'a> = [&'a str; 4];

/// The field's words, the book's, what it is, the chapter.
fn rows(text: &str) -> Vec<Row<'_>> {
    let lines = text.lines().filter_map(|line| line.strip_prefix('|')?.strip_suffix('|'));
    let cells =
        |line| Vec::from_iter(str::split(line, '|').map(str::trim)).try_into().ok();
    lines.filter_map(cells).skip(2).collect()
}

/// What is wrong with a row: a chapter that does not have one of its words.
fn problem([field, book, _, chapter]: &Row) -> Option<String> {
    let linked = chapter.split("](").nth(1).and_then(|rest| rest.split(')').next());
    let page = linked.unwrap_or_default();
    let Ok(text) = fs::read_to_string(paths::workspace().join("chapters").join(page))
    else {
        return Some(format!("{field}: no chapter {page}"));
    };
    let text = text.to_lowercase();
    let words =
        [field, book].into_iter().flat_map(|cell| cell.split([',', '(', ')', '`']));
    let mut words = words.map(str::trim).filter(|word| !word.is_empty());
    let is_there = words.any(|word| text.contains(&word.to_lowercase()));
    (!is_there).then(|| format!("{field}: {page} has no such word"))
}

#[test]
fn each_word_is_in_its_chapter() {
    let glossary = paths::workspace().join("chapters/glossary.md");
    let glossary = fs::read_to_string(glossary).unwrap();
    let rows = rows(&glossary);
    println!("{} words", rows.len());
    assert!(rows.len() > 30, "{} rows", rows.len());
    let found: Vec<String> = rows.iter().filter_map(problem).collect();
    assert!(found.is_empty(), "{}", found.join("\n"));
    let words: Vec<String> = rows.iter().map(|row| row[0].to_lowercase()).collect();
    assert!(words.is_sorted(), "{words:#?}");

    let [.., first] = rows[0];
    assert!(problem(&["no such word", "", "", first]).is_some());
    assert!(problem(&["head", "", "", "[1](01-nowhere.md)"]).is_some());
    assert!(problem(&["head", "", "", "1"]).is_some());
}
