//! The chapters as they are written.

use std::fs;
use std::path::Path;

use anyhow::{Context, Result};
use pulldown_cmark::{CodeBlockKind, Event, Options, Parser, Tag};

use crate::directive;
use crate::expand::Expander;
use crate::figures::Figures;
use crate::problem::{Problem, line_of};
use crate::teachers;

/// The longest block of Rust that may be typed in a chapter: a call, not a program.
const TYPED_LINES: usize = 2;

/// Finds what would fail a build, Rust that no compiler has seen, and chapters that the
/// table of contents does not name.
pub fn sources(chapters: &Path, figures: &dyn Figures) -> Result<Vec<Problem>> {
    let read = |path: &Path| {
        fs::read_to_string(path)
            .with_context(|| format!("cannot read {}", path.display()))
    };
    let expander = Expander::new(chapters, figures)?;
    let summary = read(&chapters.join("SUMMARY.md"))?;
    let mut written = Vec::new();
    for path in super::files(chapters, ".md")? {
        let file = path.strip_prefix(chapters)?;
        // What stands in a chapter's fold is no page.
        if file != Path::new("SUMMARY.md") && !file.starts_with(teachers::FOLDER) {
            written.push((file.to_path_buf(), read(&path)?));
        }
    }
    let mut problems = Vec::new();
    for ((file, text), expanded) in written.iter().zip(expander.expand_all(&written)) {
        let shown = Path::new("chapters").join(file);
        problems.extend(expanded.problems);
        problems.extend(typed_rust(&shown, text));
        if !is_named(&summary, file) {
            let what = "SUMMARY.md does not name this chapter".to_string();
            problems.push(Problem { file: shown, line: 1, what });
        }
    }
    problems.sort();
    Ok(problems)
}

fn typed_rust(file: &Path, text: &str) -> Vec<Problem> {
    let mut problems = Vec::new();
    let mut events = Parser::new_ext(text, Options::ENABLE_GFM).into_offset_iter();
    while let Some((event, range)) = events.next() {
        let Event::Start(Tag::CodeBlock(CodeBlockKind::Fenced(info))) = event else {
            continue;
        };
        let language = info.split([' ', ',']).next().unwrap_or_default();
        let body: String = events
            .by_ref()
            .map_while(|(event, _)| match event {
                Event::Text(text) => Some(text.into_string()),
                _ => None,
            })
            .collect();
        let included = directive::find(&body).iter().any(|d| d.name.ends_with("include"));
        let lines = body.lines().filter(|line| !line.trim().is_empty()).count();
        if language == "rust" && !included && lines > TYPED_LINES {
            let what =
                format!("{lines} lines of Rust that no compiler sees: include them");
            let line = line_of(text, range.start);
            problems.push(Problem { file: file.to_path_buf(), line, what });
        }
    }
    problems
}

fn is_named(summary: &str, file: &Path) -> bool {
    Parser::new(summary).any(|event| match event {
        Event::Start(Tag::Link { dest_url, .. }) => {
            Path::new(dest_url.trim_start_matches("./")) == file
        }
        _ => false,
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn typed_rust_is_refused_and_included_or_short_or_other_code_is_not() {
        let typed = typed_rust(
            Path::new("a.md"),
            "x\n\n```rust\nlet a = 1;\nlet b = 2;\nlet c = 3;\n```\n",
        );
        assert_eq!((typed.len(), typed[0].line), (1, 3));
        for fine in [
            "```rust\nlet a = 1;\n\nlet b = 2;\n```",
            "```rust\n{{#include a.rs:b}}\n```",
            "```sh\na\nb\nc\n```",
        ] {
            assert_eq!(typed_rust(Path::new("a.md"), fine), []);
        }
    }

    #[test]
    fn the_contents_name_a_file_by_its_link() {
        let summary = "# S\n\n[Start](start.md)\n- [One](./01-one.md)\n";
        assert!(is_named(summary, Path::new("01-one.md")));
        assert!(!is_named(summary, Path::new("02-two.md")));
    }
}
