//! What the heads look at, and what they are for.

use attention::median;
use lessons::numbers::ends;
use lessons::sensors::{N_SEEDS, costs, found};
use sensors::study::{self, Asking};
use sensors::{CAP, Fleet, remaining};
use serde_json::Value;
use training::{HeadMeasures, SPECIALISATIONS};

use crate::cases::assert_close;
use crate::quote::{Table, assert_quote, values};

const KINDS: [&str; 4] = ["trained", "directions", "fresh", "untrained"];

/// In how many of five models does some head do it?
fn models_with<'a>(found: &'a [Value], of: impl Fn(&'a Value) -> &'a Value) -> usize {
    found.iter().filter(|model| !of(model).as_array().unwrap().is_empty()).count()
}

/// How many heads of all models do it?
fn heads_with<'a>(found: &'a [Value], of: impl Fn(&'a Value) -> &'a Value) -> usize {
    found.iter().map(|model| of(model).as_array().unwrap().len()).sum()
}

#[test]
fn the_eight_specialisations() {
    let found = found().unwrap();
    let mut table = Table::new([
        ("", -16),
        ("trained", 9),
        ("directions", 12),
        ("fresh layer", 13),
        ("untrained", 11),
        ("trained, all ask", 18),
    ]);
    for (which, (name, _)) in SPECIALISATIONS.iter().enumerate() {
        let of = |kind: &str, asking: &str| {
            let n = models_with(&found, |it| &it["heads"][kind][asking]["found"][which]);
            n.to_string()
        };
        let [trained, directions, fresh, untrained] = KINDS.map(|kind| of(kind, "last"));
        let all = of("trained", "all");
        table.row([(*name).to_owned(), trained, directions, fresh, untrained, all]);
    }
    assert_quote!("sensors_found", table.text());
    assert_eq!(found.len(), N_SEEDS);
}

/// The numbers that are kept, measured again on the model that comes with the book.
#[test]
fn the_model_still_does_what_was_found() {
    let trained = remaining().unwrap();
    let asked = study::asked(&Fleet::default(), &trained.scale, 256, 1001).unwrap();
    let rows = study::rows(&trained.fused().unwrap(), &asked, Asking::Last).unwrap();
    let windows: Vec<_> = asked.into_iter().map(|asked| asked.window).collect();
    let heads: Vec<_> =
        rows.iter().map(|rows| HeadMeasures::of(rows, &windows)).collect();
    let kept = &found().unwrap()[0]["heads"]["trained"]["last"];
    assert_eq!(serde_json::json!(training::found(&heads)), kept["found"]);
    for (head, kept) in heads.iter().zip(kept["measures"].as_array().unwrap()) {
        for (number, key) in
            [(head.spike, "spike"), (head.late, "late"), (head.entropy, "entropy")]
        {
            assert_close(key, (number - kept[key].as_f64().unwrap()).abs(), 1e-3);
        }
    }
}

fn measures(found: &[Value], kind: &str, of: impl Fn(&Value) -> f64) -> Vec<f64> {
    let heads = found
        .iter()
        .flat_map(|model| model["heads"][kind]["last"]["measures"].as_array().unwrap());
    heads.map(of).collect()
}

/// The six criteria that need nothing planted, by how long the engine will still run: the
/// number of models, trained, mixed and fresh.
#[test]
fn the_specialisations_by_remaining_life() {
    let found = found().unwrap();
    let bins = found[0]["by_life"].as_array().unwrap().len();
    let name = |bin: usize| {
        let bin = &found[0]["by_life"][bin];
        match bin["to"].as_u64().unwrap() {
            400 => format!("{} or more", bin["from"]),
            to => format!("{} to {}", bin["from"], to - 1),
        }
    };
    assert_eq!(bins, 4);
    let names: Vec<String> = (0..bins).map(name).collect();
    let mut table = Table::new([
        ("", -16),
        (&names[0], 11),
        (&names[1], 12),
        (&names[2], 12),
        (&names[3], 13),
    ]);
    for (which, (name, _)) in SPECIALISATIONS.iter().enumerate() {
        if ["transition", "spike"].contains(name) {
            continue;
        }
        let cell = |bin: usize| {
            let kinds = ["trained", "directions", "fresh"];
            let of = |kind| {
                models_with(&found, |it| &it["by_life"][bin][kind]["found"][which])
            };
            kinds.map(|kind: &str| of(kind).to_string()).join("  ")
        };
        table.row([(*name).to_owned(), cell(0), cell(1), cell(2), cell(3)]);
    }
    assert_quote!("sensors_by_life", table.text());
    let entropies = |bin: usize, kind: &str| -> Vec<f64> {
        let heads = found.iter().flat_map(|model| {
            model["by_life"][bin][kind]["measures"].as_array().unwrap()
        });
        heads.map(|head| head["entropy"].as_f64().unwrap()).collect()
    };
    let uniform = |bin: usize, kind: &str| {
        entropies(bin, kind).into_iter().filter(|&bits| bits >= 0.95).count().to_string()
    };
    let early_late = heads_with(&found, |it| &it["by_life"][0]["trained"]["found"][6]);
    assert_quote!(
        "sensors_by_life_values",
        values(&[
            ("windows_late", "128".to_owned()),
            ("uniform_near", uniform(0, "trained")),
            ("uniform_far", uniform(3, "trained")),
            ("uniform_near_directions", uniform(0, "directions")),
            ("entropy_near", format!("{:.2}", median(entropies(0, "trained")))),
            ("entropy_near_least", format!("{:.2}", ends(entropies(0, "trained"))[0])),
            ("entropy_far", format!("{:.2}", median(entropies(3, "trained")))),
            ("early_late_heads", early_late.to_string()),
        ])
    );
}

#[test]
fn how_near_the_heads_come() {
    let found = found().unwrap();
    let number = |key: &'static str| move |head: &Value| head[key].as_f64().unwrap();
    let most = |kind, key| ends(measures(&found, kind, number(key)))[2];
    let uniform = |kind| {
        let all = measures(&found, kind, number("entropy"));
        all.iter().filter(|&&bits| bits >= 0.95).count()
    };
    let temperature =
        heads_with(&found, |it| &it["heads"]["trained"]["last"]["found"][2]);
    let scale = remaining().unwrap().scale;
    let asked = study::asked(&Fleet::default(), &scale, 256, 1001).unwrap();
    let capped = asked.iter().filter(|asked| asked.remaining >= CAP).count();
    let mut quoted = vec![
        ("capped_part", format!("{:.0} %", 100.0 * capped as f64 / asked.len() as f64)),
        ("heads_all", (8 * N_SEEDS).to_string()),
        ("temperature_heads", temperature.to_string()),
        (
            "least_entropy",
            format!("{:.2}", ends(measures(&found, "trained", number("entropy")))[0]),
        ),
        (
            "least_entropy_fresh",
            format!("{:.4}", ends(measures(&found, "fresh", number("entropy")))[0]),
        ),
    ];
    for (kind, key) in [
        ("trained", "uniform_trained"),
        ("directions", "uniform_directions"),
        ("fresh", "uniform_fresh"),
    ] {
        quoted.push((key, uniform(kind).to_string()));
    }
    for (measure, trained, control) in [
        ("recent", "recent_most", "recent_most_directions"),
        ("transition", "transition_most", "transition_most_directions"),
        ("spike", "spike_most", "spike_most_directions"),
        ("early", "early_most", "early_most_directions"),
        ("late", "late_most", "late_most_directions"),
    ] {
        quoted.push((trained, format!("{:.2}", most("trained", measure))));
        quoted.push((control, format!("{:.2}", most("directions", measure))));
    }
    assert_quote!("sensors_measures", values(&quoted));
}

fn cycles(x: f64) -> String {
    format!("{x:+.2}").replace('-', "−")
}

fn range(costs: &[f64]) -> String {
    let [least, _, most] = ends(costs.iter().copied());
    format!("{} to {}", cycles(least), cycles(most))
}

#[test]
fn heads_taken_away() {
    let found = found().unwrap();
    let mut table = Table::new([
        ("seed", 4),
        ("whole, RMSE", 13),
        ("without a head", 18),
        ("random directions", 19),
        ("without all", 13),
        ("all even", 10),
    ]);
    let mut above = 0;
    let (mut heads_all, mut random_all, mut all_all) = (vec![], vec![], vec![]);
    let (mut even_all, mut even_heads) = (vec![], vec![]);
    for model in &found {
        let removed = &model["removed"];
        let whole = removed["whole"].as_f64().unwrap();
        let (heads, random) =
            (costs(model, "heads").unwrap(), costs(model, "random").unwrap());
        let less = |key: &str| removed[key].as_f64().unwrap() - whole;
        let (all, even) = (less("all"), less("even"));
        table.row([
            model["seed"].to_string(),
            format!("{whole:.2}"),
            range(&heads),
            range(&random),
            cycles(all),
            cycles(even),
        ]);
        even_all.push(even);
        even_heads.extend(costs(model, "even_heads").unwrap());
        let most = ends(random.iter().copied())[2];
        above += heads.iter().filter(|&&cost| cost > most).count();
        heads_all.extend(heads);
        random_all.extend(random);
        all_all.push(all);
    }
    assert_quote!("sensors_removed", table.text());
    let [least, _, most] = ends(all_all);
    assert_quote!(
        "sensors_removed_values",
        values(&[
            ("windows_removed", found[0]["removed"]["windows"].to_string()),
            ("heads_above", above.to_string()),
            (
                "heads_cost",
                heads_all.iter().filter(|&&cost| cost > 0.1).count().to_string()
            ),
            ("head_most", cycles(ends(heads_all.iter().copied())[2])),
            ("head_median", cycles(median(heads_all))),
            ("random_median", cycles(median(random_all))),
            ("even_least", cycles(ends(even_all.iter().copied())[0])),
            ("even_median", cycles(median(even_all.iter().copied()))),
            ("even_most", cycles(ends(even_all.iter().copied())[2])),
            ("even_head_most", cycles(ends(even_heads.iter().copied())[2])),
            ("even_head_median", cycles(median(even_heads))),
            ("all_least", format!("{least:.1}")),
            ("all_most", format!("{most:.1}")),
        ])
    );
}
