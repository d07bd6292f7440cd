//! The defence of an answer that passes: one question about what it does with other numbers.
//!
//! Each try is a line of `NAME.defence` beside the answer: the seed of the numbers that are
//! kept, and the letter. So it is handed in with the answer, and `cargo learn class` reads it.

use std::fs::OpenOptions;
use std::io::Write;
use std::path::Path;

use anyhow::{Context, Result};
use catalogue::Exercise;
use exercises::{Numbers, Question, Verdict, judged_on_line, message};
use workshop::output::print;

/// Asks the question, or takes a letter for its answer; false if the answer to the exercise
/// does not pass, or the letter is wrong.
///
/// # Errors
/// An exercise or an answer that gives no numbers; a letter that no option has.
pub fn defend(
    exercise: &Exercise,
    letter: Option<&str>,
    from: Option<&Path>,
) -> Result<bool> {
    let name = &exercise.name;
    let any = exercises::any(name);
    let any = any.with_context(|| format!("{name} gives no numbers to ask about"))?;
    let kept = Numbers::of(exercise).map_err(anyhow::Error::msg)?;
    let line = checks::outcomes(exercise, from, kept.seed)?;
    let judged = judged_on_line(any, &kept, &line);
    let (verdict, question) =
        judged.with_context(|| format!("{name} printed other than its outcomes"))?;
    if !matches!(verdict, Verdict::Passed) {
        print(format_args!("{}\n", message(exercise, &verdict)))?;
        return Ok(false);
    }
    let Some(question) = question else {
        print(format_args!("✓ {name} passed, and there is no question about it.\n"))?;
        return Ok(true);
    };
    let Some(letter) = letter else {
        print(format_args!(
            "{}\nAnswer with its letter: cargo learn check {name} --defend A\n",
            question.lines()
        ))?;
        return Ok(true);
    };
    let file = checks::answer(exercise, from)?.with_extension("defence");
    answered(&question, letter, &file, kept.seed)
}

fn answered(question: &Question, letter: &str, file: &Path, seed: u64) -> Result<bool> {
    let no_option = || format!("{letter:?} is the letter of no option");
    let is_right = question.is_right(letter).with_context(no_option)?;
    let open = OpenOptions::new().create(true).append(true).open(file);
    let kept = open.and_then(|mut it| writeln!(it, "{seed} {}", letter.to_uppercase()));
    kept.with_context(|| format!("{} cannot be written", file.display()))?;
    print(match is_right {
        true => "✓ That is what it does.\n",
        false => "✗ It does something else. Think of the formula, and answer again.\n",
    })?;
    Ok(is_right)
}
