//! What the heads look at, and what they are for.

use ablation::odds::{Count, z_score};
use attention::thousands;
use lessons::numbers::{ends, mean};
use lessons::seeds::numbers;
use lessons::sensors::measured::is_asked;
use lessons::sensors::{Costs, N_SEEDS, found};
use sensors::study::{self, LEAST_SPREAD};
use sensors::{CAP, Fleet, remaining};
use serde_json::Value;
use training::windows::SPECIALISATIONS;

use crate::quote::{assert_quote, values};
use stages::cases::assert_close;

/// The heads of the trained model that do it, and how many layers of each control have as
/// many.
fn asked(model: &Value, windows: &str, which: usize) -> (String, [Count; 2]) {
    let heads = model[windows]["trained"][which].as_array().unwrap();
    let heads: Vec<String> = heads.iter().map(Value::to_string).collect();
    let controls = ["mixed", "fresh"].map(|kind| {
        let hits = model[windows][kind][which].as_u64().unwrap() as usize;
        Count::new(hits, model["draws"].as_u64().unwrap() as usize).unwrap()
    });
    (heads.join(" "), controls)
}

/// A line stands out if one as rare occurs by chance, in any of all lines that are asked,
/// less often than this. Fixed before the thousand draws.
const RARE: f64 = 0.05;

/// How often one of `n` lines is as rare by chance, or rarer: as many draws of the control
/// that has more of them, and the trained layer itself.
fn by_chance(controls: [Count; 2], n: i32) -> f64 {
    let alone = |count: Count| (1 + count.hits()) as f64 / (1 + count.n()) as f64;
    1.0 - (1.0 - controls.map(alone).into_iter().fold(0.0, f64::max)).powi(n)
}

#[test]
fn a_line_can_stand_out_and_one_in_twenty_does_not() {
    let count = |hits| Count::new(hits, 1000).unwrap();
    assert!(by_chance([count(0), count(2)], 14) < RARE);
    assert!(by_chance([count(0), count(50)], 14) > 0.5);
    // With a hundred draws none could.
    assert!(by_chance([Count::new(0, 100).unwrap(); 2], 14) > RARE);
}

#[test]
fn the_eight_specialisations() {
    let found = found().unwrap();
    assert_eq!(found.len(), N_SEEDS);
    let model = &found[0];
    let mut quoted = vec![
        ("draws".to_owned(), thousands(model["draws"].as_u64().unwrap())),
        ("windows_asked".to_owned(), model["windows"][0].to_string()),
        ("windows_late".to_owned(), model["windows"][1].to_string()),
        ("least_spread".to_owned(), LEAST_SPREAD.to_string()),
    ];
    let (mut n_asked, mut lines) = (0, Vec::new());
    for (which, (name, _)) in SPECIALISATIONS.iter().enumerate() {
        for windows in ["transition", "late"] {
            if !is_asked(windows, name) {
                continue;
            }
            n_asked += 1;
            let (heads, controls) = asked(model, windows, which);
            if !heads.is_empty() {
                lines.push((windows, *name, controls));
            }
        }
    }
    let each = lines.into_iter().map(|(windows, name, controls)| {
        (by_chance(controls, n_asked), windows, name, controls)
    });
    let (rarest, windows, name, controls) =
        each.min_by(|a, b| a.0.total_cmp(&b.0)).unwrap();
    assert_eq!((windows, name), ("transition", "temperature"));
    for (kind, count) in ["mixed", "fresh"].into_iter().zip(controls) {
        quoted.push((format!("temperature_{kind}"), count.hits().to_string()));
    }
    assert!(rarest > RARE, "{name} stands out: {rarest:.3}");
    quoted.push(("rarest".to_owned(), format!("{:.0} %", 100.0 * rarest)));
    let spread = ends(numbers(&model["late"]["spreads"]).unwrap());
    quoted.push(("n_asked".to_owned(), n_asked.to_string()));
    quoted.push(("late_spread_most".to_owned(), format!("{:.1}", spread[2])));
    assert_quote!("sensors_found_values", values(&quoted));
}

/// What is kept, measured again on the model that comes with the book.
#[test]
fn the_model_still_does_what_was_found() {
    let trained = remaining().unwrap();
    let (model, layer) = (trained.fused().unwrap(), trained.layer().unwrap());
    let asked = study::asked(&Fleet::default(), &trained.scale, 256, 1001).unwrap();
    let capped = Count::of(asked.iter().map(|asked| asked.remaining >= CAP));
    let tokens = asked.iter().map(|asked| model.tokens(&asked.readings).unwrap());
    let tokens: Vec<_> = tokens.collect();
    let windows: Vec<_> = asked.into_iter().map(|asked| asked.window).collect();
    let kept = &found().unwrap()[0]["transition"];
    let met = study::met(&layer, &tokens, &windows);
    assert_eq!(serde_json::json!(met), kept["trained"]);
    let spreads = study::spreads(&layer, &tokens);
    for (spread, kept) in spreads.iter().zip(kept["spreads"].as_array().unwrap()) {
        assert_close("spread", (spread - kept.as_f64().unwrap()).abs(), 1e-3);
    }
    let [_, _, most] = ends(spreads.iter().copied());
    assert_quote!(
        "sensors_measures",
        values(&[
            ("capped_part", format!("{:.0} %", 100.0 * capped.share())),
            ("spread_most", format!("{most:.2}")),
        ])
    );
}

fn cycles(x: f64) -> String {
    format!("{x:+.2}").replace('-', "−")
}

#[test]
fn what_the_ablations_say() {
    let found = found().unwrap();
    let costs: Vec<Costs> = found.iter().map(|model| Costs::of(model).unwrap()).collect();
    let z: Vec<f64> = costs.iter().flat_map(Costs::z_scores).collect();
    let above = |least: f64| z.iter().filter(|&&z| z > least).count().to_string();
    let draws = |costs: &[Costs]| -> Vec<f64> {
        let all = costs.iter().flat_map(|costs| costs.random.iter().flatten());
        all.copied().collect()
    };
    let better = Count::of(draws(&costs).into_iter().map(|draw| draw < 0.0));
    let change = |model: &Value, key: &str| Costs::change(model, key).unwrap();
    let of = |key: &str| found.iter().map(|model| change(model, key)).collect::<Vec<_>>();
    let ([all_least, _, all_most], even) = (ends(of("all")), of("even"));
    let [even_least, _, even_most] = ends(even.iter().copied());
    assert_quote!(
        "sensors_removed_values",
        values(&[
            ("windows_removed", found[0]["removed"]["windows"].to_string()),
            ("directions", costs[0].random.len().to_string()),
            ("directions_others", costs[1].random.len().to_string()),
            // The model of the book: the same move in all heads at once.
            ("smaller", cycles(change(&found[0], "smaller"))),
            ("heads_all", z.len().to_string()),
            ("heads_z_2", above(2.0)),
            ("heads_z_5", above(5.0)),
            ("better_part", format!("{:.0} %", 100.0 * better.share())),
            ("random_mean", cycles(mean(draws(&costs[..1])))),
            ("all_least", format!("{all_least:.1}")),
            ("all_most", format!("{all_most:.1}")),
            ("even_least", cycles(even_least)),
            ("even_most", cycles(even_most)),
            ("even_up", even.iter().filter(|&&even| even > 0.0).count().to_string()),
        ])
    );
}

/// A head that costs no more than its draws has a z near 0, one that costs more a large one,
/// however little the draws differ.
#[test]
fn a_z_score_tells_a_planted_cost_from_noise() {
    let noise = |i: usize| (i as f64 * 0.754_877).fract() - 0.5;
    let draws: Vec<f64> = (0..40).map(noise).collect();
    assert!((0..40).all(|i| z_score(noise(40 + i), &draws).abs() < 2.0));
    assert!(z_score(2.0, &draws) > 5.0);
}
