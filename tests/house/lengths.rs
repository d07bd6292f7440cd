//! No function is longer than a screen, but for the few that have a reason.

use std::fs;
use std::path::{Path, PathBuf};

use workshop::paths;

/// With its signature and its closing brace.
const MOST_LINES: usize = 60;

/// Longer ones: their files, their names and why.
const LONGER: [(&str, &str, &str); 3] = [
    ("figures/src/diagram/batch.rs", "drawn", "a drawing from top to bottom"),
    ("exercises/src/message.rs", "message", "one text in all its cases"),
    ("layers/src/message.rs", "message", "one text in all its cases"),
];

/// Every source below `crates` and `tests`, but for the reader's own answers.
pub fn sources() -> Vec<PathBuf> {
    let mut folders = ["crates", "tests"].map(|it| paths::workspace().join(it)).to_vec();
    let mut sources = Vec::new();
    while let Some(folder) = folders.pop() {
        let is_skipped = ["target"];
        if is_skipped.iter().any(|it| folder.ends_with(it)) {
            continue;
        }
        for entry in fs::read_dir(&folder).expect("a folder of sources") {
            let path = entry.expect("an entry").path();
            if path.is_dir() {
                folders.push(path);
            } else if path.extension().is_some_and(|it| it == "rs") {
                sources.push(path);
            }
        }
    }
    sources
}

/// The functions of a source as rustfmt writes it, with the lines that each takes: from the
/// line with `fn` to the first closing brace that stands as far to the right.
fn functions(source: &str) -> Vec<(&str, usize)> {
    let lines: Vec<&str> = source.lines().collect();
    let indent = |line: &str| line.len() - line.trim_start().len();
    let mut functions = Vec::new();
    for (first, line) in lines.iter().enumerate() {
        let Some(name) = name(line) else { continue };
        let rest = lines[first..].iter();
        let ends = |line: &&str| indent(line) == indent(lines[first]);
        let mut closing = rest.enumerate().skip(1).filter(|(_, line)| ends(line));
        if let Some((n, _)) = closing.find(|(_, line)| line.trim_start() == "}") {
            functions.push((name, n + 1));
        }
    }
    functions
}

/// The name of a function whose body begins here or below.
fn name(line: &str) -> Option<&str> {
    let (before, after) = line.split_once("fn ")?;
    let is_word = |word: &str| {
        ["async", "const", "unsafe", "extern"].contains(&word)
            || word.starts_with("pub")
            || word.starts_with('"')
    };
    let is_whole = !line.ends_with(['}', ';']);
    let end = after.find(['(', '<'])?;
    (is_whole && before.split_whitespace().all(is_word)).then_some(&after[..end])
}

#[test]
fn no_function_is_longer_than_a_screen() {
    let sources = sources();
    let mut n_functions = 0;
    let mut longer = Vec::new();
    for path in &sources {
        let source = fs::read_to_string(path).expect("a source that can be read");
        for (name, n_lines) in functions(&source) {
            n_functions += 1;
            let is_allowed =
                LONGER.iter().any(|(file, it, _)| path.ends_with(file) && *it == name);
            if n_lines > MOST_LINES && !is_allowed {
                longer.push(format!("{}: {name} has {n_lines} lines", shown(path)));
            }
        }
    }
    println!("{n_functions} functions in {} files", sources.len());
    assert!(n_functions > 3_000, "{n_functions} functions were found");
    assert!(longer.is_empty(), "{}", longer.join("\n"));
}

fn shown(path: &Path) -> String {
    let within = path.strip_prefix(paths::workspace()).unwrap_or(path);
    within.display().to_string()
}

#[test]
fn a_function_ends_with_the_brace_below_it() {
    let source = "
pub(crate) const fn one<T>(
    a: T,
) -> T {
    if b {
    }
}

trait A {
    fn declared(&self);

    fn two() {
        fn three() {
        }
    }
    fn four() {}
}
";
    assert_eq!(functions(source), [("one", 6), ("two", 4), ("three", 2)]);
}
