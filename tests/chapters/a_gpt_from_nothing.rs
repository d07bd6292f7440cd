//! What “A GPT from nothing” quotes.

use std::collections::BTreeSet;
use std::fs;

use attention::{Rng, SeedableRng, thousands};
use gpt::{Architecture, NAMES, RUNGS, Schedule, Split, Training};
use lessons::a_gpt_from_nothing::{learned, next};
use workshop::paths;

use crate::quote::{assert_quote, values};

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

/// From the same weights and with the same names; to a bound that no processor should miss.
#[test]
fn every_rung_takes_the_same_steps() {
    const N_STEPS: usize = 50;
    let split = Split::of(NAMES.lines());
    let trained = RUNGS.map(|rung| {
        let rng = &mut Rng::seed_from_u64(1);
        let schedule = Schedule::small(N_STEPS);
        let mut training =
            Training::new(rung, Architecture::SMALL, schedule, rng).unwrap();
        let losses = training.run(&split.learned, rng, |_, _| {
            std::ops::ControlFlow::Continue(())
        });
        (losses.unwrap(), training.parameters().to_vec())
    });
    let apart = |a: &[f64], b: &[f64]| {
        assert_eq!(a.len(), b.len());
        a.iter().zip(b).map(|(a, b)| (a - b).abs()).fold(0.0, f64::max)
    };
    let (first, rest) = trained.split_first().unwrap();
    for (rung, (losses, parameters)) in RUNGS[1..].iter().zip(rest) {
        let (losses, parameters) =
            (apart(losses, &first.0), apart(parameters, &first.1));
        println!("{}: losses {losses:.1e}, parameters {parameters:.1e}", rung.name);
        assert!(losses < 1e-12 && parameters < 1e-9, "{}", rung.name);
    }
    assert_quote!("gpt_equal", values(&[("steps_compared", N_STEPS.to_string())]));
}

#[test]
fn how_many_letters_are_left_and_the_most_likely_names() {
    let model = &learned::first().unwrap().model;
    let left = |prefix: &str, nth: usize| {
        let logits = next::logits(model, &next::ids(prefix)).unwrap();
        let chances = next::ways().unwrap()[nth].1.chances(&logits);
        chances.iter().filter(|&&chance| chance > 0.0).count().to_string()
    };
    let name = |ids: &[usize]| -> String {
        ids.iter().filter(|&&id| id > 0).map(|&id| next::letter(id)).collect()
    };
    let beams = next::beams(model, 8, 0.0).unwrap();
    let names: Vec<String> =
        beams.iter().take(3).map(|beam| format!("*{}*", name(&beam.ids))).collect();
    let known: BTreeSet<&str> = NAMES.lines().collect();
    let n_known = beams.iter().filter(|beam| known.contains(&*name(&beam.ids))).count();
    assert_quote!(
        "gpt_choices_values",
        values(&[
            ("prefix", next::PREFIX.to_owned()),
            ("nucleus", left(next::PREFIX, 3)),
            ("nucleus_of_nothing", left("", 3)),
            ("beams", names.join(", ")),
            ("n_beams", beams.len().to_string()),
            ("beams_known", n_known.to_string()),
        ])
    );
}
