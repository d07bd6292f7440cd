//! How tests of chapters say what they found: the lines and tables that a snapshot holds
//! and a chapter quotes.

use std::fmt::{Display, Write};

use attention::Matrix;

pub use lessons::numbers::share;

/// Holds a text under a name that chapters can quote. The file has that name too, wherever
/// the test stands.
macro_rules! assert_quote {
    ($name:literal, $text:expr) => {{
        let mut settings = insta::Settings::clone_current();
        settings.set_prepend_module_to_snapshot(false);
        settings.set_snapshot_path(concat!(env!("CARGO_MANIFEST_DIR"), "/snapshots"));
        settings.bind(|| insta::assert_snapshot!($name, $text));
    }};
}
pub(crate) use assert_quote;

/// Keeps a text as it was measured where there was what it needs, so that the test of all
/// snapshots does not take it for one that nobody holds.
macro_rules! kept_quote {
    ($($name:literal),+) => {{
        $(
            let path = concat!(
                env!("CARGO_MANIFEST_DIR"),
                "/snapshots/",
                $name,
                ".snap"
            );
            let kept = std::fs::read_to_string(path).unwrap();
            let text = kept.splitn(3, "---\n").nth(2).unwrap();
            crate::quote::assert_quote!($name, text.trim_end());
        )+
    }};
}
pub(crate) use kept_quote;

/// `name: value`, one on each line.
pub fn values<N: Display, V: Display>(values: &[(N, V)]) -> String {
    let lines = values.iter().map(|(name, value)| format!("{name}: {value}"));
    lines.collect::<Vec<_>>().join("\n")
}

/// `57 %`; of what is less than one percent `0.4 %`.
pub fn percent(part: f64) -> String {
    match 100.0 * part {
        small if small > 0.0 && small < 1.0 => format!("{small:.1} %"),
        whole => format!("{whole:.0} %"),
    }
}

/// Three digits that count.
pub fn short(x: f64) -> String {
    let digits = (2 - x.abs().log10().floor() as i32).max(0) as usize;
    format!("{x:.digits$}")
}

/// Three digits after the point, and NaN as it is: `0.731 NaN`.
pub fn digits(entries: impl Iterator<Item = f64>) -> String {
    let one = |x: f64| if x.is_nan() { "NaN".into() } else { format!("{x:.3}") };
    entries.map(one).collect::<Vec<_>>().join(" ")
}

/// Fails unless the number is at most this power of ten, and says the power: `10⁻¹²`.
#[track_caller]
pub fn bound(number: f64, power: f64) -> String {
    let written = below(number, power);
    let exponent = written.strip_prefix("1e").expect("a power of ten");
    let digits = exponent.chars().map(|c| match c {
        '-' => '⁻',
        '1' => '¹',
        '2' => '²',
        '3' => '³',
        digit => {
            let value = digit.to_digit(10).expect("a power of ten");
            char::from_u32('⁰' as u32 + value).expect("a digit in superscript")
        }
    });
    format!("10{}", digits.collect::<String>())
}

/// Fails unless the number is at most the other, and says the other: `1e-12`.
#[track_caller]
pub fn below(number: f64, most: f64) -> String {
    assert!(number.abs() <= most, "{number:e} is more than {most:e}");
    format!("{most:e}")
}

/// Rows under a heading, as Markdown: a page shows a table. A column whose cells all begin as
/// numbers do stands at the right.
pub struct Table<const N: usize>(Vec<[String; N]>);

impl<const N: usize> Table<N> {
    pub fn new(headings: [&str; N]) -> Self {
        let mut table = Self(Vec::new());
        table.row(headings);
        table
    }

    pub fn row<C: Display>(&mut self, cells: [C; N]) {
        self.0.push(cells.map(|cell| escaped(&cell.to_string())));
    }

    /// The rows, each column as wide as its widest cell.
    pub fn text(&self) -> String {
        let of = |row: &[String; N], dashes: bool| -> String {
            let cells = (0..N).map(|nth| {
                let (width, is_right) = (self.width(nth), self.is_right(nth));
                match (dashes, is_right) {
                    (true, true) => format!(" {}: |", "-".repeat(width - 1)),
                    (true, false) => format!(" {} |", "-".repeat(width)),
                    (false, true) => format!(" {:>width$} |", row[nth]),
                    (false, false) => format!(" {:<width$} |", row[nth]),
                }
            });
            format!("|{}", cells.collect::<String>())
        };
        let (heading, rows) = self.0.split_first().expect("a table has a heading");
        let mut lines = vec![of(heading, false), of(heading, true)];
        lines.extend(rows.iter().map(|row| of(row, false)));
        lines.join("\n")
    }

    fn width(&self, nth: usize) -> usize {
        let widths = self.0.iter().map(|row| row[nth].chars().count());
        widths.max().unwrap_or(0).max(2)
    }

    /// Numbers, with their units.
    fn is_right(&self, nth: usize) -> bool {
        let begins = |first: char| first.is_ascii_digit() || "-−–+±×.(∞".contains(first);
        let is_word = |letters: &str| letters.len() > 3;
        let is_number = |cell: &str| {
            let cell = cell.trim_start_matches("\\< ");
            (cell.starts_with("NaN") || cell.chars().next().is_none_or(begins))
                && !cell.split(|c: char| !c.is_alphabetic()).any(is_word)
        };
        self.0[1..].iter().all(|row| is_number(&row[nth]))
    }
}

/// As Markdown shows it: white space in front is kept, nothing is taken for a mark, and a
/// number stays on a line with its sign.
fn escaped(cell: &str) -> String {
    let text = cell.trim_start();
    let mut escaped = "&emsp;".repeat((cell.len() - text.len()).div_ceil(2));
    for character in text.trim_end().chars() {
        if "|*<`\\[".contains(character) {
            escaped.push('\\');
        }
        escaped.push(character);
    }
    escaped.replace(" %", "\u{a0}%").replace("× ", "×\u{a0}").replace(" ×", "\u{a0}×")
}

/// Rows for a block of code, each column as wide as is said; a negative width stands for cells
/// that begin at the left.
pub struct Aligned<const N: usize> {
    widths: [isize; N],
    text: String,
}

impl<const N: usize> Aligned<N> {
    pub fn new(widths: [isize; N]) -> Self {
        Self { widths, text: String::new() }
    }

    pub fn row<C: Display>(&mut self, cells: [C; N]) {
        for (cell, &width) in cells.iter().zip(&self.widths) {
            let (cell, n) = (cell.to_string(), width.unsigned_abs());
            let padded = match width < 0 {
                true => write!(self.text, "{cell:<n$}"),
                false => write!(self.text, "{cell:>n$}"),
            };
            padded.expect("a string takes all");
        }
        self.text.push('\n');
    }

    /// The rows, with what stands at the ends of lines left out if it is white.
    pub fn text(&self) -> String {
        self.text.lines().map(str::trim_end).collect::<Vec<_>>().join("\n")
    }
}

/// A matrix with a name for each row, every entry as wide as the widest.
pub fn matrix(
    name: &str,
    rows: &[impl AsRef<str>],
    matrix: &Matrix,
    digits: usize,
) -> String {
    let entry = |x: f64| format!("{x:.digits$}");
    let width = matrix.iter().map(|&x| entry(x).len()).max().unwrap();
    let label = rows.iter().map(|row| row.as_ref().chars().count()).max().unwrap();
    let mut text = format!("{name}\n");
    for (word, row) in rows.iter().zip(matrix.row_iter()) {
        write!(text, "  {:<label$}", word.as_ref()).unwrap();
        for &x in row.iter() {
            write!(text, "  {:>width$}", entry(x)).unwrap();
        }
        text.push('\n');
    }
    text
}

#[test]
fn a_bound_is_held_and_said() {
    assert_eq!(bound(-3e-16, 1e-15), "10⁻¹⁵");
    assert_eq!(below(0.0, 1e-12), "1e-12");
    assert!(std::panic::catch_unwind(|| bound(2e-15, 1e-15)).is_err());
    assert!(std::panic::catch_unwind(|| below(f64::NAN, 1e-15)).is_err());
}

#[test]
fn a_table_is_markdown_and_aligned_by_characters() {
    let mut table = Table::new(["key", "√d_k", "what"]);
    table.row(["flew", "5.66", "a|b"]);
    table.row(["  ×", "", "<end>"]);
    insta::assert_snapshot!(table.text());
    let mut aligned = Aligned::new([-8, 6]);
    aligned.row(["flew", "5.66"]);
    aligned.row(["×", ""]);
    assert_eq!(aligned.text(), "flew      5.66\n×");
}

/// The snapshots whose names no test says.
fn unreferenced<'a>(names: &'a [String], tests: &str) -> Vec<&'a String> {
    let is_said = |name: &str| {
        tests.contains(&format!("\"{name}\"")) || tests.contains(&format!("fn {name}("))
    };
    names.iter().filter(|name| !is_said(name)).collect()
}

#[test]
fn every_snapshot_is_asserted() {
    let (mut names, mut tests) = (Vec::new(), String::new());
    let mut open = vec![workshop::paths::workspace().join("tests")];
    while let Some(folder) = open.pop() {
        for entry in std::fs::read_dir(folder).unwrap() {
            let path = entry.unwrap().path();
            let file = path.file_name().unwrap().to_string_lossy().into_owned();
            if path.is_dir() {
                open.push(path);
            } else if let Some(stem) = file.strip_suffix(".snap") {
                names.push(stem.rsplit("__").next().unwrap_or(stem).to_owned());
            } else if file.ends_with(".rs") {
                tests.push_str(&std::fs::read_to_string(&path).unwrap());
            }
        }
    }
    assert!(names.len() > 100, "only {} snapshots are found", names.len());
    let left = unreferenced(&names, &tests);
    assert!(left.is_empty(), "no test asserts {left:?}");

    let planted =
        ["the_backward_pass_nudge".to_owned(), format!("the_backward_pass_{}", "nobody")];
    assert_eq!(unreferenced(&planted, &tests), [&planted[1]]);
}
