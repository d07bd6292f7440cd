//! What is remembered of each question, and when it comes back.
//!
//! This is Leitner's card box, counted in sittings and not in days: after a week off
//! everything is as it was left, and a test needs no clock. Nothing but the history is kept.
//! Where a question stands is read from it each time, and with which seed it is asked next,
//! so that no numbers come twice in a row:
//!
//! - right at the first try: it is known, and does not come back;
//! - missed, or near: it comes back in the next sitting;
//! - right after that: it comes back after 2 sittings, and right again, after 4;
//! - right three times in a row: it is known.

use std::collections::BTreeMap;

use serde::{Deserialize, Serialize};

use super::answer::Verdict;

/// The layout of the file. One of another version is not read, and not written over.
pub const VERSION: u64 = 1;

/// After how many sittings a question comes back that was missed and has been right so
/// many times since.
const COMES_BACK_AFTER: [u64; 3] = [1, 2, 4];

/// Every answer that was given, by question.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Memory {
    version: u64,
    /// How many sittings there were in which something was answered.
    sittings: u64,
    /// A question that is not asked any more keeps its history.
    questions: BTreeMap<String, Vec<Attempt>>,
}

/// One answer.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Attempt {
    /// In which sitting, counted from 1.
    pub sitting: u64,
    /// The seed of the question's numbers; 0 in a file from before there were others.
    #[serde(default)]
    pub seed: u64,
    /// What was typed.
    pub given: String,
    /// How it turned out.
    pub verdict: Verdict,
}

/// Where a question stands.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum State {
    /// Never answered.
    New,
    /// Missed or near before, and due in this sitting or an earlier one.
    Due,
    /// Missed or near before, and due in this later sitting.
    Waits(u64),
    /// It does not come back.
    Known,
}

impl Default for Memory {
    fn default() -> Self {
        Self { version: VERSION, sittings: 0, questions: BTreeMap::new() }
    }
}

impl Memory {
    /// The sitting that begins now. It counts once something is answered in it.
    pub fn next_sitting(&self) -> u64 {
        self.sittings.saturating_add(1)
    }

    /// Keeps an answer.
    pub fn record(&mut self, question: &str, attempt: Attempt) {
        self.sittings = self.sittings.max(attempt.sitting);
        self.questions.entry(question.to_owned()).or_default().push(attempt);
    }

    /// The answers to a question, oldest first.
    pub fn history(&self, question: &str) -> &[Attempt] {
        self.questions.get(question).map_or(&[], Vec::as_slice)
    }

    /// The seed with which a question is asked next: another one than the last.
    pub fn next_seed(&self, question: &str) -> u64 {
        self.history(question).last().map_or(0, |last| last.seed.wrapping_add(1))
    }

    /// Where a question stands in this sitting.
    pub fn state(&self, question: &str, sitting: u64) -> State {
        let history = self.history(question);
        let Some(last) = history.last() else { return State::New };
        let is_right = |attempt: &&Attempt| attempt.verdict == Verdict::Right;
        let right_since = history.iter().rev().take_while(is_right).count();
        if right_since == history.len() {
            return State::Known;
        }
        match COMES_BACK_AFTER.get(right_since) {
            None => State::Known,
            Some(after) => match last.sitting.saturating_add(*after) {
                due if due <= sitting => State::Due,
                due => State::Waits(due),
            },
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use Verdict::{Missed, Near, Right};

    /// What a question is in sittings 1 to 12, answered so whenever it is asked.
    fn played(verdicts: &[Verdict]) -> String {
        let (mut memory, mut verdicts) = (Memory::default(), verdicts.iter());
        let mut told = Vec::new();
        for sitting in 1..=12 {
            let state = memory.state("q", sitting);
            let verdict = match state {
                State::New | State::Due => verdicts.next(),
                State::Waits(_) | State::Known => None,
            };
            told.push(match verdict {
                Some(verdict) => format!("{verdict:?}"),
                None => format!("{state:?}"),
            });
            if let Some(&verdict) = verdict {
                let seed = memory.next_seed("q");
                memory.record(
                    "q",
                    Attempt { sitting, seed, given: String::new(), verdict },
                );
            }
        }
        told.join(" ")
    }

    #[test]
    fn what_was_never_missed_does_not_come_back() {
        let told = played(&[Right]);
        assert!(told.starts_with("Right Known Known"), "{told}");
        assert!(told.ends_with("Known"), "{told}");
    }

    #[test]
    fn what_was_missed_comes_back_after_1_2_and_4_sittings() {
        let told = played(&[Missed, Right, Right, Right]);
        insta::assert_snapshot!(told, @"Missed Right Waits(4) Right Waits(8) Waits(8) Waits(8) Right Known Known Known Known");
    }

    #[test]
    fn what_is_missed_again_or_only_near_begins_anew() {
        let told = played(&[Near, Right, Missed, Missed, Right, Right, Right]);
        insta::assert_snapshot!(told, @"Near Right Waits(4) Missed Missed Right Waits(8) Right Waits(12) Waits(12) Waits(12) Right");
    }

    #[test]
    fn questions_do_not_touch_each_other_and_a_late_one_waits() {
        let mut memory = Memory::default();
        let attempt =
            |sitting, verdict| Attempt { sitting, seed: 0, given: "7".into(), verdict };
        memory.record("a", attempt(1, Missed));
        memory.record("b", attempt(1, Right));
        assert_eq!(memory.next_sitting(), 2);
        assert_eq!(memory.state("a", 9), State::Due);
        assert_eq!(memory.state("b", 9), State::Known);
        assert_eq!(memory.state("c", 9), State::New);
        memory.record("a", attempt(9, Right));
        assert_eq!(memory.next_sitting(), 10);
        assert_eq!(memory.state("a", 10), State::Waits(11));
        assert_eq!(memory.history("a").len(), 2);
    }

    #[test]
    fn a_file_from_before_there_were_seeds_is_read() {
        let old = r#"{"version": 1, "sittings": 1, "questions": {"a": [
            {"sitting": 1, "given": "7", "verdict": "missed"}]}}"#;
        let memory: Memory = serde_json::from_str(old).unwrap();
        assert_eq!((memory.next_seed("a"), memory.next_seed("b")), (1, 0));
    }

    #[test]
    fn numbers_at_their_end_do_no_harm() {
        let mut memory = Memory::default();
        let given = String::new();
        memory.record(
            "a",
            Attempt { sitting: u64::MAX, seed: u64::MAX, given, verdict: Missed },
        );
        assert_eq!(memory.next_seed("a"), 0);
        assert_eq!(memory.next_sitting(), u64::MAX);
        assert_eq!(memory.state("a", u64::MAX), State::Due);
        assert_eq!(memory.state("a", 1), State::Waits(u64::MAX));
    }
}
