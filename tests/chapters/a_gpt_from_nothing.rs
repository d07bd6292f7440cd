//! What “A GPT from nothing” quotes.

use std::fs;

use attention::{Matrix, Rng, SeedableRng, median, thousands};
use block::Dropout;
use gpt::{Architecture, NAMES, RUNGS, SEEDS, Schedule, Split, TIMES, Training};
use lessons::a_gpt_from_nothing::{learned, next};
use lessons::numbers::ends;
use lessons::seeds::of_kind;
use serde_json::Value;
use workshop::paths;

use crate::quote::{assert_quote, bound, values};

#[test]
fn sizes_of_the_model_and_of_its_file() {
    let (small, split) = (Architecture::SMALL, Split::of(NAMES.lines()));
    let file = paths::workspace().join("crates/4-models/gpt/src/scalars.rs");
    let n_lines = fs::read_to_string(file).unwrap().lines().count();
    assert!(n_lines <= 300, "{n_lines} lines");
    let parameters = small.parameters(&mut Rng::seed_from_u64(1)).len();
    assert_quote!(
        "gpt_sizes",
        values(&[
            ("width", small.d_model.to_string()),
            ("heads", small.n_heads.to_string()),
            ("positions", small.n_positions.to_string()),
            ("parameters", thousands(parameters)),
            ("learned", thousands(split.learned.len())),
            ("unseen", split.test.len().to_string()),
            ("lines", n_lines.to_string()),
        ])
    );
}

/// From the same weights and with the same names; to bounds that no processor should miss.
#[test]
fn every_rung_takes_the_same_steps() {
    const N_STEPS: usize = 50;
    let split = Split::of(NAMES.lines());
    let trained = RUNGS.map(|rung| {
        let rng = &mut Rng::seed_from_u64(1);
        let schedule = Schedule::small(N_STEPS);
        let mut training =
            Training::new(rung, Architecture::SMALL, schedule, rng).unwrap();
        let losses = training.run(&split.learned, rng);
        (losses.unwrap(), training.parameters().to_vec())
    });
    let apart = |a: &[f64], b: &[f64]| {
        assert_eq!(a.len(), b.len());
        a.iter().zip(b).map(|(a, b)| (a - b).abs()).fold(0.0, f64::max)
    };
    let (first, rest) = trained.split_first().unwrap();
    let (mut exact, mut single) = (0.0_f64, 0.0);
    for (rung, (losses, parameters)) in RUNGS[1..].iter().zip(rest) {
        let losses = apart(losses, &first.0);
        match rung.name {
            "tiles" => single = losses,
            _ => {
                exact = exact.max(losses);
                assert!(apart(parameters, &first.1) < 1e-9, "{}", rung.name);
            }
        }
    }
    let quoted = [
        ("steps_compared", N_STEPS.to_string()),
        ("losses_apart", bound(exact, 1e-12)),
        ("tiles_apart", bound(single, 1e-5)),
    ];
    assert_quote!("gpt_equal", values(&quoted));
}

#[test]
fn how_many_letters_are_left_and_the_most_likely_names() {
    let model = learned::first().unwrap();
    let left = |prefix: &str, nth: usize| {
        let logits = model.next(&next::ids(prefix)).unwrap();
        let chances = next::ways().unwrap()[nth].1.chances(&logits);
        chances.iter().filter(|&&chance| chance > 0.0).count().to_string()
    };
    let name = |ids: &[usize]| -> String {
        ids.iter().filter(|&&id| id > 0).map(|&id| next::letter(id)).collect()
    };
    let beams = next::beams(model, 8, 0.0).unwrap();
    let names: Vec<String> =
        beams.iter().take(3).map(|beam| format!("*{}*", name(&beam.ids))).collect();
    assert_quote!(
        "gpt_choices_values",
        values(&[
            ("prefix", next::PREFIX.to_owned()),
            ("nucleus", left(next::PREFIX, 3)),
            ("nucleus_of_nothing", left("", 3)),
            ("beams", names.join(", ")),
            ("n_beams", beams.len().to_string()),
        ])
    );
}

/// Milliseconds of a step, as they were measured.
#[test]
fn times_of_the_rungs() {
    let runs: Vec<Value> = serde_json::from_str(TIMES).unwrap();
    let ms = |model: &str, rung: &str| {
        let of = runs.iter().find(|run| run["model"] == model && run["rung"] == rung);
        of.map(|run| run["ms"].as_f64().unwrap())
    };
    let factor = |model, slow, fast| {
        let factor = ms(model, slow).unwrap() / ms(model, fast).unwrap();
        match factor {
            ..10.0 => format!("{factor:.1}"),
            _ => format!("{factor:.0}"),
        }
    };
    assert_quote!(
        "gpt_times_values",
        values(&[
            ("tape", factor("small", "scalars", "loops")),
            ("tiled", factor("larger", "batch", "tiles")),
            ("all_faster", factor("small", "scalars", "tiles")),
            ("pytorch_small", factor("small", "PyTorch", "tiles")),
            ("pytorch_larger", factor("larger", "PyTorch", "tiles")),
            ("slower", factor("small", "fused", "loops")),
        ])
    );
}

/// A number of each run of a kind, or a list of each.
fn all(kind: &str, key: &str) -> Vec<f64> {
    of_kind(SEEDS, kind, key).unwrap()
}

#[test]
fn losses_of_ten_seeds_beside_counts() {
    let [_, (_, pairs), (_, triples)] = learned::counted(&Split::of(NAMES.lines()));
    // What the title of the figure says.
    assert!(
        all("small", "test").into_iter().all(|loss| (triples..pairs).contains(&loss))
    );
    for kind in ["larger", "small, longer"] {
        assert!(all(kind, "test").into_iter().all(|loss| loss < triples), "{kind}");
    }
    let blended = Split::of(NAMES.lines()).blended_loss(3);
    // What the text says of them.
    assert!(all("larger", "test").into_iter().all(|loss| loss > blended));
    let mut quoted = vec![
        ("pairs".to_owned(), format!("{pairs:.3}")),
        ("blended".to_owned(), format!("{blended:.3}")),
        ("added".to_owned(), gpt::ADDED.to_string()),
    ];
    for (kind, key) in [
        ("no attention", "no_attention"),
        ("no positions", "no_positions"),
        ("small", "small"),
    ] {
        quoted.push((key.to_owned(), format!("{:.3}", median(all(kind, "test")))));
    }
    let met = ["small", "larger", "small, longer"].map(|kind| {
        let met = all(kind, "test").into_iter().zip(all(kind, "most"));
        met.filter(|(test, most)| test <= most).count()
    });
    assert_eq!(met, [10; 3]);
    quoted.push(("all_met".into(), met[0].to_string()));
    let larger = Architecture::LARGER;
    quoted.push(("larger_width".into(), larger.d_model.to_string()));
    quoted.push(("larger_parameters".into(), thousands(larger.n_parameters())));
    assert_quote!("gpt_learned_values", values(&quoted));
}

#[test]
fn losses_without_a_head_and_how_long_each_model_was_trained() {
    let mut quoted = Vec::new();
    for (kind, key) in [("small", "head"), ("small, longer", "longer_head")] {
        let (whole, without) = (all(kind, "test"), all(kind, "without"));
        let heads = without.chunks(Architecture::SMALL.n_heads).zip(whole);
        let rises =
            heads.flat_map(|(heads, whole)| heads.iter().map(move |it| it - whole));
        let [least, _, most] = ends(rises);
        quoted.push((format!("{key}_least"), format!("{least:.2}")));
        quoted.push((format!("{key}_most"), format!("{most:.2}")));
    }
    let schedules = [
        ("small", Schedule::SMALL),
        ("larger", Schedule::LARGER),
        ("longer", Schedule::PAGE),
    ];
    for (key, Schedule { n_steps, batch, .. }) in schedules {
        quoted.push((format!("{key}_steps"), thousands(n_steps)));
        quoted.push((format!("{key}_batch"), batch.to_string()));
    }
    assert_quote!("gpt_trained_values", values(&quoted));
}

/// A model that learns from few names, with dropout and without.
#[test]
fn dropout_with_few_names() {
    let [plain, dropped] = ["few names", "few names, dropout"];
    let n_below = |left: Vec<f64>, right: Vec<f64>| {
        left.iter().zip(&right).filter(|(left, right)| left < right).count().to_string()
    };
    let middle = |kind| format!("{:.3}", median(all(kind, "test")));
    let mut quoted = vec![
        ("plain_test", middle(plain)),
        ("dropped_test", middle(dropped)),
        ("few", all(plain, "n_names")[0].to_string()),
        ("better", n_below(all(dropped, "test"), all(plain, "test"))),
        ("worse", n_below(all(dropped, "test"), all(dropped, "dropping"))),
    ];
    // 1 / (1 − p): what a row of attention weights sums to if nothing of it is dropped.
    let mut dropout = Dropout::new(0.2, Rng::seed_from_u64(1)).unwrap();
    let row: Matrix = Matrix::from_element(1, 4, 0.25);
    let sums = (0..1000).map(|_| row.component_mul(&dropout.mask((1, 4))).sum());
    let most = sums.fold(0.0, f64::max);
    quoted.push(("row_of_kept", format!("{most:.2}")));
    assert_quote!("gpt_dropout_values", values(&quoted));
}
