//! Three lookups: with 1 to 8 heads, with one head's shares of two words changed, with roles of
//! several loudnesses, and in two codes.

use anyhow::Result;
use serde_json::{Value, json};
use training::lookups::{
    Code, EqualShares, Exchange, Lookups, Over, PairAnswers, Sizes, log_share_by_identity,
};
use training::one_layer::strongest;
use training::{Schedule, Training};

use crate::run::{SEEDS, kept, of_seeds, round, rounded, rows, trained};

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
            let mut run = kept_with_sizes(&schedule, &trained)?;
            if runs.is_empty() {
                run["by_word"] = by_word(&trained)?;
            }
            runs.push(run);
        }
    }
    Ok(runs)
}

/// What is kept of a training, and what the sizes of a single head's shares carry.
fn kept_with_sizes(schedule: &Schedule, trained: &Training) -> Result<Value> {
    let mut run = kept(schedule, trained)?;
    if trained.model.n_heads() == 1 {
        let sizes = Sizes::of(&trained.model, &trained.test)?;
        println!("    {sizes:.3?}");
        run["sizes"] = json!({
            "mean": rounded(&sizes.mean),
            "std_dev": rounded(&sizes.std_dev),
            "by_identity": round(sizes.by_identity),
            "by_role": round(sizes.by_role),
            "as_is": round(sizes.as_is),
            "equal": round(sizes.equal),
            "exchanged": round(sizes.exchanged),
            "other_role": round(sizes.other_role),
        });
    }
    Ok(run)
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

/// Two heads on three lookups: does a head that reads two words code them by sizes? The ten
/// runs of two heads once more, and what becomes of the answers where one head's shares of two
/// words are exchanged, or made equal, and nothing else.
pub fn swaps() -> Result<Vec<Value>> {
    of_seeds(|seed| {
        let schedule = Lookups::schedule(seed);
        let trained = trained("swaps", &Lookups::default(), 2, &schedule)?;
        let (model, test) = (&trained.model, &trained.test);
        let changed = [
            ("as_is", PairAnswers::changed(model, test, |_, _, _| {})?),
            ("exchanged", PairAnswers::changed(model, test, |row, a, b| row.swap(a, b))?),
            ("equal", PairAnswers::equal(model, test)?),
        ];
        let mut run = json!({
            "seed": seed,
            "scores": rounded(&trained.last().scores),
            "focus": rows(&trained.last().focus),
        });
        for (name, PairAnswers { right, other }) in changed {
            run[name] = json!({"right": rows(&right), "other": rows(&other)});
        }
        Ok(run)
    })
}

/// How loud roles may be, with three heads: where roles are louder, heads settle sooner, and
/// two of them may settle on one word. The seeds are those of no other table.
pub fn loudness() -> Result<Vec<Value>> {
    let mut runs = Vec::new();
    // The squared length of a role's vector over that of an identity's.
    for loudness in [0.25, Lookups::LOUDNESS, 1.0, 2.0, 4.0, 9.0] {
        let task = Lookups::coded(Code::Added, loudness, 0);
        for seed in 1000..1020 {
            let schedule = Schedule { n_looks: 1, ..Lookups::schedule(seed) };
            let trained = trained(&format!("loudness {loudness}"), &task, 3, &schedule)?;
            let last = trained.last();
            runs.push(json!({
                "loudness": loudness,
                "seed": seed,
                "scores": rounded(&last.scores),
                "focus": rows(&last.focus),
                "attending": strongest(&last.focus),
            }));
        }
    }
    Ok(runs)
}

/// What one head can do depends on how tokens are written. In both codes: one head with shares
/// of its own, one whose shares were equal from the start, over the three words and over all
/// ten; and three heads.
pub fn codes() -> Result<Vec<Value>> {
    let mut runs = Vec::new();
    for (name, code) in [("added", Code::Added), ("bound", Code::Bound)] {
        let task = Lookups::coded(code, Lookups::LOUDNESS, 0);
        for seed in SEEDS {
            for n_heads in [1, 3] {
                let schedule = Schedule { n_looks: 10, ..Lookups::schedule(seed) };
                let trained = trained(name, &task, n_heads, &schedule)?;
                let mut run = kept_with_sizes(&schedule, &trained)?;
                run["code"] = json!(name);
                run["shares"] = json!("own");
                runs.push(run);
            }
            for (shares, over) in [("three", Over::Three), ("all", Over::All)] {
                let task = EqualShares { task: task.clone(), over };
                let schedule = Schedule { n_looks: 1, ..Lookups::schedule(seed) };
                let trained = trained(&format!("{name}, {shares}"), &task, 1, &schedule)?;
                runs.push(json!({
                    "code": name,
                    "shares": shares,
                    "heads": 1,
                    "seed": seed,
                    "scores": rounded(&trained.last().scores),
                }));
            }
        }
    }
    Ok(runs)
}
