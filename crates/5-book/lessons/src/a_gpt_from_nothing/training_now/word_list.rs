//! The words that a model learns from: first names, or a reader's own.

use std::collections::HashSet;

use anyhow::{Result, ensure};
use attention::thousands;
use gpt::{NAMES, Split};

/// The letters of the longest word that has a position for each, and one for its start.
pub(super) const MOST_LETTERS: usize = 15;

/// The fewest words: of ten, one is kept to test with.
const LEAST_WORDS: usize = 10;

/// Letters of a word that is quoted as an example.
const QUOTED: usize = 20;

/// A word as it is shown, though it may have no letter.
pub(super) fn named(word: &str) -> &str {
    if word.is_empty() { "(no letter)" } else { word }
}

/// The beginning of a word as a reader types it.
pub(super) struct Beginning {
    /// a to z, at most [`MOST_LETTERS`].
    pub(super) letters: String,
    /// How many others were left out.
    pub(super) n_left_out: usize,
}

impl Beginning {
    pub(super) fn of(text: &str) -> Self {
        let typed: Vec<char> = text.trim().chars().flat_map(char::to_lowercase).collect();
        let letters = typed.iter().filter(|it| it.is_ascii_lowercase());
        let letters: String = letters.take(MOST_LETTERS).collect();
        Self { n_left_out: typed.len() - letters.len(), letters }
    }
}

/// Words, of which every tenth is kept to test with.
pub(super) struct WordList {
    pub(super) split: Split,
    /// What they are called: `names`.
    pub(super) called: &'static str,
    /// Whether they are a reader's own.
    pub(super) is_own: bool,
    /// Which of a reader's own were left out, in a sentence; empty if none was.
    pub(super) left_out: String,
}

impl WordList {
    /// The names, or the words of a text if there are any.
    ///
    /// # Errors
    /// Fewer words than [`LEAST_WORDS`] that can be learned from.
    pub(super) fn of(text: &str) -> Result<Self> {
        if text.trim().is_empty() {
            let (split, left_out) = (Split::of(NAMES.lines()), String::new());
            return Ok(Self { split, called: "names", is_own: false, left_out });
        }
        let (mut words, mut known) = (Vec::new(), HashSet::new());
        let longer = format!("of more than {MOST_LETTERS} letters");
        let why = ["with other letters than a to z", &longer, "a second time"];
        let mut others = why.map(|why| (why, Vec::new()));
        let typed = text.split(|c: char| c.is_whitespace() || ",;".contains(c));
        for word in typed.map(|word| word.trim_matches(|c: char| !c.is_alphanumeric())) {
            let word = word.to_lowercase();
            let is_foreign = !word.bytes().all(|letter| letter.is_ascii_lowercase());
            match () {
                () if word.is_empty() => {}
                () if is_foreign => others[0].1.push(word),
                () if word.len() > MOST_LETTERS => others[1].1.push(word),
                () if !known.insert(word.clone()) => others[2].1.push(word),
                () => words.push(word),
            }
        }
        let others = others.iter().filter(|(_, words)| !words.is_empty());
        let others: Vec<_> = others.map(|(why, words)| quoted(words, why)).collect();
        let left_out = match &others[..] {
            [] => String::new(),
            others => format!(" Left out: {}.", others.join(", ")),
        };
        let n = words.len();
        ensure!(
            n >= LEAST_WORDS,
            "Own words: found {n} different {} of a to z, expected at least {LEAST_WORDS}, since \
             every tenth is kept to test with.{left_out}",
            if n == 1 { "word" } else { "words" },
        );
        let split = Split::of(words.iter().map(String::as_str));
        Ok(Self { split, called: "words", is_own: true, left_out })
    }

    /// How many there are: `4,647 names, and 516 others are kept to test with`.
    pub(super) fn counted(&self) -> String {
        let [learned, kept] =
            [&self.split.learned, &self.split.test].map(|words| thousands(words.len()));
        let others = if kept == "1" { "other is" } else { "others are" };
        format!("{learned} {}, and {kept} {others} kept to test with", self.called)
    }
}

/// `3 with other letters than a to z (zoë, …)`.
fn quoted(words: &[String], why: &str) -> String {
    let first: String = words[0].chars().take(QUOTED).collect();
    let rest = match words.len() {
        1 if first.len() == words[0].len() => "",
        1 => "…",
        _ => ", …",
    };
    format!("{} {why} ({first}{rest})", thousands(words.len()))
}

#[cfg(test)]
mod tests {
    use gpt::scalars;

    use super::*;
    use crate::a_gpt_from_nothing::training_now::MONTHS;

    #[test]
    fn every_tenth_of_a_readers_own_words_is_kept() {
        let list = WordList::of(MONTHS).unwrap();
        assert_eq!([list.split.learned.len(), list.split.test.len()], [11, 1]);
        assert_eq!(list.split.test[0], scalars::ids("october"));
        insta::assert_snapshot!(list.counted(), @"11 words, and 1 other is kept to test with");
        assert!(list.is_own && list.left_out.is_empty());
        let names = WordList::of(" \n").unwrap();
        insta::assert_snapshot!(names.counted(), @"4,647 names, and 516 others are kept to test with");
    }

    #[test]
    fn what_is_left_out_is_named() {
        let typed = format!(
            "[\"May\",\n{MONTHS}; märz 2 jean-luc zoë abcdefghijklmnop aaaaaaaaaaaaaaa"
        );
        let list = WordList::of(&typed).unwrap();
        insta::assert_snapshot!(list.left_out.trim(), @"Left out: 4 with other letters than a to z (märz, …), 1 of more than 15 letters (abcdefghijklmnop), 1 a second time (may).");
        assert_eq!(list.split.learned.len() + list.split.test.len(), 13);
        assert_eq!(list.split.learned[0], scalars::ids("may"));
    }

    #[test]
    fn too_few_words_are_counted() {
        let refused = |text: &str| WordList::of(text).err().unwrap().to_string();
        insta::assert_snapshot!(refused("anna"), @"Own words: found 1 different word of a to z, expected at least 10, since every tenth is kept to test with.");
        insta::assert_snapshot!(refused("anna otto ANNA naïve"), @"Own words: found 2 different words of a to z, expected at least 10, since every tenth is kept to test with. Left out: 1 with other letters than a to z (naïve), 1 a second time (anna).");
        insta::assert_snapshot!(refused("1 2 3 —"), @"Own words: found 0 different words of a to z, expected at least 10, since every tenth is kept to test with. Left out: 3 with other letters than a to z (1, …).");
        insta::assert_snapshot!(refused(&"x".repeat(3000)), @"Own words: found 0 different words of a to z, expected at least 10, since every tenth is kept to test with. Left out: 1 of more than 15 letters (xxxxxxxxxxxxxxxxxxxx…).");
    }
}
