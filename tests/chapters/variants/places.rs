//! Ten seeds of each kind of position: trained on short texts, tested on longer ones.

use lessons::variants::ahead::{Against, Verdict};
use lessons::variants::places::{LENGTHS, OfPlace, WORKING_PART, places};
use training::changed::Place;
use training::repeats::Repeats;

use crate::quote::{assert_quote, percent, values};

#[test]
fn trained_short_and_tested_long() {
    let mut quoted = vec![("carries_part".to_owned(), percent(WORKING_PART))];
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
    let all = places().unwrap();
    for of in &all {
        quoted.push((
            format!("{}_to", of.name.to_lowercase()),
            of.works_up_to().to_string(),
        ));
    }
    let of = |place: Place| all.iter().find(|of| of.name == place.name()).unwrap();
    let (rotary, none) = (of(Place::Rotary), of(Place::None));
    let far = Against::of(&rotary.far, &none.far);
    let fixed = Against::of(&of(Place::Sinusoidal).scores[3], &rotary.scores[3]);
    assert_eq!([far, fixed].map(Against::verdict), [Verdict::Undecided, Verdict::Ahead]);
    quoted.push(("rotary_far_below".to_owned(), far.less.to_string()));
    quoted.push(("sinusoidal_192_above".to_owned(), fixed.more.to_string()));
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
    assert_eq!(of([1.0, 0.9, 0.89, 1.0]).works_up_to(), 48);
    assert_eq!(of([0.5, 0.1, 0.5, 0.5]).works_up_to(), 24);
    assert_eq!(of([0.5, 0.45, 0.6, 0.46]).works_up_to(), 192);
}
