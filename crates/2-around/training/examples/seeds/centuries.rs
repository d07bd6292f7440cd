//! Dates of four centuries, in which the second digit of a year must be looked up.
//!
//! What this should change was fixed before any run: `criteria::YEARS_TO_LOOK_AT`. All else is
//! as in `dates.rs`.

use anyhow::Result;
use serde_json::Value;
use training::dates::{DateArchitecture, Dates, criteria};

use crate::dates::{found, trained};
use crate::run::SEEDS;

/// Ten seeds.
pub fn runs() -> Result<Vec<Value>> {
    let mut runs = Vec::new();
    for seed in SEEDS {
        let dates = Dates::of_years(criteria::YEARS_TO_LOOK_AT);
        let trained = trained(dates, Dates::schedule(seed), DateArchitecture::default())?;
        let run = found(seed, trained.last());
        println!("{run}");
        runs.push(run);
    }
    Ok(runs)
}
