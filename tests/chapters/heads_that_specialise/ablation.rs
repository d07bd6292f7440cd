//! Heads removed in three ways, and random directions as the control.

use ablation::Replacement;
use lessons::heads_that_specialise::lookups;
use lessons::numbers::ends;
use serde_json::Value;
use training::one_layer::Ablation;

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
}

impl Losses {
    fn of(runs: &[Value], how: Replacement) -> Self {
        let mut lost = Self { own: Vec::new(), others: Vec::new(), random: Vec::new() };
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
            lost.random.extend(rows(&removed["random"]).concat());
        }
        lost
    }
}

#[test]
fn heads_and_random_directions_removed_in_three_ways() {
    let runs = lookups(3).unwrap();
    let mut table =
        Table::new(["replaced by", "removed", "cases", "least", "median", "most"]);
    let mut quoted = vec![
        ("pairs".to_owned(), (3 * runs.len()).to_string()),
        // Of three heads a guess is right once in three.
        ("pairs_chance".to_owned(), runs.len().to_string()),
    ];
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
            table.row([name, what, &of.len().to_string(), &least, &median, &most]);
            let key = ["own", "others", "random"][nth];
            if how == Replacement::Mean {
                let cases = ["own", "other", "random"][nth];
                quoted.push((format!("{cases}_cases"), of.len().to_string()));
            }
            for (end, value) in [("least", least), ("median", median), ("most", most)] {
                quoted.push((format!("{}_{key}_{end}", how.name()), value));
            }
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
