//! What the sources say has its place: every chapter and test that chapters/sources.md
//! names exists.
//!
//! A row is `where | what it says | treated in | held by`. The third cell links chapters,
//! each by its number, and the fourth names tests as cargo does, with the crate
//! in front: `stages::ledger::…`, `attention::softmax::tests::…`. "no test: why" stands
//! there for what no test can hold.

use std::fs;
use std::path::{Path, PathBuf};

use workshop::paths;

use crate::house;

/// The packages of tests, and their folders.
const TESTS: [(&str, &str); 3] = [
    ("stages", "tests/stages"),
    ("whole_models", "tests/models"),
    ("chapters", "tests/chapters"),
];

const SOURCES: [&str; 5] = ["000", "001", "002", "003", "004"];

#[test]
fn every_claim_names_chapters_and_tests_that_exist() {
    let problems = problems(&table());
    assert!(problems.is_empty(), "chapters/sources.md\n{}", problems.join("\n"));
}

#[test]
fn every_source_has_its_claims() {
    let table = table();
    let rows: Vec<Row> = rows(&table).collect();
    for source in SOURCES {
        let n = rows.iter().filter(|row| row.source == source).count();
        println!("source {source}: {n} claims");
        assert!(n >= 10, "source {source} has {n} rows");
    }
    let strange = rows.iter().find(|row| !SOURCES.contains(&row.source));
    assert!(strange.is_none(), "{strange:?} is under no source");
}

#[test]
fn planted_faults_are_found() {
    const OWN: &str = "stages::ledger::the_ledger_of_each_stage";
    let chapters = workshop::chapters::all().expect("the book has contents");
    let counting =
        chapters.iter().find(|it| it.topic() == "counting").expect("a chapter");
    let label = &format!("[{}]", counting.number);
    let link = &format!("{label}({}.md)", counting.page);
    let fine = &format!("| a | b | {link} | `{OWN}` |");
    let faults = [
        ("ledger_of_each_stage", "ledger_of_no_stage", "no test"),
        ("stages::ledger", "stages::no_file", "no file"),
        ("stages::", "nobody::", "no file"),
        ("stages::", "", "no file"),
        ("the_ledger_of_each_stage", "parameters", "no test"), // a function, not a test
        (OWN, "attention::ledger::no_tests::the_counts", "no file"),
        (OWN, "attention::softmax::tests::no_such_test", "no test"),
        (OWN, "attention::softmax::softmax_rows", "no test"),
        ("-counting.md", "-counted.md", "no chapter"),
        (label, "[0]", "no chapter"),
        (link, "", "treated nowhere"),
        ("`stages::ledger::the_ledger_of_each_stage`", "", "held by nothing"),
        ("`stages::ledger::the_ledger_of_each_stage`", "no test:", "held by nothing"),
        (link, "later", "treated nowhere"),
        ("| b |", "| b |  |", "5 cells"),
    ];
    let found = |row: &str| problems(&format!("## 000: x\n\n{row}\n")).join("; ");
    assert_eq!(found(fine), "");
    assert_eq!(found(&format!("| a | b | {link} | no test: an opinion |")), "");
    for (from, to, expected) in faults {
        let planted = fine.replace(from, to);
        assert_ne!(&planted, fine, "{from} was not there to be replaced");
        assert!(found(&planted).contains(expected), "{planted}: {}", found(&planted));
    }
}

fn table() -> String {
    fs::read_to_string(chapters().join("sources.md")).expect("the book has this page")
}

fn chapters() -> PathBuf {
    paths::workspace().join("chapters")
}

/// One claim of a source.
#[derive(Debug)]
struct Row<'a> {
    /// The number in the heading above: `000`.
    source: &'a str,
    line: usize,
    cells: Vec<&'a str>,
}

/// The rows of all tables, without their heads.
fn rows(text: &str) -> impl Iterator<Item = Row<'_>> {
    let mut source = "";
    text.lines().enumerate().filter_map(move |(at, line)| {
        if let Some(heading) = line.strip_prefix("## ") {
            source = heading.split(':').next().unwrap_or_default();
        }
        let inner = line.strip_prefix('|')?.trim_end().strip_suffix('|')?;
        let cells: Vec<&str> = inner.split('|').map(str::trim).collect();
        let is_head = cells[0] == "where" || cells[0].starts_with("---");
        (!is_head).then_some(Row { source, line: at + 1, cells })
    })
}

fn problems(text: &str) -> Vec<String> {
    let of_row = |row: Row| -> Vec<String> {
        let found = match row.cells[..] {
            [_, _, treated, held] => problems_of(treated, held),
            _ => vec![format!("{} cells, expected 4", row.cells.len())],
        };
        found.into_iter().map(|what| format!("line {}: {what}", row.line)).collect()
    };
    rows(text).flat_map(of_row).collect()
}

fn problems_of(treated: &str, held: &str) -> Vec<String> {
    let links = links(treated);
    let mut problems: Vec<String> = links.iter().filter_map(missing_chapter).collect();
    if links.is_empty() {
        problems.push(format!("treated nowhere: {treated:?}"));
    }
    let reason = held.strip_prefix("no test:").map(str::trim);
    let named: Vec<&str> = held.split('`').skip(1).step_by(2).collect();
    if named.is_empty() && reason.is_none_or(str::is_empty) {
        problems.push(format!("held by nothing: {held:?}"));
    }
    problems.extend(named.iter().filter_map(|test| missing_test(test)));
    problems
}

/// `(label, file)` of each `[label](file)`.
fn links(cell: &str) -> Vec<(&str, &str)> {
    let parts = cell.split('[').skip(1);
    parts.filter_map(|part| part.split_once(')')?.0.split_once("](")).collect()
}

/// A link says the number that the file's name begins with; the first page has none.
fn missing_chapter((label, file): &(&str, &str)) -> Option<String> {
    let number: Option<u8> = label.parse().ok();
    let fits = match number {
        Some(number) => file.starts_with(&format!("{number:02}-")),
        None => *file == "start-here.md",
    };
    let is_there = fits && chapters().join(file).is_file();
    (!is_there).then(|| format!("no chapter [{label}]({file})"))
}

/// A test as cargo names it, with its crate in front.
fn missing_test(path: &str) -> Option<String> {
    let mut segments: Vec<&str> = path.split("::").collect();
    let Some(name) = segments.pop().filter(|_| !segments.is_empty()) else {
        return Some(format!("no test {path}: a crate's name goes in front"));
    };
    let package = segments.remove(0);
    let folder = match TESTS.iter().find(|(name, _)| *name == package) {
        Some((_, folder)) => paths::workspace().join(folder),
        None => {
            let folder = package.replace('_', "-");
            let crates = house::crates();
            let Some(found) = crates.into_iter().find(|it| it.ends_with(&folder)) else {
                return Some(format!("no file for {path}: there is no crate {package}"));
            };
            found.join("src")
        }
    };
    match sources_of(&folder, &segments) {
        None => Some(format!("no file for {path} in {}", folder.display())),
        Some(source) => (!holds_test(&source, name)).then(|| format!("no test {path}")),
    }
}

/// The text of a module: its own file, or for `tests` the file that it stands in.
fn sources_of(folder: &Path, segments: &[&str]) -> Option<String> {
    let own = folder.join(segments.join("/"));
    for file in [own.with_extension("rs"), own.join("mod.rs")] {
        if let Ok(text) = fs::read_to_string(file) {
            return Some(text);
        }
    }
    let (&last, above) = segments.split_last()?;
    let file = if above.is_empty() { "lib".to_string() } else { above.join("/") };
    let text = fs::read_to_string(folder.join(file).with_extension("rs")).ok()?;
    text.contains(&format!("mod {last} {{")).then_some(text)
}

/// Whether `#[test]` stands above a function of this name.
pub fn holds_test(source: &str, name: &str) -> bool {
    let mut lines = source.lines().map(str::trim);
    while lines.any(|line| line == "#[test]") {
        let mut item = lines.by_ref().skip_while(|line| line.starts_with("#["));
        if item.next().is_some_and(|line| line.starts_with(&format!("fn {name}("))) {
            return true;
        }
    }
    false
}
