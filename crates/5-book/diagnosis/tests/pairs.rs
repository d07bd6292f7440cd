//! Two mistakes at once, and one in half precision: by the output alone.

mod common;

use attention::{Matrix, Rng, SeedableRng};
use common::{apart, ids, output_with, size, stored};
use diagnosis::{
    EmptyRow, Intent, Mistake, Precision, Record, State, Verdict, bank, computed,
    diagnose,
};
use rand::RngExt;

/// A layer with these mistakes, stored in a precision; nothing where they do not show.
fn given(
    record: &Record,
    intent: &Intent,
    mistakes: &[&Mistake],
    precision: Precision,
) -> Option<Record> {
    let of = |mistakes: &[&Mistake], empty_row| {
        output_with((record, intent), mistakes, empty_row)
    };
    let wrong = of(mistakes, EmptyRow::Zeros)?;
    let size = size(&wrong);
    // Of each without the other, and of the right one.
    let without = |left_out: &Mistake| -> Vec<&Mistake> {
        mistakes.iter().copied().filter(|it| *it != left_out).collect()
    };
    let share = if precision == Precision::F32 { 1e-2 } else { 0.1 };
    let mut others = Vec::new();
    for empty_row in [EmptyRow::Zeros, EmptyRow::Even, EmptyRow::Unmasked] {
        others.push(of(&[], empty_row)?);
        for mistake in mistakes {
            others.push(of(&without(mistake), empty_row)?);
        }
    }
    let is_far =
        |other: &Vec<Matrix>| apart(&wrong, other).is_none_or(|it| it > share * size);
    if !others.iter().all(is_far) || !size.is_finite() || size < 1e-6 {
        return None;
    }
    let mut record = Record { precision, ..record.clone() };
    record.tensors.insert(State::Output, stored(wrong, precision));
    Some(record)
}

/// Random mistakes in random layers, and how many are found, not found, or named wrongly.
fn found(
    n: usize,
    n_mistakes: usize,
    precision: Precision,
) -> (usize, usize, Vec<String>) {
    let all: Vec<&'static Mistake> = bank().collect();
    let (mut named, mut unknown, mut wrong, mut seed) = (0, 0, Vec::new(), 0);
    while named + unknown + wrong.len() < n {
        seed += 1;
        let rng = &mut Rng::seed_from_u64(1_000 + seed);
        let (mut record, intent) = common::random_layer(rng);
        record.inputs = record.inputs.map(|inputs| stored(inputs, precision));
        let possible: Vec<_> =
            all.iter().filter(|it| it.is_possible(&record, &intent)).collect();
        let mut chosen: Vec<&'static Mistake> = (0..n_mistakes)
            .map(|_| *possible[rng.random_range(0..possible.len())])
            .collect();
        chosen.sort_by_key(|it| it.step);
        chosen.dedup();
        if chosen.len() < n_mistakes {
            continue;
        }
        let Some(record) = given(&record, &intent, &chosen, precision) else { continue };
        let diagnosis = diagnose(&record, &intent).unwrap();
        // What is told may give the same numbers, and a mistake may be told as another number.
        let of = |set: &[&Mistake]| computed(&record, &intent, State::Output, set);
        let is_same = |set: &[&Mistake]| {
            let both = of(set).zip(of(&chosen));
            both.and_then(|(own, made)| apart(&own, &made)).is_some_and(|it| it < 1e-9)
        };
        let is_found = diagnosis.explanations.iter().any(|set| {
            let told = set.len() + usize::from(diagnosis.number.is_some());
            let is_part = set.iter().all(|it| chosen.contains(it));
            is_same(set) || told == chosen.len() && is_part
        });
        if diagnosis.verdict != Verdict::Mistake {
            unknown += 1;
        } else if is_found {
            named += 1;
        } else {
            let names: Vec<&str> = chosen.iter().map(|it| it.id).collect();
            wrong.push(format!("seed {seed}: {names:?}: {:?}", ids(&diagnosis)));
        }
    }
    (named, unknown, wrong)
}

#[test]
fn of_two_mistakes_most_are_named_and_none_wrongly() {
    let (named, unknown, wrong) = found(60, 2, Precision::F32);
    println!("{named} named, {unknown} unknown");
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
    assert!(named * 8 >= 60 * 6, "{named} of 60 named");
}

#[test]
fn one_mistake_is_named_in_half_precision() {
    for precision in [Precision::F16, Precision::BF16] {
        let (named, unknown, wrong) = found(100, 1, precision);
        println!("{precision:?}: {named} named, {unknown} unknown, {}", wrong.join("\n"));
        assert!(wrong.is_empty(), "{}", wrong.join("\n"));
        assert!(named >= 95, "{precision:?}: {named} of 100 named");
    }
}
