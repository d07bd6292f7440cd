//! Controls of the studies fire on what is planted in a tiny model, and not on noise.

use attention::{Mask, Matrix};
use model_files::Sequence;
use variants::{Entries, Positions, Window};

use super::tiny;
use crate::decoders::AsRead;
use crate::decoders::study::window_with_others;

const N_TOKENS: usize = 24;
const N_HEADS: usize = 4;

/// Different ids.
fn ids(from: usize) -> Vec<usize> {
    (0..N_TOKENS).map(|t| (from + 5 * t) % 97).collect()
}

/// The mean change of the losses of the later half of a text.
fn apart(a: &[f64], b: &[f64]) -> f64 {
    let later = a.iter().zip(b).skip(N_TOKENS / 2);
    later.map(|(a, b)| (a - b).abs()).sum::<f64>() / (N_TOKENS / 2) as f64
}

/// All heads of all layers attend to the first token, whatever else there is.
fn with_a_sink(ids: &[usize]) -> AsRead {
    let mut planted: AsRead = tiny("gpt2-1");
    for layer in 0..planted.blocks.len() {
        let pass = planted.forward(&Sequence::new(ids.to_vec())).unwrap();
        let block = &mut planted.blocks[layer];
        let norm = block.attention.norms.before.as_ref().unwrap();
        let x = norm.forward(&pass.hidden[layer]).unwrap();
        let keys = block.attention.function.projections()[1].forward(&x).unwrap();
        let first = keys.row(0) - keys.row_mean(); // [h · d_k]
        let d_k = first.len() / N_HEADS;
        for head in 0..N_HEADS {
            let of_head = first.columns(head * d_k, d_k);
            let query = of_head * (100.0 / of_head.norm_squared());
            block.attention.function.entries_mut()[1][head * d_k..(head + 1) * d_k]
                .copy_from_slice(query.into_owned().as_slice());
        }
    }
    planted
}

/// What a window changes that keeps the first token, and what it changes in twenty draws of
/// another one.
fn kept(model: &AsRead, ids: &[usize]) -> (f64, Vec<f64>) {
    const WIDTH: usize = 6;
    let losses = |mask: &Mask| model.losses(ids, mask).unwrap();
    let whole = losses(&Mask::Causal);
    let window = Window { right: Some(0), n_sinks: 1, ..Window::last(WIDTH).unwrap() };
    let first = window.mask(&Positions::new(N_TOKENS, N_TOKENS));
    let of_draw = |seed| {
        let mask = window_with_others(WIDTH, 1, N_TOKENS, seed).unwrap();
        apart(&losses(&mask), &whole)
    };
    (apart(&losses(&first), &whole), (0..20).map(of_draw).collect())
}

/// Whether keeping the first token changes so much less than keeping any other one.
fn mends(model: &AsRead, ids: &[usize]) -> bool {
    let (first, others) = kept(model, ids);
    println!("first {first:.3}, others {others:.3?}");
    others.iter().all(|&other| other > 5.0 * first)
}

#[test]
fn keeping_the_first_token_mends_a_planted_sink_and_does_nothing_without_one() {
    let tiny = tiny("gpt2-1");
    // Heads of six columns cannot tell the first key of every text from all others.
    assert!(mends(&with_a_sink(&ids(1)), &ids(1)));
    for from in 1..6 {
        assert!(!mends(&tiny, &ids(from)), "text {from}");
    }
}

#[test]
fn a_window_with_others_keeps_so_many_of_the_first_window_and_not_the_first() {
    for seed in 0..20 {
        let Mask::Allowed(allowed) = window_with_others(6, 2, N_TOKENS, seed).unwrap()
        else {
            panic!("a mask of pairs");
        };
        let last = N_TOKENS - 1;
        let seen: Vec<usize> = (0..N_TOKENS).filter(|&j| allowed[(last, j)]).collect();
        assert_eq!(seen[2..], (last - 5..=last).collect::<Vec<_>>());
        assert!(seen[..2].iter().all(|j| (2..6).contains(j)), "{seen:?}");
        let ahead = Matrix::from_fn(N_TOKENS, N_TOKENS, |i, j| j > i && allowed[(i, j)]);
        assert!(ahead.iter().all(|sees| !sees));
    }
    assert!(window_with_others(0, 1, N_TOKENS, 0).is_err());
}
