//! A right layer is never accused, whatever its sizes, its kind and its precision; and where
//! its numbers show how it was computed, few are right on a condition only. Of a thousand, one at
//! most may be unknown.

mod common;

use attention::{Rng, SeedableRng};
use common::Layer;
use common::loops::{Machine, pass};
use diagnosis::{EmptyRow, Precision, State, Verdict, diagnose};
use rand::RngExt;
use rayon::prelude::*;

const PRECISIONS: [Precision; 4] =
    [Precision::F64, Precision::F32, Precision::F16, Precision::BF16];

/// What a random right layer is called.
struct Called {
    /// In which precision it is kept and computed, where that is one.
    shows: Option<Precision>,
    verdict: Verdict,
    words: String,
}

fn called(seed: u64) -> Called {
    let rng = &mut Rng::seed_from_u64(seed);
    let Layer { mut record, mut intent } = common::random_layer(rng);
    let mut one_of = |n: usize| rng.random_range(0..n);
    let stored = PRECISIONS[one_of(4)];
    let machine =
        Machine { precision: PRECISIONS[one_of(4)], scales_queries: one_of(2) == 0 };
    intent.empty_row = EmptyRow::ALL[one_of(3)];
    // Mostly a file holds what was computed with; sometimes it was rounded afterwards.
    let is_rounded_before = one_of(5) > 0;
    let file = Machine { precision: stored, ..machine };
    let round = |x: &mut f64| *x = file.kept(*x);
    if is_rounded_before {
        common::change_all(&mut record, round);
    }
    let mut given = pass(&record, &intent, machine);
    common::change_all(&mut record, round);
    given.values_mut().flatten().for_each(|m| m.apply(round));
    // In a third of the files, some of the tensors between.
    let has_between = one_of(3) == 0;
    given.retain(|&state, _| state == State::Output || has_between && one_of(2) == 0);
    record.tensors = given;
    record.precision = stored;
    // What a query without a key gets is not said beforehand.
    intent.empty_row = EmptyRow::Zeros;
    let diagnosis = diagnose(&record, &intent).expect("shapes that fit");
    let is_one = stored == machine.precision && is_rounded_before;
    let words = format!(
        "seed {seed}: stored {stored:?}, computed in {machine:?}: {:?} {:?}, {:?}, {:?}, {:?}",
        diagnosis.verdict,
        common::ids(&diagnosis),
        diagnosis.number_words,
        diagnosis.condition,
        diagnosis.tensors
    );
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

/// In float16 another key wins a row that is nearly one key's: two mistakes explain the heads,
/// and would change keys and an output that are right.
#[test]
fn nobody_is_accused_of_what_would_change_a_right_tensor() {
    let called = called(2909);
    assert_ne!(called.verdict, Verdict::Mistake, "{}", called.words);
}

#[test]
#[ignore = "the whole of it: minutes"]
fn nobody_of_twenty_thousand_is_accused() {
    nobody_of(20_000);
}

/// Rounding that is the same factor everywhere, by chance, is no other scale: it would have the
/// digits of the one that was meant.
#[test]
fn nobody_is_accused_of_the_last_bits_of_a_scale() {
    let called = called(11_280);
    assert_ne!(called.verdict, Verdict::Mistake, "{}", called.words);
}
