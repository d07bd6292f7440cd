//! Dates with one encoder block and one decoder block.
//!
//! What counts as an aligned head was fixed before any run: `training::dates::criteria`.
//! Controls: the fresh model of the same seed, the letters' parts shuffled so that none keeps
//! its own, the maps judged by the parts of another date in another form, and what is left of
//! the dates without a head, and with one alone.

use std::time::Instant;

use anyhow::Result;
use attention::{Rng, SeedableRng};
use serde_json::{Value, json};
use training::dates::{
    DateArchitecture, DateConverter, Dates, PartShares, Truth, criteria,
};
use training::{Trainer, Training};

use crate::run::{SEEDS, round, rounded, rows};

/// Ten seeds of the usual setting.
pub fn runs() -> Result<Vec<Value>> {
    let built = DateArchitecture::default();
    let mut runs = Vec::new();
    for seed in SEEDS {
        let start = Instant::now();
        let trainer = Trainer::new(Dates::default(), Dates::schedule(seed), |_, rng| {
            DateConverter::random(built, rng)
        })?;
        let trained = trainer.finish()?;
        let seconds = start.elapsed().as_secs_f64();
        let whole = trained.last().whole;
        let is_met = whole >= criteria::LEAST_WHOLE && seconds <= criteria::MOST_SECONDS;
        let said = if is_met { "" } else { "  NOT AS THE CRITERIA SAY" };
        println!("dates, seed {seed}: {:5.1} %  {seconds:.1} s{said}", 100.0 * whole);
        let run = kept(seed, &trained)?;
        println!("    {run}");
        runs.push(run);
    }
    Ok(runs)
}

/// What is kept of a training.
fn kept(seed: u64, trained: &Training<DateConverter>) -> Result<Value> {
    let Training { model, test, looks, .. } = trained;
    let planted = Truth::planted();
    let shares: &PartShares = &trained.last().shares;
    let shuffled = Truth::shuffled(&mut Rng::seed_from_u64(seed));
    let of_another = model.shares(test, &test.of_another_form())?;
    let heads: Vec<usize> = (0..model.n_heads()).collect();
    let mut without = Vec::new();
    let mut alone = Vec::new();
    for &head in &heads {
        without.push(model.without(&[head])?.whole(test)?);
        let others: Vec<usize> = heads.iter().copied().filter(|&it| it != head).collect();
        alone.push(model.without(&others)?.whole(test)?);
    }
    Ok(json!({
        "seed": seed,
        "whole": round(trained.last().whole),
        "before": round(looks[0].whole),
        "aligned": shares.aligned(&planted),
        "aligned_before": looks[0].shares.aligned(&planted),
        "aligned_shuffled": shares.aligned(&shuffled),
        "aligned_of_another": of_another.aligned(&planted),
        "without": rounded(&without),
        "alone": rounded(&alone),
        "without_all": round(model.without(&heads)?.whole(test)?),
        "even": rounded(&shares.even),
        "shares": shares.of_head.iter().map(rows).collect::<Vec<_>>(),
        "curve": {
            "step": looks.iter().map(|look| look.step).collect::<Vec<_>>(),
            "whole": rounded(&looks.iter().map(|look| look.whole).collect::<Vec<_>>()),
        },
    }))
}
