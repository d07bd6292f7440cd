//! Rotary positions, stretched: the models of `places`, on texts that are longer than those of
//! their training.
//!
//! Fixed before the runs: the factor is the length of the test over that of the training; a
//! kind is ahead of another at a length if it scores more with nine seeds of ten or more. Two
//! kinds are controls. Other texts of the same kind must not put the model ahead of itself, and
//! the wrong pairing must put it behind.

use std::time::Instant;

use anyhow::Result;
use attention::{Rng, SeedableRng};
use serde_json::{Value, json};
use training::changed::{Follower, Place, Stretch};
use training::repeats::{Repeats, Sequences};
use training::{Schedule, Trainer};
use variants::{Pairing, Rotary};

use crate::places::{FAR, LENGTHS, scores, tests, trained};
use crate::run::{SEEDS, round, rounded};

/// The width of a head.
const D_HEAD: usize = 16;

/// Every way with every seed.
pub fn runs() -> Result<Vec<Value>> {
    let mut runs = Vec::new();
    for seed in SEEDS {
        let start = Instant::now();
        let model = trained(Place::Rotary, seed)?;
        let texts = tests(&mut Rng::seed_from_u64(seed))?;
        for stretch in Stretch::ALL {
            runs.push(run(&model, &texts, stretch, seed)?);
        }
        let others = tests(&mut Rng::seed_from_u64(seed + 1000))?;
        runs.push(kept("other texts", seed, scores(&others, |_| Ok(model.clone()))?));
        let wrong =
            Rotary { pairing: Pairing::Pairs, ..rotary(Stretch::None, LENGTHS[0])? };
        let wrong = model.with_rotary(wrong)?;
        runs.push(kept("read as pairs", seed, scores(&texts, |_| Ok(wrong.clone()))?));
        for run in &runs[runs.len() - 6..] {
            println!("{run}");
        }
        println!("seed {seed}: {:.1} s", start.elapsed().as_secs_f64());
    }
    Ok(runs)
}

/// The positions for texts of this length.
fn rotary(stretch: Stretch, n_tokens: usize) -> Result<Rotary> {
    Ok(stretch.rotary(D_HEAD, LENGTHS[0], n_tokens as f64 / LENGTHS[0] as f64)?)
}

fn run(
    model: &Follower,
    texts: &[Sequences],
    stretch: Stretch,
    seed: u64,
) -> Result<Value> {
    let at = |n_tokens: usize| -> Result<Follower> {
        Ok(model.with_rotary(rotary(stretch, n_tokens)?)?)
    };
    let scores = scores(texts, at)?;
    // The positions of the long texts on the short ones; then after a few steps on long texts.
    let short = at(96)?.score(&texts[0])?;
    let tuned = tuned(at(96)?, seed)?;
    let tuned = [0, 2, 4].map(|at| tuned.score(&texts[at]));
    let tuned = tuned.into_iter().collect::<attention::Result<Vec<f64>>>()?;
    let mut run = kept(stretch.name(), seed, scores);
    run["short"] = json!(round(short));
    run["tuned"] = json!(rounded(&tuned));
    Ok(run)
}

fn kept(kind: &str, seed: u64, mut scores: Vec<f64>) -> Value {
    let far = scores.pop().map(round);
    json!({ "kind": kind, "seed": seed, "scores": rounded(&scores), "far": far })
}

/// A tenth of the training's steps, on a quarter as many texts of 96 tokens, near and far.
fn tuned(model: Follower, seed: u64) -> Result<Follower> {
    let usual = Schedule::usual(seed);
    let schedule =
        Schedule { n_steps: 150, batch: 8, rate: 0.001, n_test: 1, n_looks: 1, ..usual };
    let short = Repeats::default();
    let periods = *short.periods.start()..=*FAR.end();
    let task = Repeats { n_tokens: 96, periods, ..short };
    Ok(Trainer::new(task, schedule, |_, _| Ok(model))?.finish()?.model)
}
