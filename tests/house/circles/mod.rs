//! No circles between the files of a crate: a reader of one file reads those that it
//! uses, and then is done.
//!
//! An arrow goes from a file to each file that defines a name that it uses, through
//! whatever re-exports it. That a module has children, and that it passes their names
//! on, is no arrow; nor is it one that a module uses what those above it define
//! (`use super::Args`), since it is a part of them. Tests (`#[cfg(test)]`) may use what
//! they like.

mod graph;
mod source;

use std::fs;
use std::path::PathBuf;

use graph::Graph;

use crate::house;

#[test]
fn no_files_of_a_crate_use_each_other_in_a_circle() {
    let mut circles = Vec::new();
    for folder in house::crates() {
        for root in ["src/lib.rs", "src/main.rs"].map(|root| folder.join(root)) {
            if root.is_file() {
                let graph = Graph::read(&root, |path| fs::read_to_string(path).ok());
                let name = folder.file_name().unwrap().to_string_lossy();
                circles.extend(graph.circles().iter().map(|it| format!("{name}: {it}")));
            }
        }
    }
    assert!(circles.is_empty(), "\n{}\n", circles.join("\n"));
}

/// A crate of these files, `src/lib.rs` first.
fn planted(files: &[(&str, &str)]) -> Vec<String> {
    let root = PathBuf::from("src/lib.rs");
    let read = |path: &std::path::Path| {
        let found =
            files.iter().find(|(name, _)| path == PathBuf::from("src").join(name));
        found.map(|(_, text)| (*text).to_owned())
    };
    Graph::read(&root, read).circles()
}

#[test]
fn planted_circles_are_found() {
    let lib = "mod a;\nmod b;\npub use a::A;\npub use b::B;";
    let one_way = [("lib.rs", lib), ("a.rs", "pub struct A;"), ("b.rs", "use crate::A;")];
    assert!(planted(&one_way).is_empty(), "{:?}", planted(&one_way));

    let through_a_re_export = [
        ("lib.rs", lib),
        ("a.rs", "use super::B;"),
        ("b.rs", "fn b() { crate::a::f() }"),
    ];
    assert_eq!(planted(&through_a_re_export), ["a uses b (B), b uses a (f)"]);

    let of_three = [
        ("lib.rs", "mod a; mod b; mod c;"),
        ("a.rs", "use super::b;\nfn a() { b::f() }"),
        ("b.rs", "mod deep;\nuse deep::D;"),
        ("b/deep.rs", "use crate::c::C; struct D;"),
        ("c.rs", "use crate::a;\nfn c() { a::f() }"),
    ];
    let found = planted(&of_three);
    assert_eq!(found.len(), 1);
    assert_eq!(found[0].matches(" uses ").count(), 4, "{found:?}");

    let with_its_parent =
        [("lib.rs", "mod a;\nstruct P;\nfn p() { a::f() }"), ("a.rs", "use super::P;")];
    assert!(planted(&with_its_parent).is_empty());
    let in_tests = [
        ("lib.rs", "mod a;\nfn p() { a::f() }\nstruct P;"),
        ("a.rs", "pub fn f() {}\n#[cfg(test)]\nmod tests { use crate::P; }"),
    ];
    assert!(planted(&in_tests).is_empty());
}
