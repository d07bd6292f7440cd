//! What one new token uses, reads and computes.

use attention::{
    Dims, Mask, MultiHeadAttention, Rng, SeedableRng, random_matrix, thousands,
};
use lessons::variants::count::{
    D_MODEL, KV_HEADS, N_CACHED, N_HEADS, next, sizes, uses, writing,
};
use variants::{Changes, VariantAttention};

use crate::quote::{Table, assert_quote, bound, percent, values};

const WRITTEN: usize = 6;

#[test]
fn a_query_is_used_once_and_a_key_by_all_later_tokens() {
    let mut table =
        Table::new([("token", -8), ("its query", 10), ("its key", 9), ("its value", 11)]);
    for (token, [q, k, v]) in uses(WRITTEN).unwrap().into_iter().enumerate() {
        // The first token has one key, which gets all, whatever the scores.
        let alone = usize::from(token == 0);
        let later = WRITTEN - token;
        assert_eq!([q, k, v], [1 - alone, later - alone, later]);
        table.row([token, q, k, v]);
    }
    assert_quote!("variants_uses", table.text());
}

#[test]
fn a_cache_is_the_whole_pass_for_less() {
    let rng = &mut Rng::seed_from_u64(1);
    let mut largest = 0.0f64;
    for n_kv_heads in KV_HEADS {
        let sizes = sizes(n_kv_heads).unwrap();
        let layer =
            VariantAttention::random(sizes, true, Changes::default(), rng).unwrap();
        let x = random_matrix(12, D_MODEL, 1.0, rng);
        let whole = layer.self_attend(&x, &Mask::Causal).unwrap().out;
        let cache = &mut layer.cache();
        for token in 0..12 {
            let row = x.rows(token, 1).into_owned();
            let out = layer.forward_cached(&row, cache).unwrap().out;
            largest = largest.max((out - whole.rows(token, 1)).amax());
        }
    }
    let [all, cached] = writing(N_CACHED).unwrap();
    let quoted = [
        ("written", WRITTEN.to_string()),
        ("cache_bound", bound(largest, 1e-12)),
        ("width", D_MODEL.to_string()),
        ("heads", N_HEADS.to_string()),
        ("kv_heads", KV_HEADS[1].to_string()),
        ("cached", thousands(N_CACHED)),
        (
            "written_whole",
            format!("{} billion", thousands((all as f64 / 1e9).round() as usize)),
        ),
        ("written_cached", format!("{:.1} billion", cached as f64 / 1e9)),
        ("written_less", format!("{:.0}", all as f64 / cached as f64)),
    ];
    assert_quote!("variants_cache", values(&quoted));
}

#[test]
fn what_one_token_reads() {
    let mut table = Table::new([
        ("K, V heads", -10),
        ("weights", 10),
        ("cache", 10),
        ("batch 1", 10),
        ("batch 8", 10),
        ("batch 64", 10),
    ]);
    let megabytes = |n: u64| format!("{:.2} MB", 4.0 * n as f64 / 1e6);
    for n_kv_heads in KV_HEADS {
        let token = next(n_kv_heads).unwrap();
        let [one, eight, many] =
            [1, 8, 64].map(|batch| format!("{:.2}", token.intensity(batch, 4)));
        table.row([
            n_kv_heads.to_string(),
            megabytes(token.weights),
            megabytes(token.cached),
            one,
            eight,
            many,
        ]);
    }
    assert_quote!("variants_reads", table.text());

    let machine = runs::reference().unwrap().machine;
    let ridge = machine.fma_peak_gflops / machine.bandwidth_gb_s;
    let [own, shared] = [KV_HEADS[0], KV_HEADS[1]].map(|g| next(g).unwrap());
    // As the batch grows, only the caches count.
    let most = |token: variants::NextToken| {
        0.5 * token.multiply_adds as f64 / token.cached as f64
    };
    assert!((most(own) - own.intensity(1 << 40, 4)).abs() < 1e-6);
    assert!(most(shared) < ridge);
    let quoted = [
        ("intensity", format!("{:.1}", own.intensity(1, 4))),
        ("ridge", format!("{ridge:.0}")),
        ("peak_share", percent(own.intensity(1, 4) / ridge)),
        ("own_most", format!("{:.1}", most(own))),
        ("shared_most", format!("{:.1}", most(shared))),
        ("own_cache", megabytes(own.cached)),
        ("shared_cache", megabytes(shared.cached)),
    ];
    assert_quote!("variants_token", values(&quoted));
}

#[test]
fn shared_heads_in_the_ledger() {
    let dims = Dims::new(D_MODEL, N_HEADS).unwrap();
    let mut table = Table::new([
        ("K, V heads", -10),
        ("parameters", 12),
        ("multiply-adds", 15),
        ("cache of a token", 18),
    ]);
    for n_kv_heads in KV_HEADS {
        let sizes = sizes(n_kv_heads).unwrap();
        assert_eq!(sizes.dims, dims);
        let rng = &mut Rng::seed_from_u64(1);
        let layer: VariantAttention<f32> =
            VariantAttention::random(sizes, false, Changes::default(), rng).unwrap();
        let cache = &mut layer.cache();
        layer.forward_cached(&random_matrix(1, D_MODEL, 1.0, rng), cache).unwrap();
        let work = next(n_kv_heads).unwrap().multiply_adds as usize;
        table.row([
            n_kv_heads.to_string(),
            thousands(layer.parameter_count().total()),
            thousands(work),
            format!("{} bytes", thousands(cache.bytes())),
        ]);
    }
    assert_quote!("variants_shared_ledger", table.text());
}
