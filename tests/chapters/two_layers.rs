//! What “Two layers” quotes: many seeds of several settings, as `training` keeps them.

mod paths;

use attention::{Rng, SeedableRng, median, thousands};
use lessons::numbers::{ends, mean};
use lessons::seeds::{numbers, rows};
use lessons::two_layers::{SETTINGS, measured, runs, together};
use serde_json::Value;
use training::Schedule;
use training::repeats::{Architecture, Predictor, Repeats};

use crate::quote::{assert_quote, values};

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
    let ends_of = |nth: usize| {
        let run = runs(SETTINGS[nth]).unwrap();
        ends(run.iter().map(|run| number(run, "score"))).map(percent)
    };
    let ([least, ..], [one_least, _, one_most]) = (ends_of(0), ends_of(1));
    let [wide, no_positions, no_residual] = [2, 3, 4].map(|nth| ends_of(nth)[1].clone());
    let quoted = [
        ("two_layers_least", least),
        ("one_layer_least", one_least),
        ("one_layer_most", one_most),
        ("one_layer_32_heads_median", wide),
        ("no_positions_median", no_positions),
        ("no_residual_median", no_residual),
    ];
    assert_quote!("two_layers_seeds_values", values(&quoted));
}

/// Scores with two distractors in front, and how many of all wrong answers name one.
#[test]
fn distractors_and_wrong_answers_that_name_one() {
    let all = |setting: &str, key: &str| -> Vec<f64> {
        let runs = runs(setting).unwrap();
        runs.iter().map(|run| number(&run["distractors"], key)).collect()
    };
    let named = |setting: &str| {
        let [wrong, named] =
            ["wrong", "named"].map(|key| all(setting, key).iter().sum::<f64>());
        percent(named / wrong)
    };
    // Of a period's tokens and the two distractors, all but the right one are wrong.
    let periods = Repeats::default().periods;
    let chances = periods.clone().map(|period| 2.0 / (period + 1) as f64);
    let chance = chances.sum::<f64>() / periods.count() as f64;
    let wide = "one layer, 32 heads";
    let quoted = [
        ("two_layers_named_distractors", named("two layers")),
        ("one_layer_32_heads_chance", percent(chance)),
        ("one_layer_32_heads_with_distractors", percent(median(all(wide, "score")))),
        ("one_layer_32_heads_named_distractors", named(wide)),
    ];
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
        ("small_vocabulary", small.n_vocabulary.to_string()),
        ("small_shortest", small.periods.start().to_string()),
        ("small_longest", small.periods.end().to_string()),
    ];
    assert_quote!("two_layers_sizes", values(&quoted));
}

/// The largest weight of any head, over the seeds of a setting.
#[test]
fn the_two_patterns_on_every_seed() {
    let ends_of = |setting: &str, kind: &str, layer: usize| {
        let runs = runs(setting).unwrap();
        ends(runs.iter().map(|run| most(&run["shares"][kind], layer)))
            .map(|share| format!("{share:.2}"))
    };
    let [previous_least, _, previous_most] = ends_of("two layers", "previous", 0);
    let [after_least, _, after_most] = ends_of("two layers", "after_last_same", 1);
    let [.., one_most] = ends_of("one layer", "after_last_same", 0);
    let quoted = [
        ("two_previous_least", previous_least),
        ("two_previous_most", previous_most),
        ("two_after_least", after_least),
        ("two_after_most", after_most),
        ("one_after_most", one_most),
    ];
    assert_quote!("two_layers_patterns_values", values(&quoted));
}

/// Where the needed head of the first layer looks and what it hands on say the same of every
/// seed, and what it hands on is enough.
#[test]
fn two_ways_to_the_same_end() {
    let mut notes = 0;
    for run in runs("two layers").unwrap() {
        let weight =
            |kind: &str| rows(&run["shares"][kind]).unwrap()[0][measured::needed(&run)];
        let is_note = measured::notes_which(&run);
        assert_eq!(weight("previous") > weight("last_same"), is_note, "{}", run["seed"]);
        let enough = if is_note { "which" } else { "place" };
        assert!(number(&run["carried"], enough) > 0.98, "{}", run["carried"]);
        notes += usize::from(is_note);
    }
    let quoted = [("notes", notes.to_string()), ("pointers", (10 - notes).to_string())];
    assert_quote!("two_layers_ways_values", values(&quoted));
}

#[test]
fn the_two_halves_form_together() {
    let apart = ends(runs("two layers").unwrap().iter().map(halves_apart))[2];
    let quoted = [("forming_apart", apart.to_string())];
    assert_quote!("two_layers_forming_values", values(&quoted));
}

/// So many steps lie between the looks at which the two halves have come half of their way:
/// what the first layer attends to, by what its needed head hands on, and what the last does.
fn halves_apart(run: &Value) -> f64 {
    let first = if measured::notes_which(run) { "previous_copied" } else { "last_same" };
    let steps = numbers(&run["curve"]["step"]).unwrap();
    let [first, last] = [first, "after_last_same"].map(|kind| {
        let shares = numbers(&run["curve"][kind]).unwrap();
        let half = (shares[0] + shares[shares.len() - 1]) / 2.0;
        steps[shares.iter().position(|&share| share >= half).unwrap()]
    });
    (first - last).abs()
}

/// What is left if the head of each layer that is needed most stands at its mean, and if
/// random directions do.
#[test]
fn removing_heads() {
    let of = runs("two layers").unwrap();
    let left = |what: &str, layer: usize, nth: usize| {
        let scores =
            |run: &Value| rows(&run["removed"]["mean"][what]).unwrap()[layer].clone();
        percent(median(of.iter().map(|run| ends(scores(run))[nth])))
    };
    let quoted = [
        ("layer_0_worst", left("heads", 0, 0)),
        ("layer_0_random", left("random", 0, 1)),
        ("layer_1_worst", left("heads", 1, 0)),
        ("layer_1_random", left("random", 1, 1)),
    ];
    assert_quote!("two_layers_removed_values", values(&quoted));
}

#[test]
fn the_small_world_of_the_figures() {
    let last = together::first().unwrap().last();
    let [first, _] = together::shown_heads(last);
    let map = &last.maps[first.layer][first.head];
    let early = mean((1..=8).map(|t| map[(t, t - 1)]));
    let quoted = [
        ("small_first", format!("{:.2}", first.share)),
        ("small_early", format!("{early:.2}")),
    ];
    assert_quote!("two_layers_small", values(&quoted));
}
