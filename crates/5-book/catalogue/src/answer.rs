//! A whole answer: a right one with edits.

use std::ops::Range;

use crate::{Fault, Result};

/// An answer to an exercise, as a line or a block of its sheet says it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Answer {
    /// Where it stands in the sheet, counted from 1.
    pub line: usize,
    /// How it is said.
    pub form: Form,
}

/// How an answer is said.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Form {
    /// As edits of a right answer, `old` and `new` of each. All apply at once to the original
    /// text, each to every place where its old text stands.
    Edits(Vec<(String, String)>),
    /// As the function itself, in place of the answer.
    Function(String),
}

impl Answer {
    /// Reads `old → new`, and ` ;; ` between two edits.
    pub(crate) fn edits(file: &str, line: usize, text: &str) -> Result<Self> {
        let edits = text.split(" ;; ").map(|edit| {
            let edit = format!(" {edit} ");
            let (old, new) = edit
                .split_once(" → ")
                .ok_or_else(|| Fault::new(file, line, format!("no “ → ” in {edit:?}")))?;
            Ok((on_one_line(old), on_one_line(new)))
        });
        let edits = edits.collect::<Result<Vec<_>>>()?;
        if edits.iter().any(|(old, _)| old.is_empty()) {
            return Err(Fault::new(file, line, "an edit of nothing"));
        }
        Ok(Self { line, form: Form::Edits(edits) })
    }

    /// A whole program with this answer, on one line: `original`, the program of a right answer,
    /// with the edits; or what `with` makes of the function.
    pub(crate) fn source(
        &self,
        original: &str,
        with: impl Fn(&str) -> String,
        file: &str,
    ) -> Result<String> {
        match &self.form {
            Form::Function(function) => Ok(on_one_line(&code(&with(function)))),
            Form::Edits(edits) => applied(edits, &on_one_line(&code(original)))
                .map_err(|what| Fault::new(file, self.line, what)),
        }
    }

    /// What stands in place of the right text, where that is one span, short enough to be a
    /// pointer and no answer: a message ends with it.
    pub fn span(&self) -> Option<&str> {
        let Form::Edits(edits) = &self.form else { return None };
        let [(_, new)] = &edits[..] else { return None };
        (1..8).contains(&tokens(new).len()).then_some(new)
    }
}

/// Words and signs of a text.
pub fn tokens(text: &str) -> Vec<String> {
    let mut tokens: Vec<String> = Vec::new();
    let mut is_word = false;
    for letter in text.chars() {
        let continues = is_word && (letter.is_alphanumeric() || letter == '_');
        is_word = letter.is_alphanumeric() || letter == '_';
        match tokens.last_mut() {
            Some(word) if continues => word.push(letter),
            _ if letter.is_whitespace() => {}
            _ => tokens.push(letter.into()),
        }
    }
    tokens
}

/// A text, or why an edit does not apply.
type Edited<T> = std::result::Result<T, String>;

/// All edits at once.
pub(crate) fn applied(edits: &[(String, String)], text: &str) -> Edited<String> {
    let places = places(edits, text)?;
    let places = places.into_iter().map(|(at, length, new)| (at..at + length, new));
    Ok(spliced(text, places))
}

/// All edits at once, of a source that keeps its lines and its comments.
pub(crate) fn applied_in_place(
    edits: &[(String, String)],
    source: &str,
) -> Edited<String> {
    // The code on one line, and where each of its bytes stands in the source.
    let (mut code, mut places, mut start) = (String::new(), Vec::new(), 0);
    for line in source.split_inclusive('\n') {
        let end = line.find("//").unwrap_or(line.len());
        for (at, letter) in line[..end].char_indices().chain([(end, '\n')]) {
            if !letter.is_whitespace() {
                code.push(letter);
                places.extend((0..letter.len_utf8()).map(|byte| start + at + byte));
            } else if !code.ends_with(' ') {
                code.push(' ');
                places.push(start + at);
            }
        }
        start += line.len();
    }
    let edits = self::places(edits, &code)?;
    let edits = edits
        .into_iter()
        .map(|(at, length, new)| (places[at]..places[at + length - 1] + 1, new));
    Ok(spliced(source, edits))
}

/// The text with others in these places.
fn spliced<'a>(
    text: &str,
    places: impl Iterator<Item = (Range<usize>, &'a String)>,
) -> String {
    let (mut edited, mut end) = (String::new(), 0);
    for (place, new) in places {
        edited += &text[end..place.start];
        edited += new;
        end = place.end;
    }
    edited + &text[end..]
}

/// Where each edit applies: the place, the length, and what comes there.
fn places<'a>(
    edits: &'a [(String, String)],
    text: &str,
) -> Edited<Vec<(usize, usize, &'a String)>> {
    let mut places = Vec::new();
    for (old, new) in edits {
        let found: Vec<_> = text.match_indices(old.as_str()).collect();
        if found.is_empty() {
            return Err(format!("the right answer has no {old:?}"));
        }
        places.extend(found.iter().map(|(at, _)| (*at, old.len(), new)));
    }
    places.sort_by_key(|&(at, length, _)| (at, length));
    let mut end = 0;
    for &(at, length, _) in &places {
        if at < end {
            return Err(format!("two edits change {:?}", &text[at..at + length]));
        }
        end = at + length;
    }
    Ok(places)
}

/// A source without its comments.
pub(crate) fn code(source: &str) -> String {
    let lines = source.lines().map(|line| line.split("//").next().unwrap_or_default());
    lines.collect::<Vec<_>>().join(" ")
}

pub(crate) fn on_one_line(text: &str) -> String {
    text.split_whitespace().collect::<Vec<_>>().join(" ")
}

#[cfg(test)]
mod tests {
    use super::*;

    fn edited(edits: &str, text: &str) -> std::result::Result<String, String> {
        let answer = Answer::edits("a.md", 1, edits).unwrap();
        let Form::Edits(edits) = &answer.form else { unreachable!() };
        applied(edits, text)
    }

    #[test]
    fn edits_apply_at_once_and_everywhere() {
        assert_eq!(edited("a → b ;; b → a", "a b a").unwrap(), "b a b");
        assert_eq!(edited("a b →", "x a b y").unwrap(), "x  y");
        assert_eq!(edited("c → d", "a b").unwrap_err(), "the right answer has no \"c\"");
        let both = edited("a b → c ;; b → d", "a b").unwrap_err();
        assert_eq!(both, "two edits change \"b\"");
    }

    #[test]
    fn a_source_that_is_edited_keeps_its_lines_and_comments() {
        let answer = Answer::edits("a.md", 1, "é + c → d ;; b( x → y").unwrap();
        let Form::Edits(edits) = &answer.form else { unreachable!() };
        let source = "// é + c\nlet a =\n    é // one\n    + c;\nb(\n    x)\n";
        let edited = applied_in_place(edits, source).unwrap();
        assert_eq!(edited, "// é + c\nlet a =\n    d;\ny)\n");
        let on_one_line = on_one_line(&code(source));
        assert_eq!(applied(edits, &on_one_line).unwrap(), "let a = d; y)");
        assert!(applied_in_place(edits, "b(x)").unwrap_err().contains("\"é + c\""));
    }

    #[test]
    fn no_span_is_an_answer() {
        let span = |edit: &str| {
            let answer = Answer::edits("a.md", 1, edit).unwrap();
            answer.span().map(str::to_owned)
        };
        assert_eq!(span(".exp() → .exp2()").as_deref(), Some(".exp2()"));
        assert_eq!(span("a →"), None);
        assert_eq!(span("a → b ;; c → d"), None);
        assert_eq!(span("a → softmax_rows(b); attn.fill(0.0)"), None);
        assert_eq!(span("a → a + b - c + d - e + f"), None);
    }

    #[test]
    fn what_is_no_edit_is_refused_with_its_line() {
        let refused = Answer::edits("set/a.md", 7, "a -> b").unwrap_err();
        assert_eq!(refused.to_string(), "set/a.md:7: no “ → ” in \" a -> b \"");
        assert!(Answer::edits("set/a.md", 7, " → b").is_err());
    }
}
