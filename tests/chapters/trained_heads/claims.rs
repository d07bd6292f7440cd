//! The links that sources claim, under three measures and with three controls.

use std::sync::LazyLock;

use attention::{Matrix, median};
use lessons::numbers::ends;
use lessons::trained::{is_word, passes};
use lessons::trained_heads::claims::{Claim, all_pairs};
use lessons::trained_heads::measures::{MEASURES, Maps, measured};
use lessons::trained_heads::others::{
    RANDOM_LAYERS, SHUFFLED_LAYERS, random_layers, shuffled_layers,
};
use lessons::trained_heads::verdicts::{Verdict, Verdicts, verdicts, verdicts_on};
use model_files::{TrainedLayer, minilm};

use crate::quote::{assert_quote, percent, share, values};
use stages::cases::assert_close;

/// The maps of layers of random entries, made once for all tests here.
pub static RANDOM: LazyLock<Vec<[Maps; 3]>> =
    LazyLock::new(|| random_layers(RANDOM_LAYERS).unwrap());

#[test]
fn each_measure_is_what_its_name_says() {
    let TrainedLayer { parameters, sentences } = minilm().unwrap();
    let maps = measured(&parameters, &sentences).unwrap();
    let (w_o, d_v) = (&parameters.w_o().weight, parameters.dims().d_v());
    for (nth, sentence) in sentences.iter().enumerate() {
        let n = sentence.tokens.len();
        for (i, pass) in passes(&parameters, &sentence.input).unwrap().iter().enumerate()
        {
            // ‖Σ_j v[k, j] · W^O[i·d_v + j, ·]‖, entry by entry.
            let written = |k: usize, to: usize| -> f64 {
                (0..d_v).map(|j| pass.v[(k, j)] * w_o[(i * d_v + j, to)]).sum()
            };
            let length = |k: usize| {
                (0..w_o.ncols()).map(|to| written(k, to).powi(2)).sum::<f64>().sqrt()
            };
            let lengths: Vec<f64> = (0..n).map(length).collect();
            let expected = |measure: usize, q: usize, k: usize| {
                let counted = |k: usize| match measure {
                    0 => pass.attn[(q, k)],
                    1 if is_word(&sentence.tokens[k]) => pass.attn[(q, k)],
                    1 => 0.0,
                    _ => pass.attn[(q, k)] * lengths[k],
                };
                counted(k) / (0..n).map(counted).sum::<f64>()
            };
            for (measure, name) in MEASURES.iter().enumerate() {
                let expected = Matrix::from_fn(n, n, |q, k| expected(measure, q, k));
                let diff = (&maps[measure][nth][i] - expected).amax();
                assert_close(format!("share {name}, head {i}"), diff, 1e-12);
            }
        }
    }
}

fn random() -> Vec<&'static [Maps; 3]> {
    RANDOM.iter().collect()
}

#[test]
fn each_claimed_link_under_three_measures() {
    let claims = verdicts(&random()).unwrap();
    let passed = |(claim, of): &(Claim, Verdicts)| {
        format!("{}: {}", claim.name(), of.each_ref().map(Verdict::letters).join(" "))
    };
    let passed: Vec<String> = claims.iter().map(passed).collect();
    insta::assert_snapshot!(passed.join("\n"), @"
    flew → pilot: PRT PRT PRT
    flew → plane: ··· ··· ·R·
    flew → paris: PR· ·R· ·R·
    overflowed → banks: ··· ·R· ·R·
    banks → river: ··· ·RT ·RT
    bank → loan: PRT PR· PR·
    it → animal: PRT PRT PRT
    tired → cross: ··· ··· ···
    the → animal: PRT PRT PRT
    ");
    let everywhere = |(_, of): &&(Claim, Verdicts)| of.iter().all(|it| it.passed() == 3);
    let animal = claims.iter().find(|(claim, _)| claim.name() == "it → animal").unwrap();
    let quoted = [
        ("it_animal_others_words", share(animal.1[1].link.others)),
        ("passed_everywhere", claims.iter().filter(everywhere).count().to_string()),
        ("random_layers", RANDOM_LAYERS.to_string()),
    ];
    assert_quote!("trained_heads_claims_values", values(&quoted));
}

/// How often layers of chance pass the controls: each random layer in the trained one's
/// place, compared with the others.
#[test]
fn random_layers_hardly_pass_all_controls() {
    let sentences = minilm().unwrap().sentences;
    let mut passed = [0; 3];
    for (nth, maps) in RANDOM.iter().enumerate() {
        let others = RANDOM.iter().enumerate().filter(|(at, _)| *at != nth);
        let others: Vec<_> = others.map(|(_, of)| of).collect();
        for (_, of) in verdicts_on(maps, &others, &sentences).unwrap() {
            for (passed, verdict) in passed.iter_mut().zip(of) {
                *passed += usize::from(verdict.passed() == 3);
            }
        }
    }
    let n = RANDOM.len() * verdicts(&random()).unwrap().len();
    let parts = passed.map(|passed| passed as f64 / n as f64);
    assert!(parts.iter().all(|&part| part < 0.05), "{parts:?}");
    let quoted = [
        ("chance_links", n.to_string()),
        ("chance_all", percent(parts[0])),
        ("chance_all_words", percent(parts[1])),
    ];
    assert_quote!("trained_heads_chance", values(&quoted));
}

/// A map in which these rows give a key this share, and the other keys what is left.
fn plant(map: &mut Matrix, rows: &[usize], key: usize, share: f64) {
    for &row in rows {
        let left = (1.0 - share) / (1.0 - map[(row, key)]);
        map.row_mut(row).scale_mut(left);
        map[(row, key)] = share;
    }
}

/// In a layer of chance, a link that is planted passes every control. Planted in every row,
/// and so a matter of the key alone, it fails the third, however large it is.
#[test]
fn a_planted_link_passes_and_a_planted_key_does_not() {
    let sentences = minilm().unwrap().sentences;
    let others: Vec<_> = RANDOM[1..].iter().collect();
    for (nth_claim, (claim, _)) in verdicts(&random()).unwrap().iter().enumerate() {
        let nth = sentences.iter().position(|s| s.name == claim.sentence).unwrap();
        let (rows, key) = claim.place(&sentences[nth]).unwrap();
        let all: Vec<usize> = (0..sentences[nth].tokens.len()).collect();
        for (of_all, expected) in [(None, "PRT"), (Some(0.7), "PR·")] {
            let mut maps = RANDOM[0].clone();
            for map in maps.iter_mut().map(|measure| &mut measure[nth][3]) {
                if let Some(share) = of_all {
                    plant(map, &all, key, share);
                }
                plant(map, &rows, key, 0.8);
            }
            let (_, verdicts) =
                verdicts_on(&maps, &others, &sentences).unwrap().swap_remove(nth_claim);
            for (verdict, measure) in verdicts.iter().zip(MEASURES) {
                assert_eq!(verdict.letters(), expected, "{}, {measure}", claim.name());
            }
        }
    }
}

fn quantile(of: &[f64], tenth: usize) -> f64 {
    let mut sorted = of.to_vec();
    sorted.sort_by(f64::total_cmp);
    sorted[sorted.len() * tenth / 10]
}

/// The typical pair of a layer of chance lies among those of others; where heads are made
/// sharper, it lies above them all.
#[test]
fn sharper_heads_raise_the_typical_pair_and_chance_does_not() {
    let sentences = minilm().unwrap().sentences;
    let typical = |maps: &Maps| median(all_pairs(maps, &sentences));
    let sharper = |map: &Matrix| {
        let mut map = map.map(|share| share.powi(4));
        map.row_iter_mut().for_each(|mut row| row /= row.sum());
        map
    };
    for measure in 0..MEASURES.len() {
        let all: Vec<f64> = RANDOM.iter().map(|layer| typical(&layer[measure])).collect();
        let [least, _, most] = ends(all[10..].iter().copied());
        let inside = all[..10].iter().filter(|&&it| least <= it && it <= most);
        assert!(inside.count() >= 8, "{measure}: {all:?}");
        for layer in &RANDOM[..10] {
            let maps = layer[measure].iter();
            let maps: Maps = maps.map(|of| of.iter().map(sharper).collect()).collect();
            assert!(typical(&maps) > most, "{measure}: {} {most}", typical(&maps));
        }
    }
}

#[test]
fn the_best_of_twelve_over_all_word_pairs() {
    let TrainedLayer { parameters, sentences } = minilm().unwrap();
    let layers = [
        vec![measured(&parameters, &sentences).unwrap()],
        RANDOM.clone(),
        shuffled_layers(SHUFFLED_LAYERS).unwrap(),
    ];
    for measure in 0..MEASURES.len() {
        let shares = layers.each_ref().map(|layers| -> Vec<f64> {
            layers
                .iter()
                .flat_map(|layer| all_pairs(&layer[measure], &sentences))
                .collect()
        });
        let medians = shares.each_ref().map(|of| median(of.iter().copied()));
        let [trained, random, shuffled] = medians;
        let is_higher = [random, shuffled].map(|control| trained > control);
        assert_eq!(is_higher, [measure > 0; 2], "what the chapter says of the median");
        // And what it says of the stronger half: from the median up, at every tenth.
        for tenth in if measure > 0 { 5..10 } else { 7..10 } {
            let [trained, random, shuffled] =
                shares.each_ref().map(|of| quantile(of, tenth));
            assert!(trained > random.max(shuffled), "{measure}, {tenth} tenths");
        }
    }
}
