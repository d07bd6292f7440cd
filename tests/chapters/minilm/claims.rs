//! What “Trained heads” could not compute with one layer of six: "too wide" instead of "too
//! tired", and how many pairs of words some head links, layer by layer.
//!
//! At first we compared the largest of all 72 heads with the largest of the last layer's
//! twelve. The largest of more is larger: so now every layer has its own twelve.

use attention::{Matrix, Real, thousands};
use fused_heads::FusedAttention;
use lessons::numbers::mean;

use super::{minilm, texts, words};
use crate::quote::{assert_quote, kept_quote, values};

/// A link is a share of half or more.
const LINK: f64 = 0.5;

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
    let Some(parameters) = minilm() else { return kept_quote!("minilm_claims") };
    let model = parameters.with_attention(|_, p| FusedAttention::new(p));
    let n_layers = model.config.n_layers;

    let (n_pairs, parts) = links_by_layer(&model);
    let percent = |part: f64| format!("{:.1} %", 100.0 * part);
    let last = parts[n_layers - 1];
    assert!(parts[1..3].iter().all(|&part| part > last), "{parts:?}");
    assert!(parts[3..5].iter().all(|&part| part < last), "{parts:?}");
    // Six layers like the last, if they linked pairs independently.
    let six_like_the_last = 1.0 - (1.0 - last).powi(n_layers as i32);
    let mut quoted = pronoun_weights(&model);
    for (name, value) in [
        ("n_pairs", thousands(n_pairs)),
        ("linked_by_72", percent(parts[n_layers])),
        ("linked_by_last", percent(last)),
        ("six_like_the_last", percent(six_like_the_last)),
    ] {
        quoted.push((name.to_owned(), value));
    }
    assert_quote!("minilm_claims", values(&quoted));
}

type Model = models::encoders::Encoder<FusedAttention<f32>, f32>;

/// What heads 5.11 and 3.1 give from *it* to *animal*, tired and wide.
fn pronoun_weights(model: &Model) -> Vec<(String, String)> {
    let mut quoted = Vec::new();
    for (l, i) in [(5, 11), (3, 1)] {
        for (text, end) in texts("pair").iter().zip(["tired", "wide"]) {
            let map = &model.forward(&text.sequence).unwrap().attn[l][i];
            let animal = map[(text.asked[0], text.asked[1])];
            quoted.push((format!("{end}_animal_{l}_{i}"), format!("{animal:.3}")));
        }
    }
    quoted
}

/// How many pairs of words there are, and which part of them is linked: layer by layer, and
/// last by any layer.
fn links_by_layer(model: &Model) -> (usize, Vec<f64>) {
    let n_layers = model.config.n_layers;
    let mut links = vec![Vec::new(); n_layers + 1];
    for text in texts("sentence") {
        let attn = model.forward(&text.sequence).unwrap().attn;
        let words = words(&text.sequence);
        let pairs: Vec<(usize, usize)> = words
            .iter()
            .flat_map(|&query| words.iter().map(move |&key| (query, key)))
            .filter(|(query, key)| query != key)
            .collect();
        for (links, heads) in links.iter_mut().zip(&attn) {
            links.extend(linked(&heads.iter().collect::<Vec<_>>(), &pairs));
        }
        let all: Vec<_> = attn.iter().flatten().collect();
        links[n_layers].extend(linked(&all, &pairs));
    }
    let part = |of: &Vec<bool>| mean(of.iter().map(|&is| f64::from(is)));
    (links[0].len(), links.iter().map(part).collect())
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
