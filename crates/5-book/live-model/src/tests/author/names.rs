//! The test of names: every number of it, from whole passes of the readable model.

use serde_json::{Value, json};

use super::*;

const NAMES: [&str; 4] = ["Nip", "Bo", "Tarq", "Wem"];
/// Where each begins.
const FIRSTS: [usize; 4] = [0, 4, 7, 12];

fn ids(line: &[&str]) -> Vec<usize> {
    let bytes = line.iter().flat_map(|name| format!(" {name}").into_bytes());
    bytes.map(usize::from).collect()
}

/// What the model gives the first token of each name but the first.
fn chances(model: &AsRead, before: &[&str]) -> Vec<f64> {
    let layers =
        model.forward(&Sequence::new([ids(before), ids(&NAMES)].concat())).unwrap();
    let logits = model.logits(layers.out()).unwrap();
    let chance = |next: usize| {
        let row = logits.row(ids(before).len() + FIRSTS[next] - 1).map(f64::exp);
        row[usize::from(b' ')] / row.sum()
    };
    (1..4).map(chance).collect()
}

fn check(told: &Value, expected: &[f64]) {
    let found = told["chances"].as_array().unwrap();
    assert_eq!(found.len(), expected.len());
    for (found, expected) in found.iter().zip(expected) {
        assert!((found.as_f64().unwrap() - expected).abs() < 1e-5, "{found} {expected}");
    }
    let loss = expected.iter().map(|p| -p.ln()).sum::<f64>() / 3.0;
    assert!((told["loss"].as_f64().unwrap() - loss).abs() < 1e-3);
}

fn head(name: &Value) -> (usize, usize) {
    name.as_str().unwrap().parse::<Head>().unwrap().place()
}

fn tested() -> Value {
    let mut author = author();
    let mut test = author.names("Nip, Bo,,Tarq\nWem").unwrap();
    let mut n_passes = 0;
    while author.read_names(&mut test).unwrap() {
        n_passes += 1;
    }
    let told = test.to_json();
    assert_eq!((n_passes, &told["n_passes"]), (7, &7.into()));
    assert_eq!(told["names"], json!(NAMES));
    told
}

#[test]
fn names_are_as_likely_as_the_readable_model_says() {
    let told = tested();
    let reversed: Vec<&str> = NAMES.iter().rev().copied().collect();
    for (at, before) in [&NAMES[..], &reversed, &[]].into_iter().enumerate() {
        check(&told["lines"][at], &chances(&readable(&[]), before));
    }
    // A quarter of eight heads, those that look there most; and the draws.
    let without = told["without"].as_array().unwrap();
    assert_eq!(without.len(), 4);
    let heads = |names: &Value| -> Vec<(usize, usize)> {
        names.as_array().unwrap().iter().map(head).collect()
    };
    let mut strongest = [0, 1].map(|at| head(&told["heads"][at]["head"]));
    strongest.sort_unstable();
    assert_eq!(heads(&without[0]["off"]), strongest);
    for pass in without {
        let off = heads(&pass["off"]);
        assert_eq!(off.len(), 2);
        check(pass, &chances(&readable(&off), &NAMES));
    }
}

#[test]
fn heads_look_at_the_names_as_whole_maps_say() {
    let told = tested();
    let twice = Sequence::new([ids(&NAMES), ids(&NAMES)].concat());
    let maps = readable(&[]).forward(&twice).unwrap().attn;
    for row in told["heads"].as_array().unwrap() {
        let (layer, head) = head(&row["head"]);
        let share = |next: usize, name: usize| {
            maps[layer][head][(16 + FIRSTS[next] - 1, FIRSTS[name])]
        };
        let next = (1..4).map(|next| share(next, next)).sum::<f64>() / 3.0;
        let pairs = (1..4).flat_map(|next| (0..4).map(move |name| (next, name)));
        let others = pairs.filter(|(next, name)| next != name);
        let others = others.map(|(next, name)| share(next, name)).sum::<f64>() / 9.0;
        assert!((row["next"].as_f64().unwrap() - next).abs() < 1e-5);
        assert!((row["others"].as_f64().unwrap() - others).abs() < 1e-5);
    }
}

#[test]
fn names_that_are_no_test_are_refused() {
    let author = author();
    let refused = |names: &str| author.names(names).unwrap_err().to_string();
    insta::assert_snapshot!(refused("a, b"), @"2 names, and at least 3 are needed, with commas between");
    insta::assert_snapshot!(refused("a, b, a"), @r#""a" stands there twice: names must differ"#);
    insta::assert_snapshot!(refused("abcdefghijkl, b, mnopqrstuvwxyzabcd"), @"the names take 68 tokens, each name twice, and the model has 64 positions");
}
