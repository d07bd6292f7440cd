//! Every mistake of the bank, in many random layers: it is named, or is in the group of those
//! that give the same numbers.

mod common;

use std::collections::BTreeMap;
use std::thread;

use attention::{Matrix, Rng, SeedableRng};
use common::{apart, diagnosed, ids, output_with, size, stored};
use diagnosis::{EmptyRow, Mistake, Precision, Verdict, bank};

/// Of this share of the spread at least is an effect that can show in float32.
const SHOWS: f64 = 2e-3;

/// What was named where one mistake was made.
#[derive(Default)]
struct Named {
    layers: usize,
    /// Alone.
    alone: usize,
    /// Others that were named with it, and how often.
    with: BTreeMap<&'static str, usize>,
    wrong: Vec<String>,
}

/// Whether they are of other shapes, or so far apart that it shows.
fn shows(wrong: &[Matrix], right: &[Matrix]) -> bool {
    let is_nan = right.iter().any(|m| m.iter().any(|x| x.is_nan()));
    let is_far = |apart: f64| apart.is_finite() && apart > SHOWS * size(right);
    apart(wrong, right).is_none_or(|apart| is_nan || is_far(apart))
}

/// A mistake in `n` random layers in which it shows.
fn named(mistake: &'static Mistake, n: usize) -> Named {
    let mut named = Named::default();
    let mut seed = 0;
    while named.layers < n && seed < 200 * n as u64 {
        seed += 1;
        let rng = &mut Rng::seed_from_u64(seed);
        let (mut record, intent) = common::random_layer(rng);
        if !mistake.is_possible(&record, &intent) {
            continue;
        }
        let of = |mistakes: &[&Mistake], empty_row| {
            output_with((&record, &intent), mistakes, empty_row)
        };
        let Some(wrong) = of(&[mistake], EmptyRow::Zeros) else { continue };
        // Right code gives any of these to a query without a key.
        let rights = EmptyRow::ALL.map(|empty_row| of(&[], empty_row).expect("a layer"));
        if !rights.iter().all(|right| shows(&wrong, right)) {
            continue;
        }
        // Zeros alone are no evidence of a mistake.
        if wrong.iter().all(|m| m.iter().all(|&x| x == 0.0)) {
            continue;
        }
        record.precision = Precision::F32;
        let diagnosis = diagnosed(&record, &intent, stored(wrong, Precision::F32));
        named.layers += 1;
        let sets = &diagnosis.explanations;
        let is_in_group = sets.iter().any(|set| set[..] == [mistake]);
        if diagnosis.verdict != Verdict::Mistake || !is_in_group {
            let distance = diagnosis.tensors[0].distance;
            let nearest = diagnosis.nearest.as_ref();
            let nearest =
                nearest.map(|it| (Mistake::names(&it.mistakes), it.distance.rms));
            named.wrong.push(format!(
                "seed {seed}: {:?} {:?} {distance:?}, nearest {nearest:?}",
                diagnosis.verdict,
                ids(&diagnosis)
            ));
        }
        if sets.len() == 1 {
            named.alone += 1;
        }
        for other in sets.iter().flatten().filter(|it| **it != mistake) {
            *named.with.entry(other.id).or_default() += 1;
        }
    }
    named
}

fn matrix(n: usize) -> (String, Vec<String>) {
    let all: Vec<&'static Mistake> = bank().collect();
    let results = thread::scope(|scope| {
        let (first, second) = all.split_at(all.len() / 2);
        let run = move |part: &[&'static Mistake]| -> Vec<Named> {
            part.iter().map(|mistake| named(mistake, n)).collect()
        };
        let first = scope.spawn(move || run(first));
        let second = run(second);
        let mut results = first.join().expect("no panic");
        results.extend(second);
        results
    });
    let mut text = String::new();
    let mut wrong = Vec::new();
    for (mistake, named) in all.iter().zip(results) {
        let with: Vec<String> =
            named.with.iter().map(|(id, times)| format!("{id} {times}")).collect();
        let Named { layers, alone, .. } = named;
        let with = match with[..] {
            [] => String::new(),
            _ => format!(", with {}", with.join(", ")),
        };
        text += &format!("{}: {alone} of {layers} alone{with}\n", mistake.id);
        wrong.extend(named.wrong.iter().map(|it| format!("{}: {it}", mistake.id)));
        if layers == 0 {
            text += "  never shows in an output\n";
        }
    }
    (text, wrong)
}

#[test]
fn each_is_named_or_in_its_group() {
    let (text, wrong) = matrix(50);
    assert!(wrong.is_empty(), "{}\n{}", wrong.len(), wrong.join("\n"));
    insta::assert_snapshot!(text);
}
