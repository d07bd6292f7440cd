//! A book without solutions, for a class that is to find them.
//!
//! The pages of solutions and the folds for teachers are left out, links to a solution lead to
//! its exercise, and a listing loses the lines that a solution has too, since chapters explain
//! what exercises ask for. Two texts have a line in common if they have eight tokens in a row
//! ([`catalogue::runs`]) with three names among them that are not everyday Rust: so a call of
//! `.iter().enumerate()` stays. An exercise that was handed out without its solution has none
//! to withhold.

use std::collections::{BTreeMap, BTreeSet};

use catalogue::Exercise;
use mdbook_preprocessor::book::BookItem;

use super::elsewhere::section_address;
use super::exercise;

/// Where the solutions lie among the chapters.
pub(crate) const FOLDER: &str = "solutions";
/// Tokens in a row, as [`catalogue::runs`] has them.
const RUN: usize = 8;
/// Names of its own that a run has at least.
const NAMES: usize = 3;
/// Stands for hidden lines.
const HIDDEN: &str = "// …";
/// Words that say nothing about an exercise.
const EVERYDAY: &str = "let mut for in if else fn as return usize f64 f32 bool Vec vec iter map \
    collect enumerate zip copied cloned fold sum max min len push new unwrap as_ref sqrt exp ln \
    NEG_INFINITY rev filter nrows ncols zeros Matrix as_view Some None Option clone i j n row \
    rows column columns out consts from_fn copy_from row_iter row_iter_mut self bias values keys transpose";

/// Whether a book shows the solutions of its exercises.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Solutions {
    /// It does, and has folds for teachers.
    Shown,
    /// It has neither, for a class that is to find them.
    Withheld,
}

/// Whether this is a page of a solution, or the list of them.
pub fn is_solution(item: &BookItem) -> bool {
    let BookItem::Chapter(chapter) = item else { return false };
    chapter.source_path.as_ref().is_some_and(|file| file.starts_with(FOLDER))
}

/// What a book without solutions does not show.
#[derive(Debug)]
pub struct Withheld {
    /// The runs of right answers, with the exercise's number.
    runs: BTreeMap<String, usize>,
    /// The page of each solution, and where its exercise is.
    pages: Vec<(String, String)>,
}

impl Withheld {
    /// That of these exercises.
    pub fn of(set: &[Exercise]) -> Self {
        let everyday: BTreeSet<&str> = EVERYDAY.split_whitespace().collect();
        // More than a list of arguments, and with names of its own.
        let is_own = |run: &String| {
            let words = run.split(' ').filter(|it| it.starts_with(char::is_alphabetic));
            let own = words.filter(|it| !everyday.contains(it)).collect::<BTreeSet<_>>();
            let is_sign = |c: char| !c.is_alphanumeric() && !" _,&()[]".contains(c);
            own.len() >= NAMES && run.contains(is_sign)
        };
        // What some exercise says itself.
        let said: BTreeSet<String> =
            set.iter().flat_map(|it| catalogue::runs(&it.given())).collect();
        let runs = set.iter().rev().flat_map(|exercise| {
            let runs = exercise
                .answer_runs()
                .into_iter()
                .filter(|it| is_own(it) && !said.contains(it));
            runs.map(|run| (run, exercise.number))
        });
        let page = |it: &Exercise| (exercise::page(&it.name), section_address(it));
        let index = (format!("{FOLDER}/index.md"), "exercises.md".to_owned());
        let pages = set.iter().map(page).chain([index]).collect();
        Self { runs: runs.collect(), pages }
    }

    /// A page's text, as Markdown, without what is withheld.
    pub fn taken_from(&self, text: &str) -> String {
        let mut kept = Vec::new();
        let mut listing: Option<Vec<&str>> = None;
        for line in text.lines() {
            let is_fence = line.trim_start().starts_with("```");
            match (&mut listing, is_fence) {
                (Some(lines), false) => lines.push(line),
                (Some(lines), true) => {
                    kept.extend(self.listing(lines));
                    kept.push(line.to_owned());
                    listing = None;
                }
                (None, _) => {
                    kept.push(line.to_owned());
                    listing = is_fence.then(Vec::new);
                }
            }
        }
        let text = kept.join("\n") + "\n";
        self.pages.iter().fold(text, |text, (page, exercise)| {
            text.replace(&format!("{page})"), &format!("{exercise})"))
        })
    }

    /// The exercise whose answer a text has eight tokens of, with these: as it stands, or without
    /// its comments.
    #[cfg(test)]
    pub fn shown_by(&self, text: &str) -> Option<(usize, String)> {
        let bare: Vec<&str> = text.lines().map(without_comment).collect();
        let runs = [catalogue::runs(text), catalogue::runs(&bare.join("\n"))].concat();
        runs.into_iter().find_map(|run| Some((*self.runs.get(&run)?, run)))
    }

    fn listing(&self, lines: &[&str]) -> Vec<String> {
        let mut hidden: Vec<Option<usize>> = vec![None; lines.len()];
        // Comments quote code, and stand in the middle of it.
        for read in [str::trim, without_comment] {
            self.mark(&mut hidden, lines, read);
        }
        let mut kept = Vec::new();
        for (at, line) in lines.iter().enumerate() {
            match hidden[at] {
                None => kept.push((*line).to_owned()),
                // One line stands for all that follow one another.
                Some(_) if at > 0 && hidden[at - 1].is_some() => {}
                Some(number) => {
                    let indent = &line[..line.len() - line.trim_start().len()];
                    kept.push(format!("{indent}{HIDDEN} (exercise {number})"));
                }
            }
        }
        kept
    }

    /// Marks each line that has a token of such a run.
    fn mark(&self, hidden: &mut [Option<usize>], lines: &[&str], read: fn(&str) -> &str) {
        let of_line = |(at, line): (usize, &&str)| {
            let tokens = catalogue::tokens(read(line)).into_iter();
            tokens.map(move |it| (at, it)).collect::<Vec<_>>()
        };
        let tokens: Vec<(usize, String)> =
            lines.iter().enumerate().flat_map(of_line).collect();
        for run in tokens.windows(RUN) {
            let words: Vec<&str> = run.iter().map(|(_, word)| word.as_str()).collect();
            if let Some(&number) = self.runs.get(&words.join(" ")) {
                run.iter().for_each(|&(at, _)| hidden[at] = Some(number));
            }
        }
    }
}

/// A line of code without its comment; what stands for hidden lines stays.
fn without_comment(line: &str) -> &str {
    match line.contains(HIDDEN) {
        true => line,
        false => line.split("//").next().unwrap_or_default(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn withheld() -> Withheld {
        Withheld::of(catalogue::all().unwrap())
    }

    #[test]
    fn a_listing_loses_the_lines_of_a_solution_and_keeps_the_others() {
        let solution =
            catalogue::find("head_in_loops").unwrap().solution.answer().to_owned();
        let text = format!(
            "Before.\n\n```rust\nfn other() {{}}\n{solution}```\n\n[A solution](../solutions/scale.md)\n"
        );
        let withheld = withheld();
        assert!(withheld.shown_by(&text).is_some());
        let kept = withheld.taken_from(&text);
        assert_eq!(withheld.shown_by(&kept), None, "{kept}");
        assert!(
            kept.contains("fn other() {}") && kept.contains("// … (exercise "),
            "{kept}"
        );
        assert!(
            kept.contains("](../02-") && kept.contains(".md#exercise-4--scale)"),
            "{kept}"
        );
    }

    #[test]
    fn everyday_rust_is_no_solution() {
        let text =
            "for (i, head) in heads.iter().enumerate() { out.push(head.iter().sum()); }";
        assert_eq!(withheld().shown_by(text), None);
    }

    #[test]
    fn an_exercise_without_a_solution_withholds_nothing() {
        assert_eq!(
            Withheld::of(&[]).taken_from("```rust\na\n```\n"),
            "```rust\na\n```\n"
        );
    }
}
