//! The solution of an exercise, and the file that a reader starts from.
//!
//! One file says everything once. What is asked, the signature and the documentation stand
//! in the solution; an exercise as given is made from it, and so is the statement in the
//! book.

use std::path::Path;

use crate::fault::read;
use crate::{Fault, Result, Section};

const BEGIN: &str = "// ANCHOR: answer\n";
const END: &str = "// ANCHOR_END: answer";
const YOURS: &str = "    // YOURS: ";

/// A solution in its parts.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Solution {
    /// The whole file.
    pub text: String,
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

impl Solution {
    /// Reads a solution.
    pub(crate) fn read(path: &Path, file: &str) -> Result<Self> {
        Self::parse(read(path)?, file)
    }

    fn parse(text: String, file: &str) -> Result<Self> {
        let without =
            |mark: &str| Fault::new(file, 0, format!("it has no `{}`", mark.trim()));
        let (before, rest) = text.split_once(BEGIN).ok_or_else(|| without(BEGIN))?;
        let (answer, after) = rest.split_once(END).ok_or_else(|| without(END))?;
        let (signature, rest) = answer.split_once(YOURS).ok_or_else(|| without(YOURS))?;
        if !signature.trim_end().ends_with('{') {
            return Err(Fault::new(
                file,
                0,
                "YOURS is not the first line of the function",
            ));
        }
        let more = rest.lines().enumerate();
        let comment =
            more.take_while(|(at, line)| *at == 0 || line.starts_with("    // "));
        let yours: Vec<&str> = comment.map(|(_, line)| line).collect();
        let (statement, before) = before.split_at(before.len() - unstated(before).len());
        if statement.is_empty() {
            return Err(Fault::new(file, 1, "no statement `//!` at its top"));
        }
        Ok(Self {
            statement: statement.to_owned(),
            before: before.trim_start_matches('\n').to_owned(),
            signature: signature.trim_end().to_owned(),
            yours: yours.join("\n"),
            after: after.to_owned(),
            text,
        })
    }

    /// What a reader starts from: the solution with the answer taken out.
    pub(crate) fn given(&self, number: usize, title: &str, read: &Section) -> String {
        let (before, signature) = (&self.before, &self.signature);
        format!(
            "//! # {number:02} · {title}\n//!\n{}//!\n//! Explained in {read}.\n//! Check it with \
             `cargo learn check {number}`; a hint: `cargo learn check {number} --hint`.\n\n\
             {before}{signature}\n    // TODO: {}\n    todo!()\n}}{}",
            self.statement, self.yours, self.after
        )
    }

    /// What the book says of it: the statement as Markdown, and the documented signature as
    /// Rust.
    pub fn statement(&self) -> (String, String) {
        let lines = self.statement.lines();
        let markdown: Vec<&str> =
            lines.map(|line| line[3..].strip_prefix(' ').unwrap_or("")).collect();
        let docs = self.before.lines().rev().take_while(|line| line.starts_with("///"));
        let docs: Vec<&str> = docs.collect::<Vec<_>>().into_iter().rev().collect();
        let signature = self.signature.trim_end_matches([' ', '{']);
        (markdown.join("\n"), format!("{}\n{signature}", docs.join("\n")))
    }

    /// The file without its answer: the book's own text, and `todo!()`.
    pub(crate) fn without_answer(&self, file: &str) -> Result<Self> {
        let Self { statement, before, signature, yours, after, .. } = self;
        let text = format!(
            "{statement}\n{before}{BEGIN}{signature}\n{YOURS}{yours}\n    todo!()\n}}\n\
             {END}{after}"
        );
        Self::parse(text, file)
    }

    /// The file with another answer, with a paragraph more in the statement, and with what
    /// `reword` makes of each comment.
    pub(crate) fn varied(
        &self,
        answer: &str,
        task: &str,
        reword: impl Fn(&str) -> String,
        file: &str,
    ) -> Result<Self> {
        let (before, rest) = self.text.split_once(BEGIN).unwrap_or_default();
        let (_, after) = rest.split_once(END).unwrap_or_default();
        let before = &before[self.statement.len()..];
        let text = format!("{}{before}{BEGIN}{answer}{END}{after}", self.statement);
        let line = |line: &str| match line.trim_start().starts_with("//") {
            true => reword(line),
            false => line.to_owned(),
        };
        let text: String = text.split_inclusive('\n').map(line).collect();
        let (statement, rest) = text.split_at(text.len() - unstated(&text).len());
        let options = textwrap::Options::new(90)
            .initial_indent("//! ")
            .subsequent_indent("//! ")
            .word_splitter(textwrap::WordSplitter::NoHyphenation);
        let task = textwrap::fill(&format!("**Your version.** {task}"), options);
        Self::parse(format!("{statement}//!\n{task}\n{rest}"), file)
    }

    /// The whole file with another answer in it.
    pub fn with_answer(&self, function: &str) -> String {
        let (before, rest) = self.text.split_once(BEGIN).unwrap_or_default();
        let (_, after) = rest.split_once(END).unwrap_or_default();
        format!("{before}{function}\n{after}")
    }

    /// The answer alone, as the book shows it.
    pub fn answer(&self) -> &str {
        let (_, rest) = self.text.split_once(BEGIN).unwrap_or_default();
        rest.split_once(END).unwrap_or_default().0
    }
}

/// What stands below the lines `//!` at the top of a file.
fn unstated(mut text: &str) -> &str {
    while text.starts_with("//!") {
        text = text.split_once('\n').unwrap_or_default().1;
    }
    text
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
        let solution = Solution::parse(SOLUTION.to_owned(), "set/sum.rs").unwrap();
        let (statement, signature) = solution.statement();
        assert_eq!(statement, "Add up.\n\nWith a loop.");
        assert_eq!(signature, "/// The sum.\npub fn sum(x: &Matrix) -> f64");
        assert_eq!(solution.yours, "the sum of all entries,\n    // however large.");
        let other = solution.with_answer("fn sum() {}");
        assert!(other.contains("/// The sum.\nfn sum() {}\n\n\nfn main() {}"), "{other}");
    }

    #[test]
    fn a_file_without_its_marks_is_refused() {
        for (mark, other) in [("YOURS", "MINE"), ("ANCHOR_END", "END"), ("//!", "//")] {
            let text = SOLUTION.replace(mark, other);
            assert!(Solution::parse(text, "set/sum.rs").is_err(), "{mark}");
        }
    }
}
