//! Every mistake of the bank, in many random layers: it is named, or is in the group of those
//! that give the same numbers.

mod common;

use std::collections::BTreeMap;

use attention::{Matrix, Rng, SeedableRng};
use common::{apart, ids, size, stored};
use diagnosis::{EmptyRow, Mistake, Precision, Verdict, bank};
use rayon::prelude::*;

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
        let mut layer = common::random_layer(rng);
        if !layer.possible().contains(&mistake) {
            continue;
        }
        let Some(wrong) = layer.output_with(&[mistake], EmptyRow::Zeros) else {
            continue;
        };
        // Right code gives any of these to a query without a key.
        let right = |empty_row| layer.output_with(&[], empty_row).expect("a layer");
        if !EmptyRow::ALL.map(right).iter().all(|right| shows(&wrong, right)) {
            continue;
        }
        // Zeros alone are no evidence of a mistake.
        if wrong.iter().all(|m| m.iter().all(|&x| x == 0.0)) {
            continue;
        }
        layer.record.precision = Precision::F32;
        let diagnosis = layer.diagnosed(stored(wrong, Precision::F32));
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
    let results: Vec<Named> = all.par_iter().map(|mistake| named(mistake, n)).collect();
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
