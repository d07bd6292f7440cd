//! What “From one sequence to another” quotes: ten seeds of dates, as `training` keeps them.

mod alignment;
mod controls;
mod cost;

use attention::thousands;
use lessons::from_one_sequence_to_another::runs;
use lessons::numbers::ends;
use lessons::seeds::numbers;
use serde_json::Value;
use training::dates::{DateArchitecture, Dates, criteria};

use crate::quote::{assert_quote, values};

fn percent(share: f64) -> String {
    format!("{:.1} %", 100.0 * share)
}

fn number(run: &Value, key: &str) -> f64 {
    run[key].as_f64().unwrap()
}

#[test]
fn sizes_of_the_task_and_the_model() {
    let (dates, built) = (Dates::default(), DateArchitecture::default());
    let schedule = Dates::schedule(0);
    let quoted = [
        ("trained", thousands(dates.trained.len())),
        ("unseen", thousands(dates.unseen.len())),
        ("n_test", thousands(schedule.n_test)),
        ("d_model", built.d_model.to_string()),
        ("heads", built.n_heads.to_string()),
        ("steps", thousands(schedule.n_steps)),
        ("batch", schedule.batch.to_string()),
        ("aligned_letters", criteria::ALIGNED_LETTERS.to_string()),
        ("times_even", "twice".to_owned()),
    ];
    assert_eq!(criteria::TIMES_EVEN, 2.0, "twice");
    assert_quote!("dates_sizes", values(&quoted));
}

#[test]
fn ten_seeds() {
    let runs = runs().unwrap();
    let whole = ends(runs.iter().map(|run| number(run, "whole")));
    let early = ends(runs.iter().map(|run| numbers(&run["curve"]["whole"]).unwrap()[1]));
    let step = numbers(&runs[0]["curve"]["step"]).unwrap()[1];
    let quoted = [
        ("whole_least", percent(whole[0])),
        ("whole_early", percent(early[0])),
        ("early", step.to_string()),
    ];
    assert_quote!("dates_seeds_values", values(&quoted));
}
