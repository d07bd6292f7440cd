//! Sensor windows: what eight heads explain, what each is needed for, what they do.

use ablation::odds::Count;
use attention::thousands;
use lessons::heads_that_specialise;
use lessons::numbers::ends;
use serde_json::Value;
use training::one_layer::Task;
use training::windows::{SPECIALISATIONS, Windows};

use super::needed::{AT_ONE_READING, agreement};
use super::{lost, numbers};
use crate::quote::{Table, assert_quote, values};

/// How much R² a head's removal must cost a target, for the target to need the head.
const NEEDS: f64 = 0.1;

#[test]
fn windows_and_their_specialisations() {
    let of = heads_that_specialise::windows(8).unwrap();
    let mut quoted: Vec<(String, String)> = Vec::new();
    let mut table = Table::new(["", "fresh", "trained", "p", "a head has it with"]);
    for (i, (name, criterion)) in SPECIALISATIONS.iter().enumerate() {
        let seeds = |key: &str| {
            Count::of(of.iter().map(|run| !run[key][i].as_array().unwrap().is_empty()))
        };
        let (before, after) = (seeds("found_before"), seeds("found"));
        let p = written_p(before.fisher(after));
        quoted.push((format!("p_{}", name.replace(' ', "_")), p.clone()));
        let [before, after] = [before, after].map(|count| count.hits().to_string());
        let [before, after, p] = [&before, &after, &p].map(String::as_str);
        table.row([name, before, after, p, criterion]);
    }
    let n_lines = SPECIALISATIONS.len();
    quoted.push(("lines".into(), n_lines.to_string()));
    quoted.push(("p_of_one".into(), format!("{:.3}", 0.05 / n_lines as f64)));
    assert_quote!("heads_that_specialise_windows", table.text());

    assert_quote!("heads_that_specialise_targets", targets(&of).text());

    let busiest = |run: &Value| {
        let needs = |row: &Vec<f64>| row.iter().filter(|&&lost| lost >= NEEDS).count();
        lost(run).iter().map(needs).max().unwrap() as f64
    };
    let [least, _, most] = ends(of.iter().map(busiest));
    let agree = agreement(&of, &AT_ONE_READING, 0);
    let schedule = Windows::schedule(0);
    quoted.extend([
        ("agree".into(), agree.to_string()),
        ("agree_chance".into(), (agree.n() / 8).to_string()),
        ("busiest_least".into(), least.to_string()),
        ("busiest_most".into(), most.to_string()),
        ("needs".into(), NEEDS.to_string()),
        ("window_steps".into(), thousands(schedule.n_steps)),
        ("window_width".into(), Windows::default().d_model().to_string()),
    ]);
    assert_quote!("heads_that_specialise_windows_values", values(&quoted));
}

/// How well eight heads and one give each target, and how many of eight it needs.
fn targets(of: &[Value]) -> Table<4> {
    let targets = Windows::default().targets().to_vec();
    let single = heads_that_specialise::windows(1).unwrap();
    let mut table = Table::new(["R²", "8 heads", "1 head", "needs"]);
    for (r, target) in targets.iter().enumerate() {
        let r2 = |runs: &[Value]| {
            let [least, median, _] =
                ends(runs.iter().map(|run| numbers(&run["scores"])[r]));
            format!("{median:.2} ({least:.2})")
        };
        let needs =
            |run: &Value| lost(run).iter().filter(|row| row[r] >= NEEDS).count() as f64;
        let [least, _, most] = ends(of.iter().map(needs));
        let needs = format!("{least}–{most}");
        table.row([*target, &r2(of), &r2(&single), &needs]);
    }
    table
}

/// Two digits that count, and no p below a thousandth.
fn written_p(p: f64) -> String {
    match p {
        p if p < 0.001 => "< .001".to_owned(),
        p if p < 0.0995 => format!("{p:.3}").replace("0.", "."),
        p => format!("{p:.2}").replace("0.", "."),
    }
}
