//! What stands below a heading, read as what it is; errors say where.

use super::body::{Block, Body};
use super::{Mistake, Other, Right, Sheet, Variant};
use crate::chapters::{self, Chapter};
use crate::{Answer, Fault, Form, Result, Section};

/// Where something is read.
pub struct Place<'a> {
    pub file: &'a str,
    pub topic: &'a str,
    pub chapters: &'a [Chapter],
}

impl Place<'_> {
    pub fn fault(&self, line: usize, what: impl Into<String>) -> Fault {
        Fault::new(self.file, line, what)
    }

    pub fn section(&self, text: &str, line: usize) -> Result<Section> {
        let (topic, heading) = text.split_once(" / ").unwrap_or((self.topic, text));
        chapters::section(self.chapters, topic, heading)
            .ok_or_else(|| self.fault(line, format!("no chapter is about {topic:?}")))
    }

    pub fn right(&self, block: &Block) -> Result<Right> {
        let (name, id, _) = self.heading(block)?;
        let body = self.body(block)?;
        let [Answer { form: Form::Function(function), .. }] = &body.answers[..] else {
            return Err(self.fault(block.line, "a right answer is one fenced function"));
        };
        let id = id.ok_or_else(|| self.fault(block.line, "no {#id}"))?;
        Ok(Right { name, id, function: function.clone(), line: block.line })
    }

    pub fn mistake(&self, block: &Block, sheet: &Sheet) -> Result<Mistake> {
        let (name, id, of, body) = self.entry(block, "sentence on what it does")?;
        let missing = |what: &str| self.missing(block, &name, what);
        if body.answers.is_empty() && sheet.handed_out.is_none() {
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

    pub fn variant(&self, block: &Block, sheet: &Sheet) -> Result<Variant> {
        let (name, id, _, body) = self.entry(block, "sentence for the learner")?;
        let missing = |what: &str| self.missing(block, &name, what);
        let [Answer { form: Form::Edits(edits), .. }] = &body.answers[..] else {
            return Err(missing("line of edits, and only one"));
        };
        let texts = match body.key("Texts") {
            Some(texts) => match Answer::edits(self.file, block.line, &texts)?.form {
                Form::Edits(texts) => texts,
                Form::Function(_) => Vec::new(),
            },
            None => Vec::new(),
        };
        let words = |key| body.key(key).unwrap_or_default();
        let mut hints = Vec::new();
        for hint in words("Hints").split_whitespace() {
            let known =
                hint.parse().ok().filter(|it| (1..=sheet.hints.len()).contains(it));
            hints.push(
                known.ok_or_else(|| missing(&format!("hint {hint} to leave out")))?,
            );
        }
        let without = words("Without").split_whitespace().map(str::to_owned).collect();
        for id in &without as &Vec<String> {
            let of_mistakes = sheet.mistakes.iter().map(|it| &it.id);
            let mut known = of_mistakes.chain(sheet.right.iter().map(|it| &it.id));
            if !known.any(|known| known == id) {
                return Err(missing(&format!("answer {id} to leave out")));
            }
        }
        Ok(Variant {
            book: body.key("Book").ok_or_else(|| missing("`Book:`"))?,
            begin: body.key("Begin"),
            print: body.key("Print"),
            passed: body.key("Passed"),
            task: body.text,
            edits: edits.clone(),
            line: block.line,
            name,
            id,
            texts,
            hints,
            without,
        })
    }

    pub fn other(&self, block: &Block) -> Result<Other> {
        let (verdict, _, of) = self.heading(block)?;
        Ok(Other { verdict, of, answers: self.body(block)?.answers })
    }

    /// What an entry has in any case: its name and id, which right answer it edits, and a body
    /// with a text, which `text` says what it is.
    fn entry(
        &self,
        block: &Block,
        text: &str,
    ) -> Result<(String, String, Option<String>, Body)> {
        let (name, id, of) = self.heading(block)?;
        let body = self.body(block)?;
        let id = self.id(id, &name, block)?;
        if body.text.is_empty() {
            return Err(self.missing(block, &name, text));
        }
        Ok((name, id, of, body))
    }

    fn missing(&self, block: &Block, name: &str, what: &str) -> Fault {
        self.fault(block.line, format!("“{name}” has no {what}"))
    }

    fn id(&self, id: Option<String>, name: &str, block: &Block) -> Result<String> {
        let id =
            id.ok_or_else(|| self.fault(block.line, format!("“{name}” has no {{#id}}")))?;
        let is_kebab = |c: char| c.is_ascii_lowercase() || c.is_ascii_digit() || c == '-';
        if id.chars().all(is_kebab) {
            return Ok(id);
        }
        Err(self.fault(block.line, format!("{id:?} is no id: kebab-case")))
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

    pub fn body(&self, block: &Block) -> Result<Body> {
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
