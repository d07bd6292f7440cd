//! What one new token uses, reads and computes.

use attention::{
    Dims, Mask, MultiHeadAttention, Rng, SeedableRng, random_matrix, thousands,
};
use lessons::variants::count::{
    D_MODEL, KV_HEADS, N_CACHED, N_HEADS, latent, next, not_absorbed, sizes, uses,
    writing,
};
use lessons::variants::used::{N_WRITTEN, n_steps};
use variants::{
    Changes, LatentAttention, LatentSizes, Pairing, Rotary, VariantAttention,
};

use crate::quote::{assert_quote, bound, percent, values};
use crate::the_ladder::reference::bandwidths;

#[test]
fn a_query_is_used_once_and_a_key_by_all_later_tokens() {
    let [queries, keys, values] = uses(N_WRITTEN).unwrap().map(|uses| n_steps(&uses));
    for token in 0..N_WRITTEN {
        // The first token has one key, which gets all, whatever the scores.
        let alone = usize::from(token == 0);
        let later = N_WRITTEN - token;
        let expected = [1 - alone, later - alone, later];
        assert_eq!([queries[token], keys[token], values[token]], expected);
    }
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
        ("written", N_WRITTEN.to_string()),
        ("cache_bound", bound(largest, 1e-12)),
        ("width", D_MODEL.to_string()),
        ("heads", N_HEADS.to_string()),
        ("kv_heads", KV_HEADS[1].to_string()),
        ("cached", thousands(N_CACHED)),
        ("written_less", format!("{:.0}", all as f64 / cached as f64)),
    ];
    assert_quote!("variants_cache", values(&quoted));
}

#[test]
fn what_one_token_reads() {
    let machine = runs::reference().unwrap().machine;
    let [ridge, ridge_other] =
        bandwidths().map(|bandwidth| machine.fma_peak_gflops / bandwidth);
    let [own, shared] = [KV_HEADS[0], KV_HEADS[1]].map(|g| next(g).unwrap());
    // As the batch grows, only the caches count.
    let most = |token: variants::NextToken| {
        0.5 * token.multiply_adds as f64 / token.cached as f64
    };
    assert!((most(own) - own.intensity(1 << 40, 4)).abs() < 1e-6);
    assert!(most(shared) < ridge);
    let quoted = [
        ("intensity", format!("{:.1}", own.intensity(1, 4))),
        ("ridge", format!("{ridge:.1}")),
        ("ridge_other", format!("{ridge_other:.1}")),
        ("own_most", format!("{:.1}", most(own))),
        ("shared_most", format!("{:.1}", most(shared))),
    ];
    assert_quote!("variants_token", values(&quoted));
}

/// What is counted for a token is what layers that are made have and cache.
#[test]
fn shared_and_latent_keys_are_counted() {
    let is_counted = |parameters: usize, bytes: usize, token: variants::NextToken| {
        assert_eq!(token.weights as usize, parameters);
        assert_eq!(token.cached as usize * 4, bytes * N_CACHED);
    };
    let rng = &mut Rng::seed_from_u64(1);
    let x = random_matrix(1, D_MODEL, 1.0, rng);
    for n_kv_heads in KV_HEADS {
        let sizes = sizes(n_kv_heads).unwrap();
        let layer: VariantAttention<f32> =
            VariantAttention::random(sizes, false, Changes::default(), rng).unwrap();
        let cache = &mut layer.cache();
        layer.forward_cached(&x, cache).unwrap();
        let parameters = layer.parameter_count().total();
        is_counted(parameters, cache.bytes(), next(n_kv_heads).unwrap());
    }
    let sizes = latent().unwrap();
    let rotary = Rotary::new(Pairing::Halves, sizes.d_rotary, 10_000.0).unwrap();
    let layer: LatentAttention<f32> =
        LatentAttention::random(sizes, rotary, rng).unwrap();
    let cache = &mut layer.cache();
    layer.forward_cached(&x, cache).unwrap();
    let parameters = sizes.shapes().iter().map(|(rows, columns)| rows * columns).sum();
    is_counted(parameters, cache.bytes(), sizes.next_token(N_CACHED));
}

/// The plain layer that a latent one is, and the one that keeps the latent rows alone.
#[test]
fn latent_keys_and_values() {
    let sizes =
        LatentSizes { dims: Dims::new(64, 4).unwrap(), d_latent: 24, d_rotary: 8 };
    let rng = &mut Rng::seed_from_u64(1);
    let rotary = Rotary::new(Pairing::Halves, 8, 10_000.0).unwrap();
    let layer: LatentAttention = LatentAttention::random(sizes, rotary, rng).unwrap();
    let x = random_matrix(12, 64, 1.0, rng);
    let made = layer.self_attend(&x, &Mask::Causal).unwrap().out;
    let plain = layer.plain().unwrap().self_attend(&x, &Mask::Causal).unwrap().out;
    let absorbed = layer.forward_cached(&x, &mut layer.cache()).unwrap().out;
    let apart = (&made - plain).amax().max((made - absorbed).amax());
    let numbers = |sizes: LatentSizes| sizes.d_latent + sizes.d_rotary;
    let own = 2 * sizes_of_deepseek().dims.concat_width();
    let quoted = [
        ("latent_bound", bound(apart, 1e-12)),
        ("not_absorbed", percent(not_absorbed().unwrap())),
        ("deepseek_row", numbers(sizes_of_deepseek()).to_string()),
        ("deepseek_own", thousands(own)),
    ];
    assert_quote!("variants_latent", values(&quoted));
}

/// DeepSeek-AI 2024, section 3.1.2.
fn sizes_of_deepseek() -> LatentSizes {
    let dims = Dims::with_head_sizes(5120, 128, 128, 128).unwrap();
    LatentSizes { dims, d_latent: 512, d_rotary: 64 }
}
