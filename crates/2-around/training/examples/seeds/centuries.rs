//! Dates of four centuries, in which the second digit of a year must be looked up.
//!
//! What this should change was fixed before any run: `criteria::YEARS_TO_LOOK_AT`. All else is
//! as in `dates.rs`.

use anyhow::Result;
use serde_json::{Value, json};
use training::dates::{DateArchitecture, DateConverter, Dates, Truth, criteria};
use training::{Trainer, Training};

use crate::run::{SEEDS, round, rows};

/// Ten seeds.
pub fn runs() -> Result<Vec<Value>> {
    let mut runs = Vec::new();
    for seed in SEEDS {
        let dates = Dates::of_years(criteria::YEARS_TO_LOOK_AT);
        let trainer = Trainer::new(dates, Dates::schedule(seed), |_, rng| {
            DateConverter::random(DateArchitecture::default(), rng)
        })?;
        let run = kept(seed, &trainer.finish()?);
        println!("{run}");
        runs.push(run);
    }
    Ok(runs)
}

fn kept(seed: u64, trained: &Training<DateConverter>) -> Value {
    let shares = &trained.last().shares;
    json!({
        "seed": seed,
        "whole": round(trained.last().whole),
        "aligned": shares.aligned(&Truth::planted()),
        "even": rows(&shares.even)[0],
        "shares": shares.of_head.iter().map(rows).collect::<Vec<_>>(),
    })
}
