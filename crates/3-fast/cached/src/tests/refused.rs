//! What does not fit.

use super::*;

fn error(refused: attention::Result<()>) -> String {
    refused.unwrap_err().to_string()
}

#[test]
fn heads_that_cannot_be_shared_out_are_refused() {
    let of = |n, d| error(GroupedHeads::new(n, d).map(drop));
    assert_eq!(
        of([9, 2], [64, 64]),
        "9 query heads cannot be shared out among 2 heads of keys and values: 9 = 2 × 4 + 1"
    );
    assert_eq!(of([9, 0], [64, 64]), "n_kv_heads is 0, and must be at least 1");
}

#[test]
fn rows_that_do_not_fit_are_refused_and_the_cache_stays() {
    let mut cache = PackedCache::new(heads([4, 2], [3, 5]));
    let mut append = |k: (usize, usize), v: (usize, usize)| {
        error(cache.append(&Matrix::zeros(k.0, k.1), &Matrix::zeros(v.0, v.1)))
    };
    assert_eq!(
        append((2, 12), (2, 10)),
        "the keys for the cache has shape (2, 12), expected (2, 6)"
    );
    assert_eq!(
        append((2, 6), (2, 6)),
        "the values for the cache has shape (2, 6), expected (2, 10)"
    );
    assert_eq!(
        append((2, 6), (1, 10)),
        "key has 2 tokens and value has 1: each key needs its value"
    );
    assert_eq!(cache.n_tokens(), 0);
}

#[test]
fn queries_outputs_and_caches_that_do_not_fit_are_refused() {
    let heads = heads([4, 2], [3, 5]);
    let cache = PackedCache::new(heads);
    let mut attention = GroupedAttention::new(heads, Scoring::default()).unwrap();
    let mut attend = |q: (usize, usize), caches: &[&PackedCache], out: (usize, usize)| {
        let mut out = Matrix::zeros(out.0, out.1);
        error(attention.one_token(&Matrix::zeros(q.0, q.1), caches, &mut out))
    };
    assert_eq!(
        attend((1, 12), &[&cache], (1, 20)),
        "a cache has shape (0, 6): it holds no tokens"
    );
    assert_eq!(
        attend((1, 12), &[], (1, 20)),
        "the list of caches has 0 entries, expected 1"
    );
    assert_eq!(
        attend((1, 11), &[&cache], (1, 20)),
        "q has shape (1, 11), expected (1, 12)"
    );
    assert_eq!(
        attend((1, 12), &[&cache], (1, 12)),
        "out has shape (1, 12), expected (1, 20)"
    );
    let other =
        PackedCache::new(super::heads::GroupedHeads::new([4, 4], [3, 5]).unwrap());
    assert_eq!(
        attend((1, 12), &[&other], (1, 20)),
        "the keys of a cache has shape (0, 12), expected (0, 6)"
    );
}

#[test]
fn scoring_that_does_not_fit_is_refused() {
    let heads = heads([4, 2], [3, 5]);
    let new = |scoring| error(GroupedAttention::new(heads, scoring).map(drop));
    let plain = Scoring::default();
    assert_eq!(
        new(Scoring { window: Some(0), ..plain.clone() }),
        "the window is 0, and must be at least 1"
    );
    assert_eq!(
        new(Scoring { soft_cap: Some(-1.5), ..plain.clone() }),
        "the soft cap is -1.5, and must be a number above 0"
    );
    assert_eq!(
        new(Scoring { sink: Some(vec![0.0]), ..plain }),
        "the list of sinks has 1 entries, expected 4"
    );
}
