//! Three lookups with 1 to 8 heads.

use anyhow::Result;
use serde_json::{Value, json};
use training::{Exchange, Lookups, Settings, Sizes, Trained, log_share_by_identity};

use crate::run::{SEEDS, kept, round, rounded, rows, trained};

/// The default setting with 1 to 8 heads; then one head for four times as long, and three
/// heads in shorter steps.
pub fn runs() -> Result<Vec<Value>> {
    let usual = [1, 2, 3, 4, 6, 8].map(|n_heads| Lookups::settings(n_heads, 0));
    let longer = Settings { n_steps: 4000, ..Lookups::settings(1, 0) };
    let shorter_steps = [1, 3, 4]
        .map(|n_heads| Settings { rate: 0.003, ..Lookups::settings(n_heads, 0) });
    let mut runs = Vec::new();
    for settings in usual.into_iter().chain([longer]).chain(shorter_steps) {
        for seed in SEEDS {
            let settings = Settings { seed, ..settings.clone() };
            let trained = trained("lookups", &Lookups::default(), &settings)?;
            let mut run = kept(&settings, &trained)?;
            if settings.n_heads == 1 {
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
pub fn sizes(trained: &Trained) -> Result<Value> {
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
fn by_word(trained: &Trained) -> Result<Value> {
    let logs = log_share_by_identity(&trained.model, &trained.test)?;
    let exchange = Exchange::first(&trained.model, &trained.test)?;
    println!("    {exchange:?}");
    Ok(json!({
        "log_share": rows(&logs),
        "exchanged": exchange.map(|exchange| exchange.words),
    }))
}
