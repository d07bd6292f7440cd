//! What chapter 9 quotes: ten seeds as `training` keeps them, and one trained again.

use std::fmt::Write;
use std::ops::ControlFlow;

use attention::{Rng, SeedableRng, thousands};
use serde_json::Value;
use training::{
    Ablation, LOOKUPS, Lookups, Model, SPECIALISATIONS, Settings, Task, WINDOWS, Windows,
    strongest, train,
};

const ROLES: [&str; 3] = ["agent", "object", "place"];

fn lines(values: &[(&str, String)]) -> String {
    let lines: Vec<String> =
        values.iter().map(|(name, value)| format!("{name}: {value}")).collect();
    lines.join("\n")
}

fn percent(share: f64) -> String {
    format!("{:.1} %", 100.0 * share)
}

/// The runs with so many heads, in steps of the usual length.
fn runs(data: &str, n_heads: u64, n_steps: u64) -> Vec<Value> {
    let all: Vec<Value> = serde_json::from_str(data).unwrap();
    let usual = all[0]["rate"].clone();
    let is = |run: &Value| {
        run["heads"] == n_heads && run["steps"] == n_steps && run["rate"] == usual
    };
    let of: Vec<Value> = all.into_iter().filter(is).collect();
    assert_eq!(of.len(), 10, "{n_heads} heads, {n_steps} steps");
    of
}

fn lookups(n_heads: u64) -> Vec<Value> {
    runs(LOOKUPS, n_heads, 1000)
}

fn numbers(list: &Value) -> Vec<f64> {
    list.as_array().unwrap().iter().map(|x| x.as_f64().unwrap()).collect()
}

fn rows(list: &Value) -> Vec<Vec<f64>> {
    list.as_array().unwrap().iter().map(numbers).collect()
}

fn mean(numbers: &[f64]) -> f64 {
    numbers.iter().sum::<f64>() / numbers.len() as f64
}

/// Least, median and most.
fn spread(numbers: impl IntoIterator<Item = f64>) -> [f64; 3] {
    let mut sorted: Vec<f64> = numbers.into_iter().collect();
    sorted.sort_by(f64::total_cmp);
    let n = sorted.len();
    [sorted[0], (sorted[(n - 1) / 2] + sorted[n / 2]) / 2.0, sorted[n - 1]]
}

fn score(run: &Value) -> f64 {
    mean(&numbers(&run["scores"]))
}

fn table(of_heads: &[Vec<f64>], cell: impl Fn(f64) -> String) -> String {
    let heading: String = ROLES.map(|role| format!("{role:>9}")).concat();
    let mut text = format!("{:<11}{heading}\n", "");
    for (i, row) in of_heads.iter().enumerate() {
        let name = format!("head {i}");
        let cells: String = row.iter().map(|&x| format!("{:>9}", cell(x))).collect();
        writeln!(text, "{name:<11}{cells}").unwrap();
    }
    text
}

fn points(lost: f64) -> String {
    format!("{:.1}", (1000.0 * lost).round() / 10.0 + 0.0)
}

#[test]
fn ten_seeds_for_each_number_of_heads() {
    let mut text = format!(
        "{:>5}  {:>5}  {:>7}  {:>7}  {:>7}  {:>21}\n",
        "heads", "steps", "least", "median", "most", "seeds with all ≥ 99 %"
    );
    let mut values = Vec::new();
    for (n_heads, n_steps) in
        [(1, 1000), (1, 4000), (2, 1000), (3, 1000), (4, 1000), (6, 1000), (8, 1000)]
    {
        let of = runs(LOOKUPS, n_heads, n_steps);
        let all_right = |run: &&Value| numbers(&run["scores"]).iter().all(|&s| s >= 0.99);
        let n_right = of.iter().filter(all_right).count();
        let [least, median, most] = spread(of.iter().map(score)).map(percent);
        writeln!(
            text,
            "{n_heads:>5}  {n_steps:>5}  {least:>7}  {median:>7}  {most:>7}  {n_right:>21}"
        )
        .unwrap();
        for (name, value) in [("least", least), ("median", median), ("most", most)] {
            values.push((format!("h{n_heads}_{n_steps}_{name}"), value));
        }
    }
    insta::assert_snapshot!("ch09_heads", text.trim_end());

    let rng = &mut Rng::seed_from_u64(0);
    let task = Lookups::default();
    let of = |n_heads, rng: &mut Rng| Model::random(&task, n_heads, rng).unwrap();
    let n_parameters = [1, 2, 3, 4, 6, 8].map(|n_heads| of(n_heads, rng).n_parameters());
    assert!(n_parameters.iter().all(|&n| n == n_parameters[0]));
    let settings = Lookups::settings(3, 0);
    values.extend([
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
    let values: Vec<_> = values.iter().map(|(n, v)| (n.as_str(), v.clone())).collect();
    insta::assert_snapshot!("ch09_heads_values", lines(&values));
}

#[test]
fn one_head_codes_who_by_size() {
    let of = lookups(1);
    let size =
        |key: &str| spread(of.iter().map(|run| run["sizes"][key].as_f64().unwrap()));
    let keys = ["by_identity", "by_role", "as_is", "equal", "exchanged", "other_role"];
    let mut values: Vec<(&str, String)> =
        keys.iter().map(|key| (*key, percent(size(key)[1]))).collect();
    let shares = |run: &Value| numbers(&run["sizes"]["mean"]);
    let [least, _, most] = spread(of.iter().flat_map(shares));
    values.push(("share_least", format!("{least:.2}")));
    values.push(("share_most", format!("{most:.2}")));
    insta::assert_snapshot!("ch09_one_head", lines(&values));
}

#[test]
fn two_heads_have_two_ways_out() {
    let mut text = format!(
        "{:>4}  {:>8}  {:>8}  {:>8}  {:>8}\n",
        "seed", "agent", "object", "place", "mean"
    );
    let (mut given_up, mut shared) = (Vec::new(), Vec::new());
    for run in lookups(2) {
        let scores = numbers(&run["scores"]);
        let cells: Vec<String> =
            scores.iter().map(|&s| format!("{:>8}", percent(s))).collect();
        let mean = score(&run);
        writeln!(
            text,
            "{:>4}  {}  {:>8}",
            run["seed"].to_string(),
            cells.join("  "),
            percent(mean)
        )
        .unwrap();
        let least = scores.iter().copied().fold(1.0, f64::min);
        if least < 0.05 { given_up.push(mean) } else { shared.push(mean) }
    }
    insta::assert_snapshot!("ch09_two_heads", text.trim_end());
    let [[_, given, _], [least, _, most]] =
        [spread(given_up.clone()), spread(shared.clone())];
    let values = [
        ("given_up", given_up.len().to_string()),
        ("given_up_score", percent(given)),
        ("shared", shared.len().to_string()),
        ("shared_least", percent(least)),
        ("shared_most", percent(most)),
    ];
    insta::assert_snapshot!("ch09_two_heads_values", lines(&values));
}

#[test]
fn three_heads_before_and_after_and_without_each() {
    let of = lookups(3);
    let share = |share: f64| format!("{share:.3}");
    insta::assert_snapshot!(
        "ch09_before",
        table(&rows(&of[0]["focus_before"]), share).trim_end()
    );
    insta::assert_snapshot!(
        "ch09_after",
        table(&rows(&of[0]["focus"]), share).trim_end()
    );
    let mut text = table(&rows(&of[0]["ablation"]), points);
    let control: String =
        numbers(&of[0]["control"]).iter().map(|&x| format!("{:>9}", points(x))).collect();
    write!(text, "{:<11}{control}", "random").unwrap();
    insta::assert_snapshot!("ch09_ablation", text);

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
    let [own_least, _, own_most] = spread(own).map(points);
    let other_most = points(spread(other)[2]);
    let before = of.iter().flat_map(|run| rows(&run["focus_before"]).concat());
    let values = [
        ("pairs", (3 * of.len()).to_string()),
        ("own_least", own_least),
        ("own_most", own_most),
        ("other_most", other_most),
        ("control_least", points(spread(control.clone())[0]).replace('-', "−")),
        ("control_most", points(spread(control)[2]).replace('-', "−")),
        ("orders", orders.len().to_string()),
        ("before_most", share(spread(before)[2])),
        ("agent_by_0", agents[0].to_string()),
        ("agent_by_1", agents[1].to_string()),
        ("agent_by_2", agents[2].to_string()),
    ];
    insta::assert_snapshot!("ch09_three_heads", lines(&values));
}

#[test]
fn a_fourth_head_doubles_another() {
    let of = lookups(4);
    insta::assert_snapshot!(
        "ch09_four_focus",
        table(&rows(&of[0]["focus"]), |x| format!("{x:.3}")).trim_end()
    );
    insta::assert_snapshot!(
        "ch09_four_ablation",
        table(&rows(&of[0]["ablation"]), points).trim_end()
    );
    // The word that two heads look for, and what it loses with the better of the two.
    let doubled = of.iter().map(|run| {
        let lost = rows(&run["ablation"]);
        let most = (0..3).map(|r| lost.iter().map(|row| row[r]).fold(0.0, f64::max));
        most.fold(1.0, f64::min)
    });
    let [least, median, most] = spread(doubled).map(points);
    let head_costs = of.iter().map(|run| {
        let of_head = |row: &Vec<f64>| row.iter().copied().fold(0.0, f64::max);
        rows(&run["ablation"]).iter().map(of_head).fold(1.0, f64::min)
    });
    let [idle, ..] = spread(head_costs.clone());
    let seed = head_costs.clone().position(|cost| cost == idle).unwrap();
    let head = rows(&of[seed]["ablation"])
        .iter()
        .position(|row| row.iter().copied().fold(0.0, f64::max) == idle)
        .unwrap();
    let focus = rows(&of[seed]["focus"])[head].clone();
    let values = [
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
    insta::assert_snapshot!("ch09_four_heads", lines(&values));
}

#[test]
fn how_fast_maps_form() {
    let mut text =
        format!("{:>4}  {:>8}  {:>8}  {:>8}\n", "step", "least", "median", "most");
    let of = lookups(3);
    let steps = numbers(&of[0]["curve"]["step"]);
    for (at, step) in steps.iter().enumerate().take_while(|(_, step)| **step <= 250.0) {
        let at = |run: &Value| numbers(&run["curve"]["score"])[at];
        let [least, median, most] = spread(of.iter().map(at)).map(percent);
        writeln!(text, "{step:>4}  {least:>8}  {median:>8}  {most:>8}").unwrap();
    }
    insta::assert_snapshot!("ch09_forming", text.trim_end());
    let arrived = |run: &Value| {
        let scores = numbers(&run["curve"]["score"]);
        steps[scores.iter().position(|&score| score >= 0.99).unwrap()]
    };
    let [first, _, last] = spread(of.iter().map(arrived));
    let values = [("first", first.to_string()), ("last", last.to_string())];
    insta::assert_snapshot!("ch09_forming_values", lines(&values));
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
    let of = runs(WINDOWS, 8, 1500);
    let (mut values, mut appear) = (Vec::new(), 0);
    let mut text =
        format!("{:<15} {:>6}  {:>5}  a head has it with\n", "", "before", "after");
    for (i, (name, criterion)) in SPECIALISATIONS.iter().enumerate() {
        let seeds = |key: &str| {
            let found = |run: &&Value| !run[key][i].as_array().unwrap().is_empty();
            of.iter().filter(found).count()
        };
        let (before, after) = (seeds("found_before"), seeds("found"));
        writeln!(text, "{name:<15} {before:>6}  {after:>5}  {criterion}").unwrap();
        let name = name.replace(' ', "_");
        values.push((format!("{name}_before"), before.to_string()));
        values.push((format!("{name}_after"), after.to_string()));
        values.push((format!("{name}_criterion"), (*criterion).to_owned()));
        appear += usize::from(after > 0);
    }
    values.push(("appear".into(), appear.to_string()));
    values.push(("never".into(), (SPECIALISATIONS.len() - appear).to_string()));
    insta::assert_snapshot!("ch09_windows", text.trim_end());

    let targets = Windows::default().targets().to_vec();
    let single = runs(WINDOWS, 1, 1500);
    let mut text =
        format!("{:<10}  {:>11}  {:>11}  {:>6}\n", "R²", "8 heads", "1 head", "needs");
    for (r, target) in targets.iter().enumerate() {
        let r2 = |runs: &[Value]| {
            let [least, median, _] =
                spread(runs.iter().map(|run| numbers(&run["scores"])[r]));
            format!("{median:.2} ({least:.2})")
        };
        let needs = |run: &Value| {
            let lost = rows(&run["ablation"]);
            lost.iter().filter(|row| row[r] >= NEEDS).count() as f64
        };
        let [least, _, most] = spread(of.iter().map(needs));
        let needs = format!("{least}–{most}");
        writeln!(text, "{target:<10}  {:>11}  {:>11}  {needs:>6}", r2(&of), r2(&single))
            .unwrap();
    }
    insta::assert_snapshot!("ch09_targets", text.trim_end());

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
    let [least, _, most] = spread(several);
    let settings: Settings = Windows::settings(8, 0);
    values.extend([
        ("agree".into(), agree.to_string()),
        ("of".into(), all.to_string()),
        ("busiest_least".into(), least.to_string()),
        ("busiest_most".into(), most.to_string()),
        ("needs".into(), NEEDS.to_string()),
        ("window_steps".into(), thousands(settings.n_steps)),
        ("window_width".into(), Windows::default().d_model().to_string()),
    ]);
    let values: Vec<_> = values.iter().map(|(n, v)| (n.as_str(), v.clone())).collect();
    insta::assert_snapshot!("ch09_windows_values", lines(&values));
}
