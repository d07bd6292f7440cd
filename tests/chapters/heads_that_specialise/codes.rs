//! How tokens are written: how loud roles are, and whether identity and role are bound.

use lessons::heads_that_specialise::seeds::{are_apart, by_norm, in_code};
use lessons::numbers::ends;
use training::lookups::Lookups;

use super::percent;
use crate::quote::{assert_quote, values};

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
    let levels = by_norm().unwrap();
    let own: Vec<usize> = levels.iter().map(|level| level.1).collect();
    assert!(own[1..].is_sorted_by(|a, b| a > b), "{own:?}");
    let chosen = levels.iter().find(|it| it.0 == Lookups::LOUDNESS.sqrt()).unwrap();
    let quoted = [
        ("loudness", format!("{:.2}", chosen.0)),
        ("loudness_seeds", chosen.2.to_string()),
    ];
    assert_quote!("heads_that_specialise_loudness_values", values(&quoted));
}

#[test]
fn one_head_in_two_codes() {
    let median = |what, code| ends(in_code(what, code).unwrap())[1];
    // The title of the figure, and what the binding is compared with.
    let [added, bound] = ["added", "bound"].map(|code| median("three", code));
    assert!(added < 0.36 && bound > 0.97, "{added}, {bound}");
    let quoted = [("equal", "added"), ("exchanged", "added"), ("exchanged", "bound")];
    let quoted = quoted
        .map(|(what, code)| (format!("{what}_{code}"), percent(median(what, code))));
    assert_quote!("heads_that_specialise_codes_values", values(&quoted));
}
