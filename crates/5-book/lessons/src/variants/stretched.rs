//! Ten models with rotary positions on longer texts than they were trained on, their positions
//! stretched.

use crate::args::Args;
use crate::named_rows::{Look, NamedRows, RowList, RowPanel};
use crate::seeds::numbers;
use anyhow::{Context, Result, ensure};
use figures::{Figure, palette};
use serde_json::Value;
use training::changed::{STRETCHED, Stretch};

/// The same models on other texts, and read with the wrong pairing.
pub const CONTROLS: [&str; 2] = ["other texts", "read as pairs"];

/// Ten seeds of one way to stretch.
#[derive(Debug, Clone, PartialEq)]
pub struct OfStretch {
    /// What it is called.
    pub name: &'static str,
    /// The scores on texts of 24, 48, 96 and 192 tokens, and on 96 tokens that repeat at
    /// distances beyond the training: all seeds of each.
    pub scores: [Vec<f64>; 5],
    /// Stretched for 96 tokens, on 24; none of a control.
    pub short: Vec<f64>,
    /// After some steps on 96 tokens: on 24, on 96, and far.
    pub tuned: [Vec<f64>; 3],
}

/// Every way, the models as trained first; and the [`CONTROLS`].
///
/// # Errors
/// If the file has other runs than it should.
pub fn stretched() -> Result<(Vec<OfStretch>, Vec<OfStretch>)> {
    let all: Vec<Value> = serde_json::from_str(STRETCHED)?;
    let ways = Stretch::ALL.iter().map(|stretch| of_kind(&all, stretch.name()));
    let controls = CONTROLS.iter().map(|name| of_kind(&all, name));
    Ok((ways.collect::<Result<_>>()?, controls.collect::<Result<_>>()?))
}

fn of_kind(all: &[Value], name: &'static str) -> Result<OfStretch> {
    let runs: Vec<&Value> = all.iter().filter(|run| run["kind"] == name).collect();
    ensure!(runs.len() == 10, "{} runs of {name}", runs.len());
    let mut of = OfStretch {
        name,
        scores: Default::default(),
        short: Vec::new(),
        tuned: Default::default(),
    };
    for run in runs {
        let far = run["far"].as_f64().context("a score")?;
        let scores = numbers(&run["scores"])?.into_iter().chain([far]);
        of.scores.iter_mut().zip(scores).for_each(|(all, score)| all.push(score));
        of.short.extend(run["short"].as_f64());
        if let Some(tuned) = run.get("tuned") {
            of.tuned.iter_mut().zip(numbers(tuned)?).for_each(|(all, it)| all.push(it));
        }
    }
    ensure!(of.scores.iter().all(|scores| scores.len() == 10), "five scores of {name}");
    Ok(of)
}

/// The scores of all seeds of each way, on long texts and after some steps on such.
pub(super) fn figure(_: &Args) -> Result<Figure> {
    let (ways, _) = stretched()?;
    let rows: Vec<String> = ways.iter().map(|of| of.name.to_owned()).collect();
    let panel = |title: &str, scores: fn(&OfStretch) -> &Vec<f64>| {
        let runs: Vec<Vec<f64>> = ways.iter().map(|of| scores(of).clone()).collect();
        let list = RowList::new("seeds", runs, Look::Runs(palette::head(0)));
        RowPanel::percent(title, 0.0, vec![list])
    };
    let panels = [
        panel("96 tokens", |of| &of.scores[2]),
        panel("192 tokens", |of| &of.scores[3]),
        panel("far", |of| &of.scores[4]),
        panel("96 tokens, tuned", |of| &of.tuned[1]),
    ];
    let title = "Trained on 24 tokens: NTK-aware scaling and YaRN read longer texts better, \
                 interpolation worse";
    NamedRows::new(&rows, 27.0, 4).figure(title, &panels)
}
