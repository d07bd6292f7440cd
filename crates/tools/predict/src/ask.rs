//! Question, prediction, run, verdict.

use std::io::{BufRead, Write};

use anyhow::Result;
use questions::{Form, Outcome, Posed, Prediction, Slip, Verdict};

use super::entries::Entry;
use super::store::{State, Store};
use super::text::{indented, wrapped};

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
    Answer { prediction: Prediction, typed: String },
    Skip,
    Quit,
}

/// How it went.
#[derive(Default)]
struct Tally {
    right: usize,
    near: usize,
    missed: usize,
    skipped: usize,
    /// The titles of what was near or missed.
    comes_back: Vec<String>,
}

/// Asks these questions, keeps each answer as it comes, and sums up.
///
/// The end of the input, or `q`, ends it at once.
///
/// # Errors
/// An input or output that fails, or a run that does; what was answered is kept.
pub fn ask<R: BufRead, W: Write>(
    entries: &[Entry],
    store: &mut Store,
    desk: &mut Desk<R, W>,
) -> Result<()> {
    let mut tally = Tally::default();
    for (entry, nth) in entries.iter().zip(1..) {
        let question = entry.question;
        let is_new = store.answers().state(&question.id) == State::New;
        let again = if is_new { "" } else { " · again" };
        writeln!(desk.to, "\n{nth} of {} · {}{again}\n", entries.len(), entry.chapter)?;
        let posed = question.pose(store.answers().n_times(&question.id))?;
        writeln!(desk.to, "{}\n", wrapped(&posed.text, 2))?;
        match reply(&posed, desk)? {
            Reply::Quit => break,
            Reply::Skip => tally.skipped += 1,
            Reply::Answer { prediction, typed } => {
                let outcome = posed.run()?;
                let verdict = posed.form.judge(&prediction, &outcome.answer);
                let judged = (verdict, &prediction, typed.as_str());
                tell((entry, &posed.form), &outcome, judged, &mut desk.to)?;
                tally.count(&question.title, verdict);
                if let Some(notice) = store.record(&question.id, verdict) {
                    writeln!(desk.to, "\n{}", wrapped(&notice, 0))?;
                }
            }
        }
    }
    tally.sum_up(store, &mut desk.to)
}

/// Asks until there is an answer that can be read, or none is wanted.
fn reply<R: BufRead, W: Write>(posed: &Posed, desk: &mut Desk<R, W>) -> Result<Reply> {
    let form = &posed.form;
    let options = form.options();
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
            typed => match form.read(typed) {
                Some(prediction) => {
                    return Ok(Reply::Answer { prediction, typed: line });
                }
                None => writeln!(desk.to, "{}", unreadable(form))?,
            },
        }
    }
}

fn unreadable(form: &Form) -> String {
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
    (entry, form): (&Entry, &Form),
    outcome: &Outcome,
    (verdict, given, typed): (Verdict, &Prediction, &str),
    to: &mut impl Write,
) -> Result<()> {
    let Entry { chapter, question } = entry;
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
    form: &Form,
    Outcome { answer, .. }: &Outcome,
    (verdict, given, typed): (Verdict, &Prediction, &str),
) -> String {
    let given = match given {
        Prediction::Exactly(given) => given.to_string(),
        Prediction::About { .. } => typed.to_owned(),
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
    fn count(&mut self, title: &str, verdict: Verdict) {
        match verdict {
            Verdict::Right => self.right += 1,
            Verdict::Near => self.near += 1,
            Verdict::Missed => self.missed += 1,
        }
        if verdict != Verdict::Right {
            self.comes_back.push(title.to_owned());
        }
    }

    /// How it went, what comes back, and where it is kept.
    fn sum_up(&self, store: &Store, to: &mut impl Write) -> Result<()> {
        let Self { right, near, missed, skipped, comes_back } = self;
        if right + near + missed == 0 {
            writeln!(to, "\nNothing was answered.")?;
            return Ok(());
        }
        let mut told = format!("{right} right, {missed} missed");
        for (n, what) in [(near, "near"), (skipped, "skipped")] {
            if *n > 0 {
                told += &format!(", {n} {what}");
            }
        }
        writeln!(to, "\n{told}.")?;
        for title in comes_back {
            writeln!(to, "  comes back the next time: {title}")?;
        }
        if let Some(path) = store.path() {
            writeln!(to, "Kept in {}", path.display())?;
        }
        Ok(())
    }
}
