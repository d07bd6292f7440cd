//! Latent attention against layers that know nothing of a latent row.

use attention::{MultiHeadAttention, SeedableRng, max_abs_diff};

use super::*;
use crate::Pairing;

const D_MODEL: usize = 12;

fn sizes(d_rotary: usize) -> LatentSizes {
    let dims = Dims::with_head_sizes(D_MODEL, 3, 4, 5).unwrap();
    LatentSizes { dims, d_latent: 7, d_rotary }
}

fn layer(d_rotary: usize) -> LatentAttention {
    let rotary = match d_rotary {
        0 => Rotary::still(Pairing::Halves),
        n => Rotary::new(Pairing::Halves, n, 100.0).unwrap(),
    };
    LatentAttention::random(sizes(d_rotary), rotary, &mut Rng::seed_from_u64(1)).unwrap()
}

fn tokens() -> Matrix {
    random_matrix(9, D_MODEL, 1.0, &mut Rng::seed_from_u64(2))
}

/// The largest difference in outputs and maps.
fn apart(a: &Attended, b: &Attended) -> f64 {
    let maps = a.attn.iter().zip(&b.attn).map(|(a, b)| max_abs_diff(a, b).unwrap());
    maps.fold(max_abs_diff(&a.out, &b.out).unwrap(), f64::max)
}

#[test]
fn a_plain_layer_whose_keys_and_values_factor_is_the_same() {
    for d_rotary in [0, 2, 4] {
        let layer = layer(d_rotary);
        let plain = layer.plain().unwrap().self_attend(&tokens(), &Mask::Causal).unwrap();
        let latent = layer.self_attend(&tokens(), &Mask::Causal).unwrap();
        let difference = apart(&latent, &plain);
        println!("{d_rotary} rotated: {difference:.1e} from the plain layer");
        assert!(difference <= 1e-12, "{d_rotary}: {difference:e}");
    }
}

#[test]
fn absorbed_and_token_by_token_is_the_whole_pass() {
    for d_rotary in [0, 2, 4] {
        let layer = layer(d_rotary);
        let whole = layer.self_attend(&tokens(), &Mask::Causal).unwrap();
        for chunks in [vec![9], vec![1; 9], vec![4, 1, 4]] {
            let cache = &mut layer.cache();
            let mut first = 0;
            for n in chunks {
                let new = tokens().rows(first, n).into_owned();
                let found = layer.forward_cached(&new, cache).unwrap();
                let seen =
                    |map: &Matrix| map.view((first, 0), (n, first + n)).into_owned();
                let expected = Attended {
                    out: whole.out.rows(first, n).into_owned(),
                    attn: whole.attn.iter().map(seen).collect(),
                };
                let difference = apart(&found, &expected);
                assert!(difference <= 1e-12, "{d_rotary}: {difference:e}");
                first += n;
            }
            assert_eq!(cache.bytes(), 9 * (7 + d_rotary) * 8);
        }
    }
}

/// The fault that decoupling is for: rotated keys cannot be made of the product that was
/// absorbed at distance 0.
#[test]
fn a_rotation_between_the_two_products_cannot_be_absorbed() {
    let LatentWeights { w_q, w_up_k, .. } = layer(0).weights;
    let rotary = Rotary::new(Pairing::Halves, 4, 100.0).unwrap();
    let absorbed = |distance: i64| {
        let mut w_k = w_up_k.columns(0, 4).into_owned();
        rotary.rotate(&mut w_k, 4, &[distance; 7]).unwrap();
        w_q.columns(0, 4) * w_k.transpose()
    };
    let apart = (absorbed(1) - absorbed(0)).norm() / absorbed(0).norm();
    assert!(apart > 0.3, "{apart}");
}

#[test]
fn the_count_is_that_of_the_products() {
    let (n, h, d_k, d_v, d_c, d_r) = (50, 3, 4, 5, 7, 2);
    let token = sizes(d_r).next_token(n);
    let projections = D_MODEL * (h * (d_k + d_r) + d_c + d_r) + h * d_v * D_MODEL;
    let up = h * d_k * d_c + h * d_c * d_v;
    let pairs = h * n * (d_c + d_r) + h * n * d_c;
    assert_eq!(token.multiply_adds as usize, projections + up + pairs);
    assert_eq!(token.weights as usize, projections + up);
    assert_eq!(token.cached as usize, n * (d_c + d_r));
}

#[test]
fn what_does_not_fit_is_refused_with_its_numbers() {
    let rotary = Rotary::new(Pairing::Halves, 4, 100.0).unwrap();
    let weights = layer(2).weights;
    let refused = LatentAttention::new(sizes(2), weights.clone(), rotary.clone());
    insta::assert_snapshot!(refused.unwrap_err(), @"the list of rotated entries has 4 entries, expected 2");
    let refused = LatentAttention::new(sizes(4), weights, rotary);
    insta::assert_snapshot!(refused.unwrap_err(), @"w_q_rotary has shape (12, 6), expected (12, 12)");
    let refused = layer(2).self_attend(&Matrix::zeros(3, 5), &Mask::None);
    insta::assert_snapshot!(refused.unwrap_err(), @"the tokens has shape (3, 5), expected (3, 12)");
    let cache = &mut layer(4).cache();
    let refused = layer(2).forward_cached(&tokens(), cache);
    insta::assert_snapshot!(refused.unwrap_err(), @"the keys for the cache has shape (9, 2), expected (9, 4)");
}
