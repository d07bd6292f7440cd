//! Ten seeds of each kind of position: trained on short texts, tested on longer ones.

use lessons::numbers::ends;
use lessons::variants::places::{CARRIES, LENGTHS, OfPlace, places};
use training::Repeats;

use super::share;
use crate::quote::{Table, assert_quote, percent, values};

#[test]
fn trained_short_and_tested_long() {
    let mut table = Table::new([
        ("", -12),
        ("24", 8),
        ("48", 9),
        ("96", 9),
        ("192", 9),
        ("carries to", 12),
        ("far", 9),
    ]);
    let mut quoted = vec![("carries_part".to_owned(), percent(CARRIES))];
    let task = Repeats::default();
    assert_eq!(task.n_tokens, LENGTHS[0]);
    for (name, place) in
        [("near_shortest", task.periods.start()), ("near_longest", task.periods.end())]
    {
        quoted.push((name.to_owned(), place.to_string()));
    }
    // As the runs of `far` had them.
    quoted.push(("far_shortest".to_owned(), "16".to_owned()));
    quoted.push(("far_longest".to_owned(), "24".to_owned()));
    for of in places().unwrap() {
        let medians = of.medians().map(share);
        let [far_least, far, far_most] = ends(of.far.iter().copied()).map(share);
        let [first, second, third, last] = &medians;
        let to = of.carries_to().to_string();
        table.row([of.name, first, second, third, last, &to, &far]);
        let key = of.name.to_lowercase();
        quoted.push((format!("{key}_far"), far));
        quoted.push((format!("{key}_far_least"), far_least));
        quoted.push((format!("{key}_far_most"), far_most));
        quoted.push((format!("{key}_to"), to));
        for (nth, n_tokens) in LENGTHS.into_iter().enumerate() {
            let [least, _, most] = ends(of.scores[nth].iter().copied()).map(share);
            quoted.push((format!("{key}_{n_tokens}"), medians[nth].clone()));
            quoted.push((format!("{key}_{n_tokens}_least"), least));
            quoted.push((format!("{key}_{n_tokens}_most"), most));
        }
    }
    assert_quote!("variants_places", table.text());
    assert_quote!("variants_places_values", values(&quoted));
}

/// The criterion at its edge, on scores that are made up.
#[test]
fn a_kind_carries_up_to_the_first_length_that_it_fails() {
    let of = |scores: [f64; 4]| OfPlace {
        name: "made up",
        scores: scores.map(|score| vec![score; 10]),
        far: vec![],
    };
    assert_eq!(of([1.0, 0.9, 0.89, 1.0]).carries_to(), 48);
    assert_eq!(of([0.5, 0.1, 0.5, 0.5]).carries_to(), 24);
    assert_eq!(of([0.5, 0.45, 0.6, 0.46]).carries_to(), 192);
}
