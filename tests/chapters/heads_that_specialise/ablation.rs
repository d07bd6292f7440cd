//! Heads removed in three ways, and random directions as the control.

use ablation::Replacement;
use lessons::heads_that_specialise::lookups;
use lessons::heads_that_specialise::seeds::Losses;
use lessons::numbers::ends;

use super::{numbers, points};
use crate::quote::{assert_quote, values};

#[test]
fn heads_and_random_directions_removed_in_three_ways() {
    let runs = lookups(3).unwrap();
    let mut quoted = vec![
        ("pairs".to_owned(), (3 * runs.len()).to_string()),
        // Of three heads a guess is right once in three.
        ("pairs_chance".to_owned(), runs.len().to_string()),
    ];
    for how in Replacement::ALL {
        let removed = || runs.iter().map(|run| (run, &run["removed"][how.name()]));
        assert!(removed().all(|(run, it)| it["needed"] == run["attending"]), "{how:?}");
        let [own, others] = {
            let lost = Losses::of(&runs, how).unwrap();
            [ends(lost.own)[0], ends(lost.others)[2]]
        };
        assert!(own > 0.97 && others < 0.003, "{how:?}: {own}, {others}");
        if how == Replacement::Zero {
            quoted.push(("zero_others_most".to_owned(), points(others)));
        }
        if how == Replacement::Mean {
            let [least, _, most] =
                ends(removed().flat_map(|(_, it)| numbers(&it["scales"])));
            quoted.push(("mean_scale_least".to_owned(), format!("{least:.2}")));
            quoted.push(("mean_scale_most".to_owned(), format!("{most:.2}")));
        }
    }
    assert_quote!("heads_that_specialise_removal_values", values(&quoted));
}
