//! The questions by chapter, and how each stands.

use std::io::Write;

use anyhow::Result;

use super::memory::{Memory, State};
use super::questions::Asked;
use super::text::counted;

/// Writes one line a question, without its answer.
pub fn list(questions: &[Asked], memory: &Memory, to: &mut impl Write) -> Result<()> {
    let sitting = memory.next_sitting();
    let longest =
        questions.iter().map(|asked| asked.question.title.chars().count()).max();
    let width = longest.unwrap_or(0);
    let mut chapter = None;
    let mut tally = [("new", 0), ("due", 0), ("waiting", 0), ("known", 0)];
    for asked in questions {
        if chapter != Some(asked.chapter.number) {
            let gap = if chapter.is_some() { "\n" } else { "" };
            writeln!(to, "{gap}{}", asked.chapter)?;
            chapter = Some(asked.chapter.number);
        }
        let state = memory.state(asked.question.id, sitting);
        let (at, told) = match state {
            State::New => (0, "new".to_owned()),
            State::Due => (1, "due".to_owned()),
            State::Waits(due) => (2, format!("in sitting {due}")),
            State::Known => (3, "known".to_owned()),
        };
        tally[at].1 += 1;
        let answered = memory.history(asked.question.id).len();
        let answered = match answered {
            0 => String::new(),
            n => format!("answered {}", counted(n, "time")),
        };
        let line = format!("  {:<width$}  {told:<14}{answered}", asked.question.title);
        writeln!(to, "{}", line.trim_end())?;
    }
    let tally = tally.map(|(what, n)| format!("{n} {what}"));
    let questions = counted(questions.len(), "question");
    writeln!(to, "\n{questions}: {}. Next is sitting {sitting}.", tally.join(", "))?;
    Ok(())
}
