//! An atlas: what each head does, on average over forty sentences.

use fused_heads::FusedAttention;
use maps::{Glance, Kind, Sight};
use serde_json::json;

use super::{assert_kept, is_special, kept_decimals, minilm, texts};
use crate::quote::{assert_quote, kept_quote, values};

#[test]
fn every_head_on_forty_sentences() {
    let Some(parameters) = minilm() else {
        return kept_quote!("minilm_atlas_values");
    };
    let model = parameters.with_attention(|_, p| FusedAttention::new(p));
    let (n_layers, n_heads) = (model.config.n_layers, model.config.dims.n_heads());
    let texts = texts("sentence");
    let nothing = Glance { entropy: 0.0, distance: 0.0, shares: [0.0; 6] };
    let (mut heads, mut chance) = (vec![vec![nothing; n_heads]; n_layers], nothing);
    for text in &texts {
        let layers = model.forward(&text.sequence).unwrap();
        let is_special = is_special(text.sequence.n_tokens());
        let sight = Sight::both_ways(&is_special);
        for (sums, maps) in heads.iter_mut().zip(&layers.attn) {
            for (sum, map) in sums.iter_mut().zip(maps) {
                *sum = sum.plus(&Glance::of(map, &sight).unwrap());
            }
        }
        chance = chance.plus(&Glance::uniform(&sight).unwrap());
    }
    let factor = 1.0 / texts.len() as f64;
    let chance = chance.scaled(factor);
    let head = |sum: &Glance| sum.scaled(factor);

    let all: Vec<Glance> = heads.iter().flatten().map(head).collect();

    let prefer =
        |kind| all.iter().filter(|glance| glance.preferred(&chance) == kind).count();
    let mut found = vec![
        ("atlas_sentences".to_owned(), texts.len().to_string()),
        ("atlas_heads".into(), all.len().to_string()),
        ("atlas_spread".into(), prefer(None).to_string()),
    ];
    let kinds: Vec<[f64; 6]> =
        all.iter().map(|glance| glance.shares.map(kept_decimals)).collect();
    assert_kept("kinds", &json!(kinds));
    assert_kept("prefer", &json!(Kind::ALL.map(|kind| prefer(Some(kind)))));
    for kind in [Kind::First, Kind::Previous, Kind::Next] {
        found.push((format!("atlas_{}", kind.name()), prefer(Some(kind)).to_string()));
    }
    assert_quote!("minilm_atlas_values", values(&found));
}
