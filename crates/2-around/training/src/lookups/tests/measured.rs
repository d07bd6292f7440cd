//! What many seeds gave.

use std::fmt::Write;

use attention::median;
use serde_json::Value;

use super::*;
use crate::one_layer::mean;
use crate::tests::{numbers, runs};

/// A line a setting: the spread of what `of` says of its runs.
fn spread(runs: &[Value], of: impl Fn(&Value) -> f64) -> String {
    let setting = |run: &Value| {
        format!("{} heads, rate {}, {} steps", run["heads"], run["rate"], run["steps"])
    };
    let mut text = String::new();
    for of_setting in runs.chunk_by(|a, b| setting(a) == setting(b)) {
        let mut sorted: Vec<f64> = of_setting.iter().map(&of).collect();
        sorted.sort_by(f64::total_cmp);
        let n = sorted.len();
        let (least, most) = (sorted[0], sorted[n - 1]);
        let median = median(sorted);
        let setting = setting(&of_setting[0]);
        writeln!(text, "{setting}, {n} seeds: {least:.3} {median:.3} {most:.3}").unwrap();
    }
    text
}

#[test]
fn the_lookups_least_median_and_most() {
    let spread = spread(&runs(LOOKUPS), |run| mean(&numbers(&run["scores"])));
    insta::assert_snapshot!(spread, @r"
    1 heads, rate 0.01, 1000 steps, 10 seeds: 0.688 0.741 0.749
    2 heads, rate 0.01, 1000 steps, 10 seeds: 0.671 0.914 0.963
    3 heads, rate 0.01, 1000 steps, 10 seeds: 1.000 1.000 1.000
    4 heads, rate 0.01, 1000 steps, 10 seeds: 1.000 1.000 1.000
    6 heads, rate 0.01, 1000 steps, 10 seeds: 1.000 1.000 1.000
    8 heads, rate 0.01, 1000 steps, 10 seeds: 1.000 1.000 1.000
    1 heads, rate 0.01, 4000 steps, 10 seeds: 0.803 0.823 0.828
    1 heads, rate 0.003, 1000 steps, 10 seeds: 0.541 0.597 0.632
    3 heads, rate 0.003, 1000 steps, 10 seeds: 0.999 1.000 1.000
    4 heads, rate 0.003, 1000 steps, 10 seeds: 0.999 1.000 1.000
    ");
}

#[test]
fn one_head_codes_who_and_not_which_role() {
    let mut usual = runs(LOOKUPS);
    usual.truncate(10);
    assert!(usual.iter().all(|run| run["heads"] == 1));
    let keys = ["by_identity", "by_role", "as_is", "equal", "exchanged", "other_role"];
    let line = |key: &&str| {
        let of = |run: &Value| run["sizes"][*key].as_f64().unwrap();
        format!("{key}: {}", spread(&usual, of).split(": ").last().unwrap())
    };
    insta::assert_snapshot!(keys.iter().map(line).collect::<String>(), @r"
    by_identity: 0.793 0.820 0.847
    by_role: 0.000 0.002 0.012
    as_is: 0.688 0.741 0.749
    equal: 0.310 0.318 0.337
    exchanged: 0.529 0.542 0.550
    other_role: 0.886 0.937 0.946
    ");
}

#[test]
fn three_heads_are_found_by_ablation_and_by_map_alike() {
    let runs = runs(LOOKUPS);
    let agree = |n_heads: u64| {
        let of = runs.iter().filter(|run| run["heads"] == n_heads && run["rate"] == 0.01);
        let (mut both, mut all) = (0, 0);
        for run in of {
            let pairs = numbers(&run["removed"]["mean"]["needed"])
                .into_iter()
                .zip(numbers(&run["attending"]));
            pairs.for_each(|(a, b)| both += i32::from(a == b));
            all += 3;
        }
        format!("{n_heads} heads: {both} of {all}\n")
    };
    let text: String = [3, 4, 6, 8].map(agree).concat();
    insta::assert_snapshot!(text, @r"
    3 heads: 30 of 30
    4 heads: 29 of 30
    6 heads: 28 of 30
    8 heads: 23 of 30
    ");
}
