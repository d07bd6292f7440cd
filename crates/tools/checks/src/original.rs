//! What a reader starts from: the solution with the answer taken out.
//!
//! One file says everything once. What is asked, the signature and the documentation stand
//! in the solution; an exercise as given is made from it, and so is the statement in the
//! book.

use std::fs;
use std::path::Path;

use crate::entry::{self, Entry};
use anyhow::{Context, Result, ensure};

use super::files;

const BEGIN: &str = "// ANCHOR: answer";
const END: &str = "// ANCHOR_END: answer";
const YOURS: &str = "    // YOURS: ";

/// The original of an exercise.
pub fn original(entry: &Entry) -> Result<String> {
    let solution = solution(entry)?;
    let parts = split(&solution).with_context(|| in_file(entry))?;
    let (number, title) = (entry.number(), entry.title());
    let head = format!("//! # {number:02} · {title}\n//!\n");
    let read = entry.read();
    let foot = format!(
        "//!\n//! Explained in {read}.\n//! Check it with `cargo learn check {number}`; \
         a hint: `cargo learn check {number} --hint`.\n"
    );
    Ok(format!(
        "{head}{}{foot}\n{}{}\n    // TODO: {}\n    todo!()\n}}{}",
        parts.statement, parts.before, parts.signature, parts.yours, parts.after
    ))
}

/// What the book says of an exercise: the statement as Markdown, and the documented
/// signature as Rust.
///
/// # Errors
/// If the solution cannot be read or is not laid out as the others are.
pub fn statement(entry: &Entry) -> Result<(String, String)> {
    let solution = solution(entry)?;
    let parts = split(&solution).with_context(|| in_file(entry))?;
    let lines = parts.statement.lines();
    let markdown: Vec<&str> =
        lines.map(|line| line[3..].trim_start_matches(' ')).collect();
    let docs: Vec<&str> =
        parts.before.lines().rev().take_while(|line| line.starts_with("///")).collect();
    let docs: Vec<&str> = docs.into_iter().rev().collect();
    let signature = parts.signature.trim_end_matches([' ', '{']);
    Ok((markdown.join("\n"), format!("{}\n{signature}", docs.join("\n"))))
}

/// A solution in its parts.
#[derive(Debug, PartialEq, Eq)]
struct Parts {
    /// The lines `//!` at its top.
    statement: String,
    /// From there to the answer: imports, and the documentation of the function.
    before: String,
    /// The function's head, its brace included.
    signature: String,
    /// What the reader is to write.
    yours: String,
    /// What comes after the answer.
    after: String,
}

fn split(solution: &str) -> Result<Parts> {
    let (before, rest) = solution.split_once(&format!("{BEGIN}\n")).context(BEGIN)?;
    let (answer, after) = rest.split_once(END).context(END)?;
    let (signature, rest) = answer.split_once(YOURS).context(YOURS)?;
    ensure!(
        signature.trim_end().ends_with('{'),
        "{YOURS} is the first line of the function"
    );
    let more = rest.lines().enumerate();
    let comment = more.take_while(|(at, line)| *at == 0 || line.starts_with("    // "));
    let yours: Vec<&str> = comment.map(|(_, line)| line).collect();

    let is_statement = |line: &&str| line.starts_with("//!");
    let length: usize =
        before.lines().take_while(is_statement).map(|l| l.len() + 1).sum();
    let (statement, before) = before.split_at(length);
    ensure!(!statement.is_empty(), "no statement at its top");
    Ok(Parts {
        statement: statement.to_string(),
        before: before.trim_start_matches('\n').to_string(),
        signature: signature.trim_end().to_string(),
        yours: yours.join("\n"),
        after: after.to_string(),
    })
}

/// The solution's text, with a number for each exercise that it names.
fn solution(entry: &Entry) -> Result<String> {
    let path = files::set().join(files::inside("solutions", entry));
    let text = fs::read_to_string(&path);
    let text = text.with_context(|| format!("{} cannot be read", path.display()))?;
    entry::with_numbers(&text.replace("\r\n", "\n"))
}

fn in_file(entry: &Entry) -> String {
    let path = files::inside("solutions", entry);
    format!("{} is not laid out as a solution", Path::new(&path).display())
}

#[cfg(test)]
mod tests {
    use super::*;

    const SOLUTION: &str = "\
//! Add up.
//!
//! With a loop.

use exercises::Matrix;

/// The sum.
// ANCHOR: answer
pub fn sum(x: &Matrix) -> f64 {
    // YOURS: the sum of all entries,
    // however large.
    add(x)
}

fn add(x: &Matrix) -> f64 {
    x.sum()
}
// ANCHOR_END: answer

fn main() {}
";

    #[test]
    fn the_answer_and_its_helpers_are_taken_out() {
        insta::assert_debug_snapshot!(split(SOLUTION).unwrap(), @r#"
        Parts {
            statement: "//! Add up.\n//!\n//! With a loop.\n",
            before: "use exercises::Matrix;\n\n/// The sum.\n",
            signature: "pub fn sum(x: &Matrix) -> f64 {",
            yours: "the sum of all entries,\n    // however large.",
            after: "\n\nfn main() {}\n",
        }
        "#);
    }

    #[test]
    fn a_file_without_its_marks_is_refused() {
        assert!(split(&SOLUTION.replace("YOURS", "MINE")).is_err());
        assert!(split(&SOLUTION.replace("ANCHOR_END", "END")).is_err());
        assert!(split(&SOLUTION.replace("//!", "//")).is_err());
    }

    #[test]
    fn every_original_asks_for_what_its_solution_answers() {
        for entry in &crate::entry::all().unwrap() {
            let original = original(entry).unwrap();
            assert!(original.contains("// TODO: ") && original.contains("todo!()"));
            assert!(!original.contains("ANCHOR"), "{original}");
        }
    }
}
