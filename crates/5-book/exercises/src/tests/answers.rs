//! Answers that people hand in, and what is said of each: `answers/` has them as edits of the
//! solutions, and `build.rs` makes functions of them.
//!
//! A wrong answer that passes, or that is named as another, does not get the verdict under
//! which it stands there. How many get no more than the general message is counted.

use std::cell::RefCell;
use std::process::ExitCode;

include!(concat!(env!("OUT_DIR"), "/answers.rs"));

/// The solution to an exercise with an edit or two.
pub struct Answer {
    exercise: &'static str,
    /// Of the exercise's file.
    line: usize,
    edit: &'static str,
    /// What the check should say of it, as it stands in the first line of the message.
    verdict: &'static str,
    check: fn() -> ExitCode,
}

thread_local! {
    static SAID: RefCell<String> = const { RefCell::new(String::new()) };
}

/// What a check says, kept for the test that called it.
pub fn say(message: &str) {
    SAID.set(message.to_owned());
}

/// The verdict in the first line of a message, without the exercise's number and title.
fn verdict(message: &str) -> &str {
    let line = message.lines().next().unwrap_or_default();
    let (_, verdict) = line.split_once(": ").unwrap_or_default();
    verdict.trim_start_matches("your answer ").trim_end_matches('.')
}

/// What is said of an answer that is wrong in a way that no mistake is named for.
const GENERAL: &str = "differs from the reference";

#[test]
fn each_answer_is_told_what_it_should_be() {
    let mut others = Vec::new();
    for Answer { exercise, line, edit, verdict: expected, check } in ANSWERS {
        check();
        SAID.with_borrow(|said| {
            if verdict(said) != *expected {
                let said = verdict(said);
                others.push(format!("answers/{exercise}.txt:{line}: {edit}\n    {said}"));
            }
        });
    }
    assert!(others.is_empty(), "{} answers:\n{}", others.len(), others.join("\n"));
}

/// Of 474 answers that a reader tried, 180 got no more than the general message. Of as many of
/// these, it is half of that at most.
#[test]
fn few_answers_get_the_general_message_alone() {
    let handed_in = || ANSWERS.iter().filter(|answer| answer.line > 0);
    let n = handed_in().count();
    let n_general = handed_in().filter(|answer| answer.verdict == GENERAL).count();
    println!("{n_general} of {n} get the general message");
    assert!(474 * n_general <= 90 * n, "{n_general} of {n}");
}
