//! `{{#include file:anchor}}`, as mdBook has it, made sure to find code, and moved to the
//! margin.
//!
//! mdBook itself gives an empty block in silence for an anchor that is missing, and runs to the
//! end of the file for one that is not closed. It also takes line numbers, which move
//! with every edit of the file: they are refused here.

use std::fs;
use std::path::Path;

use anyhow::{Context, Result, bail, ensure};

/// Reads what `{{#include rest}}` in a chapter of `folder` stands for.
///
/// # Errors
///
/// If the file cannot be read, the anchor does not start and end exactly once, or
/// nothing but white space lies between.
pub fn resolve(folder: &Path, rest: &str) -> Result<String> {
    let (file, anchor) = rest.split_once(':').unwrap_or((rest, ""));
    let path = folder.join(file);
    let source =
        fs::read_to_string(&path).with_context(|| format!("cannot include {file}"))?;
    let code = match anchor {
        "" => source,
        anchor => anchored(&source, anchor).with_context(|| format!("in {file}"))?,
    };
    ensure!(!code.trim().is_empty(), "{rest} is empty");
    Ok(code)
}

/// The same lines, less the white space that all of them begin with.
pub fn at_the_margin(code: &str) -> String {
    let indent = |line: &str| line.len() - line.trim_start().len();
    let written = code.lines().filter(|line| !line.trim().is_empty());
    let least = written.map(indent).min().unwrap_or(0);
    let lines = code.lines().map(|line| line.get(least..).unwrap_or(""));
    lines.collect::<Vec<_>>().join("\n")
}

fn anchored(source: &str, anchor: &str) -> Result<String> {
    if anchor.starts_with(|c: char| c.is_ascii_digit() || c == ':') {
        bail!("included by line numbers ({anchor}), which move: use an anchor");
    }
    let lines_with = |marker: &str| -> Vec<usize> {
        let of_line =
            |(at, line)| (name_after(line, marker) == Some(anchor)).then_some(at);
        source.lines().enumerate().filter_map(of_line).collect()
    };
    let (starts, ends) = (lines_with("ANCHOR:"), lines_with("ANCHOR_END:"));
    let (&[start], &[end]) = (&starts[..], &ends[..]) else {
        bail!(
            "the anchor {anchor} starts {} times and ends {} times, not once each",
            starts.len(),
            ends.len()
        );
    };
    ensure!(start < end, "the anchor {anchor} ends before it starts");
    let is_code =
        |line: &&str| !line.contains("ANCHOR:") && !line.contains("ANCHOR_END:");
    let code = source.lines().take(end).skip(start + 1).filter(is_code);
    Ok(code.collect::<Vec<_>>().join("\n"))
}

/// The name that follows a marker in a line, as mdBook reads it.
fn name_after<'a>(line: &'a str, marker: &str) -> Option<&'a str> {
    let (_, rest) = line.split_once(marker)?;
    let rest = rest.trim_start();
    let ends = |c: char| !(c.is_alphanumeric() || c == '_' || c == '-');
    Some(&rest[..rest.find(ends).unwrap_or(rest.len())])
}

#[cfg(test)]
mod tests {
    use super::{anchored, at_the_margin};

    const SOURCE: &str = "\
// ANCHOR: outer
fn a() {}
// ANCHOR: inner
fn b() {}
// ANCHOR_END: inner
// ANCHOR_END: outer
// ANCHOR: open
// ANCHOR: twice
// ANCHOR_END: twice
// ANCHOR: twice
";

    #[test]
    fn code_from_within_a_function_begins_at_the_margin() {
        let code =
            "        let x = 1;\n\n        if x > 0 {\n            y();\n        }";
        let moved = "let x = 1;\n\nif x > 0 {\n    y();\n}";
        assert_eq!(at_the_margin(code), moved);
        assert_eq!(at_the_margin("fn a() {\n    b()\n}"), "fn a() {\n    b()\n}");
    }

    #[test]
    fn an_anchor_holds_the_lines_between_without_other_anchors() {
        assert_eq!(anchored(SOURCE, "outer").unwrap(), "fn a() {}\nfn b() {}");
        assert_eq!(anchored(SOURCE, "inner").unwrap(), "fn b() {}");
    }

    #[test]
    fn an_anchor_that_mdbook_would_take_in_silence_is_refused() {
        for (anchor, said) in [
            ("missing", "starts 0 times and ends 0 times"),
            ("inne", "starts 0 times"),
            ("open", "starts 1 times and ends 0 times"),
            ("twice", "starts 2 times"),
            ("3:7", "line numbers"),
        ] {
            let error = anchored(SOURCE, anchor).unwrap_err().to_string();
            assert!(error.contains(said), "{anchor}: {error}");
        }
    }
}
