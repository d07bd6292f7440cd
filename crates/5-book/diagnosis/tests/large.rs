//! Large layers, and how long they take: one of source 004's sizes, and one of a page's.

mod common;

use std::time::Instant;

use attention::{Matrix, Rng, SeedableRng, random_matrix};
use common::{ids, self_attention, stored};
use diagnosis::{Diagnosis, Precision, Verdict, mistake};

/// A random layer with these mistakes, or with noise that none explains. How long it took is
/// printed.
fn timed(sizes: [usize; 4], ids: &[&str]) -> Diagnosis {
    let rng = &mut Rng::seed_from_u64(1);
    let layer = self_attention(sizes, rng);
    let mistakes: Vec<_> = ids.iter().filter_map(|id| mistake(id)).collect();
    let mut output = layer.output(&mistakes).unwrap();
    if ids == ["noise"] {
        let noise =
            |m: &mut Matrix| *m += 0.3 * random_matrix(sizes[1], sizes[2], 1.0, rng);
        output.iter_mut().for_each(noise);
    }
    let start = Instant::now();
    let diagnosis = layer.diagnosed(stored(output, Precision::F32));
    let seconds = start.elapsed().as_secs_f64();
    println!("{sizes:?} {ids:?}: {seconds:.1} s, {:?}", diagnosis.verdict);
    diagnosis
}

const PAIR: [&str; 2] = ["split-without-transpose", "not-scaled"];

#[test]
fn two_mistakes_in_a_layer_of_a_page_are_found() {
    assert_eq!(ids(&timed([2, 32, 128, 8], &PAIR)), [PAIR]);
}

#[test]
#[ignore = "a minute"]
fn two_mistakes_in_a_batch_are_found() {
    for mistakes in [&["scaled-by-d-model"][..], &PAIR] {
        assert_eq!(ids(&timed([32, 100, 512, 8], mistakes)), [mistakes]);
    }
    assert_eq!(timed([32, 100, 512, 8], &["noise"]).verdict, Verdict::Unknown);
}
