//! Large layers, and how long they take: one of source 004's sizes, and one of a page's.

mod common;

use std::time::Instant;

use attention::{Dims, LayerParameters, Matrix, Rng, SeedableRng, random_matrix};
use common::ids;
use diagnosis::{
    Diagnosis, Intent, Precision, Record, State, Verdict, computed, diagnose, mistake,
};

/// A random layer with these mistakes, or with noise that none explains.
fn record(
    (batch, n, d_model, n_heads): (usize, usize, usize, usize),
    ids: &[&str],
) -> (Record, Intent) {
    let rng = &mut Rng::seed_from_u64(1);
    let dims = Dims::new(d_model, n_heads).unwrap();
    let layer = LayerParameters::random(dims, true, rng).pack();
    let sequences = (0..batch).map(|_| random_matrix(n, d_model, 1.0, rng)).collect();
    let mut record = Record::of_layer(&layer, sequences);
    record.precision = Precision::F32;
    let intent = Intent::heads(n_heads);
    let mistakes: Vec<_> = ids.iter().filter_map(|id| mistake(id)).collect();
    let mut output = computed(&record, &intent, State::Output, &mistakes).unwrap();
    if ids == ["noise"] {
        output
            .iter_mut()
            .for_each(|m| *m += 0.3 * random_matrix::<f64>(n, d_model, 1.0, rng));
    }
    let stored = |m: &Matrix| m.map(|x| f64::from(x as f32));
    record.tensors.insert(State::Output, output.iter().map(stored).collect());
    (record, intent)
}

/// How long it took is printed.
fn timed(sizes: (usize, usize, usize, usize), ids: &[&str]) -> Diagnosis {
    let (record, intent) = record(sizes, ids);
    let start = Instant::now();
    let diagnosis = diagnose(&record, &intent).unwrap();
    let seconds = start.elapsed().as_secs_f64();
    println!("{sizes:?} {ids:?}: {seconds:.1} s, {:?}", diagnosis.verdict);
    diagnosis
}

const PAIR: [&str; 2] = ["split-without-transpose", "not-scaled"];

#[test]
fn two_mistakes_in_a_layer_of_a_page_are_found() {
    assert_eq!(ids(&timed((2, 32, 128, 8), &PAIR)), [PAIR]);
}

#[test]
#[ignore = "a minute"]
fn two_mistakes_in_a_batch_are_found() {
    for mistakes in [&["scaled-by-d-model"][..], &PAIR] {
        assert_eq!(ids(&timed((32, 100, 512, 8), mistakes)), [mistakes]);
    }
    assert_eq!(timed((32, 100, 512, 8), &["noise"]).verdict, Verdict::Unknown);
}
