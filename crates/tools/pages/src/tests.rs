//! Whole builds: of a small book with faults planted in it, and of the real chapters.

use std::fs;
use std::sync::Arc;

use super::{build_in, check_in};
use crate::figures::Sample;
use crate::kept::FigureFolder;
use workshop::stamp;

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
    assert_eq!(check_in(&chapters, Arc::new(Sample)).unwrap(), []);
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
        let error =
            build_in(&folder.path().join("chapters"), Arc::new(Sample)).unwrap_err();
        let told = format!("{error:#}").replace('\\', "/");
        assert!(told.contains(said), "{told}");
    }
}

#[test]
fn a_page_that_leads_nowhere_is_a_problem() {
    let folder = workspace("# A\n\n[b](#b) ![c](https://example.com/c.png)\n");
    let problems = check_in(&folder.path().join("chapters"), Arc::new(Sample)).unwrap();
    let told: String = problems.iter().map(|problem| format!("{problem}\n")).collect();
    assert!(told.contains("leads nowhere: #b"), "{told}");
    assert!(told.contains("another host: https://example.com/c.png"), "{told}");
}

#[test]
fn a_chapter_without_an_entry_is_a_problem() {
    let folder = workspace("# A\n");
    let chapters = folder.path().join("chapters");
    fs::write(chapters.join("02-two.md"), "# Two\n").unwrap();
    let problems = check_in(&chapters, Arc::new(Sample)).unwrap();
    assert!(problems[0].to_string().contains("02-two.md:1: SUMMARY.md"), "{problems:?}");
}

/// Another build in the same place brings the figures of now.
#[test]
fn a_book_is_there_before_its_figures_are_drawn() {
    let folder = workspace("# A\n\n{{#figure bars}}\n");
    let chapters = folder.path().join("chapters");
    // A book of now says what it was made from, and that is looked for here too.
    fs::create_dir(folder.path().join("crates")).unwrap();
    let kept = FigureFolder::of(folder.path());
    kept.keep("bars", "<figure id=\"figure-kept\">kept</figure>").unwrap();
    let page =
        || fs::read_to_string(folder.path().join("target/book/01-one.html")).unwrap();
    let book = build_in(&chapters, Arc::new(FigureFolder::of(folder.path()))).unwrap();
    assert_eq!(stamp::read(&book), None, "it is not taken for one of now");
    assert!(page().contains("id=\"figure-01-one-1\">kept"), "{}", page());
    build_in(&chapters, Arc::new(Sample)).unwrap();
    assert!(stamp::read(&book).is_some());
    assert!(page().contains("\nall</figure>"), "{}", page());
    // One with kept figures, if it is built after all, does not take the others away.
    build_in(&chapters, Arc::new(kept)).unwrap();
    assert!(page().contains("\nall</figure>"), "{}", page());
}
