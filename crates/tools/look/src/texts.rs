//! The texts on which tests look at the trained model, as ids: those tests stand where no
//! tokenizer is compiled.

use std::fs;
use std::path::{Path, PathBuf};

use ::texts::{Long, Pieces, Text};
use anyhow::{Context, Result};
use models::Configuration as _;
use models::encoders::Config;
use workshop::paths;

/// Where texts and ids are.
pub fn models() -> PathBuf {
    paths::workspace().join("tests/data/models")
}

/// A line per text: its kind, its ids, which tokens are asked about, and the text itself,
/// with tabs between. A sentence and a varied one are asked about none; of a pair they are the pronoun, the
/// two nouns, and the word before the pronoun, which is the control.
///
/// # Errors
/// A model or texts that cannot be read; a noun that is not one token.
pub fn table(model: &Path) -> Result<String> {
    let json = fs::read(model.join("config.json"))?;
    let config = Config::read("config.json", &json)?;
    let text = Text::open(model, config.n_vocabulary)?;
    let pieces = |sentence: &str| text.pieces(sentence, config.longest(), Long::Refuse);
    let mut table = String::new();
    for (kind, file) in [("sentence", "sentences.txt"), ("varied", "few-bits.txt")] {
        for sentence in fs::read_to_string(models().join(file))?.lines() {
            table += &line(kind, &pieces(sentence)?, &[], sentence);
        }
    }
    for pair in fs::read_to_string(models().join("pairs.txt"))?.lines() {
        let mut parts = pair.split(" | ");
        let start = parts.next().context("a pair has a start")?;
        let nouns = start.split('{').skip(1).filter_map(|rest| rest.split('}').next());
        let nouns: Vec<&str> = nouns.collect();
        for end in parts {
            let sentence = format!("{} {end}.", start.replace(['{', '}'], ""));
            let found = pieces(&sentence)?;
            let token = |word: &str| {
                let at = found.pieces.iter().position(|piece| piece == word);
                at.with_context(|| format!("{sentence}: {word} is not one token"))
            };
            let control = token("because")?;
            let mut asked = vec![control + 1];
            for noun in &nouns {
                asked.push(token(noun)?);
            }
            asked.push(control);
            table += &line("pair", &found, &asked, &sentence);
        }
    }
    Ok(table)
}

fn line(kind: &str, pieces: &Pieces, asked: &[usize], sentence: &str) -> String {
    let numbers = |numbers: &[usize]| {
        numbers.iter().map(usize::to_string).collect::<Vec<_>>().join(" ")
    };
    let (ids, asked) = (numbers(&pieces.sequence.ids), numbers(asked));
    format!("{kind}\t{ids}\t{asked}\t{sentence}\n")
}
