//! A sitting: question, prediction, run, verdict.

use std::io::{BufRead, Write};

use anyhow::Result;

use super::answer::{Form, Given, Verdict};
use super::memory::{Attempt, State};
use super::plan::Plan;
use super::questions::{Asked, Outcome, Posed, Slip};
use super::store::Store;
use super::text::{counted, indented, wrapped};

/// Where lines come from and where text goes.
pub struct Desk<R, W> {
    /// One line an answer.
    pub from: R,
    /// All that is said.
    pub to: W,
    /// Repeats each line that was read: where nobody types at a terminal, the text would
    /// have no answers in it otherwise.
    pub echoes: bool,
}

/// What a reader does with a question.
enum Reply {
    Answer { given: Given, typed: String },
    Skip,
    Quit,
}

/// How a sitting went.
#[derive(Default)]
struct Tally {
    right: usize,
    near: usize,
    missed: usize,
    skipped: usize,
}

/// Asks the questions of a plan, keeps each answer as it comes, and sums up.
///
/// The end of the input, or `q`, ends the sitting at once.
///
/// # Errors
/// An input or output that fails, or a run that does; what was answered is kept.
pub fn sit<R: BufRead, W: Write>(
    plan: &Plan,
    store: &mut Store,
    desk: &mut Desk<R, W>,
) -> Result<()> {
    let sitting = store.memory().next_sitting();
    let mut tally = Tally::default();
    for (nth, asked) in plan.asked.iter().enumerate() {
        let was_asked = store.memory().state(asked.question.id, sitting) != State::New;
        let again = if was_asked { " · again" } else { "" };
        let place = format!("{} of {}", nth + 1, plan.asked.len());
        writeln!(desk.to, "\n{place} · {}{again}\n", asked.chapter)?;
        let seed = store.memory().next_seed(asked.question.id);
        let posed = (asked.question.pose)(seed);
        writeln!(desk.to, "{}\n", wrapped(&posed.text, 2))?;
        match reply(&posed, desk)? {
            Reply::Quit => break,
            Reply::Skip => tally.skipped += 1,
            Reply::Answer { given, typed } => {
                let outcome = posed.run()?;
                let verdict = posed.form.judge(&given, &outcome.answer);
                tell(
                    (asked, posed.form),
                    &outcome,
                    (verdict, &given, &typed),
                    &mut desk.to,
                )?;
                tally.count(verdict);
                let attempt = Attempt { sitting, seed, given: typed, verdict };
                if let Some(notice) = store.record(asked.question.id, attempt) {
                    writeln!(desk.to, "\n{}", wrapped(&notice, 0))?;
                }
            }
        }
    }
    sum_up(plan, &tally, sitting, store, &mut desk.to)
}

/// Asks until there is an answer that can be read, or none is wanted.
fn reply<R: BufRead, W: Write>(posed: &Posed, desk: &mut Desk<R, W>) -> Result<Reply> {
    let form = posed.form;
    let options = form.options()?;
    for (at, option) in options.iter().enumerate() {
        writeln!(desk.to, "  {:>3}  {option}", at + 1)?;
    }
    if !options.is_empty() {
        writeln!(desk.to)?;
    }
    loop {
        write!(desk.to, "{} > ", form.prompt())?;
        desk.to.flush()?;
        let Some(line) = desk.line()? else {
            writeln!(desk.to)?;
            return Ok(Reply::Quit);
        };
        match line.as_str() {
            "" => return Ok(Reply::Skip),
            "q" | "Q" | "quit" | "exit" => return Ok(Reply::Quit),
            "?" => writeln!(desk.to, "\n{}\n", wrapped(&posed.hint, 2))?,
            typed => match form.read(typed, &options) {
                Some(given) => return Ok(Reply::Answer { given, typed: line }),
                None => writeln!(desk.to, "{}", unreadable(form))?,
            },
        }
    }
}

fn unreadable(form: Form) -> String {
    let told = format!(
        "That cannot be read, and does not count. Give {}; or ? for a hint, nothing to \
         skip, q to end.",
        form.forms()
    );
    format!("\n{}\n", wrapped(&told, 2))
}

impl<R: BufRead, W: Write> Desk<R, W> {
    /// The next line without the space around it; nothing at the end of the input.
    fn line(&mut self) -> Result<Option<String>> {
        let mut bytes = Vec::new();
        if self.from.read_until(b'\n', &mut bytes)? == 0 {
            return Ok(None);
        }
        let line = String::from_utf8_lossy(&bytes).trim().to_owned();
        if self.echoes {
            writeln!(self.to, "{line}")?;
        }
        Ok(Some(line))
    }
}

/// What came out, whether the reader said so, and why it is so.
fn tell(
    (asked, form): (&Asked, Form),
    outcome: &Outcome,
    (verdict, given, typed): (Verdict, &Given, &str),
    to: &mut impl Write,
) -> Result<()> {
    let Asked { chapter, question } = asked;
    writeln!(to, "\n{}", indented(&outcome.shown, 4))?;
    let mut told = compared(form, outcome, (verdict, given, typed));
    if verdict == Verdict::Missed {
        let mut slips = outcome.slips.iter();
        let is_this = |slip: &&Slip| form.judge(given, &slip.answer) != Verdict::Missed;
        if let Some(slip) = slips.find(is_this) {
            told += &format!(" {}", slip.says);
        }
    }
    let read = format!("Read: chapter {}, “{}”.", chapter.number, question.section);
    for paragraph in [&told, &outcome.why, &read] {
        writeln!(to, "{}", wrapped(paragraph, 2))?;
    }
    Ok(())
}

/// The prediction next to what came out, in a sentence.
fn compared(
    form: Form,
    Outcome { answer, .. }: &Outcome,
    (verdict, given, typed): (Verdict, &Given, &str),
) -> String {
    let given = match given {
        Given::Exactly(given) => given.to_string(),
        Given::About { .. } => typed.to_owned(),
    };
    match (verdict, form) {
        (Verdict::Right, Form::Decimal { within }) if given != answer.to_string() => {
            format!("Right: {answer}, and yours is within {within}.")
        }
        (Verdict::Right, _) => format!("Right: {answer}."),
        (Verdict::Near, _) => {
            format!("Near: {given} is {answer}, rounded. It comes back for all digits.")
        }
        (Verdict::Missed, Form::Choice(_) | Form::Token(_)) => {
            format!("It is “{answer}”, not “{given}”.")
        }
        (Verdict::Missed, _) => format!("It is {answer}, not {given}."),
    }
}

impl Tally {
    fn count(&mut self, verdict: Verdict) {
        match verdict {
            Verdict::Right => self.right += 1,
            Verdict::Near => self.near += 1,
            Verdict::Missed => self.missed += 1,
        }
    }

    fn is_empty(&self) -> bool {
        self.right + self.near + self.missed == 0
    }
}

/// How it went, what comes back, and where it is kept.
fn sum_up(
    plan: &Plan,
    tally: &Tally,
    sitting: u64,
    store: &Store,
    to: &mut impl Write,
) -> Result<()> {
    let Tally { right, near, missed, skipped } = tally;
    let mut told = format!("{right} right, {missed} missed");
    for (n, what) in [(near, "near"), (skipped, "skipped")] {
        if *n > 0 {
            told += &format!(", {n} {what}");
        }
    }
    if tally.is_empty() {
        writeln!(to, "\nNothing was answered, so this was no sitting.")?;
        return Ok(());
    }
    writeln!(to, "\nSitting {sitting}: {told}.")?;
    let memory = store.memory();
    let mut comes_back: Vec<(u64, &str)> = Vec::new();
    for Asked { question, .. } in &plan.asked {
        let was_asked_now =
            memory.history(question.id).last().is_some_and(|it| it.sitting == sitting);
        // The next sitting is the earliest: seen from this one, all of them wait.
        if let State::Waits(due) = memory.state(question.id, sitting)
            && was_asked_now
        {
            comes_back.push((due, question.title));
        }
    }
    comes_back.sort_by_key(|(due, _)| *due);
    for (due, title) in &comes_back {
        let when = match due - sitting {
            1 => "in the next sitting".to_owned(),
            n => format!("after {}", counted(n as usize, "sitting")),
        };
        writeln!(to, "  comes back {when}: {title}")?;
    }
    if let Some(path) = store.path() {
        writeln!(to, "Kept in {}", path.display())?;
    }
    Ok(())
}
