//! Four kinds of position and none: trained on short texts, tested on longer ones.

use std::time::Instant;

use anyhow::Result;
use attention::{Rng, SeedableRng};
use serde_json::{Value, json};
use training::{Follower, FollowerPlan, Place, Repeats, Schedule, Trainer};

use crate::run::{SEEDS, round, rounded};

/// Lengths of the tests; the first is that of the training.
const LENGTHS: [usize; 4] = [24, 48, 96, 192];

/// Every kind with every seed.
pub fn runs() -> Result<Vec<Value>> {
    let mut runs = Vec::new();
    for place in Place::ALL {
        for seed in SEEDS {
            let start = Instant::now();
            runs.push(run(place, seed)?);
            println!(
                "{}, seed {seed}: {}  {:.1} s",
                place.name(),
                runs[runs.len() - 1]["scores"],
                start.elapsed().as_secs_f64()
            );
        }
    }
    Ok(runs)
}

fn run(place: Place, seed: u64) -> Result<Value> {
    let task = Repeats::default();
    let n_positions = LENGTHS[3];
    let plan = FollowerPlan { place, n_positions, ..FollowerPlan::TWO_LAYERS };
    let trainer = Trainer::new(task.clone(), Schedule::usual(seed), |task, rng| {
        Follower::random(plan, task.n_vocabulary, rng)
    })?;
    let follower = trainer.finish()?.model;
    let rng = &mut Rng::seed_from_u64(seed);
    let mut score =
        |task: Repeats| -> Result<f64> { Ok(follower.score(&task.draw(100, rng)?)?) };
    let longer = |n_tokens| Repeats { n_tokens, ..task.clone() };
    let scores =
        LENGTHS.map(longer).map(&mut score).into_iter().collect::<Result<Vec<_>>>()?;
    // Distances that the training never had, in texts of 96.
    let far = score(Repeats { periods: 16..=24, ..longer(96) })?;
    Ok(json!({
        "place": place.name(),
        "seed": seed,
        "lengths": LENGTHS,
        "scores": rounded(&scores),
        "far": round(far),
    }))
}
