//! Four kinds of position and none: trained on short texts, tested on longer ones.

use std::ops::RangeInclusive;

use anyhow::Result;
use attention::{Rng, SeedableRng};
use serde_json::{Value, json};
use training::changed::{Follower, FollowerPlan, Place};
use training::repeats::{Repeats, Sequences};
use training::{Schedule, Trainer};

use crate::run::{of_seeds, round, rounded};

/// Lengths of the tests; the first is that of the training.
pub const LENGTHS: [usize; 4] = [24, 48, 96, 192];
/// Periods longer than any of the training.
pub const FAR: RangeInclusive<usize> = 16..=24;

/// Every kind with every seed.
pub fn runs() -> Result<Vec<Value>> {
    let mut runs = Vec::new();
    for place in Place::ALL {
        runs.extend(of_seeds(|seed| run(place, seed))?);
    }
    Ok(runs)
}

/// A model with this kind of position, trained on short texts.
pub fn trained(place: Place, seed: u64) -> Result<Follower> {
    let n_positions = LENGTHS[3];
    let plan = FollowerPlan { place, n_positions, ..FollowerPlan::TWO_LAYERS };
    let trainer =
        Trainer::new(Repeats::default(), Schedule::usual(seed), |task, rng| {
            Follower::random(plan, task.n_vocabulary, rng)
        })?;
    Ok(trainer.finish()?.model)
}

/// The texts of all tests: one set of each length, and one of 96 tokens that repeat at
/// distances that the training never had.
pub fn tests(rng: &mut Rng) -> Result<Vec<Sequences>> {
    let longer = |n_tokens| Repeats { n_tokens, ..Repeats::default() };
    let far = Repeats { periods: FAR, ..longer(96) };
    let all = LENGTHS.map(longer).into_iter().chain([far]);
    all.map(|task| Ok(task.draw(100, rng)?)).collect()
}

fn run(place: Place, seed: u64) -> Result<Value> {
    let follower = trained(place, seed)?;
    let tests = tests(&mut Rng::seed_from_u64(seed))?;
    let mut scores = scores(&tests, |_| Ok(follower.clone()))?;
    let far = scores.pop().unwrap_or(f64::NAN);
    Ok(json!({
        "place": place.name(),
        "seed": seed,
        "lengths": LENGTHS,
        "scores": rounded(&scores),
        "far": round(far),
    }))
}

/// The score on each set of texts, of the model for their length.
pub fn scores(
    texts: &[Sequences],
    model: impl Fn(usize) -> Result<Follower>,
) -> Result<Vec<f64>> {
    texts.iter().map(|text| Ok(model(text.n_tokens)?.score(text)?)).collect()
}
