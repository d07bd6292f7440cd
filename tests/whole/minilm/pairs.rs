//! Minimal pairs: which heads move the pronoun's shares between the two nouns?
//!
//! The criterion, fixed before any pair was looked at: a head *moves* a pair if the
//! pronoun's share of its noun less that of the other noun differs between the two ends by
//! .10 or more in the direction of the meaning, and by at least twice as much as that of
//! the word before the pronoun, which is the control. It *resolves pronouns* if it moves at
//! least 5 of the 7 pairs. As many in the other direction would be chance.

use std::fmt::Write;

use fused_heads::FusedAttention;

use super::{minilm, texts};
use crate::quote::{assert_quote, kept_quote, values};

const MOVES: f64 = 0.1;
const TIMES_CONTROL: f64 = 2.0;
const MOST_PAIRS: usize = 5;

#[test]
fn heads_that_move_the_pronoun() {
    let Some(parameters) = minilm() else {
        return kept_quote!("minilm_pairs", "minilm_pairs_values");
    };
    let model = parameters.with_attention(|_, p| FusedAttention::new(p));
    let (n_layers, n_heads) = (model.config.n_layers, model.config.dims.n_heads());
    let texts = texts("pair");
    let attn: Vec<_> =
        texts.iter().map(|text| model.forward(&text.sequence).unwrap().attn).collect();
    let mut heads = Vec::new();
    for (l, i) in (0..n_layers).flat_map(|l| (0..n_heads).map(move |i| (l, i))) {
        // Share of noun 1 less that of noun 2, of one query of one text.
        let leaning = |t: usize, query: usize| {
            let (map, asked) = (&attn[t][l][i], &texts[t].asked);
            f64::from(map[(query, asked[1])] - map[(query, asked[2])])
        };
        let moved = |t: usize, which: usize| {
            leaning(t, texts[t].asked[which]) - leaning(t + 1, texts[t + 1].asked[which])
        };
        let pairs = (0..texts.len()).step_by(2);
        heads.push((
            (l, i),
            pairs.map(|t| (moved(t, 0), moved(t, 3))).collect::<Vec<_>>(),
        ));
    }
    let sentences: Vec<&str> = texts.iter().map(|text| text.sentence.as_str()).collect();
    let table = format!("{}\n\n{}", sentences.join("\n"), table(&heads));
    assert_quote!("minilm_pairs", table);

    let resolve = |sign| {
        heads.iter().filter(|(_, pairs)| n_moved(pairs, sign) >= MOST_PAIRS).count()
    };
    let all = |sign| heads.iter().map(|(_, pairs)| n_moved(pairs, sign)).sum::<usize>();
    let most = |sign| {
        heads.iter().map(|(_, pairs)| n_moved(pairs, sign)).max().unwrap_or_default()
    };
    let of_first = |sign: f64| {
        heads.iter().filter(|(_, pairs)| n_moved(&pairs[..1], sign) == 1).count()
    };
    let found = [
        ("pairs_heads_that_resolve", resolve(1.0)),
        ("pairs_heads_against", resolve(-1.0)),
        ("pairs_most_moved", most(1.0)),
        ("pairs_most_against", most(-1.0)),
        ("pairs_moves", all(1.0)),
        ("pairs_moves_against", all(-1.0)),
        ("pairs_tired_wide", of_first(1.0)),
        ("pairs_tired_wide_against", of_first(-1.0)),
    ];
    assert_quote!("minilm_pairs_values", values(&found));
}

/// By how much a head moves the pronoun of a pair, and the control.
type Moved = (f64, f64);

/// The heads that move any pair, in either direction.
fn table(heads: &[((usize, usize), Vec<Moved>)]) -> String {
    let mut table =
        String::from("head   moved  against  each pair: the pronoun (the control)");
    for ((l, i), pairs) in heads {
        let (with, against) = (n_moved(pairs, 1.0), n_moved(pairs, -1.0));
        if with + against == 0 {
            continue;
        }
        let name = format!("{l}.{i}");
        let _ = write!(table, "\n{name:<6} {with:>5}  {against:>7} ");
        for (pronoun, control) in pairs {
            let _ = write!(table, "  {pronoun:>5.2} ({control:>5.2})");
        }
    }
    table
}

fn n_moved(pairs: &[Moved], sign: f64) -> usize {
    let is_moved = |(pronoun, control): &&Moved| {
        sign * pronoun >= MOVES && pronoun.abs() >= TIMES_CONTROL * control.abs()
    };
    pairs.iter().filter(is_moved).count()
}
