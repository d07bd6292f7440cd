//! Three lookups with 1 to 8 heads.

use anyhow::Result;
use serde_json::{Value, json};
use training::lookups::{Exchange, Lookups, Sizes, log_share_by_identity};
use training::{Schedule, Training};

use crate::run::{SEEDS, kept, round, rounded, rows, trained};

/// The default setting with 1 to 8 heads; then one head for four times as long, and three
/// heads in shorter steps.
pub fn runs() -> Result<Vec<Value>> {
    let usual = [1, 2, 3, 4, 6, 8].map(|n_heads| (n_heads, Lookups::schedule(0)));
    let longer = (1, Schedule { n_steps: 4000, ..Lookups::schedule(0) });
    let shorter_steps = [1, 3, 4]
        .map(|n_heads| (n_heads, Schedule { rate: 0.003, ..Lookups::schedule(0) }));
    let mut runs = Vec::new();
    for (n_heads, schedule) in usual.into_iter().chain([longer]).chain(shorter_steps) {
        for seed in SEEDS {
            let schedule = Schedule { seed, ..schedule.clone() };
            let trained = trained("lookups", &Lookups::default(), n_heads, &schedule)?;
            let mut run = kept(&schedule, &trained)?;
            if n_heads == 1 {
                run["sizes"] = sizes(&trained)?;
            }
            if runs.is_empty() {
                run["by_word"] = by_word(&trained)?;
            }
            runs.push(run);
        }
    }
    Ok(runs)
}

/// What the sizes of a single head's shares carry.
pub fn sizes(trained: &Training) -> Result<Value> {
    let sizes = Sizes::of(&trained.model, &trained.test)?;
    println!("    {sizes:.3?}");
    Ok(json!({
        "mean": rounded(&sizes.mean),
        "std_dev": rounded(&sizes.std_dev),
        "by_identity": round(sizes.by_identity),
        "by_role": round(sizes.by_role),
        "as_is": round(sizes.as_is),
        "equal": round(sizes.equal),
        "exchanged": round(sizes.exchanged),
        "other_role": round(sizes.other_role),
    }))
}

/// The mean log share of each identity in each role, and one sentence to show it on.
fn by_word(trained: &Training) -> Result<Value> {
    let logs = log_share_by_identity(&trained.model, &trained.test)?;
    let exchange = Exchange::first(&trained.model, &trained.test)?;
    println!("    {exchange:?}");
    Ok(json!({
        "log_share": rows(&logs),
        "exchanged": exchange.map(|exchange| exchange.words),
    }))
}
