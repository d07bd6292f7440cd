//! How tokens are written: how loud roles are, and whether identity and role are bound.

use lessons::heads_that_specialise;
use lessons::numbers::{ends, mean};
use serde_json::Value;
use training::lookups::Lookups;

use super::{numbers, percent, rows};
use crate::quote::{Table, assert_quote, values};

/// Whether each of three words has a head of its own, which gives it half or more: the head
/// that attends to a word most may attend to it hardly at all.
fn are_apart(focus: &[Vec<f64>], attending: &[f64]) -> bool {
    let gives = |(r, &head): (usize, &f64)| focus[head as usize][r] >= 0.5;
    let mut heads = attending.to_vec();
    heads.sort_by(f64::total_cmp);
    heads == [0.0, 1.0, 2.0] && attending.iter().enumerate().all(gives)
}

#[test]
fn a_head_for_each_word_is_seen_and_neither_two_on_one_nor_even_heads() {
    let heads = |words: [usize; 3]| {
        words.map(|word| {
            (0..3).map(|r| if r == word { 0.8 } else { 0.02 }).collect::<Vec<_>>()
        })
    };
    assert!(are_apart(&heads([2, 0, 1]), &[1.0, 2.0, 0.0]));
    assert!(!are_apart(&heads([0, 0, 1]), &[0.0, 2.0, 1.0])); // none looks at word 2
    assert!(!are_apart(&heads([0, 0, 1]), &[0.0, 2.0, 2.0]));
    assert!(!are_apart(&[(); 3].map(|()| vec![0.1; 3]), &[0.0, 1.0, 2.0]));
}

#[test]
fn the_louder_the_roles_the_more_often_two_heads_settle_on_one() {
    let of = heads_that_specialise::loudness().unwrap();
    let mut table =
        Table::new(["role / identity", "three heads on three words", "all words ≥ 99 %"]);
    let mut quoted = Vec::new();
    for level in of.chunk_by(|a, b| a["loudness"] == b["loudness"]) {
        let loudness = level[0]["loudness"].as_f64().unwrap();
        let apart =
            |run: &&Value| are_apart(&rows(&run["focus"]), &numbers(&run["attending"]));
        let right = |run: &&Value| numbers(&run["scores"]).iter().all(|&s| s >= 0.99);
        let n = level.len();
        let apart = format!("{} of {n}", level.iter().filter(apart).count());
        let right = format!("{} of {n}", level.iter().filter(right).count());
        let length = format!("{:.2}", loudness.sqrt());
        table.row([&length, &apart, &right]);
        if loudness == Lookups::LOUDNESS {
            quoted = vec![("loudness", length), ("loudness_seeds", n.to_string())];
        }
    }
    assert_quote!("heads_that_specialise_loudness", table.text());
    assert_quote!("heads_that_specialise_loudness_values", values(&quoted));
}

#[test]
fn one_head_in_two_codes() {
    let of = heads_that_specialise::codes().unwrap();
    let spread = |what: &str, code: &str| -> (Vec<String>, String) {
        let (shares, n_heads) = match what {
            "three" | "all" => (what, 1),
            "three_heads" => ("own", 3),
            _ => ("own", 1),
        };
        let is = |run: &&Value| {
            run["code"] == code && run["shares"] == shares && run["heads"] == n_heads
        };
        let score = |run: &Value| match what {
            "equal" | "exchanged" => run["sizes"][what].as_f64().unwrap(),
            _ => mean(numbers(&run["scores"])),
        };
        let scores: Vec<f64> = of.iter().filter(is).map(score).collect();
        assert_eq!(scores.len(), 10, "{what}, {code}");
        let [least, median, most] = ends(scores);
        let cell =
            format!("{} ({:.1}–{:.1})", percent(median), 100.0 * least, 100.0 * most);
        ([least, median, most].map(percent).to_vec(), cell)
    };
    let mut table = Table::new(["median (least–most)", "identity + role", "bound"]);
    let mut quoted = Vec::new();
    for (key, what) in [
        ("own", "one head, shares of its own"),
        ("equal", "  the same, made equal after training"),
        ("three", "one head, trained on equal shares of three"),
        ("all", "one head, trained on equal shares of all ten"),
        ("three_heads", "three heads, shares of their own"),
    ] {
        let [added, bound] = ["added", "bound"].map(|code| spread(key, code));
        table.row([what, &added.1, &bound.1]);
        quoted.push((format!("{key}_added"), added.0[1].clone()));
        quoted.push((format!("{key}_bound"), bound.0[1].clone()));
    }
    for code in ["added", "bound"] {
        quoted
            .push((format!("exchanged_{code}"), spread("exchanged", code).0[1].clone()));
    }
    assert_quote!("heads_that_specialise_codes", table.text());
    assert_quote!("heads_that_specialise_codes_values", values(&quoted));
}
