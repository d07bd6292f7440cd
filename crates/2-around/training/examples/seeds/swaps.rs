//! Two heads on three lookups: does a head that reads two words code them by sizes?

use anyhow::Result;
use serde_json::{Value, json};
use training::lookups::{Lookups, PairAnswers};

use crate::run::{of_seeds, rounded, rows, trained};

/// The ten runs of two heads once more, and what becomes of the answers where one head's
/// shares of two words are exchanged, or made equal, and nothing else.
pub fn runs() -> Result<Vec<Value>> {
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
