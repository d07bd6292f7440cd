//! The questions by chapter, and how each stands.

use std::io::Write;

use anyhow::Result;

use super::entries::Entry;
use super::store::{Answers, State};
use super::text::counted;

/// Writes one line a question, without its answer.
pub fn list(questions: &[Entry], answers: &Answers, to: &mut impl Write) -> Result<()> {
    let lengths = questions.iter().map(|entry| entry.question.title.chars().count());
    let width = lengths.max().unwrap_or(0);
    let mut chapter = None;
    let mut tally = [("new", 0), ("missed", 0), ("right", 0)];
    for Entry { chapter: its_own, question } in questions {
        if chapter != Some(its_own) {
            let gap = if chapter.is_some() { "\n" } else { "" };
            writeln!(to, "{gap}{its_own}")?;
            chapter = Some(its_own);
        }
        let at = match answers.state(&question.id) {
            State::New => 0,
            State::Missed => 1,
            State::Right => 2,
        };
        tally[at].1 += 1;
        let times = match answers.n_times(&question.id) {
            0 => String::new(),
            n => format!("answered {}", counted(n as usize, "time")),
        };
        let line = format!("  {:<width$}  {:<8}{times}", question.title, tally[at].0);
        writeln!(to, "{}", line.trim_end())?;
    }
    let tally = tally.map(|(state, n)| format!("{n} {state}"));
    let questions = counted(questions.len(), "question");
    writeln!(to, "\n{questions}: {}.", tally.join(", "))?;
    Ok(())
}
