//! The links that sources claim, beside their controls.

use std::sync::LazyLock;

use lessons::ch12::claims::{Maps, Measured, all_pairs, maps_of_all};
use lessons::ch12::others::{RANDOM_LAYERS, SHUFFLED_LAYERS, random_maps, shuffled_maps};
use lessons::numbers::{mean, median, reaching};
use lessons::trained::{at, is_word, maps};
use pretrained::{TrainedLayer, minilm};

use crate::quote::{Table, assert_quote, percent, share, values};

/// The maps of layers of random numbers, made once for all tests here.
pub static RANDOM: LazyLock<Vec<Maps>> = LazyLock::new(|| random_maps().unwrap());

#[test]
fn each_claimed_link_beside_its_controls() {
    let claims = Measured::all(&RANDOM).unwrap();
    let mut table = Table::new([
        ("link", -18),
        ("source", 7),
        ("head", 6),
        ("share", 7),
        ("word pairs", 12),
        ("random", 12),
        ("others", 8),
        ("passed", 8),
    ]);
    let mut said = Vec::new();
    for claim in &claims {
        let Measured { source, link, .. } = claim;
        let twice = |others: f64| link.share >= 2.0 * others;
        assert_eq!(twice(link.others), twice(link.others_but_key), "{}", link.name);
        let [pairs, random] = [claim.pairs, claim.random].map(percent);
        let [own, others] = [link.share, link.others].map(share);
        let (head, passed) = (link.head.to_string(), format!("{} of 3", claim.passed()));
        table.row([&link.name, *source, &head, &own, &pairs, &random, &others, &passed]);
        let name = link.name.replace(" → ", "_").to_lowercase();
        said.extend([
            (name.clone(), own),
            (format!("{name}_head"), head),
            (format!("{name}_pairs"), pairs),
            (format!("{name}_random"), random),
            (format!("{name}_random_median"), share(claim.random_median)),
            (format!("{name}_others"), others),
        ]);
    }
    for n in 0..=3 {
        let count = claims.iter().filter(|claim| claim.passed() == n).count();
        said.push((format!("passed_{n}"), count.to_string()));
    }
    said.push(("claims".to_owned(), claims.len().to_string()));
    said.push(("random_layers".to_owned(), RANDOM_LAYERS.to_string()));
    assert_quote!("ch12_claims", table.text());
    assert_quote!("ch12_claims_values", values(&said));
}

#[test]
fn the_best_of_twelve_over_all_word_pairs() {
    let TrainedLayer { parameters, sentences } = minilm().unwrap();
    let pairs = all_pairs(&maps_of_all(&parameters, &sentences).unwrap(), &sentences);
    let of = |layers: &[Maps]| -> Vec<f64> {
        layers.iter().flat_map(|maps| all_pairs(maps, &sentences)).collect()
    };
    let (random, shuffled) = (of(&RANDOM), of(&shuffled_maps().unwrap()));
    let mut said = vec![
        ("pairs".to_owned(), pairs.len().to_string()),
        ("shuffled_layers".to_owned(), SHUFFLED_LAYERS.to_string()),
    ];
    for (name, best) in
        [("trained", &pairs), ("random", &random), ("shuffled", &shuffled)]
    {
        said.push((format!("{name}_median"), share(median(best.iter().copied()))));
        said.push((format!("{name}_third"), percent(reaching(best, 1.0 / 3.0))));
        said.push((format!("{name}_half"), percent(reaching(best, 0.5))));
    }
    let largest = pairs.iter().copied().fold(0.0, f64::max);
    said.push(("largest".to_owned(), share(largest)));
    assert_quote!("ch12_pairs", values(&said));
}

#[test]
fn head_11_gives_animal_to_nearly_every_token() {
    let TrainedLayer { parameters, sentences } = minilm().unwrap();
    let mut said = Vec::new();
    for sentence in &sentences {
        let map = maps(&parameters, &sentence.input).unwrap().swap_remove(11);
        let words: Vec<usize> =
            (0..map.ncols()).filter(|&key| is_word(&sentence.tokens[key])).collect();
        let column = |key: usize| mean(map.column(key).iter().copied());
        let most = |keys: &[usize], of: &dyn Fn(usize) -> f64| {
            keys.iter().copied().max_by(|&a, &b| of(a).total_cmp(&of(b))).unwrap()
        };
        let top = most(&words, &column);
        let led = (0..map.nrows())
            .filter(|&row| most(&words, &|key| map[(row, key)]) == top)
            .count();
        let name = sentence.name;
        said.push((format!("{name}_word"), sentence.tokens[top].to_string()));
        said.push((format!("{name}_mean"), share(column(top))));
        said.push((format!("{name}_led"), led.to_string()));
        said.push((format!("{name}_tokens"), map.nrows().to_string()));
    }
    let trained = minilm().unwrap();
    let animal = trained.sentence("animal_tired").unwrap();
    let map = &maps(&parameters, &animal.input).unwrap()[11];
    for (name, query) in
        [("cls", "[CLS]"), ("the", "the"), ("was", "was"), ("itself", "animal")]
    {
        said.push((
            format!("{name}_to_animal"),
            share(map[(at(animal, query).unwrap(), 2)]),
        ));
    }
    let rivers = trained.sentence("river_banks").unwrap();
    let pieces = ["over", "##flow", "##ed"].map(|piece| at(rivers, piece).unwrap());
    let sums = maps(&parameters, &rivers.input).unwrap();
    let to_verb = |head: usize, row: usize| -> f64 {
        pieces.iter().map(|&piece| sums[head][(row, piece)]).sum()
    };
    let banks = at(rivers, "banks").unwrap();
    let head =
        (0..sums.len()).max_by(|&a, &b| to_verb(a, banks).total_cmp(&to_verb(b, banks)));
    let head = head.unwrap();
    let others = (0..rivers.tokens.len()).filter(|&row| row != banks);
    let others = mean(others.map(|row| to_verb(head, row)));
    let it = at(animal, "it").unwrap();
    let street = at(animal, "street").unwrap();
    let named = [
        ("banks_overflowed", share(to_verb(head, banks))),
        ("banks_overflowed_head", head.to_string()),
        ("banks_overflowed_others", share(others)),
        ("it_to_street", share(map[(it, street)])),
        ("it_to_cls", share(map[(it, 0)])),
    ];
    said.extend(named.map(|(name, value)| (name.to_owned(), value)));
    assert_quote!("ch12_topic", values(&said));
}
