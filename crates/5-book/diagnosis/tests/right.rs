//! A right layer is never accused, whatever its sizes, its kind and its precision; and where
//! its numbers show how it was computed, few are right on a condition only. Of a thousand, one at
//! most may be unknown.

mod common;

use attention::{Rng, SeedableRng};
use common::loops::{Machine, PRECISIONS, pass};
use diagnosis::{EmptyRow, Precision, State, Verdict};
use rand::RngExt;
use rayon::prelude::*;

/// What a random right layer is called.
struct Called {
    /// In which precision it is kept and computed, where that is one.
    shows: Option<Precision>,
    verdict: Verdict,
    words: String,
}

fn called(seed: u64) -> Called {
    let rng = &mut Rng::seed_from_u64(seed);
    let mut layer = common::random_layer(rng);
    let mut one_of = |n: usize| rng.random_range(0..n);
    let stored = PRECISIONS[one_of(4)];
    let machine =
        Machine { precision: PRECISIONS[one_of(4)], scales_queries: one_of(2) == 0 };
    layer.intent.empty_row = EmptyRow::ALL[one_of(3)];
    // Mostly a file holds what was computed with; sometimes it was rounded afterwards.
    let is_rounded_before = one_of(5) > 0;
    let file = Machine { precision: stored, ..machine };
    let round = |x: &mut f64| *x = file.kept(*x);
    if is_rounded_before {
        common::change_all(&mut layer.record, round);
    }
    let mut given = pass(&layer, machine);
    common::change_all(&mut layer.record, round);
    given.values_mut().flatten().for_each(|m| m.apply(round));
    // In a third of the files, some of the tensors between.
    let has_between = one_of(3) == 0;
    given.retain(|&state, _| state == State::Output || has_between && one_of(2) == 0);
    layer.record.tensors = given;
    layer.record.precision = stored;
    // What a query without a key gets is not said beforehand.
    layer.intent.empty_row = EmptyRow::Zeros;
    let diagnosis = layer.diagnosis();
    let is_one = stored == machine.precision && is_rounded_before;
    let said = common::said(&diagnosis);
    let words =
        format!("seed {seed}: stored {stored:?}, computed in {machine:?}: {said}");
    Called { shows: is_one.then_some(stored), verdict: diagnosis.verdict, words }
}

fn nobody_of(n: u64) {
    let all: Vec<Called> = (0..n).into_par_iter().map(called).collect();
    let of = |is: &dyn Fn(&Called) -> bool| -> Vec<&str> {
        all.iter().filter(|it| is(it)).map(|it| it.words.as_str()).collect()
    };
    let accused = of(&|it| it.verdict == Verdict::Mistake);
    let unknown = of(&|it| it.verdict == Verdict::Unknown);
    let on_condition = of(&|it| it.verdict == Verdict::Condition);
    println!("{} of {n} on a condition\n{}", on_condition.len(), on_condition.join("\n"));
    assert!(accused.is_empty(), "{} of {n}\n{}", accused.len(), accused.join("\n"));
    println!("{} of {n} unknown\n{}", unknown.len(), unknown.join("\n"));
    assert!(unknown.len() as u64 * 1000 <= n, "{}", unknown.join("\n"));
    assert!(on_condition.len() as u64 * 100 <= n, "{}", on_condition.len());
    for precision in PRECISIONS {
        let shown = of(&|it| it.shows == Some(precision)).len();
        let is_right =
            |it: &Called| it.shows == Some(precision) && it.verdict == Verdict::Right;
        let right = of(&is_right).len();
        println!("{precision:?} shown: {right} of {shown} right");
        assert!(right * 100 >= shown * 95, "{precision:?}: {right} of {shown}");
    }
}

#[test]
fn nobody_of_a_thousand_is_accused() {
    nobody_of(1_000);
}

#[test]
#[ignore = "the whole of it: minutes"]
fn nobody_of_twenty_thousand_is_accused() {
    nobody_of(20_000);
}

#[test]
fn what_was_accused_once_is_not() {
    for seed in [
        // In float16 another key wins a row that is nearly one key's: two mistakes explain the
        // heads, and would change keys and an output that are right.
        2909,
        // Rounding that is the same factor everywhere, by chance, is no other scale: it would
        // have the digits of the one that was meant.
        11_280,
    ] {
        let called = called(seed);
        assert_ne!(called.verdict, Verdict::Mistake, "{}", called.words);
    }
}
