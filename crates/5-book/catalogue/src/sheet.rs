//! The second file of an exercise, `NAME.md`: all that is said of it but what it asks.
//!
//! ```text
//! # Softmax
//! Read: From scores to shares: softmax
//! Begin: one row: take the exponential of each of its scores
//! Print: one row: its exponentials and their sum
//! Passed: Every row sums to 1, and no score is too large for it.
//!
//! ## Hints
//! 1. A first step.
//!
//! ## Right answers
//! ### the stages' own {#stages}
//! (a fenced function, in place of the answer of the solution)
//!
//! ## Mistakes
//! ### takes powers of 2 and not of e {#softmax-base-two}
//! A score that is larger by 1 gets twice the weight, where it should get e ≈ 2.72 times.
//! Looks right: The rows sum to 1, and are only less sharp.
//! Read: masks / What people get wrong
//!     .exp() → .exp2()
//!
//! ## Other answers
//! ### passed
//!     row.max() → row.iter().copied().fold(f64::NEG_INFINITY, f64::max)
//! ```
//!
//! A section is named by its heading, and by its chapter's topic before ` / ` where it is in
//! another chapter than the exercise; a mistake without one is explained where the exercise
//! is. Each indented line is an answer, ` ;; ` stands between two of its edits, and a line
//! that is indented by eight continues it. `{#id of=stage}` says which right answer is edited,
//! where it is not the solution.

use crate::chapters::{self, Chapter};
use crate::{Answer, Fault, Form, Result, Section};

/// What a sheet says.
#[derive(Debug, Clone)]
pub struct Sheet {
    /// What the reader learns to write, a few words.
    pub title: String,
    /// The section that explains it.
    pub read: Section,
    /// Where to begin, said while nothing is written.
    pub begin: String,
    /// What is worth printing when an answer is wrong in a way that is not known here.
    pub print: String,
    /// What is said once the answer is right: what now holds.
    pub passed: String,
    /// How to go about it, step by step.
    pub hints: Vec<String>,
    /// Right answers beside the solution.
    pub right: Vec<Right>,
    /// What people write instead, in the order in which an answer is compared with them.
    pub mistakes: Vec<Mistake>,
    /// Answers that are none of these, under the verdict that each should get.
    pub others: Vec<Other>,
    /// Of the exercise in which a test is written: what shows which mistakes of a layer.
    pub shown_by: Vec<ShownBy>,
}

/// What it takes to see some mistakes.
#[derive(Debug, Clone)]
pub struct ShownBy {
    /// An input, or a property.
    pub what: String,
    /// The ids of the mistakes that it shows.
    pub mistakes: Vec<String>,
}

/// A right answer beside the solution.
#[derive(Debug, Clone)]
pub struct Right {
    /// What it is called.
    pub name: String,
    /// Its name for those who edit it.
    pub id: String,
    /// The functions in place of the solution's answer.
    pub function: String,
    /// Where it stands in the sheet, counted from 1.
    pub line: usize,
}

/// A mistake: its texts, and the answers that make it.
#[derive(Debug, Clone)]
pub struct Mistake {
    /// What it is called: `divides by √d_model`.
    pub name: String,
    /// Its name for programs, which stays.
    pub id: String,
    /// The right answer that is edited, where it is not the solution.
    pub of: Option<String>,
    /// What it does, in one sentence.
    pub does: String,
    /// Why it looks right, in one sentence.
    pub looks_right: String,
    /// The section that explains it.
    pub read: Section,
    /// The answers that make it.
    pub answers: Vec<Answer>,
    /// Where it stands in the sheet, counted from 1.
    pub line: usize,
}

/// Answers that get a verdict that is no mistake of the sheet.
#[derive(Debug, Clone)]
pub struct Other {
    /// The verdict: `passed`, `has the wrong shape`.
    pub verdict: String,
    /// The right answer that is edited, where it is not the solution.
    pub of: Option<String>,
    /// The answers.
    pub answers: Vec<Answer>,
}

/// A heading with the lines below it.
pub(crate) struct Block<'a> {
    pub(crate) level: usize,
    pub(crate) heading: &'a str,
    line: usize,
    /// Each with its number in the file.
    lines: Vec<(usize, &'a str)>,
}

/// The text, keys and answers below a heading.
#[derive(Default)]
pub(crate) struct Body {
    pub(crate) text: String,
    keys: Vec<(String, String)>,
    answers: Vec<Answer>,
}

const KEYS: [&str; 12] = [
    "Looks right",
    "Read",
    "Begin",
    "Print",
    "Passed",
    "Symptom",
    "PyTorch",
    "JAX",
    "candle",
    "Chapter",
    "Report",
    "Asked",
];

impl Sheet {
    /// Reads a sheet of an exercise that stands in the chapter about a topic.
    pub(crate) fn parse(
        text: &str,
        file: &str,
        topic: &str,
        chapters: &[Chapter],
    ) -> Result<Self> {
        let blocks = blocks(text);
        let (head, parts) = blocks
            .split_first()
            .filter(|(head, _)| head.level == 1)
            .ok_or_else(|| Fault::new(file, 1, "it does not begin with `# Title`"))?;
        let at = Place { file, topic, chapters };
        let body = at.body(head)?;
        let key = |key: &str| {
            body.key(key)
                .ok_or_else(|| Fault::new(file, head.line, format!("no `{key}:`")))
        };
        let mut sheet = Self {
            title: head.heading.to_owned(),
            read: at.section(&key("Read")?, head.line)?,
            begin: key("Begin")?,
            print: key("Print")?,
            passed: key("Passed")?,
            hints: Vec::new(),
            right: Vec::new(),
            mistakes: Vec::new(),
            others: Vec::new(),
            shown_by: Vec::new(),
        };
        sheet.read_parts(parts, &at)?;
        Ok(sheet)
    }

    /// What stands below `## Hints` and its like.
    fn read_parts(&mut self, parts: &[Block], at: &Place) -> Result<()> {
        let mut part = "";
        for block in parts {
            if block.level == 2 {
                part = block.heading;
                if part == "Hints" {
                    self.hints = steps(block);
                }
                continue;
            }
            match part {
                "Right answers" => self.right.push(at.right(block)?),
                "Mistakes" => {
                    let mistake = at.mistake(block, self)?;
                    self.mistakes.push(mistake);
                }
                "What shows it" => {
                    let ids = at.body(block)?.text;
                    let mistakes = ids.split_whitespace().map(str::to_owned).collect();
                    self.shown_by
                        .push(ShownBy { what: block.heading.to_owned(), mistakes });
                }
                "Other answers" => self.others.push(at.other(block)?),
                _ => {
                    return Err(
                        at.fault(block.line, format!("no part {part:?} is known"))
                    );
                }
            }
        }
        Ok(())
    }

    /// The function of the right answer of this name.
    ///
    /// # Errors
    /// None such.
    pub fn function(
        &self,
        of: Option<&str>,
        file: &str,
        line: usize,
    ) -> Result<Option<&str>> {
        let Some(id) = of else { return Ok(None) };
        let right = self.right.iter().find(|right| right.id == id);
        let right = right.ok_or_else(|| {
            Fault::new(file, line, format!("no right answer is {id:?}"))
        })?;
        Ok(Some(&right.function))
    }
}

/// Where something is read.
struct Place<'a> {
    file: &'a str,
    topic: &'a str,
    chapters: &'a [Chapter],
}

impl Place<'_> {
    fn fault(&self, line: usize, what: impl Into<String>) -> Fault {
        Fault::new(self.file, line, what)
    }

    fn section(&self, text: &str, line: usize) -> Result<Section> {
        let (topic, heading) = text.split_once(" / ").unwrap_or((self.topic, text));
        chapters::section(self.chapters, topic, heading)
            .ok_or_else(|| self.fault(line, format!("no chapter is about {topic:?}")))
    }

    fn right(&self, block: &Block) -> Result<Right> {
        let (name, id, _) = self.heading(block)?;
        let body = self.body(block)?;
        let [Answer { form: Form::Function(function), .. }] = &body.answers[..] else {
            return Err(self.fault(block.line, "a right answer is one fenced function"));
        };
        let id = id.ok_or_else(|| self.fault(block.line, "no {#id}"))?;
        Ok(Right { name, id, function: function.clone(), line: block.line })
    }

    fn mistake(&self, block: &Block, sheet: &Sheet) -> Result<Mistake> {
        let (name, id, of) = self.heading(block)?;
        let body = self.body(block)?;
        let missing =
            |what: &str| self.fault(block.line, format!("“{name}” has no {what}"));
        let id = id.ok_or_else(|| missing("{#id}"))?;
        let is_kebab = |c: char| c.is_ascii_lowercase() || c.is_ascii_digit() || c == '-';
        if !id.chars().all(is_kebab) {
            return Err(self.fault(block.line, format!("{id:?} is no id: kebab-case")));
        }
        if body.text.is_empty() {
            return Err(missing("sentence on what it does"));
        }
        if body.answers.is_empty() {
            return Err(missing("edit"));
        }
        let read = match body.key("Read") {
            Some(read) => self.section(&read, block.line)?,
            None => sheet.read.clone(),
        };
        let looks_right =
            body.key("Looks right").ok_or_else(|| missing("`Looks right:`"))?;
        sheet.function(of.as_deref(), self.file, block.line)?;
        let (does, answers) = (body.text, body.answers);
        Ok(Mistake { name, id, of, does, looks_right, read, answers, line: block.line })
    }

    fn other(&self, block: &Block) -> Result<Other> {
        let (verdict, _, of) = self.heading(block)?;
        Ok(Other { verdict, of, answers: self.body(block)?.answers })
    }

    /// A heading's name, and what stands in braces behind it: an id, and `of=`.
    fn heading(&self, block: &Block) -> Result<(String, Option<String>, Option<String>)> {
        let Some((name, rest)) = block.heading.split_once(" {") else {
            return Ok((block.heading.to_owned(), None, None));
        };
        let attributes = rest
            .strip_suffix('}')
            .ok_or_else(|| self.fault(block.line, "a brace that is not closed"))?;
        let (mut id, mut of) = (None, None);
        for attribute in attributes.split_whitespace() {
            if let Some(name) = attribute.strip_prefix('#') {
                id = Some(name.to_owned());
            } else if let Some(name) = attribute.strip_prefix("of=") {
                of = Some(name.to_owned());
            } else {
                return Err(self.fault(block.line, format!("{attribute:?} is not known")));
            }
        }
        Ok((name.to_owned(), id, of))
    }

    fn body(&self, block: &Block) -> Result<Body> {
        let mut body = Body::default();
        let mut lines = block.lines.iter().copied().peekable();
        while let Some((number, line)) = lines.next() {
            if line.starts_with("```") {
                let mut function = String::new();
                for (_, line) in lines.by_ref().take_while(|(_, line)| *line != "```") {
                    function += line;
                    function += "\n";
                }
                body.answers
                    .push(Answer { line: number, form: Form::Function(function) });
            } else if let Some(edit) = line.strip_prefix("    ") {
                let mut edit = edit.to_owned();
                while let Some((_, more)) =
                    lines.next_if(|(_, line)| line.starts_with("        "))
                {
                    edit += " ";
                    edit += more.trim();
                }
                body.answers.push(Answer::edits(self.file, number, &edit)?);
            } else {
                body.add(line);
            }
        }
        Ok(body)
    }
}

impl Body {
    /// A line of text: of a key, if one has begun, and else of the text.
    fn add(&mut self, line: &str) {
        let key = KEYS.iter().find_map(|key| {
            Some((key, line.strip_prefix(key)?.strip_prefix(':')?.trim_start()))
        });
        if let Some((key, text)) = key {
            return self.keys.push((key.to_string(), text.to_owned()));
        }
        let text = self.keys.last_mut().map_or(&mut self.text, |(_, text)| text);
        if !text.is_empty() && !line.is_empty() {
            *text += " ";
        }
        *text += line.trim();
    }

    pub(crate) fn key(&self, key: &str) -> Option<String> {
        let found = self.keys.iter().find(|(name, _)| name == key);
        found.map(|(_, text)| text.clone()).filter(|text| !text.is_empty())
    }
}

/// The text and keys below a heading that has no answers.
pub(crate) fn body_of(block: &Block) -> Body {
    let mut body = Body::default();
    block.lines.iter().for_each(|(_, line)| body.add(line));
    body
}

/// The headings of a text. What is fenced is no heading.
pub(crate) fn blocks(text: &str) -> Vec<Block<'_>> {
    let mut blocks: Vec<Block> = Vec::new();
    let mut is_fenced = false;
    for (line, number) in text.lines().zip(1..) {
        is_fenced ^= line.starts_with("```");
        let level = line.chars().take_while(|&c| c == '#').count();
        match line[level..].strip_prefix(' ').filter(|_| level > 0 && !is_fenced) {
            Some(heading) => {
                let heading = heading.trim();
                blocks.push(Block { level, heading, line: number, lines: Vec::new() });
            }
            None => {
                if let Some(block) = blocks.last_mut() {
                    block.lines.push((number, line));
                }
            }
        }
    }
    blocks
}

/// The steps of a numbered list, each on one line.
fn steps(block: &Block) -> Vec<String> {
    let mut steps: Vec<String> = Vec::new();
    for (_, line) in &block.lines {
        let step =
            line.split_once(". ").filter(|(number, _)| number.parse::<u8>().is_ok());
        match (step, steps.last_mut()) {
            (Some((_, step)), _) => steps.push(step.trim().to_owned()),
            (None, Some(step)) if !line.trim().is_empty() => {
                *step += " ";
                *step += line.trim();
            }
            _ => {}
        }
    }
    steps
}

#[cfg(test)]
mod tests {
    use super::*;

    const SHEET: &str = "\
# Softmax

Read: A section: with a colon
Begin: one row
Print: one row: its exponentials
and their sum
Passed: Every row sums to 1.

## Hints

1. A first step,
   in two lines.
2. A second.

## Right answers

### in loops {#loops}

```rust
fn softmax() {}
# no heading
```

## Mistakes

### takes powers of 2 {#powers-of-two}
A score that is larger by 1
gets twice the weight.
Looks right: the rows sum to 1.
    .exp() → .exp2()
    a → b ;;
        c → d

### divides {#divides of=loops}
It does.
Looks right: it does.
Read: masks / What people get wrong
    a → b

## Other answers

### passed
    a → b
";

    fn parsed(text: &str) -> Result<Sheet> {
        let chapter = |number, topic: &str| Chapter {
            number,
            topic: topic.to_owned(),
            file: topic.to_owned(),
        };
        let chapters = [chapter(2, "scores"), chapter(7, "masks")];
        Sheet::parse(text, "set/softmax.md", "scores", &chapters)
    }

    #[test]
    fn a_sheet_is_read() {
        let sheet = parsed(SHEET).unwrap();
        assert_eq!(sheet.read.heading, "A section: with a colon");
        assert_eq!(sheet.read.number, 2);
        assert_eq!(sheet.passed, "Every row sums to 1.");
        assert_eq!(sheet.hints, ["A first step, in two lines.", "A second."]);
        assert_eq!(sheet.right[0].function, "fn softmax() {}\n# no heading\n");
        let [first, second] = &sheet.mistakes[..] else { panic!("two mistakes") };
        assert_eq!(first.does, "A score that is larger by 1 gets twice the weight.");
        assert_eq!((first.answers.len(), first.answers[0].line), (2, 30));
        assert_eq!(first.answers[0].span(), Some(".exp2()"));
        assert_eq!(first.read, sheet.read);
        assert_eq!(second.of.as_deref(), Some("loops"));
        assert_eq!(second.read.number, 7);
        assert_eq!(sheet.others[0].verdict, "passed");
    }

    #[test]
    fn what_is_missing_is_named_with_its_line() {
        for (old, new, fault) in [
            (" {#powers-of-two}", "", ":26: “takes powers of 2” has no {#id}"),
            ("{#powers-of-two}", "{#Two}", ":26: \"Two\" is no id: kebab-case"),
            ("Looks right: it does.\n", "", ":34: “divides” has no `Looks right:`"),
            ("of=loops", "of=loop", ":34: no right answer is \"loop\""),
            ("masks / ", "none / ", ":34: no chapter is about \"none\""),
            ("Begin: one row\n", "", ":1: no `Begin:`"),
            ("## Mistakes", "## Slips", ":26: no part \"Slips\" is known"),
        ] {
            let refused = parsed(&SHEET.replace(old, new)).unwrap_err().to_string();
            assert_eq!(refused, format!("set/softmax.md{fault}"));
        }
    }
}
