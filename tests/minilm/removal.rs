//! What the vector of a sentence loses without heads.
//!
//! Fixed before: a head *matters* if its removal alone costs more than .01 on average over
//! the sentences; an order of removal is *better than chance* if with half of all heads gone
//! it has lost less than each of five random orders.

use std::fmt::Write;

use attention::{LayerParameters, Rng, SeedableRng};
use encoders::{Removal, Sequence, Study};
use fused_heads::FusedAttention;
use rand::RngExt;
use rayon::prelude::*;

use super::{minilm, texts};
use crate::quote::{assert_quote, values};

const N_SENTENCES: usize = 20;
const MATTERS: f64 = 0.01;
const STEP: usize = 12;

type Head = (usize, usize);

#[test]
fn heads_that_can_be_removed() {
    let Some(parameters) = minilm() else { return };
    let sequences: Vec<Sequence> = texts("sentence")
        .into_iter()
        .take(N_SENTENCES)
        .map(|text| text.sequence)
        .collect();
    let stage = |p: &LayerParameters<f32>| FusedAttention::new(p);
    let study = Study::new(parameters, &stage, &sequences).unwrap();
    let (n_layers, n_heads) =
        (parameters.config.n_layers, parameters.config.dims.n_heads());
    let heads: Vec<Head> =
        (0..n_layers).flat_map(|l| (0..n_heads).map(move |i| (l, i))).collect();

    let mut found = vec![("removal_sentences".to_owned(), sequences.len().to_string())];
    let (mut singles, mut curves) = (String::new(), String::new());
    for (name, how) in [("zero", Removal::Zero), ("mean", Removal::Mean)] {
        let loss = |gone: &[Head]| study.loss(gone, how).unwrap();
        let single: Vec<f64> = heads.par_iter().map(|head| loss(&[*head])).collect();
        let _ = write!(singles, "{name:<6}");
        (0..n_heads).for_each(|i| drop(write!(singles, "{i:>7}")));
        for (l, layer) in single.chunks(n_heads).enumerate() {
            let _ = write!(singles, "\n{l:>5} ");
            layer.iter().for_each(|loss| drop(write!(singles, "{loss:>7.4}")));
        }
        singles += "\n\n";

        let mut by_importance: Vec<usize> = (0..heads.len()).collect();
        by_importance.sort_by(|&a, &b| single[a].total_cmp(&single[b]));
        let mut orders = vec![by_importance.clone()];
        orders.extend((0..5).map(|seed| shuffled(heads.len(), seed)));
        let steps: Vec<usize> = (1..=heads.len() / STEP).map(|i| i * STEP).collect();
        let jobs: Vec<(usize, usize)> = (0..orders.len())
            .flat_map(|order| steps.iter().map(move |&n| (order, n)))
            .collect();
        let lost = jobs.par_iter().map(|&(order, n)| {
            let gone: Vec<Head> = orders[order][..n].iter().map(|&i| heads[i]).collect();
            loss(&gone)
        });
        let lost: Vec<f64> = lost.collect();
        let _ = write!(curves, "{name:<12}");
        steps.iter().for_each(|n| drop(write!(curves, "{n:>7}")));
        for (order, curve) in lost.chunks(steps.len()).enumerate() {
            let label = match order {
                0 => "least first".to_owned(),
                seed => format!("random {}", seed - 1),
            };
            let _ = write!(curves, "\n{label:<12}");
            curve.iter().for_each(|loss| drop(write!(curves, "{loss:>7.3}")));
        }
        curves += "\n\n";

        let half = steps.len() / 2 - 1;
        let at_half: Vec<f64> =
            lost.chunks(steps.len()).map(|curve| curve[half]).collect();
        let random = &at_half[1..];
        let smallest = random.iter().copied().fold(f64::INFINITY, f64::min);
        let largest = random.iter().copied().fold(0.0, f64::max);
        let matter = single.iter().filter(|&&loss| loss > MATTERS).count();
        let worst = by_importance[heads.len() - 1];
        let (layer, head) = heads[worst];
        for (what, value) in [
            ("matter", matter.to_string()),
            ("worst", format!("{layer}.{head}")),
            ("worst_loss", format!("{:.3}", single[worst])),
            ("half_least", format!("{:.3}", at_half[0])),
            ("half_random_least", format!("{smallest:.3}")),
            ("half_random_most", format!("{largest:.3}")),
        ] {
            found.push((format!("removal_{name}_{what}"), value));
        }
    }
    assert_quote!("minilm_removal", singles.trim_end());
    assert_quote!("minilm_removal_orders", curves.trim_end());
    assert_quote!("minilm_removal_values", values(&found));
}

/// 0 to n − 1 in a random order.
fn shuffled(n: usize, seed: u64) -> Vec<usize> {
    let rng = &mut Rng::seed_from_u64(seed);
    let mut order: Vec<usize> = (0..n).collect();
    for last in (1..n).rev() {
        order.swap(last, rng.random_range(0..=last));
    }
    order
}
