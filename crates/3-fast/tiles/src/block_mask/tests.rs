use attention::{Rng, SeedableRng, random_matrix};
use rand::RngExt;

use super::*;

/// A mask of any kind, three levels deep at most.
fn any_mask(rng: &mut Rng, (n_q, n_kv): (usize, usize), depth: usize) -> Mask {
    let kinds = if depth == 0 { 7 } else { 9 };
    match rng.random_range(0..kinds) {
        0 => Mask::None,
        1 => Mask::Causal,
        2 => Mask::FirstKeys(rng.random_range(0..=n_kv)),
        3 => {
            let limit = [-0.5, 0.5, 1.6][rng.random_range(0..3)];
            let open = random_matrix(n_q, n_kv, 1.0, rng);
            Mask::Allowed(open.map(|x: f64| x > limit))
        }
        4 => {
            let (limit, far) = (rng.random_range(-4.0..4.0), rng.random::<bool>());
            let scores = random_matrix(n_q, n_kv, 2.0, rng);
            let blocked = |x| if x > limit { f64::NEG_INFINITY } else { x };
            let zero = rng.random::<bool>();
            let near = |x| if far && x < -3.0 { -1e300 } else { blocked(x) };
            Mask::Additive(scores.map(|x: f64| if zero { 0.0 } else { near(x) }))
        }
        5 => Mask::CausalTopLeft,
        6 => {
            let mostly = rng.random::<bool>();
            let open = (0..n_kv).map(|_| rng.random_range(0..4) > 0 || mostly);
            let mut open: Vec<bool> = open.collect();
            // Padding before and behind, as files have it.
            let (before, behind) =
                (rng.random_range(0..=n_kv), rng.random_range(0..=n_kv));
            open[..before / 3].fill(false);
            open[n_kv - behind / 3..].fill(false);
            Mask::Keys(open)
        }
        7 => Mask::All((0..3).map(|_| any_mask(rng, (n_q, n_kv), depth - 1)).collect()),
        _ => Mask::PerHead(vec![any_mask(rng, (n_q, n_kv), depth - 1)]),
    }
}

/// A mask, a block of it and a stride, from one seed.
struct Case {
    mask: Mask,
    lengths: (usize, usize),
    queries: Range<usize>,
    keys: Range<usize>,
    stride: usize,
}

fn any_case(seed: u64) -> Case {
    let rng = &mut Rng::seed_from_u64(seed);
    let lengths = (rng.random_range(1..=20), rng.random_range(1..=20));
    let mask = any_mask(rng, lengths, 2);
    let mut within = |n: usize| {
        let start = rng.random_range(0..n);
        start..rng.random_range(start + 1..=n)
    };
    let (queries, keys) = (within(lengths.0), within(lengths.1));
    let stride = queries.len() + rng.random_range(0..3);
    Case { mask, lengths, queries, keys, stride }
}

const N_CASES: u64 = if cfg!(miri) { 30 } else { 3000 };

#[test]
fn a_block_is_masked_as_the_definition_says() {
    for (seed, factor) in (0..N_CASES).zip([1.0, std::f32::consts::LOG2_E].repeat(2000)) {
        let Case { mask, lengths, queries, keys, stride } = any_case(seed);
        let mut before: Vec<f32> =
            (0..keys.len() * stride).map(|n| n as f32 / 7.0 - 2.0).collect();
        before[(seed as usize * 31) % (keys.len() * stride)] = f32::NAN;
        let mut seen = before.clone();
        let block_mask = BlockMask::new(&mask, queries.clone(), lengths);
        block_mask.apply(&mut seen, stride, keys.clone(), factor);
        for (n, (&was, &is)) in before.iter().zip(&seen).enumerate() {
            let (i, j) = (queries.start + n % stride, keys.start + n / stride);
            let expected = match mask.row(i.min(lengths.0 - 1), lengths)[j] {
                _ if i >= queries.end => was,
                None => f32::NEG_INFINITY,
                Some(added) => was + (added * f64::from(factor)) as f32,
            };
            assert!(
                (expected.is_nan() && is.is_nan())
                    || expected == is
                    || (expected - is).abs() < 1e-6,
                "seed {seed}, {mask:?}, [{i}, {j}] of {lengths:?}: {was} became {is} \
                 and not {expected}"
            );
        }
    }
}

#[test]
fn outside_of_the_visible_keys_nothing_is_seen() {
    let mut narrower = 0;
    for seed in 0..N_CASES {
        let Case { mask, lengths, queries, .. } = any_case(seed);
        let visible = BlockMask::new(&mask, queries.clone(), lengths).visible();
        assert!(visible.start <= visible.end && visible.end <= lengths.1);
        let sees = |j| queries.clone().any(|i| mask.added((i, j), lengths).is_some());
        for j in 0..lengths.1 {
            let found = visible.contains(&j);
            assert!(found || !sees(j), "seed {seed}, {mask:?}: key {j}, {visible:?}");
        }
        if !matches!(mask, Mask::All(_) | Mask::PerHead(_)) {
            let ends = [visible.start, visible.end.saturating_sub(1)];
            let tight = visible.is_empty() || ends.into_iter().all(sees);
            assert!(tight, "seed {seed}, {mask:?}: {visible:?} could be narrower");
        }
        narrower += usize::from(visible.len() < lengths.1);
    }
    assert!(narrower as u64 > N_CASES / 4, "{narrower} of {N_CASES}");
}

#[test]
fn an_open_block_is_one_that_the_mask_leaves_alone() {
    let mut n_open = 0;
    for seed in 0..N_CASES {
        let Case { mask, lengths, queries, keys, .. } = any_case(seed);
        let of_row = |i| mask.row(i, lengths)[keys.clone()].to_vec();
        let alone = queries.clone().flat_map(of_row).all(|added| added == Some(0.0));
        let block_mask = BlockMask::new(&mask, queries.clone(), lengths);
        let open = block_mask.is_open(keys.clone());
        assert!(
            open == alone,
            "seed {seed}, {mask:?}: {queries:?}, {keys:?} of {lengths:?}"
        );
        n_open += u64::from(open);
    }
    assert!(n_open > N_CASES / 10, "{n_open} of {N_CASES}");
}

#[test]
fn what_is_added_counts_beside_the_largest_of_its_row() {
    let rows = [[-1e300, -1e300 + 1e285], [f64::MIN, f64::MAX], [1e9, 1e9 + 3.0]];
    let added = Mask::Additive(Matrix::from_fn(3, 2, |i, j| rows[i][j]));
    let mut scores = [1.0, 1.0, 1.0, 2.0, 2.0, 2.0];
    BlockMask::new(&added, 0..3, (3, 2)).apply(&mut scores, 3, 0..2, 1.0);
    let (all, nothing) = (1.0, f32::NEG_INFINITY);
    assert_eq!(scores, [nothing, nothing, all - 3.0, 2.0, 2.0, 2.0]);
}
