//! The backward pass against differences, and what has none.

use attention::{Batch, Dims, Mask, Matrix, Rng, SeedableRng, random_matrix};

use super::*;
use crate::{Alibi, Pairing, Rotary, Sizes, SoftCap, Window};
use gradients::Entries;

fn rng() -> Rng {
    Rng::seed_from_u64(1)
}

fn layer(n_kv_heads: usize, changes: Changes) -> VariantAttention {
    let sizes =
        Sizes::new(Dims::with_head_sizes(6, 4, 4, 3).unwrap(), n_kv_heads).unwrap();
    VariantAttention::random(sizes, true, changes, &mut rng()).unwrap()
}

fn changes() -> [Changes; 3] {
    let rotary = Some(Rotary::new(Pairing::Pairs, 4, 10.0).unwrap());
    let alibi = Some(Alibi::new(4).unwrap());
    let window = Some(Window::last(3).unwrap());
    [
        Changes::default(),
        Changes { rotary, ..Changes::default() },
        Changes { alibi, window, ..Changes::default() },
    ]
}

#[test]
fn gradients_are_those_of_central_differences() {
    let step = 1e-5;
    let mut largest = 0.0f64;
    let weights = random_matrix(2 * 5, 6, 1.0, &mut rng());
    let tokens = random_matrix(2 * 5, 6, 1.0, &mut rng());
    let loss = |layer: &VariantAttention, x: &Matrix| {
        let x = Batch::new(2, x.clone()).unwrap();
        let pass = VariantPass::forward(layer, &x, &x, &Mask::Causal).unwrap();
        pass.out().dot(&weights)
    };
    for changes in changes() {
        for n_kv_heads in [1, 2, 4] {
            let mut layer = layer(n_kv_heads, changes.clone());
            let x = Batch::new(2, tokens.clone()).unwrap();
            let pass = VariantPass::forward(&layer, &x, &x, &Mask::Causal).unwrap();
            let found = pass.backward(&weights).unwrap();
            for part in 0..found.entries().len() {
                for at in [0, found.entries()[part].len() / 2] {
                    let mut moved = |by: f64| {
                        layer.entries_mut()[part][at] += by;
                        let loss = loss(&layer, &tokens);
                        layer.entries_mut()[part][at] -= by;
                        loss
                    };
                    let expected = (moved(step) - moved(-step)) / (2.0 * step);
                    largest = largest.max((found.entries()[part][at] - expected).abs());
                }
            }
            let d_x = &found.d_query + &found.d_key;
            for at in [0, 17, 59] {
                let moved = |by: f64| {
                    let mut x = tokens.clone();
                    x[at] += by;
                    loss(&layer, &x)
                };
                let expected = (moved(step) - moved(-step)) / (2.0 * step);
                largest = largest.max((d_x[at] - expected).abs());
            }
        }
    }
    println!("gradients of changed layers against differences: {largest:.1e}");
    assert!(largest < 1e-8, "{largest:e}");
}

/// A key bias adds the same to all scores of a row, and so it learns nothing. Rotated by the
/// key's position it does not, and it learns.
#[test]
fn a_key_bias_learns_where_it_is_rotated_and_nowhere_else() {
    let weights = random_matrix(7, 6, 1.0, &mut rng());
    let x = Batch::new(1, random_matrix(7, 6, 1.0, &mut rng())).unwrap();
    for changes in changes() {
        let is_rotated = changes.rotary.is_some();
        let layer = layer(2, changes);
        let pass = VariantPass::forward(&layer, &x, &x, &Mask::Causal).unwrap();
        let found = pass.backward(&weights).unwrap();
        let [of_queries, of_keys] = [1, 3].map(|bias| {
            found.entries()[bias].iter().fold(0.0, |most: f64, d| most.max(d.abs()))
        });
        match is_rotated {
            true => assert!(of_keys > 0.1 * of_queries, "{of_keys:e} {of_queries:e}"),
            false => assert!(of_keys < 1e-12 * of_queries, "{of_keys:e} {of_queries:e}"),
        }
    }
}

#[test]
fn what_is_not_gone_back_through_is_refused() {
    let soft_cap = Some(SoftCap::new(30.0).unwrap());
    let layer = layer(2, Changes { soft_cap, ..Changes::default() });
    let x = Batch::new(1, Matrix::zeros(3, 6)).unwrap();
    let refused = VariantPass::forward(&layer, &x, &x, &Mask::None).unwrap_err();
    insta::assert_snapshot!(refused, @"the backward pass of the soft cap is not written: train without it");
    let plain = self::layer(2, Changes::default());
    let two = Batch::new(3, Matrix::zeros(3, 6)).unwrap();
    let refused = VariantPass::forward(&plain, &x, &two, &Mask::None).unwrap_err();
    insta::assert_snapshot!(refused, @"the list of key sequences has 3 entries, expected 1");
}
