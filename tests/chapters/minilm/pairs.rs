//! Minimal pairs: which heads move the pronoun's shares between the two nouns?
//!
//! The criterion, fixed before any pair was looked at: a head *moves* a pair if the
//! pronoun's share of its noun less that of the other noun differs between the two ends by
//! .10 or more in the direction of the meaning, and by at least twice as much as that of
//! the word before the pronoun, which is the control. It *resolves pronouns* if it moves at
//! least 5 of the 7 pairs. As many in the other direction would be chance.
//!
//! Heads of one model see the same pair, so they are not independent: what is counted for a
//! p is pairs. (At first we counted moves, and took six, five of them of one pair, for more
//! than chance.)

use ablation::odds::sign_test;
use fused_heads::FusedAttention;
use lessons::trained_heads::whole::moves;
use serde_json::json;

use super::{assert_kept, kept_decimals, minilm, texts};
use crate::quote::{assert_quote, kept_quote, values};

const MOST_PAIRS: usize = 5;

#[test]
fn heads_that_move_the_pronoun() {
    let Some(parameters) = minilm() else {
        return kept_quote!("minilm_pairs_values");
    };
    let model = parameters.with_attention(|_, p| FusedAttention::new(p));
    let (n_layers, n_heads) = (model.config.n_layers, model.config.dims.n_heads());
    let texts = texts("pair");
    let attn: Vec<_> =
        texts.iter().map(|text| model.forward(&text.sequence).unwrap().attn).collect();
    let mut heads: Vec<Vec<Moved>> = Vec::new();
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
        heads.push(pairs.map(|t| [moved(t, 0), moved(t, 3)]).collect());
    }
    let rounded = |pairs: &Vec<Moved>| -> Vec<Moved> {
        pairs.iter().map(|moved| moved.map(kept_decimals)).collect()
    };
    let kept: Vec<Vec<Moved>> = heads.iter().map(rounded).collect();
    assert_kept("pairs", &json!(kept));
    let all = |sign| heads.iter().map(|pairs| n_moved(pairs, sign)).sum::<usize>();
    let most = heads.iter().map(|pairs| n_moved(pairs, 1.0)).max().unwrap_or_default();
    assert!(most < MOST_PAIRS);
    let tired_wide = heads.iter().filter(|pairs| n_moved(&pairs[..1], 1.0) == 1).count();
    let [with, against] = [1.0, -1.0].map(|sign| pairs_moved(&heads, sign));
    let found = [
        ("pairs_most_moved", most.to_string()),
        ("pairs_moves", all(1.0).to_string()),
        ("pairs_moves_against", all(-1.0).to_string()),
        ("pairs_tired_wide", tired_wide.to_string()),
        ("pairs_with", with.to_string()),
        ("pairs_against", against.to_string()),
        ("pairs_p", format!("{:.1}", sign_test(with, against))),
    ];
    assert_quote!("minilm_pairs_values", values(&found));
}

/// By how much a head moves the pronoun of a pair, and the control.
type Moved = [f64; 2];

fn n_moved(pairs: &[Moved], sign: f64) -> usize {
    pairs.iter().filter(|&&moved| moves(moved, sign)).count()
}

/// How many pairs more heads move this way than the other.
fn pairs_moved(heads: &[Vec<Moved>], sign: f64) -> usize {
    let n_pairs = heads.first().map_or(0, Vec::len);
    let n_heads = |pair: usize, sign: f64| {
        heads.iter().filter(|pairs| moves(pairs[pair], sign)).count()
    };
    (0..n_pairs).filter(|&pair| n_heads(pair, sign) > n_heads(pair, -sign)).count()
}

/// A head that follows the meaning is found, whichever pairs it fails; one whose control
/// moves as much is not; and of 72 heads of chance one moves five of seven hardly ever.
#[test]
fn a_planted_head_resolves_and_chance_does_not() {
    use attention::{Rng, SeedableRng};
    use rand::RngExt;
    let planted: Vec<Moved> =
        [0.4, 0.5, 0.2, 0.3, 0.6, 0.0, -0.05].map(|moved| [moved, 0.02]).to_vec();
    assert_eq!([1.0, -1.0].map(|sign| n_moved(&planted, sign)), [5, 0]);
    let everywhere: Vec<Moved> = planted.iter().map(|[moved, _]| [*moved; 2]).collect();
    assert_eq!(n_moved(&everywhere, 1.0), 0);

    let rng = &mut Rng::seed_from_u64(0);
    let [mut resolving, mut significant] = [0, 0];
    for _ in 0..200 {
        let mut chance = || 0.3 * (rng.random::<f64>() - rng.random::<f64>());
        let heads: Vec<Vec<Moved>> =
            (0..72).map(|_| (0..7).map(|_| [chance(), chance()]).collect()).collect();
        let resolves = |pairs: &Vec<Moved>| n_moved(pairs, 1.0) >= MOST_PAIRS;
        resolving += usize::from(heads.iter().any(resolves));
        let [with, against] = [1.0, -1.0].map(|sign| pairs_moved(&heads, sign));
        significant += usize::from(sign_test(with, against) < 0.05);
    }
    assert!(resolving <= 10 && significant <= 10, "{resolving}, {significant} of 200");
    // One pair that five heads see is one pair.
    let quiet = vec![[0.0; 2]; 6];
    let one_pair: Vec<Vec<Moved>> =
        (0..5).map(|_| [vec![[0.3, 0.0]], quiet.clone()].concat()).collect();
    assert_eq!(sign_test(pairs_moved(&one_pair, 1.0), 0), 1.0);
    // Seven pairs that one head each moves are seven.
    let seven: Vec<Vec<Moved>> = (0..7)
        .map(|head| (0..7).map(|pair| [f64::from(head == pair) * 0.3, 0.0]).collect())
        .collect();
    assert!(sign_test(pairs_moved(&seven, 1.0), 0) < 0.05);
}
