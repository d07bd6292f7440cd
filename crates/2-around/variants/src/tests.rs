//! What is true of each change, and of all of them together.

mod by_definition;

use attention::{
    Dims, Mask, Matrix, MultiHeadAttention, Rng, SeedableRng, max_abs_diff,
    random_matrix, softmax_rows,
};

use super::*;

const N_HEADS: usize = 4;
const D_K: usize = 6;

fn rng() -> Rng {
    Rng::seed_from_u64(1)
}

/// Each change by itself, some pairs, and all at once.
fn every_change() -> Vec<(&'static str, Changes)> {
    let none = Changes::default;
    let rng = &mut rng();
    let norm = QkNorm {
        q: random_matrix(1, D_K, 1.0, rng).row(0).into_owned(),
        ..QkNorm::identity(D_K)
    };
    let rotary = |pairing, n| Some(Rotary::new(pairing, n, 100.0).unwrap());
    let alibi = Some(Alibi::new(N_HEADS).unwrap());
    let table = random_matrix(6, N_HEADS, 1.0, rng);
    let relative = Some(RelativeBias::new(table, 8, true).unwrap());
    let soft_cap = Some(SoftCap::new(0.5).unwrap());
    let window = Window::last(4).unwrap();
    let sinks = Some(Window { n_sinks: 2, ..window });
    let sink = Some(Sink { scores: vec![0.5, -1.0, 0.0, 2.0] });
    let window = Some(window);
    let all = Changes {
        norm: Some(norm.clone()),
        rotary: rotary(Pairing::Pairs, 4),
        scale: Some(0.7),
        soft_cap,
        alibi: alibi.clone(),
        relative: relative.clone(),
        window: sinks,
        sink: sink.clone(),
    };
    vec![
        ("nothing", none()),
        ("norm", Changes { norm: Some(norm), ..none() }),
        ("rotary, halves", Changes { rotary: rotary(Pairing::Halves, D_K), ..none() }),
        ("rotary, pairs", Changes { rotary: rotary(Pairing::Pairs, D_K), ..none() }),
        ("rotary, partial", Changes { rotary: rotary(Pairing::Halves, 2), ..none() }),
        ("scale", Changes { scale: Some(0.1), ..none() }),
        ("soft cap", Changes { soft_cap, ..none() }),
        ("ALiBi", Changes { alibi, ..none() }),
        ("relative positions", Changes { relative, ..none() }),
        ("window", Changes { window, ..none() }),
        ("window with sinks", Changes { window: sinks, ..none() }),
        ("learned sink", Changes { sink, ..none() }),
        ("all", all),
    ]
}

fn layer(n_kv_heads: usize, changes: Changes) -> VariantAttention {
    let dims = Dims::with_head_sizes(10, N_HEADS, D_K, 5).unwrap();
    let sizes = Sizes::new(dims, n_kv_heads).unwrap();
    VariantAttention::random(sizes, true, changes, &mut rng()).unwrap()
}

#[test]
fn token_by_token_with_a_cache_is_the_whole_pass() {
    let x = random_matrix(13, 10, 1.0, &mut rng());
    let mut largest = 0.0f64;
    for (name, changes) in every_change() {
        for n_kv_heads in [1, 2, 4] {
            let layer = layer(n_kv_heads, changes.clone());
            let whole = layer.self_attend(&x, &Mask::Causal).unwrap();
            for chunks in [vec![1; 13], vec![6, 1, 5, 1], vec![13]] {
                let cache = &mut layer.cache();
                let mut first = 0;
                for n in chunks {
                    let new = x.rows(first, n).into_owned();
                    let said = layer.forward_cached(&new, cache).unwrap();
                    let expected = whole.out.rows(first, n).into_owned();
                    let diff = max_abs_diff(&said.out, &expected).unwrap();
                    for (map, whole) in said.attn.iter().zip(&whole.attn) {
                        let columns = cache.positions().iter().map(|&at| at as usize);
                        let columns: Vec<usize> = columns.collect();
                        let seen = whole.rows(first, n).select_columns(&columns);
                        let apart = max_abs_diff(map, &seen).unwrap();
                        assert!(apart <= 1e-12, "{name}, map: {apart:e}");
                    }
                    assert!(diff <= 1e-12, "{name}, {n_kv_heads}: {diff:e}");
                    (largest, first) = (largest.max(diff), first + n);
                }
                assert_eq!(cache.n_seen(), 13);
            }
        }
    }
    println!("cache against the whole pass: {largest:.1e}");
}

#[test]
fn a_windowed_cache_stays_small() {
    let window = Some(Window { n_sinks: 1, ..Window::last(4).unwrap() });
    let layer = layer(2, Changes { window, ..Changes::default() });
    let cache = &mut layer.cache();
    for _ in 0..20 {
        layer.forward_cached(&random_matrix(1, 10, 1.0, &mut rng()), cache).unwrap();
    }
    assert_eq!(cache.positions(), [0, 16, 17, 18, 19]);
    assert_eq!(cache.bytes(), 5 * 2 * (6 + 5) * 8);
}

#[test]
fn rotated_scores_depend_on_the_distance_alone() {
    let [q, k] = [0, 1].map(|_| random_matrix::<f64>(1, D_K, 1.0, &mut rng()));
    let mut largest = 0.0f64;
    for pairing in [Pairing::Halves, Pairing::Pairs] {
        for n_rotated in [2, 4, D_K] {
            let rotary = Rotary::new(pairing, n_rotated, 10_000.0).unwrap();
            let score = |i: i64, j: i64| {
                let [mut q, mut k] = [q.clone(), k.clone()];
                rotary.rotate(&mut q, D_K, &[i]).unwrap();
                rotary.rotate(&mut k, D_K, &[j]).unwrap();
                q.dot(&k)
            };
            for distance in [0, 1, 7, 500] {
                for j in [0, 3, 1000] {
                    let apart = (score(j + distance, j) - score(distance, 0)).abs();
                    largest = largest.max(apart);
                }
            }
            assert!((score(1, 0) - score(0, 0)).abs() > 1e-3, "it depends on nothing");
        }
    }
    println!("scores at one distance: {largest:.1e} apart");
    assert!(largest <= 1e-12, "{largest:e}");
}

#[test]
fn pairs_are_halves_with_the_columns_in_another_order() {
    let x = random_matrix::<f64>(5, 2 * D_K, 1.0, &mut rng());
    let at = [0, 1, 2, 3, 40];
    let rotated = |pairing, mut x: Matrix| {
        let rotary = Rotary::new(pairing, D_K, 100.0).unwrap();
        rotary.rotate(&mut x, D_K, &at).unwrap();
        x
    };
    let order = [0, 3, 1, 4, 2, 5, 6, 9, 7, 10, 8, 11]; // halves, in the places of pairs
    let in_pairs = rotated(Pairing::Pairs, x.select_columns(&order));
    assert_eq!(in_pairs, rotated(Pairing::Halves, x.clone()).select_columns(&order));
    assert_ne!(rotated(Pairing::Pairs, x.clone()), rotated(Pairing::Halves, x));
}

#[test]
fn heads_that_share_read_what_copies_would_give_them() {
    let shared = layer(2, Changes::default());
    let [w_q, w_k, w_v, w_o] = shared.projections().clone();
    let repeated = |linear: &attention::Linear, width: usize| {
        let columns = (0..N_HEADS)
            .flat_map(|head| (head / 2 * width..).take(width))
            .collect::<Vec<_>>();
        let bias = linear.bias.as_ref().map(|bias| bias.select_columns(&columns));
        attention::Linear { weight: linear.weight.select_columns(&columns), bias }
    };
    let sizes = Sizes::new(shared.dims(), N_HEADS).unwrap();
    let projections = [w_q, repeated(&w_k, D_K), repeated(&w_v, 5), w_o];
    let copied = VariantAttention::new(sizes, projections, Changes::default()).unwrap();
    let x = random_matrix(7, 10, 1.0, &mut rng());
    let [a, b] = [shared, copied].map(|it| it.self_attend(&x, &Mask::Causal).unwrap());
    assert_eq!(a, b);
}

#[test]
fn a_sink_is_a_key_with_value_0_also_under_numbers_that_a_mask_adds() {
    let scores = random_matrix::<f64>(3, 4, 2.0, &mut rng());
    let added = Matrix::from_fn(3, 4, |i, j| -1e3 * i as f64 - j as f64);
    let sink = Sink { scores: vec![-1e3] };
    let mask = Mask::Additive(added.clone());
    let attn = sink.softmax_rows(0, mask.apply(scores.clone()), &mask);
    let expected = softmax_rows((scores + added).insert_column(4, -1e3));
    let diff = max_abs_diff(&attn, &expected.remove_column(4)).unwrap();
    assert!(diff <= 1e-12, "{diff:e}");
    assert!(attn.row(0).sum() > 0.999 && attn.row(2).sum() < 1e-6, "{attn}");
}

#[test]
fn what_is_blocked_gets_nothing_under_a_cap_too() {
    let soft_cap = Some(SoftCap::new(1.0).unwrap());
    let layer = layer(4, Changes { soft_cap, ..Changes::default() });
    let x = random_matrix(5, 10, 30.0, &mut rng());
    for map in layer.self_attend(&x, &Mask::Causal).unwrap().attn {
        assert_eq!(map[(0, 1)], 0.0);
        assert!(map[(4, 0)] > 0.02, "scores within ±1 cannot be so far apart: {map}");
    }
}

#[test]
fn slopes_are_those_of_the_paper() {
    assert_eq!(Alibi::new(8).unwrap().slopes[..3], [0.5, 0.25, 0.125]);
    // Bloom's code for 12 heads: 8 slopes, and four of the 16.
    let twelve = Alibi::new(12).unwrap().slopes;
    let expected = [0.5f64.sqrt(), 0.5f64.powf(1.5), 0.5f64.powf(2.5), 0.5f64.powf(3.5)];
    for (slope, expected) in twelve[8..].iter().zip(expected) {
        assert!((slope - expected).abs() < 1e-15, "{twelve:?}");
    }
}

#[test]
fn what_does_not_fit_is_refused_with_its_numbers() {
    let refused = |changes| {
        let layer = layer(2, Changes::default());
        layer.with_changes(changes).unwrap_err()
    };
    let none = Changes::default;
    insta::assert_snapshot!(Groups::new(9, 2).unwrap_err(), @"9 query heads cannot be shared out among 2 heads of keys and values: 9 = 2 × 4 + 1");
    insta::assert_snapshot!(Groups::new(9, 0).unwrap_err(), @"n_kv_heads is 0, and must be at least 1");
    insta::assert_snapshot!(Window::last(0).unwrap_err(), @"a window of 0 tokens: a token sees itself at least, so 1 is the smallest");
    insta::assert_snapshot!(SoftCap::new(f64::NAN).unwrap_err(), @"the soft cap is NaN, and must be a number above 0");
    insta::assert_snapshot!(Rotary::new(Pairing::Pairs, 3, 1e4).unwrap_err(), @"3 entries of a head cannot be rotated: it must be an even number above 0");
    let rotary = Some(Rotary::new(Pairing::Pairs, 8, 1e4).unwrap());
    insta::assert_snapshot!(refused(Changes { rotary, ..none() }), @"8 entries of a head were to be rotated, and it has 6");
    insta::assert_snapshot!(refused(Changes { scale: Some(-1.0), ..none() }), @"the scale is -1, and must be a number above 0");
    let alibi = Some(Alibi { slopes: vec![0.5] });
    insta::assert_snapshot!(refused(Changes { alibi, ..none() }), @"the list of slopes has 1 entries for 4 heads: give one per head");
    let norm = Some(QkNorm::identity(5));
    insta::assert_snapshot!(refused(Changes { norm, ..none() }), @"the gains of the queries has shape (1, 5), expected (1, 6)");

    let mut cache: Cache = Cache::new([12, 5]);
    let row = |width| Matrix::zeros(1, width);
    insta::assert_snapshot!(cache.append(&row(6), &row(5)).unwrap_err(), @"the keys for the cache has shape (1, 6), expected (1, 12)");
    insta::assert_snapshot!(cache.append(&row(12), &Matrix::zeros(2, 5)).unwrap_err(), @"key has 1 tokens and value has 2: each key needs its value");
    assert_eq!(cache, Cache::new([12, 5]));
}
