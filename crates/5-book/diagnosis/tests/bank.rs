//! Every mistake of the bank, in many random layers and in a trained one: it is named, or is in
//! the group of those that give the same numbers.

mod common;

use std::collections::BTreeMap;

use attention::{Matrix, Rng, SeedableRng};
use common::{Layer, apart, ids, said, size, stored};
use diagnosis::{EmptyRow, Intent, Mistake, Precision, Record, State, Verdict, bank};
use model_files::minilm;
use rayon::prelude::*;

/// Of this share of the spread at least is an effect that can show in float32.
const SHOWS: f64 = 2e-3;

/// Whether they are of other shapes, or so far apart that it shows.
fn shows(wrong: &[Matrix], right: &[Matrix]) -> bool {
    let is_nan = right.iter().any(|m| m.iter().any(|x| x.is_nan()));
    let is_far = |apart: f64| apart.is_finite() && apart > SHOWS * size(right);
    apart(wrong, right).is_none_or(|apart| is_nan || is_far(apart))
}

/// A random layer with a mistake that shows in it.
fn with_mistake(mistake: &'static Mistake, seed: u64) -> Option<Layer> {
    let mut layer = common::random_layer(&mut Rng::seed_from_u64(seed));
    if !layer.possible().contains(&mistake) {
        return None;
    }
    let wrong = layer.output_with(&[mistake], EmptyRow::Zeros)?;
    // Right code gives any of these to a query without a key.
    let right = |empty_row| layer.output_with(&[], empty_row).expect("a layer");
    let shows = EmptyRow::ALL.map(right).iter().all(|right| shows(&wrong, right));
    layer.record.precision = Precision::F32;
    // Zeros alone are no evidence of a mistake.
    let is_it = shows && size(&wrong) > 0.0;
    is_it.then(|| layer.with(stored(wrong, Precision::F32)))
}

/// A mistake in 50 random layers: how often it is named alone, and which others are named with
/// it; and where it is not named.
fn named(mistake: &'static Mistake) -> (String, Vec<String>) {
    let (mut n_layers, mut alone, mut wrong) = (0, 0, Vec::new());
    let mut with: BTreeMap<&str, usize> = BTreeMap::new();
    let layers =
        (1..=10_000).filter_map(|seed| Some((seed, with_mistake(mistake, seed)?)));
    for (seed, layer) in layers.take(50) {
        let diagnosis = layer.diagnosis();
        let sets = ids(&diagnosis);
        let is_in_group = sets.iter().any(|set| set[..] == [mistake.id]);
        if diagnosis.verdict != Verdict::Mistake || !is_in_group {
            wrong.push(format!("{}, seed {seed}: {}", mistake.id, said(&diagnosis)));
        }
        n_layers += 1;
        alone += usize::from(sets.len() == 1);
        for other in sets.into_iter().flatten().filter(|id| *id != mistake.id) {
            *with.entry(other).or_default() += 1;
        }
    }
    let with: Vec<String> = with.iter().map(|(id, n)| format!("{id} {n}")).collect();
    let words = match (n_layers, &with[..]) {
        (0, _) => "\n  never shows in an output".to_string(),
        (_, []) => String::new(),
        _ => format!(", with {}", with.join(", ")),
    };
    (format!("{}: {alone} of {n_layers} alone{words}\n", mistake.id), wrong)
}

#[test]
fn each_is_named_or_in_its_group() {
    let all: Vec<&'static Mistake> = bank().collect();
    let (text, wrong): (Vec<_>, Vec<_>) = all.par_iter().map(|it| named(it)).unzip();
    let wrong = wrong.concat();
    assert!(wrong.is_empty(), "{}\n{}", wrong.len(), wrong.join("\n"));
    insta::assert_snapshot!(text.concat());
}

/// The trained layer that comes with this workspace on two of its sentences, as a batch.
fn trained_layer() -> Layer {
    let layer = minilm().unwrap();
    let heads = layer.parameters.dims().n_heads();
    let of = |name: &str| layer.sentence(name).unwrap().input.rows(0, 7).into_owned();
    let sequences = vec![of("pilot"), of("river_banks")];
    let record = Record::of_layer(&layer.parameters.pack(), sequences);
    let record = Record { precision: Precision::F32, ..record };
    Layer { record, intent: Intent::heads(heads) }
}

#[test]
fn each_mistake_is_named_in_a_trained_layer() {
    let layer = trained_layer();
    let right = layer.output(&[]).unwrap();
    let mut shown = 0;
    for mistake in layer.possible() {
        let Some(wrong) = layer.output(&[mistake]) else { continue };
        let wrong = stored(wrong, Precision::F32);
        let apart = apart(&wrong, &right);
        let diagnosis = layer.diagnosed(wrong);
        let (verdict, names) = (diagnosis.verdict, ids(&diagnosis));
        if apart.is_some_and(|it| it < 1e-4) {
            assert_eq!(verdict, Verdict::Right, "{}: {names:?}", mistake.id);
            continue;
        }
        shown += 1;
        let is_named = names.contains(&vec![mistake.id]);
        assert!(is_named, "{}: {verdict:?} {names:?}", mistake.id);
    }
    println!("{shown} mistakes show");
    assert!(shown > 60, "{shown}");
}

#[test]
fn two_mistakes_are_named_with_the_tensors_between() {
    let pair = ["softmax-over-queries", "output-not-transposed"];
    let mut between = trained_layer();
    between.add(State::Attn, &pair);
    between.add(State::Output, &pair);
    let diagnosis = between.diagnosis();
    assert_eq!(diagnosis.first_difference, Some(State::Attn));
    assert_eq!(ids(&diagnosis)[0], pair);
    // Without them, by the output alone.
    let diagnosis = trained_layer().diagnosed(between.record.output().to_vec());
    assert!(ids(&diagnosis).contains(&pair.to_vec()), "{diagnosis:?}");
}
