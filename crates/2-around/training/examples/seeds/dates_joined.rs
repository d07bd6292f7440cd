//! Dates with self-attention over both texts joined, at equal parameters: the control of a
//! cross-attention. What it must show was fixed before it ran: `training::dates::criteria`.

use anyhow::Result;
use attention::{Rng, SeedableRng};
use serde_json::{Value, json};
use training::dates::{
    DateArchitecture, DateConverter, DateLook, Dates, JoinedConverter, PartShares, Truth,
};
use training::{Trainer, Training};

use crate::dates::curve;
use crate::run::{of_seeds, round, rows};

/// Ten seeds of the usual schedule.
pub fn runs() -> Result<Vec<Value>> {
    let both = DateArchitecture::default();
    let rng = &mut Rng::seed_from_u64(0);
    let built = JoinedConverter::as_large_as(both, rng)?;
    let of_both = DateConverter::random(both, rng)?.costs()?;
    let costs = JoinedConverter::random(built, rng)?.costs()?;
    println!("two texts, d_ff {}: {of_both:?}", both.d_ff);
    println!("joined,    d_ff {}: {costs:?}", built.d_ff);
    of_seeds(|seed| {
        let trainer = Trainer::new(Dates::default(), Dates::schedule(seed), |_, rng| {
            JoinedConverter::random(built, rng)
        })?;
        let mut run = kept(seed, &trainer.finish()?);
        run["d_ff"] = json!([both.d_ff, built.d_ff]);
        run["parameters"] = json!([of_both.parameters, costs.parameters]);
        run["multiply_adds"] = json!([of_both.multiply_adds, costs.multiply_adds]);
        Ok(run)
    })
}

/// What is kept of a training: block by block, head by head.
fn kept(seed: u64, trained: &Training<JoinedConverter>) -> Value {
    let looks = &trained.looks;
    let planted = Truth::planted();
    let aligned = |look: &DateLook<Vec<PartShares>>| {
        look.shares.iter().map(|of| of.aligned(&planted)).collect::<Vec<_>>()
    };
    let of_heads = |shares: &PartShares| {
        shares.of_head.iter().map(rows).collect::<Vec<Vec<Vec<f64>>>>()
    };
    let last = trained.last();
    json!({
        "seed": seed,
        "whole": round(last.whole),
        "aligned": aligned(last),
        "aligned_before": aligned(&looks[0]),
        "even": rows(&last.shares[0].even),
        "shares": last.shares.iter().map(of_heads).collect::<Vec<_>>(),
        "curve": curve(looks.iter().map(|look| (look.step, look.whole))),
    })
}
