//! Heads removed in three ways, and random directions as the control.

use lessons::heads_that_specialise::lookups;
use lessons::numbers::ends;
use serde_json::Value;
use training::{Ablation, Replacement};

use super::{numbers, points, rows};
use crate::quote::{Table, assert_quote, values};

/// What words lose over ten seeds, in one way of removal.
struct Losses {
    /// A head's own word.
    own: Vec<f64>,
    /// The other two.
    others: Vec<f64>,
    /// Each word without random directions.
    random: Vec<f64>,
    /// In each draw, the word that loses least, and the one that loses most.
    random_ends: [Vec<f64>; 2],
}

impl Losses {
    fn of(runs: &[Value], how: Replacement) -> Self {
        let mut lost = Self {
            own: Vec::new(),
            others: Vec::new(),
            random: Vec::new(),
            random_ends: Default::default(),
        };
        for run in runs {
            let removed = &run["removed"][how.name()];
            assert_eq!(removed["needed"], run["attending"], "{how:?}");
            let needed = numbers(&removed["needed"]);
            for (head, row) in rows(&removed["heads"]).iter().enumerate() {
                for (r, &points) in row.iter().enumerate() {
                    let is_own = needed[r] as usize == head;
                    if is_own { &mut lost.own } else { &mut lost.others }.push(points);
                }
            }
            for draw in rows(&removed["random"]) {
                let [least, _, most] = ends(draw.iter().copied());
                lost.random_ends[0].push(least);
                lost.random_ends[1].push(most);
                lost.random.extend(draw);
            }
        }
        lost
    }
}

#[test]
fn heads_and_random_directions_removed_in_three_ways() {
    let runs = lookups(3).unwrap();
    let mut table = Table::new([
        ("replaced by", -13),
        ("removed", -32),
        ("least", 7),
        ("median", 8),
        ("most", 8),
    ]);
    let mut quoted = vec![("pairs".to_owned(), (3 * runs.len()).to_string())];
    for how in Replacement::ALL {
        let lost = Losses::of(&runs, how);
        let name = match how {
            Replacement::Zero => "zeros",
            Replacement::Mean => "its mean",
            Replacement::Resample => "another's",
        };
        for (nth, (what, of)) in [
            ("the word's own head", &lost.own),
            ("another word's head", &lost.others),
            ("random directions", &lost.random),
        ]
        .into_iter()
        .enumerate()
        {
            let [least, median, most] = ends(of.iter().copied()).map(points);
            let name = if nth == 0 { name } else { "" };
            table.row([name, what, &least, &median, &most]);
            let key = ["own", "others", "random"][nth];
            for (end, value) in [("least", least), ("median", median), ("most", most)] {
                quoted.push((format!("{}_{key}_{end}", how.name()), value));
            }
        }
        for (key, of) in ["calmest", "worst"].into_iter().zip(lost.random_ends) {
            let [_, median, _] = ends(of).map(points);
            quoted.push((format!("{}_{key}", how.name()), median));
        }
        let scales =
            runs.iter().map(|run| numbers(&run["removed"][how.name()]["scales"]));
        let [least, _, most] = ends(scales.flatten());
        quoted.push((format!("{}_scale_least", how.name()), format!("{least:.2}")));
        quoted.push((format!("{}_scale_most", how.name()), format!("{most:.2}")));
    }
    quoted.push(("draws".into(), Ablation::N_DRAWS.to_string()));
    assert_quote!("heads_that_specialise_removal", table.text());
    assert_quote!("heads_that_specialise_removal_values", values(&quoted));
}
