//! A file of questions, `set/TOPIC.md`.
//!
//! ```text
//! ## What a causal mask leaves open {#causal-open}
//! A causal mask lies on a map of {n} queries and {n} keys. How many …?
//!
//! | n | entries |
//! | --- | --- |
//! | 6 | 36 |
//! | 7 | 49 |
//!
//! Read: Causal
//! Form: whole
//! Answer: {open}
//! Hint: The first query may attend to itself.
//!
//!     {picture}
//!
//! Why: Query i attends to the keys 0 to i.
//! Slip {blocked}: That is how many are blocked.
//! ```
//!
//! Rows of the table are the sets of numbers, one a seed. What is indented is shown once it
//! has run. Names in braces are numbers of the table or facts of the run, and can be computed
//! with: `Slip {n * n / 2}:`. `Why if NaN:` and `Slip {right} if NaN:` are said only where that
//! is the answer.

use catalogue::{Block, Fault, Result, blocks};

use crate::facts::{Facts, value};
use crate::question::{Explanation, Question, Run};
use crate::template::Template;

const KEYS: [&str; 6] = ["Read", "Form", "Answer", "Hint", "Why", "Slip"];

/// The questions of a file, each with the run that is called as its id.
pub(crate) fn parse(
    file: &'static str,
    text: &str,
    runs: &[(&str, Run)],
) -> Result<Vec<Question>> {
    let blocks = blocks(text).into_iter().filter(|block| block.level == 2);
    let questions = blocks.map(|block| Parts::of(file, &block)?.question(runs));
    let questions = questions.collect::<Result<Vec<_>>>()?;
    for (id, _) in runs {
        if !questions.iter().any(|question| question.id.replace('-', "_") == *id) {
            return Err(Fault::new(file, 0, format!("no question is called {id:?}")));
        }
    }
    Ok(questions)
}

/// What stands below a heading.
struct Parts<'a> {
    heading: &'a str,
    text: Template,
    shown: Template,
    /// What stands before the colon, and behind it.
    keys: Vec<(&'a str, Template)>,
    /// The table's cells with their line, its head first.
    rows: Vec<(usize, Vec<&'a str>)>,
}

impl<'a> Parts<'a> {
    fn of(file: &'static str, block: &Block<'a>) -> Result<Self> {
        let at = |line| Template { text: String::new(), file, line };
        let mut parts = Self {
            heading: block.heading,
            text: at(block.line),
            shown: at(block.line),
            keys: Vec::new(),
            rows: Vec::new(),
        };
        for &(number, line) in &block.lines {
            if let Some(line) = line.strip_prefix("    ") {
                if parts.shown.text.is_empty() {
                    parts.shown.line = number;
                }
                parts.shown.add("\n", line);
            } else if let Some(cells) = line.strip_prefix('|') {
                let cells = cells.trim_end().trim_end_matches('|').split('|');
                parts.rows.push((number, cells.map(str::trim).collect()));
            } else if let Some((key, text)) = key(line) {
                parts.keys.push((key, at(number)));
                parts.last().add(" ", text.trim());
            } else if !line.is_empty() {
                parts.last().add(" ", line.trim());
            }
        }
        Ok(parts)
    }

    fn last(&mut self) -> &mut Template {
        self.keys.last_mut().map_or(&mut self.text, |(_, text)| text)
    }

    fn key(&self, name: &str) -> Result<Template> {
        let found = self.keys.iter().find(|(key, _)| *key == name);
        let found = found.map(|(_, text)| text.clone());
        found.ok_or_else(|| self.text.fault(format!("no `{name}:`")))
    }

    fn explanations(&self, name: &str) -> Vec<Explanation> {
        let of_name = self.keys.iter().filter_map(|(key, says)| {
            let rest = key.strip_prefix(name)?;
            let (what, only_if) = rest.split_once(" if ").unwrap_or((rest, ""));
            let what = Template { text: what.trim().to_owned(), ..says.clone() };
            Some(Explanation { what, only_if: only_if.to_owned(), says: says.clone() })
        });
        of_name.collect()
    }

    fn sets(&self) -> Result<Vec<Facts>> {
        let [(_, names), _, rows @ ..] = &self.rows[..] else {
            return Err(self.text.fault("no table of numbers"));
        };
        let set = |(line, cells): &(usize, Vec<&str>)| {
            if cells.len() != names.len() {
                let what = format!("{} cells for {} names", cells.len(), names.len());
                return Err(Fault::new(self.text.file, *line, what));
            }
            let pairs = names.iter().zip(cells);
            let with =
                |set: Facts, (&name, cell): (&&str, &&str)| set.with(name, value(cell));
            Ok(pairs.fold(Facts::default(), with))
        };
        rows.iter().map(set).collect()
    }

    fn question(self, runs: &[(&str, Run)]) -> Result<Question> {
        let id = self.heading.strip_suffix('}').and_then(|it| it.split_once(" {#"));
        let (title, id) = id.ok_or_else(|| self.text.fault("no {#id}"))?;
        let run = runs.iter().find(|(known, _)| *known == id.replace('-', "_"));
        let (_, run) =
            run.ok_or_else(|| self.text.fault(format!("no run for {id:?}")))?;
        Ok(Question {
            id: id.to_owned(),
            title: title.to_owned(),
            section: self.key("Read")?.text,
            form: self.key("Form")?,
            answer: self.key("Answer")?,
            hint: self.key("Hint")?,
            whys: self.explanations("Why"),
            slips: self.explanations("Slip"),
            sets: self.sets()?,
            text: self.text,
            shown: self.shown,
            run: *run,
        })
    }
}

/// `Slip {open} if NaN: That …`, before and behind the colon.
fn key(line: &str) -> Option<(&str, &str)> {
    let (key, text) = line.split_once(':')?;
    KEYS.contains(&key.split(' ').next()?).then_some((key, text))
}
