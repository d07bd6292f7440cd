//! Ten seeds of each way to share keys and values.

use anyhow::{Context, Result, ensure};
use figures::{Figure, palette};
use serde_json::Value;
use training::changed::SHARED;

use crate::args::Args;
use crate::named_rows::{Look, NamedRows, RowList, RowPanel};

/// A setting and what its ten seeds scored.
#[derive(Debug, Clone, PartialEq)]
pub struct OfSetting {
    /// What is kept equal to heads with keys and values of their own.
    pub kind: String,
    /// Query heads, and heads of keys and values.
    pub heads: [usize; 2],
    /// d_k and d_v.
    pub widths: [usize; 2],
    /// The squared length of a role's vector over an identity's.
    pub loudness: f64,
    /// The score of each seed.
    pub scores: Vec<f64>,
}

/// Every setting, in the order of the runs.
///
/// # Errors
/// If the file has other runs than it should.
pub fn shared() -> Result<Vec<OfSetting>> {
    let all: Vec<Value> = serde_json::from_str(SHARED)?;
    let of = |run: &Value| -> Result<OfSetting> {
        let size = |key: &str| run[key].as_u64().map(|n| n as usize).context("a size");
        Ok(OfSetting {
            kind: run["kind"].as_str().context("a kind")?.to_owned(),
            heads: [size("heads")?, size("kv_heads")?],
            widths: [size("d_k")?, size("d_v")?],
            loudness: run["loudness"].as_f64().context("a loudness")?,
            scores: vec![run["score"].as_f64().context("a score")?],
        })
    };
    let mut settings: Vec<OfSetting> = Vec::new();
    for run in &all {
        let run = of(run)?;
        match settings.last_mut() {
            Some(last) if (&last.kind, last.heads) == (&run.kind, run.heads) => {
                last.scores.extend(run.scores);
            }
            _ => settings.push(run),
        }
    }
    for of in &settings {
        ensure!(of.scores.len() == 10, "{} runs of {}", of.scores.len(), of.kind);
    }
    Ok(settings)
}

/// The scores of all seeds, a row a setting.
pub(super) fn figure(_: &Args) -> Result<Figure> {
    let all = shared()?;
    let rows: Vec<String> = all.iter().map(OfSetting::row).collect();
    let runs: Vec<Vec<f64>> = all.iter().map(|of| of.scores.clone()).collect();
    let list = RowList::new("seeds", runs, Look::Runs(palette::head(0)));
    let panel = RowPanel::percent("tokens right", 0.5, vec![list]);
    let title =
        "Four query heads that share one head of keys and values score a little less";
    NamedRows::new(&rows, 27.0, 1).figure(title, &[panel])
}

impl OfSetting {
    /// `1 shared, equal width`.
    fn row(&self) -> String {
        let [heads, of_keys] = self.heads;
        let kind = self.kind.replace("weights", "size").replace("widths", "width");
        match heads == of_keys {
            true => kind.replace("own", "own keys"),
            false => format!("{of_keys} shared, {kind}"),
        }
    }
}
