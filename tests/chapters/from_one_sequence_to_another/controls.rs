//! What the controls of the alignment say, and the model of one attention over both texts.

use attention::thousands;
use lessons::from_one_sequence_to_another::runs;
use lessons::numbers::ends;
use lessons::seeds::{numbers, rows};
use serde_json::Value;
use training::dates::{DATES_JOINED, DATES_MOVED, DATES_SMALL};
use training::dates::{DateAblation, Dates, criteria};

use super::{all, number, percent};
use crate::quote::{Table, assert_quote, values};

fn read(data: &str) -> Vec<Value> {
    let runs: Vec<Value> = serde_json::from_str(data).unwrap();
    assert_eq!(runs.len(), 10);
    runs
}

fn most(numbers: impl IntoIterator<Item = f64>) -> f64 {
    numbers.into_iter().fold(0.0, f64::max)
}

#[test]
fn how_many_heads_align_and_what_the_controls_say() {
    let aligned = all("aligned");
    let [least, _, most_aligned] = ends(aligned.clone());
    let n = aligned.iter().filter(|&&n| n >= criteria::ALIGNED_LETTERS as f64).count();
    let second = most(aligned.iter().copied().filter(|&n| n < most_aligned));
    let stayed: f64 = all("aligned_asked_by_another").iter().sum();
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
        ("fresh_most", whole(most(all("aligned_before")))),
        ("shuffled_most", whole(most(all("aligned_shuffled")))),
        ("of_another_most", whole(most(all("aligned_of_another")))),
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
    let mut table = Table::new(["whole dates of ten seeds", "least", "median", "most"]);
    let mut quoted = Vec::new();
    for (name, key) in [
        ("without one of four heads", "without"),
        ("without 16 random directions of 64", "random"),
        ("the same, and as much of the output", "random_scaled"),
        ("with one head alone", "alone"),
    ] {
        let [least, median, most] = ends(all(key)).map(percent);
        table.row([name, &least, &median, &most]);
        quoted.push((format!("{key}_least"), least));
        quoted.push((format!("{key}_median"), median));
        quoted.push((format!("{key}_most"), most));
    }
    assert_quote!("dates_removed", table.text());
    let needed = all("needed").len();
    quoted.push(("needed".into(), needed.to_string()));
    let n_heads = all("without").len();
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
    let pair = |key: &str| numbers(&joined[0][key]).unwrap();
    let (parameters, multiply_adds) = (pair("parameters"), pair("multiply_adds"));
    let [least, _, _] = ends(joined.iter().map(|run| number(run, "whole")));
    let aligned = joined.iter().flat_map(|run| rows(&run["aligned"]).unwrap().concat());
    let counted = |n: f64| thousands(n as u64);
    let quoted = [
        ("joined_whole", percent(least)),
        ("joined_parameters", counted(parameters[1])),
        ("cross_parameters", counted(parameters[0])),
        ("joined_adds", counted(multiply_adds[1])),
        ("cross_adds", counted(multiply_adds[0])),
        ("joined_times", format!("{:.1}", multiply_adds[1] / multiply_adds[0])),
        ("joined_aligned", most(aligned).to_string()),
    ];
    assert_quote!("dates_joined_values", values(&quoted));
}
