//! The sizes of SmolLM2-135M, and what one of its tokens keeps.

use attention::{Dims, thousands};
use lessons::a_model_that_writes::{N_HEADS, N_KV_HEADS, N_LAYERS};
use variants::{NextToken, Sizes};

use crate::quote::{assert_quote, values};

const D_MODEL: usize = 576;
const D_FF: usize = 1536;
const N_VOCABULARY: usize = 49_152;

#[test]
fn the_model_counted() {
    let sizes = Sizes::new(Dims::new(D_MODEL, N_HEADS).unwrap(), N_KV_HEADS).unwrap();
    let attention: usize =
        sizes.shapes().iter().map(|(rows, columns)| rows * columns).sum();
    let feed_forward = 3 * D_MODEL * D_FF;
    let block = attention + feed_forward + 2 * D_MODEL;
    let embedding = N_VOCABULARY * D_MODEL;
    let all = embedding + N_LAYERS * block + D_MODEL;
    let token = NextToken::of(sizes, 1).unwrap();
    let cached = N_LAYERS as u64 * token.cached * 4;
    assert_quote!(
        "a_model_that_writes_sizes",
        values(&[
            ("layers", N_LAYERS.to_string()),
            ("heads_each", N_HEADS.to_string()),
            ("kv_heads_each", N_KV_HEADS.to_string()),
            ("heads_all", (N_LAYERS * N_HEADS).to_string()),
            ("width", D_MODEL.to_string()),
            ("vocabulary", thousands(N_VOCABULARY as u64)),
            ("blind_loss", format!("{:.1}", (N_VOCABULARY as f64).ln())),
            ("parameters", thousands(all as u64)),
            ("embedding_part", part(embedding, all)),
            ("attention_part", part(N_LAYERS * attention, all)),
            ("feed_forward_part", part(N_LAYERS * feed_forward, all)),
            ("megabytes", (4 * all / 1_000_000).to_string()),
            ("cached_a_token", thousands(cached)),
        ])
    );
}

fn part(of: usize, all: usize) -> String {
    format!("{:.0} %", 100.0 * of as f64 / all as f64)
}
