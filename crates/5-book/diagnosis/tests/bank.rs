//! Every mistake of the bank, in many random layers: it is named, or is in the group of those
//! that give the same numbers.

mod common;

use std::collections::BTreeMap;
use std::thread;

use attention::{Matrix, Rng, SeedableRng};
use diagnosis::{
    EmptyRow, Intent, Mistake, Precision, State, Verdict, bank, computed, diagnose,
};

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
    if wrong.len() != right.len() || wrong[0].shape() != right[0].shape() {
        return true;
    }
    let apart: f64 = wrong.iter().zip(right).map(|(a, b)| (a - b).norm_squared()).sum();
    let size: f64 = right.iter().map(|m| m.norm_squared()).sum();
    let is_nan = right.iter().any(|m| m.iter().any(|x| x.is_nan()));
    is_nan || apart.is_finite() && apart > SHOWS * SHOWS * size
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
            let intent = Intent { empty_row, ..intent.clone() };
            computed(&record, &intent, State::Output, mistakes)
        };
        let Some(mut wrong) = of(&[mistake], EmptyRow::Zeros) else { continue };
        // Right code gives any of these to a query without a key.
        let rights = EmptyRow::ALL.map(|empty_row| of(&[], empty_row).expect("a layer"));
        if !rights.iter().all(|right| shows(&wrong, right)) {
            continue;
        }
        // Zeros alone are no evidence of a mistake.
        if wrong.iter().all(|m| m.iter().all(|&x| x == 0.0)) {
            continue;
        }
        wrong.iter_mut().for_each(|m| m.apply(|x| *x = f64::from(*x as f32)));
        record.tensors.insert(State::Output, wrong);
        record.precision = Precision::F32;
        let diagnosis = diagnose(&record, &intent).expect("shapes that fit");
        named.layers += 1;
        let sets = &diagnosis.explanations;
        let is_in_group = sets.iter().any(|set| set[..] == [mistake]);
        if diagnosis.verdict != Verdict::Mistake || !is_in_group {
            let ids: Vec<Vec<&str>> =
                sets.iter().map(|set| set.iter().map(|it| it.id).collect()).collect();
            let distance = diagnosis.tensors[0].distance;
            let nearest = diagnosis.nearest.as_ref();
            let nearest: Option<(Vec<&str>, f64)> = nearest.map(|it| {
                (it.mistakes.iter().map(|it| it.id).collect(), it.distance.rms)
            });
            named.wrong.push(format!(
                "seed {seed}: {:?} {ids:?} {distance:?}, nearest {nearest:?}",
                diagnosis.verdict
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
        let with = if with.is_empty() {
            String::new()
        } else {
            format!(", with {}", with.join(", "))
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
