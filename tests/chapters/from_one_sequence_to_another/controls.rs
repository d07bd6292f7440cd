//! What the controls of the alignment say, and the model of one attention over both texts.

use lessons::from_one_sequence_to_another::{all, runs};
use lessons::numbers::ends;
use lessons::seeds::{numbers, rows};
use serde_json::Value;
use training::dates::{DATES_JOINED, DATES_MOVED, DATES_SMALL};
use training::dates::{DateAblation, Dates, criteria};

use super::{number, percent};
use crate::quote::{assert_quote, values};

fn read(data: &str) -> Vec<Value> {
    let runs: Vec<Value> = serde_json::from_str(data).unwrap();
    assert_eq!(runs.len(), 10);
    runs
}

fn list(key: &str) -> Vec<f64> {
    all(key).unwrap()
}

fn most(numbers: impl IntoIterator<Item = f64>) -> f64 {
    numbers.into_iter().fold(0.0, f64::max)
}

#[test]
fn how_many_heads_align_and_what_the_controls_say() {
    let aligned = list("aligned");
    let [least, _, most_aligned] = ends(aligned.clone());
    let n = aligned.iter().filter(|&&n| n >= criteria::ALIGNED_LETTERS as f64).count();
    let second = most(aligned.iter().copied().filter(|&n| n < most_aligned));
    let stayed: f64 = list("aligned_asked_by_another").iter().sum();
    let stayed = stayed / aligned.iter().sum::<f64>();
    let at_test = most(runs().unwrap().iter().map(|run| number(run, "whole_moved")));
    let moved = read(DATES_MOVED);
    let [learned, _, _] = ends(moved.iter().map(|run| number(run, "whole")));
    let of_moved = moved.iter().flat_map(|run| numbers(&run["aligned"]).unwrap());
    // As it was fixed before the runs.
    assert!(at_test <= criteria::MOST_WHOLE_MOVED);
    assert!(learned >= criteria::LEAST_LEARNED);
    let whole = |number: f64| number.to_string();
    let quoted = [
        ("aligned_heads", n.to_string()),
        ("unaligned_heads", (aligned.len() - n).to_string()),
        ("aligned_least", whole(least)),
        ("aligned_second", whole(second)),
        ("fresh_most", whole(most(list("aligned_before")))),
        ("shuffled_most", whole(most(list("aligned_shuffled")))),
        ("of_another_most", whole(most(list("aligned_of_another")))),
        ("stayed", percent(stayed)),
        ("moved_at_test", percent(at_test)),
        ("moved_whole", percent(learned)),
        ("moved_aligned", whole(most(of_moved))),
    ];
    assert_quote!("dates_controls_values", values(&quoted));
}

/// Heads taken away one by one, and all but one, beside as many random directions.
#[test]
fn what_is_left_without_heads() {
    let needed = list("needed").len();
    // What the text says: as many by the control that is scaled, and not the same.
    assert_eq!(list("needed_scaled").len(), needed);
    assert_ne!(list("needed_scaled"), list("needed"));
    let mut quoted = vec![("needed".to_owned(), needed.to_string())];
    let n_heads = list("without").len();
    quoted.push(("not_needed".into(), (n_heads - needed).to_string()));
    // A head like any draw is the worst of eleven in one case of eleven.
    let by_chance = n_heads as f64 / (DateAblation::N_DRAWS + 1) as f64;
    quoted.push(("needed_by_chance".into(), format!("{by_chance:.1}")));
    let small: Vec<Value> = serde_json::from_str(DATES_SMALL).unwrap();
    for (key, n_heads) in [("small", 4), ("trained_alone", 1)] {
        let of = small.iter().filter(|run| run["heads"] == n_heads);
        let [least, _, most] = ends(of.map(|run| number(run, "whole"))).map(percent);
        quoted.push((format!("{key}_least"), least));
        quoted.push((format!("{key}_most"), most));
    }
    let steps = Dates::small_schedule(0).n_steps;
    quoted.push(("small_steps".into(), steps.to_string()));
    assert_quote!("dates_removed_values", values(&quoted));
}

#[test]
fn one_attention_over_both_texts() {
    let joined = read(DATES_JOINED);
    let multiply_adds = numbers(&joined[0]["multiply_adds"]).unwrap();
    let parameters = numbers(&joined[0]["parameters"]).unwrap();
    assert!((parameters[1] / parameters[0] - 1.0).abs() < 0.002, "{parameters:?}");
    let [least, _, _] = ends(joined.iter().map(|run| number(run, "whole")));
    let aligned = joined.iter().flat_map(|run| rows(&run["aligned"]).unwrap().concat());
    let quoted = [
        ("joined_whole", percent(least)),
        ("joined_times", format!("{:.1}", multiply_adds[1] / multiply_adds[0])),
        ("joined_aligned", most(aligned).to_string()),
    ];
    assert_quote!("dates_joined_values", values(&quoted));
}
