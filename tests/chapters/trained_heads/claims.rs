//! The links that sources claim, under three measures and with three controls.

use std::sync::LazyLock;

use attention::{Matrix, median};
use lessons::numbers::{mean, reaching};
use lessons::trained::{at, is_word, passes};
use lessons::trained_heads::claims::{Link, links};
use lessons::trained_heads::measures::{MEASURES, Maps, measured};
use lessons::trained_heads::others::{
    DRAWN_LAYERS, RANDOM_LAYERS, SHUFFLED_LAYERS, random_layers, shuffled_layers,
};
use lessons::trained_heads::verdicts::{Verdict, verdicts};
use model_files::{TrainedLayer, minilm};

use crate::cases::assert_close;
use crate::quote::{Table, assert_quote, percent, share, values};

/// The maps of layers of random entries, made once for all tests here.
pub static RANDOM: LazyLock<Vec<[Maps; 3]>> =
    LazyLock::new(|| random_layers(RANDOM_LAYERS).unwrap());

/// What comes after a name for each measure.
const SUFFIXES: [&str; 3] = ["", "_words", "_written"];

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

#[test]
fn each_claimed_link_under_three_measures() {
    let claims = verdicts(&RANDOM).unwrap();
    let mut table = Table::bare([-19, 6, 7, 7, 7, 7, 7, 7, 7, 7]);
    table.row(["", MEASURES[0], "", "", MEASURES[1], "", "", MEASURES[2], "", ""]);
    let columns = ["share", "others", "passes"];
    table.row(
        std::iter::once("link")
            .chain([columns; 3].concat())
            .collect::<Vec<_>>()
            .try_into()
            .unwrap(),
    );
    let mut quoted = Vec::new();
    for (claim, verdicts) in &claims {
        let mut row = vec![claim.name()];
        let name = claim.name().replace(" → ", "_");
        for (Verdict { link, pairs, random, random_median }, suffix) in
            verdicts.iter().zip(SUFFIXES)
        {
            let [own, others] = [link.share, link.others].map(share);
            row.extend([own.clone(), others.clone()]);
            quoted.extend([
                (format!("{name}{suffix}"), own),
                (format!("{name}_head{suffix}"), link.head.to_string()),
                (format!("{name}_pairs{suffix}"), percent(*pairs)),
                (format!("{name}_random{suffix}"), percent(*random)),
                (format!("{name}_random_median{suffix}"), share(*random_median)),
                (format!("{name}_others{suffix}"), others),
            ]);
        }
        for (at, verdict) in verdicts.iter().enumerate() {
            let letters = verdict.controls().into_iter().zip(['P', 'R', 'T']);
            let passed =
                letters.map(|(passed, letter)| if passed { letter } else { '·' });
            row.insert(3 * at + 3, passed.collect());
        }
        table.row::<String>(row.try_into().unwrap());
    }
    for n in 0..=3 {
        for (measure, suffix) in SUFFIXES.iter().enumerate() {
            let count = claims.iter().filter(|(_, of)| of[measure].passed() == n).count();
            quoted.push((format!("passed_{n}{suffix}"), count.to_string()));
        }
    }
    quoted.extend([
        ("claims".to_owned(), claims.len().to_string()),
        ("random_layers".to_owned(), RANDOM_LAYERS.to_string()),
    ]);
    assert_quote!("trained_heads_claims", table.text());
    assert_quote!("trained_heads_claims_values", values(&quoted));
}

/// What *flew* spares `[CLS]`, it has for all words.
#[test]
fn flew_gives_cls_less_than_the_others_do() {
    let TrainedLayer { parameters, sentences } = minilm().unwrap();
    let pilot = sentences.iter().position(|sentence| sentence.name == "pilot").unwrap();
    let maps = &measured(&parameters, &sentences).unwrap()[0][pilot];
    let flew = at(&sentences[pilot], "flew").unwrap();
    let (own, n) = (maps[11][(flew, 0)], maps[11].nrows());
    let others = mean((0..n).filter(|&row| row != flew).map(|row| maps[11][(row, 0)]));
    assert!(own < others);
    let quoted = [("flew_to_cls", share(own)), ("others_to_cls", share(others))];
    assert_quote!("trained_heads_flew", values(&quoted));
}

fn quantile(of: &[f64], tenth: usize) -> f64 {
    let mut sorted = of.to_vec();
    sorted.sort_by(f64::total_cmp);
    sorted[sorted.len() * tenth / 10]
}

#[test]
fn the_best_of_twelve_over_all_word_pairs() {
    let TrainedLayer { parameters, sentences } = minilm().unwrap();
    let layers = [
        ("trained", vec![measured(&parameters, &sentences).unwrap()]),
        ("random", RANDOM.clone()),
        ("shuffled", shuffled_layers(SHUFFLED_LAYERS).unwrap()),
    ];
    let mut table = Table::new([
        ("best of twelve heads", -34),
        ("trained", 7),
        ("random", 9),
        ("shuffled", 10),
    ]);
    let mut quoted = vec![
        ("shuffled_layers".to_owned(), SHUFFLED_LAYERS.to_string()),
        ("drawn_layers".to_owned(), DRAWN_LAYERS.to_string()),
    ];
    for (measure, suffix) in SUFFIXES.iter().enumerate() {
        let links = layers.each_ref().map(|(_, layers)| -> Vec<Link> {
            layers.iter().flat_map(|layer| links(&layer[measure], &sentences)).collect()
        });
        let shares =
            links.each_ref().map(|of| of.iter().map(|l| l.share).collect::<Vec<_>>());
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
        let twice = |of: &Vec<Link>| mean(of.iter().map(|l| f64::from(l.is_twice())));
        let rows = [
            ("median", medians.map(share)),
            ("third", shares.each_ref().map(|of| percent(reaching(of, 1.0 / 3.0)))),
            ("half", shares.each_ref().map(|of| percent(reaching(of, 0.5)))),
            ("twice", links.each_ref().map(|of| percent(twice(of)))),
        ];
        let said = ["median", "a third or more", "a half or more", "twice the others"];
        for ((name, cells), said) in rows.into_iter().zip(said) {
            let [a, b, c] = &cells;
            table.row([&format!("{}, {said}", MEASURES[measure]), a, b, c]);
            for ((layer, _), cell) in layers.iter().zip(cells) {
                quoted.push((format!("{layer}_{name}{suffix}"), cell));
            }
        }
        if measure == 0 {
            let largest = shares[0].iter().copied().fold(0.0, f64::max);
            quoted.push(("largest".to_owned(), share(largest)));
            quoted.push(("pairs".to_owned(), links[0].len().to_string()));
        }
    }
    assert_quote!("trained_heads_pairs", table.text());
    assert_quote!("trained_heads_pairs_values", values(&quoted));
}
