//! What “Trained heads” could not compute with one layer of six: "too wide" instead of "too
//! tired", and how many pairs of words some head links, layer by layer.
//!
//! At first we compared the largest of all 72 heads with the largest of the last layer's
//! twelve. The largest of more is larger: so now every layer has its own twelve, and the two
//! heads that follow position stand apart.

use attention::{Matrix, Real, thousands};
use fused_heads::FusedAttention;

use super::{minilm, texts, words};
use crate::quote::{Table, assert_quote, kept_quote, values};

/// A link is a share of half or more.
const LINK: f64 = 0.5;

/// The heads that follow position, by the atlas: the token before, and the token after.
const BY_POSITION: [(usize, usize); 2] = [(0, 2), (1, 8)];

/// The largest share that any of these heads gives from one token to another.
fn best<T: Real>(maps: &[&Matrix<T>], query: usize, key: usize) -> f64 {
    maps.iter().map(|map| map[(query, key)].to_f64()).fold(0.0, f64::max)
}

/// Which of these pairs some head links.
fn linked<T: Real>(maps: &[&Matrix<T>], pairs: &[(usize, usize)]) -> Vec<bool> {
    pairs.iter().map(|&(query, key)| best(maps, query, key) >= LINK).collect()
}

#[test]
fn what_one_layer_could_not_say() {
    let Some(parameters) = minilm() else {
        return kept_quote!("minilm_claims", "minilm_linked", "minilm_tired_wide");
    };
    let model = parameters.with_attention(|_, p| FusedAttention::new(p));
    let n_layers = model.config.n_layers;

    let links = links_by_layer(&model);
    let part = |is_linked: &Vec<bool>| {
        is_linked.iter().filter(|&&is| is).count() as f64 / is_linked.len() as f64
    };
    let percent = |part: f64| format!("{:.1} %", 100.0 * part);
    let mut table = Table::new(["layer", "all heads", "without 0.2 and 1.8"]);
    for (l, of_layer) in links.iter().enumerate() {
        let name = if l < n_layers { l.to_string() } else { "any of 72".to_owned() };
        let [all, fewer] = of_layer.each_ref().map(|of| percent(part(of)));
        table.row([name, all, fewer]);
    }
    assert_quote!("minilm_linked", table.text());

    // Six layers like the last, if they linked pairs independently.
    let last = part(&links[n_layers - 1][0]);
    let six_like_the_last = 1.0 - (1.0 - last).powi(n_layers as i32);
    let (table, mut quoted) = pronoun_shares(&model);
    assert_quote!("minilm_tired_wide", table);
    for (name, value) in [
        ("n_pairs", thousands(links[0][0].len())),
        ("linked_by_72", percent(part(&links[n_layers][0]))),
        ("linked_by_last", percent(last)),
        ("six_like_the_last", percent(six_like_the_last)),
    ] {
        quoted.push((name.to_owned(), value));
    }
    assert_quote!("minilm_claims", values(&quoted));
}

type Model = models::encoders::Encoder<FusedAttention<f32>, f32>;

/// What heads 5.11 and 3.1 give from *it* to both nouns, tired and wide: as a table, and by name.
fn pronoun_shares(model: &Model) -> (String, Vec<(String, String)>) {
    let mut quoted = Vec::new();
    let mut table = Table::new(["", "it → animal", "it → street"]);
    for ((l, i), head) in [((5, 11), "5.11"), ((3, 1), "3.1")] {
        for (text, end) in texts("pair").iter().zip(["tired", "wide"]) {
            let map: Matrix<f32> =
                model.forward(&text.sequence).unwrap().attn[l].swap_remove(i);
            let [animal, street] =
                [1, 2].map(|nth| format!("{:.3}", map[(text.asked[0], text.asked[nth])]));
            table.row([&format!("head {head}, \"too {end}\""), &animal, &street]);
            for (noun, share) in [("animal", animal), ("street", street)] {
                let name = format!("{end}_{noun}_{}", head.replace('.', "_"));
                quoted.push((name, share));
            }
        }
    }
    (table.text(), quoted)
}

/// Which pairs of words are linked: layer by layer, and last by any layer; with all heads, and
/// without those that follow position.
fn links_by_layer(model: &Model) -> Vec<[Vec<bool>; 2]> {
    let n_layers = model.config.n_layers;
    let mut links = vec![[const { Vec::new() }; 2]; n_layers + 1];
    for text in texts("sentence") {
        let attn = model.forward(&text.sequence).unwrap().attn;
        let words = words(&text.sequence);
        let pairs: Vec<(usize, usize)> = words
            .iter()
            .flat_map(|&query| words.iter().map(move |&key| (query, key)))
            .filter(|(query, key)| query != key)
            .collect();
        for (nth, is_left_out) in [false, true].into_iter().enumerate() {
            let heads = |l: usize| {
                let kept =
                    move |i: &usize| !is_left_out || !BY_POSITION.contains(&(l, *i));
                let attn = &attn;
                (0..attn[l].len()).filter(kept).map(move |i| &attn[l][i])
            };
            let mut all = Vec::new();
            for (l, links) in links[..n_layers].iter_mut().enumerate() {
                let of_layer: Vec<_> = heads(l).collect();
                links[nth].extend(linked(&of_layer, &pairs));
                all.extend(of_layer);
            }
            links[n_layers][nth].extend(linked(&all, &pairs));
        }
    }
    links
}

/// What the comparison of layers can see, and what a comparison of 72 with 12 takes for it:
/// in maps of chance every twelve link as much, and 72 link more.
#[test]
fn the_best_of_more_heads_is_larger_and_layers_of_chance_are_alike() {
    use attention::{Rng, SeedableRng, random_matrix, softmax_rows};
    let rng = &mut Rng::seed_from_u64(0);
    let mut map = |spread: f64| softmax_rows(random_matrix::<f64>(12, 12, spread, rng));
    let layers: Vec<Vec<Matrix>> = (0..6)
        .map(|l| (0..12).map(|_| map(if l == 3 { 4.0 } else { 1.5 })).collect())
        .collect();
    let pairs: Vec<_> = (0..12).flat_map(|i| (0..12).map(move |j| (i, j))).collect();
    let part = |maps: &[&Matrix]| {
        linked(maps, &pairs).iter().filter(|&&is| is).count() as f64 / 144.0
    };
    let of_layers: Vec<f64> =
        layers.iter().map(|maps| part(&maps.iter().collect::<Vec<_>>())).collect();
    let chance: Vec<f64> = [0, 1, 2, 4, 5].map(|l| of_layers[l]).to_vec();
    let most = chance.iter().copied().fold(0.0, f64::max);
    let all: Vec<_> = [0, 1, 2, 4, 5].iter().flat_map(|&l: &usize| &layers[l]).collect();
    assert!(of_layers[3] > 2.0 * most, "the sharp layer: {of_layers:?}");
    assert!(part(&all) > 2.0 * most, "all chance together: {} {chance:?}", part(&all));
}
