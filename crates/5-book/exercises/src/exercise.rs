//! What an exercise is.

use std::process::ExitCode;

#[cfg(test)]
use crate::tests::answers::say;
use crate::{Answer, Place, Section, Verdict, outcome};

/// An exercise: a function to be written, and all that a check knows about it.
///
/// `I` is what the function is given, `O` what it gives back.
pub struct Exercise<I: 'static, O: 'static> {
    /// The file's name without `.rs`: `scale`.
    pub name: &'static str,
    /// What the reader learns to write, a few words.
    pub title: &'static str,
    /// The section that explains it.
    pub read: Section,
    /// Where to begin, said while nothing is written.
    pub begin: &'static str,
    /// What is worth printing when an answer is wrong in a way that is not known here:
    /// `your scores and shares`.
    pub print: &'static str,
    /// What is said once the answer is right: what now holds.
    pub passed: &'static str,
    /// Inputs that tell all mistakes apart, the simplest first.
    pub cases: fn() -> Vec<Case<I>>,
    /// The right answer, from the stages that this workspace tests.
    pub reference: fn(&I) -> O,
    /// What people write instead.
    pub mistakes: &'static [Mistake<I, O>],
    /// How an entry of the answer is called: `query 2, key 4`.
    pub place: fn(&I, Place) -> String,
}

/// One input, and how it is called in a message.
pub struct Case<I> {
    /// Its sizes, as a message names them: `5 queries, 7 keys, d_k 4`.
    pub sizes: String,
    /// Whether sizes are equal that may differ, so that a wrong order of rows and columns
    /// does not show. An answer that is right only here is told so.
    pub square: bool,
    /// What the answer is given.
    pub input: I,
}

/// A wrong implementation with the right shape.
pub struct Mistake<I, O> {
    /// What it is called: `divides by √d_model`.
    pub name: &'static str,
    /// What it does, in one sentence.
    pub does: &'static str,
    /// Why it looks right, in one sentence.
    pub looks_right: &'static str,
    /// The section that explains it.
    pub read: Section,
    /// The mistake itself.
    pub answer: fn(&I) -> O,
}

impl<I, O: Answer> Exercise<I, O> {
    /// Checks an answer, prints the verdict, and gives the exit code that rustlings asks
    /// for. An answer that does not come to an end is stopped.
    pub fn check(&'static self, answer: impl Fn(&I) -> O + Send + 'static) -> ExitCode {
        let verdict = outcome::within_time_limit(move || self.diagnose(&answer));
        let verdict = verdict.unwrap_or_else(|limit| Verdict::NoEnd {
            sizes: limit.running,
            seconds: limit.seconds,
        });
        conclude(&self.message(&verdict), matches!(verdict, Verdict::Passed))
    }
}

/// Prints a verdict, and gives the exit code that rustlings asks for.
///
/// `cargo learn check` asks for its own word behind the verdict: what an answer prints, or
/// leaves out by ending the program, is then not taken for one.
pub(crate) fn conclude(message: &str, passed: bool) -> ExitCode {
    say(message);
    if let Ok(word) = std::env::var("LEARN_CHECK_WORD") {
        println!("{word}");
    }
    if passed { ExitCode::SUCCESS } else { ExitCode::FAILURE }
}

/// A test listens instead of a reader.
#[cfg(not(test))]
fn say(message: &str) {
    println!("{message}");
}
