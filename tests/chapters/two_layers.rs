//! What “Two layers” quotes: many seeds of seven settings, as `training` keeps them.

mod paths;

use attention::{Rng, SeedableRng, median, thousands};
use lessons::numbers::{ends, mean};
use lessons::seeds::{numbers, rows};
use lessons::two_layers::{SETTINGS, runs, together};
use serde_json::Value;
use training::Schedule;
use training::repeats::{Architecture, Predictor, Repeats};

use crate::quote::{Table, assert_quote, values};

fn percent(share: f64) -> String {
    format!("{:.1} %", 100.0 * share)
}

fn number(run: &Value, key: &str) -> f64 {
    run[key].as_f64().unwrap()
}

/// The largest entry of a layer's row in a list of rows.
fn most(shares: &Value, layer: usize) -> f64 {
    rows(shares).unwrap()[layer].iter().copied().fold(0.0, f64::max)
}

#[test]
fn seeds_of_each_setting() {
    let mut table =
        Table::new(["", "parameters", "seeds", "fresh", "least", "median", "most"]);
    let mut quoted = Vec::new();
    for setting in SETTINGS {
        let of = runs(setting).unwrap();
        let all = |key: &str| of.iter().map(|run| number(run, key)).collect::<Vec<_>>();
        let [least, middle, most] = ends(all("score")).map(percent);
        let parameters = thousands(of[0]["parameters"][1].as_u64().unwrap());
        let fresh = percent(median(all("before")));
        let n = of.len().to_string();
        table.row([setting, &parameters, &n, &fresh, &least, &middle, &most]);
        let key = setting.replace(", ", "_").replace(' ', "_");
        for (name, value) in [("least", least), ("median", middle), ("most", most)] {
            quoted.push((format!("{key}_{name}"), value));
        }
    }
    let small = runs("two layers, small").unwrap();
    let failed = small.iter().filter(|run| number(run, "score") < 0.95).count();
    quoted.push(("small_failed".into(), failed.to_string()));
    assert_quote!("two_layers_seeds", table.text());
    assert_quote!("two_layers_seeds_values", values(&quoted));
}

/// Scores with two distractors in front, at the same places without them, and how many of
/// all wrong answers name one.
#[test]
fn distractors_and_wrong_answers_that_name_one() {
    let mut table = Table::new([
        "medians",
        "without",
        "with",
        "wrong",
        "name a distractor",
        "among tokens seen",
    ]);
    let mut quoted = Vec::new();
    for setting in [
        "two layers",
        "one layer",
        "one layer, 32 heads",
        "two layers, small",
        "one layer, small",
    ] {
        let of = runs(setting).unwrap();
        let all = |key: &str| -> Vec<f64> {
            of.iter().map(|run| number(&run["distractors"], key)).collect()
        };
        let [without, with] =
            ["score_without", "score"].map(|key| percent(median(all(key))));
        let [wrong, named] = ["wrong", "named"].map(|key| all(key).iter().sum::<f64>());
        let key = setting.replace(", ", "_").replace(' ', "_");
        let task = match setting.ends_with("small") {
            true => Repeats::small(),
            false => Repeats::default(),
        };
        // Of a period's tokens and the two distractors, all but the right one are wrong.
        let chances = task.periods.clone().map(|period| 2.0 / (period + 1) as f64);
        let chance = chances.sum::<f64>() / task.periods.count() as f64;
        let named = percent(named / wrong);
        quoted.push((format!("{key}_chance"), percent(chance)));
        let cells = [&without, &with, &format!("{wrong}"), &named, &percent(chance)];
        let [a, b, c, d, e] = cells;
        table.row([setting, a, b, c, d, e]);
        for (name, value) in [("without", without), ("with", with), ("named", named)] {
            quoted.push((format!("{key}_{name}_distractors"), value));
        }
    }
    assert_quote!("two_layers_distractors", table.text());
    assert_quote!("two_layers_distractors_values", values(&quoted));
}

#[test]
fn sizes_of_the_task_and_the_models() {
    let task = Repeats::default();
    let rng = &mut Rng::seed_from_u64(0);
    let mut blocks =
        |built| Predictor::random(built, &task, rng).unwrap().n_parameters()[1];
    let (two, one) =
        (blocks(Architecture::TWO_LAYERS), blocks(Architecture::ONE_WIDE_LAYER));
    let (built, small) = (Architecture::TWO_LAYERS, Repeats::small());
    let schedule = Schedule::usual(0);
    let quoted = [
        ("vocabulary", task.n_vocabulary.to_string()),
        ("tokens", task.n_tokens.to_string()),
        ("shortest", task.periods.start().to_string()),
        ("longest", task.periods.end().to_string()),
        ("guess", percent(1.0 / task.n_vocabulary as f64)),
        ("d_model", built.d_model.to_string()),
        ("heads", built.n_heads.to_string()),
        ("d_head", built.d_head.to_string()),
        ("two", thousands(two)),
        ("one", thousands(one)),
        ("steps", thousands(schedule.n_steps)),
        ("batch", schedule.batch.to_string()),
        ("rate", schedule.rate.to_string()),
        ("n_test", schedule.n_test.to_string()),
        ("small_vocabulary", small.n_vocabulary.to_string()),
        ("small_shortest", small.periods.start().to_string()),
        ("small_longest", small.periods.end().to_string()),
    ];
    assert_quote!("two_layers_sizes", values(&quoted));
}

#[test]
fn where_the_heads_of_seed_0_look() {
    let run = &runs("two layers").unwrap()[0];
    let kinds = ["previous", "same_place", "last_same", "after_last_same"];
    let mut table =
        Table::new(["", "token before", "itself", "last same", "after last same"]);
    for layer in 0..2 {
        for head in 0..Architecture::TWO_LAYERS.n_heads {
            let share = |kind| {
                let of = |when: &str| rows(&run[when][kind]).unwrap()[layer][head];
                format!("{:.2}", of("shares"))
            };
            let [before, itself, same, after] = kinds.map(share);
            let name = format!("layer {layer}, head {head}");
            table.row([&name, &before, &itself, &same, &after]);
        }
    }
    assert_quote!("two_layers_heads", table.text());
}

/// The largest share of any head, over ten seeds: of trained models, of fresh ones and of
/// what they are compared with.
#[test]
fn the_two_patterns_on_every_seed() {
    let mut table =
        Table::new(["", "first layer, token before", "last layer, after last same"]);
    let mut quoted = Vec::new();
    let mut line = |name: &str, key: &str, when: &str, of: &[Value]| {
        let ends_of = |kind: &str, layer: fn(usize) -> usize| {
            let most_of = |run: &Value| {
                let shares = &run[when][kind];
                most(shares, layer(rows(shares).unwrap().len()))
            };
            ends(of.iter().map(most_of)).map(|share| format!("{share:.2}"))
        };
        let previous = ends_of("previous", |_| 0);
        let after = ends_of("after_last_same", |n_layers| n_layers - 1);
        let spread = |[least, _, most]: &[String; 3]| format!("{least} to {most}");
        table.row([name, &spread(&previous), &spread(&after)]);
        for (kind, [least, _, most]) in [("previous", previous), ("after", after)] {
            quoted.push((format!("{key}_{kind}_least"), least));
            quoted.push((format!("{key}_{kind}_most"), most));
        }
    };
    for (setting, key) in [
        ("two layers", "two"),
        ("one layer", "one"),
        ("no positions", "no_positions"),
        ("no residual", "no_residual"),
    ] {
        line(setting, key, "shares", &runs(setting).unwrap());
    }
    line("two layers, fresh", "fresh", "shares_before", &runs("two layers").unwrap());
    assert_quote!("two_layers_patterns", table.text());
    assert_quote!("two_layers_patterns_values", values(&quoted));
}

/// The head of the first layer that is needed most, seed by seed: where it looks, what is
/// left without it, and what is left if it hands on only half of what it sees.
#[test]
fn two_ways_to_the_same_end() {
    let mut table = Table::new([
        "seed",
        "head",
        "token before",
        "last same",
        "without it",
        "only which",
        "only where",
    ]);
    let mut notes = 0;
    for run in runs("two layers").unwrap() {
        let carried = &run["carried"];
        let head = carried["head"].as_u64().unwrap() as usize;
        let share = |kind: &str| rows(&run["shares"][kind]).unwrap()[0][head];
        let (before, same) = (share("previous"), share("last_same"));
        let without = rows(&run["removed"]["mean"]["heads"]).unwrap()[0][head];
        let [which, place] = ["which", "place"].map(|half| number(carried, half));
        // Where it looks and what it hands on say the same of every seed.
        assert_eq!(before > same, which > place, "{carried}");
        notes += usize::from(which > place);
        table.row([
            &run["seed"].to_string(),
            &head.to_string(),
            &format!("{before:.2}"),
            &format!("{same:.2}"),
            &percent(without),
            &percent(which),
            &percent(place),
        ]);
    }
    assert_quote!("two_layers_ways", table.text());
    let quoted = [("notes", notes.to_string()), ("pointers", (10 - notes).to_string())];
    assert_quote!("two_layers_ways_values", values(&quoted));
}

#[test]
fn how_they_form_with_seed_0() {
    let curve = &runs("two layers").unwrap()[0]["curve"];
    let [steps, scores, previous, after] =
        ["step", "score", "previous_copied", "after_last_same"]
            .map(|key| numbers(&curve[key]).unwrap());
    let mut table = Table::new([
        "step",
        "right",
        "layer 0, token before",
        "layer 1, after last same",
    ]);
    for nth in (0..steps.len()).step_by(2).filter(|nth| steps[*nth] <= 750.0) {
        let [before, after] = [previous[nth], after[nth]].map(|x| format!("{x:.2}"));
        table.row([&steps[nth].to_string(), &percent(scores[nth]), &before, &after]);
    }
    assert_quote!("two_layers_forming", table.text());
    let reached = |least: f64, list: &[f64]| {
        let nth = list.iter().position(|&x| x >= least).unwrap();
        steps[nth].to_string()
    };
    let all = runs("two layers").unwrap();
    let apart = ends(all.iter().map(halves_apart))[2];
    let quoted = [
        ("half_right", reached(0.5, &scores)),
        ("nearly_all", reached(0.99, &scores)),
        ("after_half", reached(0.4, &after)),
        ("forming_apart", apart.to_string()),
    ];
    assert_quote!("two_layers_forming_values", values(&quoted));
}

/// So many steps lie between the looks at which the two halves have come half of their way:
/// what the first layer attends to, by what its needed head hands on, and what the last does.
fn halves_apart(run: &Value) -> f64 {
    let [which, place] = ["which", "place"].map(|half| number(&run["carried"], half));
    let first = if which > place { "previous_copied" } else { "last_same" };
    let steps = numbers(&run["curve"]["step"]).unwrap();
    let [first, last] = [first, "after_last_same"].map(|kind| {
        let shares = numbers(&run["curve"][kind]).unwrap();
        let half = (shares[0] + shares[shares.len() - 1]) / 2.0;
        steps[shares.iter().position(|&share| share >= half).unwrap()]
    });
    (first - last).abs()
}

/// What is left without the head that is needed most, and least, of each layer; and
/// without random directions.
#[test]
fn removing_heads() {
    let of = runs("two layers").unwrap();
    let mut table = Table::new(["median of ten seeds", "zero", "mean", "resample"]);
    let mut quoted = Vec::new();
    let ways = ["zero", "mean", "resample"];
    for layer in 0..2 {
        let scores = |run: &Value, how: &str, what: &str| {
            rows(&run["removed"][how][what]).unwrap()[layer].clone()
        };
        type Of = fn([f64; 3]) -> f64;
        let lines: [(&str, &str, &str, Of); 3] = [
            ("the head that is needed most", "worst", "heads", |[least, _, _]| least),
            ("the head that is needed least", "best", "heads", |[_, _, most]| most),
            ("random directions, median", "random", "random", |[_, middle, _]| middle),
        ];
        for (name, key, what, pick) in lines {
            let cell = |how: &str| {
                percent(median(of.iter().map(|run| pick(ends(scores(run, how, what))))))
            };
            let [zero, mean, resample] = ways.map(cell);
            table.row([&format!("layer {layer}: {name}"), &zero, &mean, &resample]);
            quoted.push((format!("layer_{layer}_{key}"), mean));
        }
    }
    assert_quote!("two_layers_removed", table.text());
    assert_quote!("two_layers_removed_values", values(&quoted));
}

#[test]
fn the_small_world_of_the_figures() {
    let last = together::first().unwrap().last();
    let [first, second] = together::shown_heads(last);
    let map = &last.maps[first.layer][first.head];
    let early = mean((1..=8).map(|t| map[(t, t - 1)]));
    let quoted = [
        ("small_score", percent(last.score)),
        ("small_first", format!("{:.2}", first.share)),
        ("small_early", format!("{early:.2}")),
        ("small_second", format!("{:.2}", second.share)),
    ];
    assert_quote!("two_layers_small", values(&quoted));
}
