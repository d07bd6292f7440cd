//! Two mistakes at once, and one in half precision: by the output alone.

mod common;

use attention::{Matrix, Rng, SeedableRng};
use common::{Layer, apart, ids, size, stored};
use diagnosis::{EmptyRow, Mistake, Precision, State, Verdict};
use rand::RngExt;

/// A layer with these mistakes, stored in a precision; nothing where they do not show.
fn given(layer: &Layer, mistakes: &[&Mistake], precision: Precision) -> Option<Layer> {
    let wrong = layer.output_with(mistakes, EmptyRow::Zeros)?;
    let size = size(&wrong);
    // Of each without the other, and of the right one.
    let without = |left_out: &Mistake| -> Vec<&Mistake> {
        mistakes.iter().copied().filter(|it| *it != left_out).collect()
    };
    let share = if precision == Precision::F32 { 1e-2 } else { 0.1 };
    let mut others = Vec::new();
    for empty_row in [EmptyRow::Zeros, EmptyRow::Even, EmptyRow::Unmasked] {
        others.push(layer.output_with(&[], empty_row)?);
        for mistake in mistakes {
            others.push(layer.output_with(&without(mistake), empty_row)?);
        }
    }
    let is_far =
        |other: &Vec<Matrix>| apart(&wrong, other).is_none_or(|it| it > share * size);
    if !others.iter().all(is_far) || !size.is_finite() || size < 1e-6 {
        return None;
    }
    let mut layer = layer.clone();
    layer.record.precision = precision;
    layer.record.tensors.insert(State::Output, stored(wrong, precision));
    Some(layer)
}

/// Random mistakes in random layers, and how many are found, not found, or named wrongly.
fn found(
    n: usize,
    n_mistakes: usize,
    precision: Precision,
) -> (usize, usize, Vec<String>) {
    let (mut named, mut unknown, mut wrong, mut seed) = (0, 0, Vec::new(), 0);
    while named + unknown + wrong.len() < n {
        seed += 1;
        let rng = &mut Rng::seed_from_u64(1_000 + seed);
        let mut layer = common::random_layer(rng);
        layer.record.inputs = layer.record.inputs.map(|it| stored(it, precision));
        let possible = layer.possible();
        let mut one = |_| possible[rng.random_range(0..possible.len())];
        let mut chosen: Vec<&Mistake> = (0..n_mistakes).map(&mut one).collect();
        chosen.sort_by_key(|it| it.step);
        chosen.dedup();
        if chosen.len() < n_mistakes {
            continue;
        }
        let Some(layer) = given(&layer, &chosen, precision) else { continue };
        let diagnosis = layer.diagnosis();
        // What is told may give the same numbers, and a mistake may be told as another number.
        let is_same = |set: &[&Mistake]| {
            let both = layer.output(set).zip(layer.output(&chosen));
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
