use attention::{Real, attend_head};

use super::*;
use crate::live::{Live, Settings};

const FILLS: [&str; 4] = ["-inf", "-1e9", "-1e4", "added"];
const MASKS: [&str; 4] = ["token", "none", "causal", "front"];

fn set_to(pairs: &[(&str, &str)]) -> Set {
    Set::read(pairs.iter().copied()).unwrap()
}

fn computed(pairs: &[(&str, &str)]) -> (Computed, LiveView<Facts>) {
    let set = set_to(pairs);
    (set.recipe().compute(&set.inputs()), draw(&set).unwrap())
}

fn same(a: f64, b: f64, tolerance: f64) -> bool {
    a == b || (a.is_nan() && b.is_nan()) || (a - b).abs() <= tolerance
}

/// At every setting of all controls the title and the words say
/// what loops over the definition give.
#[test]
fn every_setting_is_told_as_loops_have_it() {
    for nan in ["v", "k", "q", "no"] {
        for mask in MASKS {
            for fill in FILLS {
                for rules in ["on", "off"] {
                    for times in ["1", "10000"] {
                        let pairs = [
                            ("nan", nan),
                            ("mask", mask),
                            ("fill", fill),
                            ("rules", rules),
                            ("times", times),
                        ];
                        let (found, view) = computed(&pairs);
                        let expected = in_loops(&set_to(&pairs));
                        for (a, b) in found.out.iter().zip(expected.iter()) {
                            assert!(same(*a, *b, 1e-9), "{pairs:?}: {a} and not {b}");
                        }
                        let n_nan = expected.iter().filter(|x| x.is_nan()).count();
                        let told = format!("and {n_nan} of 16 entries of the output");
                        assert!(view.figure.title().ends_with(&told), "{pairs:?}");
                        for precision in ["f64", "f32", "f16"] {
                            let pairs = [&pairs[..], &[("type", precision)]].concat();
                            let (_, view) = computed(&pairs);
                            assert!(view.words.ends_with('.'), "{}", view.words);
                        }
                    }
                }
            }
        }
    }
}

/// The output, entry by entry.
fn in_loops(set: &Set) -> Matrix {
    let Recipe { mask, fill, has_rules, .. } = set.recipe();
    let [q, k, v] = set.inputs();
    let mut out = Matrix::zeros(N, N);
    for i in 0..N {
        let mut scores = [0.0; N];
        for j in 0..N {
            let product: f64 = (0..N).map(|c| q[(i, c)] * k[(j, c)]).sum();
            let score = product / 2.0; // √4
            let is_open = mask.added((i, j), (N, N)).is_some();
            scores[j] = match fill {
                _ if is_open => score,
                Fill::Replaced(fill) => fill,
                Fill::Added(fill) => score + fill,
            };
        }
        let largest = scores.iter().copied().fold(f64::NEG_INFINITY, f64::max);
        let is_empty = scores.iter().all(|&score| score == f64::NEG_INFINITY);
        let powers = scores.map(|score| (score - largest).exp());
        let sum: f64 = powers.iter().sum();
        for c in 0..N {
            for j in 0..N {
                let weight = if has_rules && is_empty { 0.0 } else { powers[j] / sum };
                if !(has_rules && weight == 0.0) {
                    out[(i, c)] += weight * v[(j, c)];
                }
            }
        }
    }
    out
}

/// With −∞ and both rules it is the crate's own head, in both precisions.
#[test]
fn with_the_rules_it_is_the_crates_head() {
    fn check<T: Real>(precision: &str) {
        for mask in MASKS {
            for nan in ["v", "k", "q", "no"] {
                let pairs =
                    [("type", precision), ("mask", mask), ("nan", nan), ("rules", "on")];
                let (found, _) = computed(&pairs);
                let set = set_to(&pairs);
                let [q, k, v] = set.inputs().map(|it| it.map(T::of));
                let [q, k, v] = [q.as_view(), k.as_view(), v.as_view()];
                let mask = set.recipe().mask;
                let expected = attend_head(q, k, v, None, &mask).unwrap();
                for (a, b) in found.out.iter().zip(expected.out.iter()) {
                    assert!(same(*a, b.to_f64(), 0.0), "{pairs:?}: {a} and not {b}");
                }
            }
        }
    }
    check::<f64>("f64");
    check::<f32>("f32");
}

#[test]
fn what_is_said_of_the_chapters_cases() {
    let words = |pairs: &[(&str, &str)]| computed(pairs).1.words;
    let empty = |fill, precision| {
        words(&[("nan", "no"), ("mask", "front"), ("fill", fill), ("type", precision)])
    };
    let all = [
        words(&[]),
        words(&[("rules", "on")]),
        words(&[("nan", "k")]),
        words(&[("nan", "k"), ("mask", "none")]),
        words(&[("nan", "q")]),
        words(&[("mask", "causal"), ("rules", "on")]),
        empty("-inf", "f64"),
        empty("-1e9", "f64"),
        empty("-1e9", "f16"),
        empty("added", "f64"),
        empty("added", "f32"),
        words(&[("nan", "no"), ("mask", "causal"), ("fill", "-1e4"), ("times", "10000")]),
    ];
    insta::assert_snapshot!("words", all.join("\n"));
}

/// What a mask lets through is what a page can be told: NaN is a text, and no number.
#[test]
fn a_cell_that_is_no_number_is_null_with_a_text() {
    let json = Live::draw(&LIVE, &[]).unwrap().to_json().to_string();
    assert!(json.contains("\"NaN\"") && json.contains("−∞"));
}
