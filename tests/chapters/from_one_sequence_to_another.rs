//! What “From one sequence to another” quotes: ten seeds of dates, as `training` keeps them.

mod alignment;
mod controls;
mod cost;

use attention::{Rng, SeedableRng, thousands};
use lessons::from_one_sequence_to_another::runs;
use lessons::numbers::ends;
use lessons::seeds::numbers;
use serde_json::Value;
use training::dates::{
    Date, DateArchitecture, DateConverter, Dates, Form, N_SOURCE, criteria,
};

use crate::quote::{Table, assert_quote, values};

fn percent(share: f64) -> String {
    format!("{:.1} %", 100.0 * share)
}

fn number(run: &Value, key: &str) -> f64 {
    run[key].as_f64().unwrap()
}

/// The numbers of a list in every run, one after the other.
fn all(key: &str) -> Vec<f64> {
    runs().unwrap().iter().flat_map(|run| numbers(&run[key]).unwrap()).collect()
}

#[test]
fn the_six_forms() {
    let mut table = Table::new(["", "one day", "another"]);
    let (late, early) =
        (Date { year: 2031, month: 3, day: 12 }, Date { year: 1987, month: 9, day: 5 });
    for (nth, form) in Form::ALL.into_iter().enumerate() {
        let reads = if nth == 0 { "read" } else { "" };
        table.row([reads, &form.write(late).text, &form.write(early).text]);
    }
    table.row(["written", &late.iso(), &early.iso()]);
    assert_quote!("dates_forms", table.text());
}

#[test]
fn sizes_of_the_task_and_the_model() {
    let (dates, built) = (Dates::default(), DateArchitecture::default());
    let schedule = Dates::schedule(0);
    let model = DateConverter::random(built, &mut Rng::seed_from_u64(0)).unwrap();
    let ledger = block::Ledger::of_both(&model.model, [N_SOURCE, 10]).unwrap();
    let quoted = [
        ("trained", thousands(dates.trained.len())),
        ("unseen", thousands(dates.unseen.len())),
        ("n_test", thousands(schedule.n_test)),
        ("source", N_SOURCE.to_string()),
        ("d_model", built.d_model.to_string()),
        ("heads", built.n_heads.to_string()),
        ("d_ff", built.d_ff.to_string()),
        ("blocks_parameters", thousands(ledger.parameters())),
        ("steps", thousands(schedule.n_steps)),
        ("batch", schedule.batch.to_string()),
        ("aligned_letters", criteria::ALIGNED_LETTERS.to_string()),
        ("times_even", criteria::TIMES_EVEN.to_string()),
    ];
    assert_quote!("dates_sizes", values(&quoted));
}

#[test]
fn ten_seeds() {
    let mut table = Table::new([
        "seed",
        "whole",
        "letters aligned, by head",
        "without one head",
        "one head alone",
    ]);
    for run in runs().unwrap() {
        let spread = |key: &str| {
            let [least, _, most] = ends(numbers(&run[key]).unwrap());
            format!("{:.0} to {:.0} %", 100.0 * least, 100.0 * most)
        };
        let aligned = numbers(&run["aligned"]).unwrap();
        let aligned: Vec<String> = aligned.iter().map(f64::to_string).collect();
        table.row([
            &run["seed"].to_string(),
            &percent(number(&run, "whole")),
            &aligned.join(" "),
            &spread("without"),
            &spread("alone"),
        ]);
    }
    assert_quote!("dates_seeds", table.text());
    let whole = ends(runs().unwrap().iter().map(|run| number(run, "whole")));
    let early = ends(
        runs().unwrap().iter().map(|run| numbers(&run["curve"]["whole"]).unwrap()[1]),
    );
    let step = numbers(&runs().unwrap()[0]["curve"]["step"]).unwrap()[1];
    let [without_least, without, without_most] = ends(all("without")).map(percent);
    let [alone_least, alone, alone_most] = ends(all("alone")).map(percent);
    let quoted = [
        ("whole_least", percent(whole[0])),
        ("whole_early", percent(early[0])),
        ("early", step.to_string()),
        ("without_least", without_least),
        ("without_median", without),
        ("without_most", without_most),
        ("alone_least", alone_least),
        ("alone_median", alone),
        ("alone_most", alone_most),
    ];
    assert_quote!("dates_seeds_values", values(&quoted));
}
