//! Headings, and the text, keys and answers below them.

use crate::Answer;

/// A heading with the lines below it.
pub struct Block<'a> {
    /// How many `#` the heading has.
    pub level: usize,
    /// The heading without them.
    pub heading: &'a str,
    /// Where it stands in the file, counted from 1.
    pub line: usize,
    /// Each with its number in the file.
    pub lines: Vec<(usize, &'a str)>,
}

/// The text, keys and answers below a heading.
#[derive(Default)]
pub struct Body {
    pub text: String,
    keys: Vec<(String, String)>,
    pub answers: Vec<Answer>,
}

const KEYS: &str = "Looks right, Read, Begin, Print, Passed, Elsewhere, Rust alone, Symptom, \
                    PyTorch, JAX, candle, Chapter, Report, Asked, Book, Texts, Hints, Without, \
                    Handed out, Minutes";

impl Body {
    /// A line of text: of a key, if one has begun, and else of the text.
    pub fn add(&mut self, line: &str) {
        let key = KEYS.split(", ").find_map(|key| {
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

    pub fn key(&self, key: &str) -> Option<String> {
        let found = self.keys.iter().find(|(name, _)| name == key);
        found.map(|(_, text)| text.clone()).filter(|text| !text.is_empty())
    }
}

/// The text and keys below a heading that has no answers.
pub fn body_of(block: &Block) -> Body {
    let mut body = Body::default();
    block.lines.iter().for_each(|(_, line)| body.add(line));
    body
}

/// The headings of a text. What is fenced is no heading.
pub fn blocks(text: &str) -> Vec<Block<'_>> {
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
pub fn steps(block: &Block) -> Vec<String> {
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
