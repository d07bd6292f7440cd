//! What ten seeds gave, beside the criteria that were fixed before.

use serde_json::Value;

use super::*;
use crate::dates::criteria::{BY_PLACE, LEAST_LEARNED, LEAST_WHOLE, MOST_WHOLE_MOVED};
use crate::tests::{numbers, runs};

/// The numbers of a list, or of one number, over all runs.
fn all(runs: &[Value], key: &str) -> Vec<f64> {
    runs.iter().flat_map(|run| numbers(&run[key])).collect()
}

fn least(numbers: &[f64]) -> f64 {
    numbers.iter().copied().fold(f64::INFINITY, f64::min)
}

fn most(numbers: &[f64]) -> f64 {
    numbers.iter().copied().fold(f64::NEG_INFINITY, f64::max)
}

fn n_aligned_heads(runs: &[Value], key: &str) -> usize {
    let aligns = |n_letters: &&f64| **n_letters >= ALIGNED_LETTERS as f64;
    all(runs, key).iter().filter(aligns).count()
}

#[test]
fn ten_seeds_beside_the_criteria() {
    let runs = runs(crate::dates::DATES);
    assert!(least(&all(&runs, "whole")) >= LEAST_WHOLE);
    let sums = ["aligned", "aligned_asked_by_another", "aligned_of_another"];
    let [own, asked, judged] = sums.map(|key| all(&runs, key).iter().sum::<f64>());
    assert!(asked >= BY_PLACE * own, "by the place: {asked} of {own}");
    let heads = sums.map(|key| n_aligned_heads(&runs, key));
    assert!(most(&all(&runs, "whole_moved")) <= MOST_WHOLE_MOVED);
    let needed = |draws: &str, key: &str| {
        let (mut n, mut n_draws) = (0, 0);
        for run in &runs {
            let run = std::slice::from_ref(run);
            let worst = least(&all(run, draws));
            n += all(run, "without").iter().filter(|without| **without < worst).count();
            n_draws += all(run, draws).len();
        }
        assert_eq!((n, n_draws), (all(&runs, key).len(), 10 * DateAblation::N_DRAWS));
        n
    };
    let needed = [needed("random", "needed"), needed("random_scaled", "needed_scaled")];
    let median_of = |key| attention::median(all(&runs, key));
    let medians = ["without", "random", "random_scaled"].map(median_of);
    insta::assert_snapshot!(format!(
        "aligned letters {own}, asked by another date {asked}, judged by another {judged}\n\
         aligned heads {heads:?} of 40\n\
         needed more than their size says {needed:?} of 40\n\
         median without a head, random, scaled {medians:?}"
    ), @"
    aligned letters 250, asked by another date 246, judged by another 1
    aligned heads [1, 1, 0] of 40
    needed more than their size says [27, 27] of 40
    median without a head, random, scaled [0.938, 0.995, 0.995]
    ");
}

#[test]
fn with_the_output_moved_in_training_no_head_aligns() {
    let runs = runs(crate::dates::DATES_MOVED);
    assert_eq!(runs.len(), 10);
    assert!(least(&all(&runs, "whole_moved")) >= LEAST_LEARNED);
    assert_eq!(n_aligned_heads(&runs, "aligned"), 0);
    let aligned: f64 = all(&runs, "aligned").iter().sum();
    let range = |key| (least(&all(&runs, key)), most(&all(&runs, key)));
    insta::assert_snapshot!(format!(
        "{aligned} aligned letters of 400; whole as trained {:?}, unmoved {:?}",
        range("whole_moved"),
        range("whole"),
    ), @"3 aligned letters of 400; whole as trained (0.979, 0.997), unmoved (0.973, 0.995)");
}

#[test]
fn both_texts_joined_write_as_well_and_align_as_seldom() {
    let runs = runs(crate::dates::DATES_JOINED);
    assert_eq!(runs.len(), 10);
    assert!(least(&all(&runs, "whole")) >= LEAST_WHOLE);
    let of_block = |block: usize| -> Vec<f64> {
        runs.iter().flat_map(|run| numbers(&run["aligned"][block])).collect()
    };
    let line = |block: usize| {
        let aligned = of_block(block);
        let n_heads = aligned.iter().filter(|n| **n >= ALIGNED_LETTERS as f64).count();
        let (n_letters, n) = (aligned.iter().sum::<f64>(), aligned.len());
        format!(
            "block {block}: {n_letters} aligned letters, {n_heads} of {n} heads align\n"
        )
    };
    let of_first = |key: &str| runs[0][key].to_string();
    let sizes = ["d_ff", "parameters", "multiply_adds"].map(of_first).join(" ");
    insta::assert_snapshot!(line(0) + &line(1) + &sizes, @"
    block 0: 105 aligned letters, 0 of 40 heads align
    block 1: 213 aligned letters, 1 of 40 heads align
    [128,193] [89611,89485] [1231232,2508672]
    ");
}

#[test]
fn the_small_setting_writes_nine_of_ten_dates_with_one_head_too() {
    let runs = runs(crate::dates::DATES_SMALL);
    assert_eq!(all(&runs, "heads"), [4., 4., 4., 4., 4., 1., 1., 1., 1., 1.]);
    let whole = all(&runs, "whole");
    assert!(least(&whole) >= 0.9, "{whole:?}");
}
