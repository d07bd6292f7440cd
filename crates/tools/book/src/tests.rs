//! Whole builds: of a small book with faults planted in it, and of the real chapters.

use std::fs;
use std::path::Path;

use super::{build_in, check, check_in, figure};
use workshop::paths;

const BOOK_TOML: &str = "\
[book]
title = \"T\"
src = \".\"
[build]
build-dir = \"../target/book\"
[preprocessor.learn]
command = \"false\"
before = [\"links\"]
renderers = [\"html\"]
[output.html.playground]
runnable = false
";

/// A workspace with one chapter.
fn workspace(chapter: &str) -> tempfile::TempDir {
    let folder = tempfile::tempdir().unwrap();
    let chapters = folder.path().join("chapters");
    fs::create_dir(&chapters).unwrap();
    fs::create_dir(folder.path().join("tests")).unwrap();
    let write = |name: &str, text: &str| fs::write(chapters.join(name), text).unwrap();
    write("book.toml", BOOK_TOML);
    write("SUMMARY.md", "# S\n\n- [One](01-one.md)\n");
    write("01-one.md", chapter);
    write("../code.rs", "// ANCHOR: f\nfn f() {}\n// ANCHOR_END: f\n");
    write("../tests/x__a.snap", "---\nsource: x\n---\nh: 8\n");
    folder
}

#[test]
fn a_small_book_is_built_and_has_no_problem() {
    let folder = workspace(
        "# One\n\n{{#values a}}\nIt has {{#value h}}: $x_i \\cdot y$ | $x$\n\n\
         {{#snapshot a}}\n\n```rust\n{{#include ../code.rs:f}}\n```\n\n[up](#one)\n",
    );
    let chapters = folder.path().join("chapters");
    assert_eq!(check_in(&chapters).unwrap(), []);
    let page = fs::read_to_string(folder.path().join("target/book/01-one.html")).unwrap();
    for part in
        ["It has 8: <math>", "fn f() {}", "h: 8\n", "<msub><mi>x</mi><mi>i</mi></msub>"]
    {
        assert!(page.contains(part), "{part} in {page}");
    }
    assert!(!page.contains("ANCHOR"));
}

#[test]
fn a_fault_stops_the_build_and_says_where() {
    for (chapter, said) in [
        ("# A\n\n{{#include ../code.rs:g}}\n", "chapters/01-one.md:3: in ../code.rs"),
        ("# A\n\n$\\nosuch$\n", "chapters/01-one.md:3: bad formula"),
        ("# A\n\n<div>\n\nopen\n", "unclosed HTML tag"),
    ] {
        let folder = workspace(chapter);
        let error = build_in(&folder.path().join("chapters")).unwrap_err();
        let told = format!("{error:#}");
        assert!(told.contains(said), "{told}");
    }
}

#[test]
fn a_page_that_leads_nowhere_is_a_problem() {
    let folder = workspace("# A\n\n[b](#b) ![c](https://example.com/c.png)\n");
    let problems = check_in(&folder.path().join("chapters")).unwrap();
    let told: String = problems.iter().map(|problem| format!("{problem}\n")).collect();
    assert!(told.contains("leads nowhere: #b"), "{told}");
    assert!(told.contains("another host: https://example.com/c.png"), "{told}");
}

#[test]
fn a_chapter_without_an_entry_is_a_problem() {
    let folder = workspace("# A\n");
    let chapters = folder.path().join("chapters");
    fs::write(chapters.join("02-two.md"), "# Two\n").unwrap();
    let problems = check_in(&chapters).unwrap();
    assert!(problems[0].to_string().contains("02-two.md:1: SUMMARY.md"), "{problems:?}");
}

/// The real book: every include, snapshot, value, figure and formula.
#[test]
fn the_chapters_ask_for_nothing_that_is_not_there() {
    let chapters = paths::workspace().join("chapters");
    let problems = check::sources(&chapters, &figure::registry().unwrap()).unwrap();
    assert!(problems.is_empty(), "{}", super::problem::none(&problems).unwrap_err());
}

/// The figures that the chapters name are drawn at test time as in a build.
#[test]
fn the_assets_of_figures_are_small_enough_for_a_page() {
    let bytes: usize = figures::assets::ALL.iter().map(|(_, text)| text.len()).sum();
    assert!(bytes < 1_500_000, "{bytes} bytes before packing");
    assert!(Path::new(&paths::workspace()).join("chapters/theme/learn.js").exists());
}
