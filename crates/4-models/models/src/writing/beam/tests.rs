//! Beams beside all texts that there are, beside transformers', and with caches.

use attention::{Rng, SeedableRng};
use rand::RngExt;
use serde_json::Value;

use super::*;
use crate::decoders::tests::{names, tiny};
use crate::decoders::{AsRead, Reader};
use crate::tests::vectors;
use crate::{Choice, Draft, Predict, Writer};

/// A model of a seed: random logits behind each text.
fn random_model(n_vocabulary: usize, seed: u64) -> impl Fn(&[usize]) -> Vec<f64> {
    move |text| {
        let seed = text.iter().fold(seed + 1, |seed, &id| 31 * seed + id as u64);
        let rng = &mut Rng::seed_from_u64(seed);
        (0..n_vocabulary).map(|_| rng.random_range(-2.0..2.0)).collect()
    }
}

/// The beams of a model that reads whole texts.
fn beams(
    search: &BeamSearch,
    model: impl Fn(&[usize]) -> Vec<f64>,
    text: &[usize],
) -> Vec<Beam> {
    let read = |text: &mut Vec<usize>, new: &[usize]| {
        text.extend(new);
        Ok(model(text))
    };
    search.search(text, Vec::new(), read).unwrap()
}

/// Every text that can be written, the best first.
fn all_texts(
    search: &BeamSearch,
    model: impl Fn(&[usize]) -> Vec<f64>,
    text: &[usize],
) -> Vec<Beam> {
    let (mut open, mut done) = (vec![(Vec::new(), 0.0)], Vec::new());
    while let Some((ids, log_chance)) = open.pop() {
        let row = model(&[text, &ids].concat());
        let sum: f64 = row.iter().map(|logit| logit.exp()).sum();
        for (id, logit) in row.iter().enumerate() {
            let ids = [&ids[..], &[id]].concat();
            let log_chance = log_chance + (logit.exp() / sum).ln();
            let has_ended = search.ends.contains(&id);
            if !has_ended && ids.len() < search.most {
                open.push((ids, log_chance));
                continue;
            }
            let score = log_chance / (ids.len() as f64).powf(search.alpha);
            done.push(Beam { ids, log_chance, score, has_ended });
        }
    }
    done.sort_by(|a, b| b.score.total_cmp(&a.score));
    done
}

const ALPHAS: [f64; 4] = [-0.5, 0.0, 0.7, 1.5];
const N_SEEDS: u64 = 20;

#[test]
fn a_beam_as_wide_as_all_texts_gives_all_texts_in_order() {
    for (seed, alpha) in (0..N_SEEDS).flat_map(|seed| ALPHAS.map(|alpha| (seed, alpha))) {
        let model = random_model(4, seed);
        let search = BeamSearch { width: 256, most: 4, ends: vec![0], alpha };
        let (found, expected) =
            (beams(&search, &model, &[1, 2]), all_texts(&search, &model, &[1, 2]));
        // 1 of one token, 3 of two, 9 of three, 27 · 4 of four.
        assert_eq!((found.len(), expected.len()), (121, 121));
        for (found, expected) in found.iter().zip(&expected) {
            assert_eq!(found.ids, expected.ids, "seed {seed}, α {alpha}");
            assert_eq!(found.has_ended, expected.has_ended);
            assert!((found.log_chance - expected.log_chance).abs() < 1e-12);
            assert!((found.score - expected.score).abs() < 1e-12);
        }
    }
}

#[test]
fn a_beam_of_one_is_greedy_writing() {
    for seed in 0..N_SEEDS {
        let model = random_model(6, seed);
        let mut text = Vec::new();
        let predict = |new: &[usize]| {
            text.extend(new);
            Ok(model(&text))
        };
        let draft = Draft::new(&[1, 2], Choice::greedy()).up_to(9);
        let ends = crate::Generation { ends: vec![0], ..Default::default() };
        let greedy = Writer::of(predict, draft.keeping_to(ends)).finish().unwrap();
        let search = BeamSearch { width: 1, most: 9, ends: vec![0], alpha: 0.0 };
        let found = beams(&search, &model, &[1, 2]);
        assert_eq!((found.len(), &found[0].ids[..]), (1, greedy.written()));
        assert_eq!(found[0].has_ended, greedy.has_ended());
    }
}

#[test]
fn beams_are_those_of_transformers() {
    let all = vectors("writing/beams.json");
    let table: Vec<Vec<Vec<f64>>> = serde_json::from_value(all["table"].clone()).unwrap();
    let model = |text: &[usize]| {
        let [.., a, b] = text[..] else { panic!("{text:?}") };
        table[a][b].clone()
    };
    let ids = |list: &Value| serde_json::from_value::<Vec<usize>>(list.clone()).unwrap();
    let prompt = ids(&all["prompt"]);
    let (mut worst, mut n_ended): (f64, _) = (0.0, 0);
    for case in all["cases"].as_array().unwrap() {
        let size = |key: &str| case[key].as_u64().unwrap() as usize;
        let search = BeamSearch {
            width: size("width"),
            most: size("most"),
            ends: ids(&case["ends"]),
            alpha: case["alpha"].as_f64().unwrap(),
        };
        let found = beams(&search, model, &prompt);
        let texts = case["ids"].as_array().unwrap().iter().map(ids);
        assert_eq!(
            found.iter().map(|it| it.ids.clone()).collect::<Vec<_>>(),
            texts.collect::<Vec<_>>(),
            "{search:?}"
        );
        for (found, score) in found.iter().zip(case["scores"].as_array().unwrap()) {
            worst = worst.max((found.score - score.as_f64().unwrap()).abs());
            n_ended += usize::from(found.has_ended);
        }
    }
    println!("scores differ by {worst:e}; {n_ended} texts have ended");
    assert!(worst < 2e-6 && n_ended > 50, "{worst:e} {n_ended}");
}

/// Each beam has caches of its own: a model that goes on from copied caches gives what it gives
/// when it reads every text from its beginning.
#[test]
fn copied_caches_give_what_whole_texts_give() {
    for name in names() {
        let model: AsRead = tiny(&name);
        let search = BeamSearch { width: 3, most: 5, ends: vec![7], alpha: 1.0 };
        let whole = |text: &mut Vec<usize>, new: &[usize]| {
            text.extend(new);
            Reader::new(&model).predict(text)
        };
        let expected = search.search(&[3, 1, 4], Vec::new(), whole).unwrap();
        let cached = |reader: &mut Reader<'_>, new: &[usize]| reader.predict(new);
        let found = search.search(&[3, 1, 4], Reader::new(&model), cached).unwrap();
        assert_eq!(found.len(), 3);
        for (found, expected) in found.iter().zip(&expected) {
            assert_eq!(found.ids, expected.ids, "{name}");
            assert!((found.score - expected.score).abs() < 1e-9, "{name}");
        }
    }
}

#[test]
fn what_cannot_be_searched_is_refused_with_its_numbers() {
    let search = BeamSearch { width: 2, most: 3, ends: vec![], alpha: 1.0 };
    let refused = |search: &BeamSearch, logits: &[f64]| {
        let read = |(): &mut (), _: &[usize]| Ok(logits.to_vec());
        search.search(&[0], (), read).unwrap_err().to_string()
    };
    let none = BeamSearch { width: 0, ..search.clone() };
    insta::assert_snapshot!(refused(&none, &[0.0]), @"the width of the beam is 0, expected at least 1 text");
    let nan = BeamSearch { alpha: f64::NAN, ..search.clone() };
    insta::assert_snapshot!(refused(&nan, &[0.0]), @"the length penalty is NaN, expected a finite number");
    let nothing = f64::NEG_INFINITY;
    for logits in [&[f64::NAN, 0.0][..], &[f64::INFINITY, 0.0], &[nothing], &[]] {
        assert!(refused(&search, logits).contains("logits are NaN or infinite"));
    }
    // A token that cannot come is in no text, and of the others there are fewer than asked for.
    let read = |(): &mut (), _: &[usize]| Ok(vec![0.0, nothing]);
    let found = search.search(&[0], (), read).unwrap();
    assert_eq!(found.iter().map(|it| &it.ids[..]).collect::<Vec<_>>(), [[0, 0, 0]]);
    let none = BeamSearch { most: 0, ..search };
    assert_eq!(none.search(&[0], (), read).unwrap(), []);
}
