//! What chapter 11 quotes: ten seeds as `training` keeps them, and one trained again.

use std::ops::ControlFlow;

use attention::{Rng, SeedableRng, thousands};
use lessons::ch11;
use lessons::numbers::ends;
use serde_json::Value;
use training::{
    Ablation, LOOKUPS, Lookups, Model, SPECIALISATIONS, Settings, Task, Windows,
    strongest, train,
};

use crate::quote::{Table, assert_quote, values};

const ROLES: [&str; 3] = ["agent", "object", "place"];

fn percent(share: f64) -> String {
    format!("{:.1} %", 100.0 * share)
}

fn lookups(n_heads: u64) -> Vec<Value> {
    ch11::lookups(n_heads).unwrap()
}

fn numbers(list: &Value) -> Vec<f64> {
    ch11::numbers(list).unwrap()
}

fn rows(list: &Value) -> Vec<Vec<f64>> {
    ch11::rows(list).unwrap()
}

fn score(run: &Value) -> f64 {
    ch11::score(run).unwrap()
}

/// A row for each head, a column for each word.
fn by_role(of_heads: &[Vec<f64>], cell: impl Fn(f64) -> String) -> Table<4> {
    let [agent, object, place] = ROLES;
    let mut table = Table::new([("", -11), (agent, 9), (object, 9), (place, 9)]);
    for (i, row) in of_heads.iter().enumerate() {
        let [agent, object, place] = [0, 1, 2].map(|r| cell(row[r]));
        table.row([format!("head {i}"), agent, object, place]);
    }
    table
}

fn points(lost: f64) -> String {
    format!("{:.1}", (1000.0 * lost).round() / 10.0 + 0.0)
}

#[test]
fn ten_seeds_for_each_number_of_heads() {
    let mut table = Table::new([
        ("heads", 5),
        ("steps", 7),
        ("least", 9),
        ("median", 9),
        ("most", 9),
        ("seeds with all ≥ 99 %", 23),
    ]);
    let mut said = Vec::new();
    for (n_heads, n_steps) in
        [(1, 1000), (1, 4000), (2, 1000), (3, 1000), (4, 1000), (6, 1000), (8, 1000)]
    {
        let of = ch11::runs(LOOKUPS, n_heads, n_steps).unwrap();
        let all_right = |run: &&Value| numbers(&run["scores"]).iter().all(|&s| s >= 0.99);
        let n_right = of.iter().filter(all_right).count();
        let [least, median, most] = ends(of.iter().map(score)).map(percent);
        let n_right = n_right.to_string();
        let row = [&n_heads.to_string(), &n_steps.to_string(), &least, &median, &most];
        let [heads, steps, ..] = row;
        table.row([heads, steps, &least, &median, &most, &n_right]);
        for (name, value) in [("least", least), ("median", median), ("most", most)] {
            said.push((format!("h{n_heads}_{n_steps}_{name}"), value));
        }
    }
    assert_quote!("ch11_heads", table.text());

    let rng = &mut Rng::seed_from_u64(0);
    let task = Lookups::default();
    let of = |n_heads, rng: &mut Rng| Model::random(&task, n_heads, rng).unwrap();
    let n_parameters = [1, 2, 3, 4, 6, 8].map(|n_heads| of(n_heads, rng).n_parameters());
    assert!(n_parameters.iter().all(|&n| n == n_parameters[0]));
    let settings = Lookups::settings(3, 0);
    said.extend([
        ("parameters".into(), thousands(n_parameters[0])),
        ("d_model".into(), Lookups::D_MODEL.to_string()),
        ("identities".into(), Lookups::N_IDENTITIES.to_string()),
        ("guess".into(), percent(1.0 / Lookups::N_IDENTITIES as f64)),
        ("steps".into(), thousands(settings.n_steps)),
        ("batch".into(), settings.batch.to_string()),
        ("seen".into(), thousands(settings.n_steps * settings.batch)),
        ("n_test".into(), settings.n_test.to_string()),
        ("rate".into(), settings.rate.to_string()),
    ]);
    assert_quote!("ch11_heads_values", values(&said));
}

#[test]
fn one_head_codes_who_by_size() {
    let of = lookups(1);
    let size = |key: &str| ends(of.iter().map(|run| run["sizes"][key].as_f64().unwrap()));
    let keys = ["by_identity", "by_role", "as_is", "equal", "exchanged", "other_role"];
    let mut said: Vec<(&str, String)> =
        keys.iter().map(|key| (*key, percent(size(key)[1]))).collect();
    let shares = |run: &Value| numbers(&run["sizes"]["mean"]);
    let [least, _, most] = ends(of.iter().flat_map(shares));
    said.push(("share_least", format!("{least:.2}")));
    said.push(("share_most", format!("{most:.2}")));
    assert_quote!("ch11_one_head", values(&said));
}

#[test]
fn two_heads_have_two_ways_out() {
    let mut table = Table::new([
        ("seed", 4),
        ("agent", 10),
        ("object", 10),
        ("place", 10),
        ("mean", 10),
    ]);
    let (mut given_up, mut shared) = (Vec::new(), Vec::new());
    for run in lookups(2) {
        let scores = numbers(&run["scores"]);
        let [agent, object, place] = [0, 1, 2].map(|r| percent(scores[r]));
        let mean = score(&run);
        table.row([run["seed"].to_string(), agent, object, place, percent(mean)]);
        let least = scores.iter().copied().fold(1.0, f64::min);
        if least < 0.05 { given_up.push(mean) } else { shared.push(mean) }
    }
    assert_quote!("ch11_two_heads", table.text());
    let [[_, given, _], [least, _, most]] =
        [ends(given_up.clone()), ends(shared.clone())];
    let said = [
        ("given_up", given_up.len().to_string()),
        ("given_up_score", percent(given)),
        ("shared", shared.len().to_string()),
        ("shared_least", percent(least)),
        ("shared_most", percent(most)),
    ];
    assert_quote!("ch11_two_heads_values", values(&said));
}

#[test]
fn three_heads_before_and_after_and_without_each() {
    let of = lookups(3);
    let share = |share: f64| format!("{share:.3}");
    assert_quote!("ch11_before", by_role(&rows(&of[0]["focus_before"]), share).text());
    assert_quote!("ch11_after", by_role(&rows(&of[0]["focus"]), share).text());
    let mut table = by_role(&rows(&of[0]["ablation"]), points);
    let control = numbers(&of[0]["control"]);
    let [agent, object, place] = [0, 1, 2].map(|r| points(control[r]));
    table.row(["random", &agent, &object, &place]);
    assert_quote!("ch11_ablation", table.text());

    let (mut own, mut other, mut control, mut orders) =
        (Vec::new(), Vec::new(), Vec::new(), Vec::new());
    for run in &of {
        let needed: Vec<usize> =
            numbers(&run["needed"]).iter().map(|&x| x as usize).collect();
        let mut heads = needed.clone();
        heads.sort_unstable();
        assert_eq!(heads, [0, 1, 2], "a head a word");
        assert_eq!(run["needed"], run["attending"]);
        for (i, row) in rows(&run["ablation"]).iter().enumerate() {
            for (r, &lost) in row.iter().enumerate() {
                if needed[r] == i { own.push(lost) } else { other.push(lost) }
            }
        }
        control.extend(numbers(&run["control"]));
        orders.push(needed);
    }
    let agents = [0, 1, 2].map(|head| orders.iter().filter(|o| o[0] == head).count());
    orders.sort();
    orders.dedup();
    let [own_least, _, own_most] = ends(own).map(points);
    let other_most = points(ends(other)[2]);
    let before = of.iter().flat_map(|run| rows(&run["focus_before"]).concat());
    let said = [
        ("pairs", (3 * of.len()).to_string()),
        ("own_least", own_least),
        ("own_most", own_most),
        ("other_most", other_most),
        ("control_least", points(ends(control.clone())[0]).replace('-', "−")),
        ("control_most", points(ends(control)[2]).replace('-', "−")),
        ("orders", orders.len().to_string()),
        ("before_most", share(ends(before)[2])),
        ("agent_by_0", agents[0].to_string()),
        ("agent_by_1", agents[1].to_string()),
        ("agent_by_2", agents[2].to_string()),
    ];
    assert_quote!("ch11_three_heads", values(&said));
}

#[test]
fn a_fourth_head_doubles_another() {
    let of = lookups(4);
    assert_quote!(
        "ch11_four_focus",
        by_role(&rows(&of[0]["focus"]), |x| format!("{x:.3}")).text()
    );
    assert_quote!(
        "ch11_four_ablation",
        by_role(&rows(&of[0]["ablation"]), points).text()
    );
    // The word that two heads look for, and what it loses with the better of the two.
    let doubled = of.iter().map(|run| {
        let lost = rows(&run["ablation"]);
        let most = (0..3).map(|r| lost.iter().map(|row| row[r]).fold(0.0, f64::max));
        most.fold(1.0, f64::min)
    });
    let [least, median, most] = ends(doubled).map(points);
    let head_costs = of.iter().map(|run| {
        let of_head = |row: &Vec<f64>| row.iter().copied().fold(0.0, f64::max);
        rows(&run["ablation"]).iter().map(of_head).fold(1.0, f64::min)
    });
    let [idle, ..] = ends(head_costs.clone());
    let seed = head_costs.clone().position(|cost| cost == idle).unwrap();
    let head = rows(&of[seed]["ablation"])
        .iter()
        .position(|row| row.iter().copied().fold(0.0, f64::max) == idle)
        .unwrap();
    let focus = rows(&of[seed]["focus"])[head].clone();
    let said = [
        ("doubled_least", least),
        ("doubled_median", median),
        ("doubled_most", most),
        ("idle_seed", seed.to_string()),
        ("idle_head", head.to_string()),
        ("idle_lost", points(idle)),
        ("idle_agent", format!("{:.2}", focus[0])),
        ("idle_object", format!("{:.2}", focus[1])),
        ("idle_place", format!("{:.2}", focus[2])),
    ];
    assert_quote!("ch11_four_heads", values(&said));
}

#[test]
fn how_fast_maps_form() {
    let mut table =
        Table::new([("step", 4), ("least", 10), ("median", 10), ("most", 10)]);
    let of = lookups(3);
    let steps = numbers(&of[0]["curve"]["step"]);
    for (at, step) in steps.iter().enumerate().take_while(|(_, step)| **step <= 250.0) {
        let at = |run: &Value| numbers(&run["curve"]["score"])[at];
        let [least, median, most] = ends(of.iter().map(at)).map(percent);
        table.row([step.to_string(), least, median, most]);
    }
    assert_quote!("ch11_forming", table.text());
    let arrived = |run: &Value| {
        let scores = numbers(&run["curve"]["score"]);
        steps[scores.iter().position(|&score| score >= 0.99).unwrap()]
    };
    let [first, _, last] = ends(of.iter().map(arrived));
    let said = [("first", first.to_string()), ("last", last.to_string())];
    assert_quote!("ch11_forming_values", values(&said));
}

#[test]
fn one_seed_trained_again() {
    let task = Lookups::default();
    let trained =
        train(&task, &Lookups::settings(3, 0), |_| ControlFlow::Continue(())).unwrap();
    let kept = &lookups(3)[0];
    let close = |a: f64, b: f64| (a - b).abs() < 0.02;
    for (now, then) in trained.last().scores.iter().zip(numbers(&kept["scores"])) {
        assert!(close(*now, then), "{now} and {then}");
    }
    let rng = &mut Rng::seed_from_u64(0);
    let ablation = Ablation::of(&trained.model, &trained.test, rng).unwrap();
    assert_eq!(ablation.needed(), strongest(&trained.last().focus));
    // Which head takes which word may differ where products are rounded otherwise.
    let mut heads = ablation.needed();
    heads.sort_unstable();
    assert_eq!(heads, [0, 1, 2], "a head a word");
    for i in 0..3 {
        for (r, &head) in ablation.needed().iter().enumerate() {
            let lost = ablation.losses()[(i, r)];
            let as_told = if head == i { lost > 0.9 } else { lost < 0.05 };
            assert!(as_told, "{} loses {lost} without head {i}", ROLES[r]);
        }
    }
}

/// How much R² a head's removal must cost a target, for the target to need the head.
const NEEDS: f64 = 0.1;

#[test]
fn windows_and_their_specialisations() {
    let of = ch11::windows(8).unwrap();
    let (mut said, mut appear) = (Vec::new(), 0);
    let mut table = Table::new([
        ("", -15),
        ("before", 7),
        ("after", 7),
        ("  a head has it with", -20),
    ]);
    for (i, (name, criterion)) in SPECIALISATIONS.iter().enumerate() {
        let seeds = |key: &str| {
            let found = |run: &&Value| !run[key][i].as_array().unwrap().is_empty();
            of.iter().filter(found).count()
        };
        let (before, after) = (seeds("found_before"), seeds("found"));
        let criterion = format!("  {criterion}");
        table.row([*name, &before.to_string(), &after.to_string(), &criterion]);
        let name = name.replace(' ', "_");
        said.push((format!("{name}_before"), before.to_string()));
        said.push((format!("{name}_after"), after.to_string()));
        said.push((format!("{name}_criterion"), criterion.trim_start().to_owned()));
        appear += usize::from(after > 0);
    }
    said.push(("appear".into(), appear.to_string()));
    said.push(("never".into(), (SPECIALISATIONS.len() - appear).to_string()));
    assert_quote!("ch11_windows", table.text());

    let targets = Windows::default().targets().to_vec();
    let single = ch11::windows(1).unwrap();
    let mut table =
        Table::new([("R²", -10), ("8 heads", 13), ("1 head", 13), ("needs", 8)]);
    for (r, target) in targets.iter().enumerate() {
        let r2 = |runs: &[Value]| {
            let [least, median, _] =
                ends(runs.iter().map(|run| numbers(&run["scores"])[r]));
            format!("{median:.2} ({least:.2})")
        };
        let needs = |run: &Value| {
            let lost = rows(&run["ablation"]);
            lost.iter().filter(|row| row[r] >= NEEDS).count() as f64
        };
        let [least, _, most] = ends(of.iter().map(needs));
        let needs = format!("{least}–{most}");
        table.row([*target, &r2(&of), &r2(&single), &needs]);
    }
    assert_quote!("ch11_targets", table.text());

    // Of the targets whose answer stands at one reading.
    let (mut agree, mut all) = (0, 0);
    let mut several = Vec::new();
    for run in &of {
        for r in [1, 2, 5, 6] {
            all += 1;
            agree += usize::from(run["needed"][r] == run["attending"][r]);
        }
        let lost = rows(&run["ablation"]);
        let most =
            lost.iter().map(|row| row.iter().filter(|&&lost| lost >= NEEDS).count());
        several.push(most.max().unwrap() as f64);
    }
    let [least, _, most] = ends(several);
    let settings: Settings = Windows::settings(8, 0);
    said.extend([
        ("agree".into(), agree.to_string()),
        ("of".into(), all.to_string()),
        ("busiest_least".into(), least.to_string()),
        ("busiest_most".into(), most.to_string()),
        ("needs".into(), NEEDS.to_string()),
        ("window_steps".into(), thousands(settings.n_steps)),
        ("window_width".into(), Windows::default().d_model().to_string()),
    ]);
    assert_quote!("ch11_windows_values", values(&said));
}
