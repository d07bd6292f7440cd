//! A right layer is never accused, whatever its sizes, its kind and its precision; and where
//! its numbers show how it was computed, few are right on a condition only.

mod common;

use std::thread;

use attention::{Rng, SeedableRng};
use common::loops::{Machine, pass};
use diagnosis::{EmptyRow, Precision, State, Verdict, diagnose};
use rand::RngExt;

const PRECISIONS: [Precision; 4] =
    [Precision::F64, Precision::F32, Precision::F16, Precision::BF16];

/// Computes random right layers; each that is not called right, with what it was called, and
/// whether that is right on a condition.
fn accused(seeds: std::ops::Range<u64>) -> Vec<(bool, String)> {
    seeds.filter_map(accusation).collect()
}

fn accusation(seed: u64) -> Option<(bool, String)> {
    let rng = &mut Rng::seed_from_u64(seed);
    let (mut record, mut intent) = common::random_layer(rng);
    let mut one_of = |n: usize| rng.random_range(0..n);
    let stored = PRECISIONS[one_of(4)];
    let machine =
        Machine { precision: PRECISIONS[one_of(4)], scales_queries: one_of(2) == 0 };
    let empty_rows = EmptyRow::ALL;
    intent.empty_row = empty_rows[one_of(3)];
    // Mostly a file holds what was computed with; sometimes it was rounded afterwards.
    let is_rounded_before = one_of(5) > 0;
    let file = Machine { precision: stored, ..machine };
    let round = |record: &mut diagnosis::Record| {
        let weights = &mut record.weights;
        let linears = weights
            .projections
            .iter_mut()
            .chain(&mut weights.packed)
            .chain(&mut weights.output);
        for linear in linears {
            linear.weight.apply(|w| *w = file.kept(*w));
            linear.bias.iter_mut().for_each(|b| b.apply(|b| *b = file.kept(*b)));
        }
        record.inputs.iter_mut().flatten().for_each(|x| x.apply(|x| *x = file.kept(*x)));
    };
    if is_rounded_before {
        round(&mut record);
    }
    let mut given = pass(&record, &intent, machine);
    round(&mut record);
    given.values_mut().flatten().for_each(|m| m.apply(|x| *x = file.kept(*x)));
    // In a third of the files, some of the tensors between.
    let has_between = one_of(3) == 0;
    given.retain(|&state, _| state == State::Output || has_between && one_of(2) == 0);
    record.tensors = given;
    record.precision = stored;
    // What a query without a key gets is not said beforehand.
    intent.empty_row = EmptyRow::Zeros;
    let diagnosis = diagnose(&record, &intent).expect("shapes that fit");
    (diagnosis.verdict != Verdict::Right).then(|| {
        let sets: Vec<Vec<&str>> = diagnosis
            .explanations
            .iter()
            .map(|set| set.iter().map(|it| it.id).collect())
            .collect();
        let told = format!(
            "seed {seed}: stored {stored:?}, computed in {machine:?}: {:?} {sets:?}, {:?}, \
             {:?}, {:?}",
            diagnosis.verdict,
            diagnosis.number_words,
            diagnosis.condition,
            diagnosis.tensors
        );
        (diagnosis.verdict == Verdict::Condition, told)
    })
}

fn nobody_of(n: u64) {
    let half = n / 2;
    let accused = thread::scope(|scope| {
        let first = scope.spawn(|| accused(0..half));
        let second = accused(half..n);
        [first.join().expect("no panic"), second].concat()
    });
    let of = |is_condition: bool| -> Vec<&str> {
        let of = accused.iter().filter(|it| it.0 == is_condition);
        of.map(|it| it.1.as_str()).collect()
    };
    let (accused, on_condition) = (of(false), of(true));
    println!("{} of {n} on a condition\n{}", on_condition.len(), on_condition.join("\n"));
    assert!(accused.is_empty(), "{} of {n}\n{}", accused.len(), accused.join("\n"));
    assert!(on_condition.len() as u64 * 100 <= n, "{}", on_condition.len());
}

#[test]
fn nobody_of_a_thousand_is_accused() {
    nobody_of(1_000);
}

#[test]
#[ignore = "the whole of it: a minute"]
fn nobody_of_ten_thousand_is_accused() {
    nobody_of(10_000);
}
