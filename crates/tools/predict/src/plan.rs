//! Which questions are asked, and in which order.

use super::entries::Entry;
use super::store::{Answers, State};

/// The most questions of one run, unless all are asked.
pub const AT_MOST: usize = 5;

/// First what was missed, then what is new, each in the order of the chapters, and
/// [`AT_MOST`] of them. With `all`, every one, and what is known comes last.
pub fn plan<'a>(questions: &[Entry<'a>], answers: &Answers, all: bool) -> Vec<Entry<'a>> {
    let of = |state| {
        let state_of = move |entry: &&Entry| answers.state(&entry.question.id) == state;
        questions.iter().filter(state_of).copied()
    };
    let asked = of(State::Missed).chain(of(State::New));
    match all {
        true => asked.chain(of(State::Right)).collect(),
        false => asked.take(AT_MOST).collect(),
    }
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeMap;

    use workshop::chapters;

    use super::super::entries;
    use super::*;

    #[test]
    fn what_was_missed_comes_first_then_what_is_new_then_nothing() {
        let (chapters, topics) = (chapters::all().unwrap(), questions::topics().unwrap());
        let questions = &entries::all(&topics, &chapters)[..8];
        let id = |entry: &Entry| entry.question.id.clone();
        let answered = |missed: &[usize], right: &[usize]| {
            let of = |places: &[usize]| -> BTreeMap<String, u64> {
                places.iter().map(|&at| (id(&questions[at]), 1)).collect()
            };
            let kept = serde_json::json!({ "missed": of(missed), "right": of(right) });
            serde_json::from_value::<Answers>(kept).unwrap()
        };
        let places = |answers: &Answers, all| -> Vec<usize> {
            let place =
                |entry: &Entry| questions.iter().position(|it| id(it) == id(entry));
            plan(questions, answers, all).iter().filter_map(place).collect()
        };
        assert_eq!(places(&answered(&[], &[]), false), [0, 1, 2, 3, 4]);
        let some = answered(&[1, 3], &[0, 2]);
        assert_eq!(places(&some, false), [1, 3, 4, 5, 6]);
        assert_eq!(places(&some, true), [1, 3, 4, 5, 6, 7, 0, 2]);
        let missed = answered(&[1, 2, 3, 4, 5, 6], &[0]);
        assert_eq!(places(&missed, false), [1, 2, 3, 4, 5]);
        let known = answered(&[], &[0, 1, 2, 3, 4, 5, 6, 7]);
        assert!(places(&known, false).is_empty());
        assert_eq!(places(&known, true), [0, 1, 2, 3, 4, 5, 6, 7]);
    }
}
