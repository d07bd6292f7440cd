//! An atlas: what each head does, on average over forty sentences.

use std::fmt::Write;

use fused_heads::FusedAttention;
use maps::{Glance, Kind, Sight};

use super::{is_special, minilm, texts};
use crate::quote::{Table, assert_quote, kept_quote, values};

#[test]
fn every_head_on_forty_sentences() {
    let Some(parameters) = minilm() else {
        return kept_quote!("minilm_atlas", "minilm_layers", "minilm_atlas_values");
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

    let all: Vec<(usize, Glance)> = heads
        .iter()
        .enumerate()
        .flat_map(|(l, sums)| sums.iter().map(move |sum| (l, head(sum))))
        .collect();
    assert_quote!("minilm_atlas", atlas(&all, &chance, n_heads));

    let prefer =
        |kind| all.iter().filter(|(_, glance)| glance.preferred(&chance) == kind).count();
    let mut found = vec![
        ("atlas_sentences".to_owned(), texts.len().to_string()),
        ("atlas_heads".into(), all.len().to_string()),
        ("atlas_spread".into(), prefer(None).to_string()),
    ];
    for kind in Kind::ALL {
        found.push((format!("atlas_{}", kind.name()), prefer(Some(kind)).to_string()));
    }
    // What is left where [CLS] and [SEP] are put aside: does a neighbour get half of it?
    for (name, kinds) in [("previous", Kind::Previous), ("next", Kind::Next)] {
        let half = |glance: &Glance| {
            let words = 1.0 - glance.share(Kind::First) - glance.share(Kind::Last);
            glance.share(kinds) > 0.5 * words
        };
        let n = all.iter().filter(|(_, glance)| half(glance)).count();
        found.push((format!("atlas_half_{name}"), n.to_string()));
    }
    let layers = layers(n_layers, &all, &mut found);
    assert_quote!("minilm_layers", layers);
    assert_quote!("minilm_atlas_values", values(&found));
}

/// A line for chance, and one for each head.
fn atlas(all: &[(usize, Glance)], chance: &Glance, n_heads: usize) -> String {
    let mut atlas = "head   prefers    bits  away".to_owned();
    for kind in Kind::ALL {
        let _ = write!(atlas, "  {:>8}", kind.name());
    }
    let mut line = |name: String, glance: &Glance| {
        let kind = glance.preference(chance);
        let (bits, away) = (glance.entropy, glance.distance);
        let _ = write!(atlas, "\n{name:<6} {kind:<9} {bits:>5.2} {away:>5.2}");
        for share in glance.shares {
            let _ = write!(atlas, "  {share:>8.2}");
        }
    };
    line("chance".into(), chance);
    for (nth, (l, glance)) in all.iter().enumerate() {
        line(format!("{l}.{}", nth % n_heads), glance);
    }
    atlas
}

/// A line for each layer.
fn layers(
    n_layers: usize,
    all: &[(usize, Glance)],
    found: &mut Vec<(String, String)>,
) -> String {
    let mut layers =
        Table::new(["layer", "[CLS] and [SEP] get", "entropy, bits", "distance, tokens"]);
    for l in 0..n_layers {
        let [sink, bits, away] = of_layer(l, all);
        found.push((format!("atlas_bits_{l}"), bits.clone()));
        layers.row([l.to_string(), sink, bits, away]);
    }
    layers.text()
}

/// How much the heads of a layer give to [CLS] and [SEP], and how far they look, on average.
fn of_layer(l: usize, all: &[(usize, Glance)]) -> [String; 3] {
    let of_layer: Vec<&Glance> =
        all.iter().filter(|(of, _)| *of == l).map(|(_, glance)| glance).collect();
    let mean = |number: fn(&Glance) -> f64| {
        let sum: f64 = of_layer.iter().map(|glance| number(glance)).sum();
        sum / of_layer.len() as f64
    };
    let sink = mean(|glance| glance.share(Kind::First) + glance.share(Kind::Last));
    [sink, mean(|g| g.entropy), mean(|g| g.distance)].map(|mean| format!("{mean:.2}"))
}
