//! Against the definition in f64, on every kind of edge.

use attention::{Mask, Matrix, Rng, SeedableRng, attend_heads, random_matrix};
use tiles::Instructions;

use super::*;

mod precision;
mod refused;

fn heads(n: [usize; 2], d: [usize; 2]) -> GroupedHeads {
    GroupedHeads::new(n, d).unwrap()
}

/// A cache of so many random tokens, appended in pieces; and its keys and values.
fn filled(
    heads: GroupedHeads,
    n: usize,
    rng: &mut Rng,
) -> (PackedCache, [Matrix<f32>; 2]) {
    let g = heads.n_kv_heads();
    let k: Matrix<f32> = random_matrix(n, g * heads.d_k(), 1.5, rng);
    let v: Matrix<f32> = random_matrix(n, g * heads.d_v(), 1.0, rng);
    let mut cache = PackedCache::new(heads);
    let (mut first, mut piece) = (0, 1);
    while first < n {
        let rows = piece.min(n - first);
        let of = |matrix: &Matrix<f32>| matrix.rows(first, rows).into_owned();
        cache.append(&of(&k), &of(&v)).unwrap();
        (first, piece) = (first + rows, 2 * piece + 3);
    }
    assert_eq!(cache.n_tokens(), n);
    (cache, [k, v])
}

/// Each query head by the definition, with the keys of its group.
fn by_definition(
    heads: GroupedHeads,
    q: &[f32],
    [k, v]: &[Matrix<f32>; 2],
    n_seen: usize,
    scoring: &Scoring,
) -> Vec<f64> {
    let (d_k, d_v) = (heads.d_k(), heads.d_v());
    let first = scoring.window.map_or(0, |window| n_seen.saturating_sub(window));
    let mut out = Vec::new();
    for head in 0..heads.n_heads() {
        let kv_head = head / (heads.n_heads() / heads.n_kv_heads());
        let scores = (first..n_seen).map(|j| {
            let products = (0..d_k).map(|f| {
                f64::from(q[head * d_k + f]) * f64::from(k[(j, kv_head * d_k + f)])
            });
            let scale = scoring.scale.map_or(1.0 / (d_k as f64).sqrt(), f64::from);
            let score = products.sum::<f64>() * scale;
            let capped = |cap: f32| f64::from(cap) * (score / f64::from(cap)).tanh();
            scoring.soft_cap.map_or(score, capped)
        });
        let powers: Vec<f64> = scores.map(f64::exp).collect();
        let sink = scoring.sink.as_ref().map_or(0.0, |sink| f64::from(sink[head]).exp());
        let sum = powers.iter().sum::<f64>() + sink;
        out.extend((0..d_v).map(|f| {
            let values = (first..n_seen).map(|j| f64::from(v[(j, kv_head * d_v + f)]));
            powers.iter().zip(values).map(|(p, v)| p / sum * v).sum::<f64>()
        }));
    }
    out
}

fn largest_difference<'a>(
    out: impl IntoIterator<Item = &'a f32>,
    expected: &[f64],
) -> f64 {
    let differences = out.into_iter().zip(expected);
    differences.map(|(x, y)| (f64::from(*x) - y).abs()).fold(0.0, f64::max)
}

fn random_row(width: usize, rng: &mut Rng) -> Matrix<f32> {
    random_matrix(1, width, 1.5, rng)
}

#[test]
fn every_size_is_the_definition() {
    let rng = &mut Rng::seed_from_u64(1);
    let sizes = [
        ([1, 1], [1, 1]),
        ([2, 2], [3, 5]),
        ([9, 3], [64, 64]),
        ([5, 1], [8, 16]),
        ([14, 2], [10, 7]),
    ];
    let lengths: &[usize] =
        if cfg!(miri) { &[1, 50] } else { &[1, 2, 47, 48, 49, 191, 192, 193, 1000] };
    for (n_heads, widths) in sizes {
        let heads = heads(n_heads, widths);
        for &n in lengths {
            let (cache, kv) = filled(heads, n, rng);
            let q = random_row(heads.n_heads() * heads.d_k(), rng);
            let expected =
                by_definition(heads, q.as_slice(), &kv, n, &Scoring::default());
            for instructions in Instructions::available() {
                let plain = Scoring::default();
                let mut attention =
                    GroupedAttention::with_instructions(heads, plain, instructions)
                        .unwrap();
                let mut out = Matrix::from_element(1, heads.n_heads() * heads.d_v(), 7.0);
                attention.one_token(&q, &[&cache], &mut out).unwrap();
                let difference = largest_difference(&out, &expected);
                let case = format!("{instructions}, {heads:?}, {n} keys");
                assert!(difference < 1e-5, "{case}: {difference:e}");
            }
        }
    }
}

/// The definition of this file is that of the workspace, where keys are copied for each head.
#[test]
fn shared_keys_are_keys_that_were_copied() {
    let rng = &mut Rng::seed_from_u64(2);
    let heads = heads([6, 2], [8, 4]);
    let (_, [k, v]) = filled(heads, 70, rng);
    let q = random_row(6 * 8, rng);
    let copied = |all: &Matrix<f32>, width: usize| {
        let columns: Vec<_> = (0..6)
            .flat_map(|head| (0..width).map(move |f| head / 3 * width + f))
            .map(|column| all.column(column))
            .collect();
        Matrix::from_columns(&columns).cast::<f64>()
    };
    let (k_6, v_6, q_6) = (copied(&k, 8), copied(&v, 4), q.clone().cast::<f64>());
    let views = (q_6.as_view(), k_6.as_view(), v_6.as_view());
    let all = attend_heads(views.0, views.1, views.2, 6, None, &Mask::None).unwrap();
    let expected = by_definition(heads, q.as_slice(), &[k, v], 70, &Scoring::default());
    let difference = all.out.iter().zip(&expected).map(|(x, y)| (x - y).abs());
    assert!(difference.fold(0.0, f64::max) < 1e-12);
}

#[test]
fn sequences_of_any_lengths_do_not_meet() {
    let rng = &mut Rng::seed_from_u64(3);
    let heads = heads([6, 3], [16, 8]);
    let all: Vec<_> =
        [3, 500, 48, 1].into_iter().map(|n| filled(heads, n, rng)).collect();
    let q: Matrix<f32> = random_matrix(4, 6 * 16, 1.5, rng);
    let mut out = Matrix::zeros(4, 6 * 8);
    let caches: Vec<&PackedCache> = all.iter().map(|(cache, _)| cache).collect();
    let mut attention = GroupedAttention::new(heads, Scoring::default()).unwrap();
    attention.one_token(&q, &caches, &mut out).unwrap();
    for (row, (cache, kv)) in all.iter().enumerate() {
        let q: Vec<f32> = q.row(row).iter().copied().collect();
        let plain = Scoring::default();
        let expected = by_definition(heads, &q, kv, cache.n_tokens(), &plain);
        let difference = largest_difference(&out.row(row).into_owned(), &expected);
        assert!(difference < 1e-5, "sequence {row}: {difference:e}");
    }
}

#[test]
fn changes_of_the_scores_are_the_definition() {
    let rng = &mut Rng::seed_from_u64(4);
    let heads = heads([6, 2], [16, 8]);
    let (cache, kv) = filled(heads, 300, rng);
    let q = random_row(6 * 16, rng);
    let sink = Some(vec![-3.0, 0.0, 2.0, 5.0, 30.0, f32::NEG_INFINITY]);
    let plain = Scoring::default();
    let all = [
        Scoring { scale: Some(0.7), ..plain.clone() },
        Scoring { soft_cap: Some(2.0), ..plain.clone() },
        Scoring { window: Some(1), ..plain.clone() },
        Scoring { window: Some(60), ..plain.clone() },
        Scoring { window: Some(300), ..plain.clone() },
        Scoring { window: Some(1000), ..plain.clone() },
        Scoring { sink: sink.clone(), ..plain.clone() },
        Scoring { scale: Some(0.1), soft_cap: Some(50.0), window: Some(77), sink },
    ];
    for scoring in all {
        for instructions in Instructions::available() {
            let mut attention =
                GroupedAttention::with_instructions(heads, scoring.clone(), instructions)
                    .unwrap();
            let mut out = Matrix::zeros(1, 6 * 8);
            attention.one_token(&q, &[&cache], &mut out).unwrap();
            let expected = by_definition(heads, q.as_slice(), &kv, 300, &scoring);
            let difference = largest_difference(&out, &expected);
            assert!(difference < 1e-5, "{instructions}, {scoring:?}: {difference:e}");
        }
    }
}

/// Near 0 a tanh has as many digits as a score: a large cap changes nothing.
#[test]
fn a_large_cap_changes_no_score() {
    let rng = &mut Rng::seed_from_u64(14);
    let heads = heads([4, 2], [16, 8]);
    let (cache, kv) = filled(heads, 300, rng);
    let q = random_row(4 * 16, rng);
    for cap in [0.5, 1.0, 7.0, 50.0, 1e3, 1e6, 1e9, 1e20, 1e30, 3e38] {
        let scoring =
            Scoring { soft_cap: Some(cap), scale: Some(1.0), ..Scoring::default() };
        for instructions in Instructions::available() {
            let mut attention =
                GroupedAttention::with_instructions(heads, scoring.clone(), instructions)
                    .unwrap();
            let mut out = Matrix::zeros(1, 4 * 8);
            attention.one_token(&q, &[&cache], &mut out).unwrap();
            let expected = by_definition(heads, q.as_slice(), &kv, 300, &scoring);
            let difference = largest_difference(&out, &expected);
            assert!(difference < 1e-5, "{instructions}, {cap:e}: {difference:e}");
        }
    }
}

/// Scores far above and far below what an exponential can hold, the largest early or late.
#[test]
fn runs_whose_maxima_are_far_apart_are_merged() {
    let heads = heads([1, 1], [1, 1]);
    for (at, n) in [(0, 1200), (600, 1200), (1199, 1200)] {
        let k =
            Matrix::from_fn(n, 1, |j, _| if j == at { 300.0 } else { -(j as f32) / 4.0 });
        let v = Matrix::from_fn(n, 1, |j, _| if j == at { 5.0 } else { 1.0 });
        let mut cache = PackedCache::new(heads);
        cache.append(&k, &v).unwrap();
        let mut attention = GroupedAttention::new(heads, Scoring::default()).unwrap();
        let mut out = Matrix::zeros(1, 1);
        let q = Matrix::from_element(1, 1, 1.0);
        attention.one_token(&q, &[&cache], &mut out).unwrap();
        assert_eq!(out[0], 5.0, "the largest at {at}");
    }
}

#[test]
fn a_nan_reaches_only_those_who_attend_to_it() {
    let rng = &mut Rng::seed_from_u64(5);
    let heads = heads([4, 2], [8, 8]);
    let (mut cache, [mut k, mut v]) = filled(heads, 100, rng);
    // Token 30: the key of head 0 and of head 1, the value of head 1.
    for f in 0..8 {
        (k[(30, f)], k[(30, 8 + f)], v[(30, 8 + f)]) = (f32::NAN, f32::NAN, f32::NAN);
    }
    cache.truncate(0);
    cache.append(&k, &v).unwrap();
    let q = random_row(4 * 8, rng);
    // What is next to the keys in use, in their panels, costs no second computation.
    let of = |cache: &PackedCache, window| {
        non_finite::TIMES_TAKEN.set(0);
        let scoring = Scoring { window, ..Scoring::default() };
        let mut out = Matrix::zeros(1, 4 * 8);
        let mut attention = GroupedAttention::new(heads, scoring).unwrap();
        attention.one_token(&q, &[cache], &mut out).unwrap();
        let is_finite = out.iter().all(|x| x.is_finite());
        assert_eq!(non_finite::TIMES_TAKEN.get() == 0, is_finite);
        out
    };
    assert!(of(&cache, None).iter().all(|x| x.is_nan()));
    assert!(of(&cache, Some(70)).iter().all(|x| x.is_nan()));
    assert!(of(&cache, Some(69)).iter().all(|x| x.is_finite()));
    // What was forgotten is gone, though its panel stays.
    cache.truncate(30);
    assert!(of(&cache, None).iter().all(|x| x.is_finite()));
    let row = |m: &Matrix<f32>| m.rows(31, 1).into_owned();
    cache.append(&row(&k), &row(&v)).unwrap();
    assert!(of(&cache, None).iter().all(|x| x.is_finite()));
}

/// As in every stage: a share that is exactly 0 leaves its value out.
#[test]
fn a_value_without_a_share_is_left_out() {
    let heads = heads([1, 1], [1, 1]);
    let mut cache = PackedCache::new(heads);
    let k = Matrix::from_row_slice(3, 1, &[0.0, -1e6, 0.0]);
    let v = Matrix::from_row_slice(3, 1, &[1.0, f32::NAN, 3.0]);
    cache.append(&k, &v).unwrap();
    let mut attention = GroupedAttention::new(heads, Scoring::default()).unwrap();
    let (q, mut out) = (Matrix::from_element(1, 1, 1.0), Matrix::zeros(1, 1));
    attention.one_token(&q, &[&cache], &mut out).unwrap();
    assert_eq!(out[0], 2.0);
    let with_sink = Scoring { sink: Some(vec![2f32.ln()]), ..Scoring::default() };
    let mut attention = GroupedAttention::new(heads, with_sink).unwrap();
    attention.one_token(&q, &[&cache], &mut out).unwrap();
    assert!((out[0] - 1.0).abs() < 1e-6, "{}", out[0]); // 1 : 1 : 2 for nobody
}

/// A prompt, a prompt behind cached tokens, and every change of the scores.
#[test]
fn each_token_of_a_prompt_sees_itself_and_what_is_before() {
    let rng = &mut Rng::seed_from_u64(6);
    let sink = Some(vec![0.5, -1.0, 2.0, 0.0, 1.0, 3.0]);
    let all = [
        Scoring::default(),
        Scoring { scale: Some(0.3), ..Scoring::default() },
        Scoring { soft_cap: Some(3.0), window: Some(20), sink, ..Scoring::default() },
    ];
    let lengths: &[(usize, usize)] = if cfg!(miri) {
        &[(10, 12)]
    } else {
        &[(1, 1), (5, 5), (9, 9), (48, 48), (100, 100), (30, 100), (130, 200)]
    };
    for widths in [[16, 8], [5, 12]] {
        let heads = heads([6, 2], widths);
        for scoring in &all {
            for &(n, n_tokens) in lengths {
                let (cache, kv) = filled(heads, n_tokens, rng);
                let q: Matrix<f32> = random_matrix(n, 6 * heads.d_k(), 1.5, rng);
                let mut out = Matrix::from_element(n, 6 * heads.d_v(), 7.0);
                let mut attention =
                    GroupedAttention::new(heads, scoring.clone()).unwrap();
                // The second is not disturbed by what the first left behind.
                for _ in 0..2 {
                    attention.prompt(&q, &cache, &mut out).unwrap();
                }
                for i in 0..n {
                    let row = |m: &Matrix<f32>| m.rows(i, 1).into_owned();
                    let seen = n_tokens - n + i + 1;
                    let expected =
                        by_definition(heads, row(&q).as_slice(), &kv, seen, scoring);
                    let difference = largest_difference(&row(&out), &expected);
                    let case = format!("{scoring:?}, token {i} of {n}, {n_tokens} keys");
                    assert!(difference < 1e-5, "{case}: {difference:e}");
                }
            }
        }
    }
}

/// A prompt that is cut anywhere, and then single tokens, are the whole prompt.
#[test]
fn pieces_and_single_tokens_are_the_whole() {
    let rng = &mut Rng::seed_from_u64(7);
    let heads = heads([6, 3], [16, 16]);
    let (whole, [k, v]) = filled(heads, 120, rng);
    let q: Matrix<f32> = random_matrix(120, 6 * 16, 1.5, rng);
    let mut attention = GroupedAttention::new(heads, Scoring::default()).unwrap();
    let mut expected = Matrix::zeros(120, 6 * 16);
    attention.prompt(&q, &whole, &mut expected).unwrap();
    let (mut cache, mut first) = (PackedCache::with_room(heads, 120), 0);
    for n in [50, 47, 1, 1, 20, 1] {
        let rows = |m: &Matrix<f32>| m.rows(first, n).into_owned();
        cache.append(&rows(&k), &rows(&v)).unwrap();
        let mut out = Matrix::zeros(n, 6 * 16);
        match n {
            1 => attention.one_token(&rows(&q), &[&cache], &mut out).unwrap(),
            _ => attention.prompt(&rows(&q), &cache, &mut out).unwrap(),
        }
        let difference = (&out - rows(&expected)).amax();
        assert!(difference < 2e-6, "{n} tokens from {first} on: {difference:e}");
        first += n;
    }
}

#[test]
fn a_nan_in_a_prompt_stays_in_what_comes_after() {
    let rng = &mut Rng::seed_from_u64(8);
    let heads = heads([2, 1], [8, 8]);
    let (mut cache, [mut k, v]) = filled(heads, 60, rng);
    k[(40, 3)] = f32::NAN;
    cache.truncate(0);
    cache.append(&k, &v).unwrap();
    let q: Matrix<f32> = random_matrix(60, 2 * 8, 1.5, rng);
    let mut out = Matrix::zeros(60, 2 * 8);
    let mut attention = GroupedAttention::new(heads, Scoring::default()).unwrap();
    attention.prompt(&q, &cache, &mut out).unwrap();
    for (i, row) in out.row_iter().enumerate() {
        assert!(row.iter().all(|x| x.is_nan() == (i >= 40)), "token {i}: {row}");
    }
    let refused =
        attention.prompt(&q.clone().insert_row(0, 0.0), &cache, &mut out.clone());
    assert_eq!(
        refused.unwrap_err().to_string(),
        "out has shape (60, 16), expected (61, 16)"
    );
    let refused =
        attention.prompt(&q.insert_row(0, 0.0), &cache, &mut out.insert_row(0, 0.0));
    assert_eq!(
        refused.unwrap_err().to_string(),
        "the cache of these queries has 60 entries, expected 61"
    );
}
