//! Which questions a sitting asks.

use super::memory::{Memory, State};
use super::questions::Asked;

/// The most questions of a sitting, unless all are asked.
pub const A_SITTING: usize = 5;

/// The questions of one sitting, in order.
#[derive(Debug)]
pub struct Plan {
    /// Those that come back, then new ones.
    pub asked: Vec<Asked>,
    /// How many of them were missed or near before and are due.
    pub n_due: usize,
    /// None is due or new, so these come ahead of time.
    pub is_early: bool,
}

/// First what is due again, then what is new, each in the order of chapters.
///
/// With `all`, then all that is left. Without, at most [`A_SITTING`]; and where nothing is
/// due or new, what would come back soonest: a sitting in which nothing is answered does
/// not count, so waiting for it would be waiting for ever.
pub fn plan(questions: &[Asked], memory: &Memory, all: bool) -> Plan {
    let sitting = memory.next_sitting();
    let state = |asked: &Asked| memory.state(asked.question.id, sitting);
    let of = |wanted: fn(State) -> bool| {
        let wanted = questions.iter().filter(move |asked| wanted(state(asked)));
        wanted.copied().collect::<Vec<Asked>>()
    };
    let due = of(|state| state == State::Due);
    let new = of(|state| state == State::New);
    let mut waiting = of(|state| matches!(state, State::Waits(_)));
    waiting.sort_by_key(|asked| match state(asked) {
        State::Waits(due) => due,
        _ => 0,
    });

    let n_due = due.len();
    let is_early = !all && due.is_empty() && new.is_empty() && !waiting.is_empty();
    let mut asked = [due, new].concat();
    if all || is_early {
        asked.extend(waiting);
    }
    if all {
        asked.extend(of(|state| state == State::Known));
    } else {
        asked.truncate(A_SITTING);
    }
    Plan { n_due: n_due.min(asked.len()), asked, is_early }
}

#[cfg(test)]
mod tests {
    use super::super::answer::Verdict::{self, Missed, Right};
    use super::super::memory::Attempt;
    use super::super::questions;
    use super::*;

    /// The places in the list of questions of those that are asked, and what is said.
    fn planned(answered: &[(usize, u64, Verdict)], all: bool) -> String {
        let questions: Vec<Asked> = questions::all().take(8).collect();
        let mut memory = Memory::default();
        for &(at, sitting, verdict) in answered {
            let attempt = Attempt { sitting, seed: 0, given: String::new(), verdict };
            memory.record(questions[at].question.id, attempt);
        }
        let Plan { asked, n_due, is_early } = plan(&questions, &memory, all);
        let place = |asked: &Asked| {
            questions.iter().position(|other| other.question.id == asked.question.id)
        };
        let places: Vec<usize> = asked.iter().filter_map(place).collect();
        format!("{places:?}, {n_due} due{}", if is_early { ", early" } else { "" })
    }

    #[test]
    fn what_is_due_comes_first_then_what_is_new_and_five_in_all() {
        let first = planned(&[], false);
        insta::assert_snapshot!(first, @"[0, 1, 2, 3, 4], 0 due");
        let second = planned(
            &[(0, 1, Right), (1, 1, Missed), (2, 1, Right), (3, 1, Missed)],
            false,
        );
        insta::assert_snapshot!(second, @"[1, 3, 4, 5, 6], 2 due");
        let missed: Vec<_> = (0..7).map(|at| (at, 1, Missed)).collect();
        insta::assert_snapshot!(planned(&missed, false), @"[0, 1, 2, 3, 4], 5 due");
    }

    #[test]
    fn all_is_all_with_what_is_due_first() {
        let answered = [(0, 1, Right), (3, 1, Missed), (4, 1, Missed), (4, 2, Right)];
        insta::assert_snapshot!(planned(&answered, true), @"[3, 1, 2, 5, 6, 7, 4, 0], 1 due");
    }

    #[test]
    fn where_nothing_is_due_or_new_what_waits_comes_early() {
        let mut answered: Vec<_> = (0..8).map(|at| (at, 1, Right)).collect();
        insta::assert_snapshot!(planned(&answered, false), @"[], 0 due");
        answered[2] = (2, 1, Missed);
        answered[6] = (6, 1, Missed);
        answered.extend([(2, 2, Right), (2, 4, Right), (6, 4, Right)]);
        insta::assert_snapshot!(planned(&answered, false), @"[6, 2], 0 due, early");
    }
}
