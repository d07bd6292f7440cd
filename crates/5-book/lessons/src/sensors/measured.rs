//! What was measured of the heads, and of models without them: seed by seed.

use anyhow::{Context, Result};
use figures::{Axis, Figure, palette};
use serde_json::Value;
use training::windows::SPECIALISATIONS;

use super::model::N_HEADS;
use super::{Costs, found, runs};
use crate::Args;
use crate::named_rows::{Look, NamedRows, RowList, RowPanel};
use crate::numbers::{whole, written};
use crate::seeds::numbers;

/// What was measured, and what a row of it is called.
pub const VARIANTS: [(&str, &str); 10] = [
    ("linear, last", "linear, last reading"),
    ("linear, last and settings", "… and settings"),
    ("linear, mean", "linear, mean reading"),
    ("linear, mean and slope", "… and slope"),
    ("BiLSTM", "BiLSTM, its two ends"),
    ("BiLSTM, mean", "BiLSTM, mean"),
    ("BiLSTM, mean, wide", "… 218 wide"),
    ("one head", "… and one head"),
    ("eight heads", "… and eight heads"),
    ("no BiLSTM", "positions, 8 heads"),
];

/// Nothing is planted in windows at the end of a life.
pub fn is_asked(windows: &str, name: &str) -> bool {
    windows == "transition" || !["transition", "spike"].contains(&name)
}

fn hundredths(number: f64) -> String {
    written(number, 2)
}

/// Which heads of the trained model do each job, and how many layers of each control have
/// as many.
pub(super) fn jobs(_: &Args) -> Result<Figure> {
    let model = &found()?[0];
    let names = SPECIALISATIONS.map(|(name, _)| name.to_owned());
    let list = |windows: &'static str, name: &str, kind: &'static str, look| {
        let value = |(which, (job, _)): (usize, &(&str, _))| {
            Ok(match &model[windows][kind][which] {
                _ if !is_asked(windows, job) => vec![f64::NAN],
                Value::Array(heads) => numbers(&Value::Array(heads.clone()))?,
                hits => vec![hits.as_f64().context("a number of layers")?],
            })
        };
        let values = SPECIALISATIONS.iter().enumerate().map(value);
        anyhow::Ok(RowList::new(name, values.collect::<Result<Vec<_>>>()?, look))
    };
    let heads: Vec<String> = (0..N_HEADS).map(|head| head.to_string()).collect();
    let mut panels = Vec::new();
    for (windows, what) in
        [("transition", "around the transition"), ("late", "at the end")]
    {
        panels.push(RowPanel::new(
            format!("heads that do it, {what}"),
            Axis::across(&heads, 11),
            whole,
            vec![list(windows, "trained heads", "trained", Look::Cells(N_HEADS))?],
        ));
        panels.push(RowPanel::new(
            format!("of 1,000 layers, {what}"),
            Axis::numbers(1150.0),
            whole,
            vec![
                list(windows, "mixtures", "mixed", Look::Bars(palette::head(2)))?,
                list(windows, "fresh layers", "fresh", Look::Bars(palette::head(5)))?,
            ],
        ));
    }
    let title = "Where trained heads do a job, layers of a control do it too";
    NamedRows::new(&names, 27.0, 2).figure(title, &panels)
}

/// Each head's cost among the draws of its control, and what even weights cost, seed by
/// seed.
pub(super) fn ablations(_: &Args) -> Result<Figure> {
    let found = found()?;
    let names = found.iter().map(|model| format!("seed {}", model["seed"]));
    let names: Vec<String> = names.collect();
    let costs = found.iter().map(Costs::of).collect::<Result<Vec<_>>>()?;
    let even = found.iter().map(|model| Ok(vec![Costs::change(model, "even")?]));
    let even = even.collect::<Result<Vec<_>>>()?;
    let heads: Vec<_> = costs.iter().map(|it| it.heads.clone()).collect();
    let draws: Vec<_> = costs.iter().map(|it| it.random.concat()).collect();
    let panel = |title: &str, lists| {
        RowPanel::new(title, Axis::between([-0.5, 0.8]), hundredths, lists)
    };
    let panels = [
        panel(
            "without one head",
            vec![
                RowList::new("a head", heads, Look::Dots(palette::head(0))),
                RowList::new("random directions", draws, Look::Cloud),
            ],
        ),
        panel(
            "with even attention weights",
            vec![RowList::new("even weights", even, Look::Dots(palette::head(2)))],
        ),
    ];
    let title = "Change of the RMSE, in cycles: single heads cost little, and even weights \
                 nothing on average";
    NamedRows::new(&names, 36.0, 2).figure(title, &panels)
}

/// The RMSE of each variant, seed by seed, on test windows and on each engine's last one.
pub(super) fn parts(_: &Args) -> Result<Figure> {
    let names = VARIANTS.map(|(_, name)| name.to_owned());
    let panel = |(title, key): (&str, &str)| {
        let values = VARIANTS.iter().map(|(variant, _)| {
            let rmse = |run: &Value| run[key].as_f64().context("an RMSE");
            runs(variant)?.iter().map(rmse).collect::<Result<Vec<f64>>>()
        });
        let values = values.collect::<Result<Vec<_>>>()?;
        let x = Axis::between([12.0, 21.95]);
        let list = RowList::new("RMSE", values, Look::Runs(palette::head(0)));
        Ok(RowPanel::new(title, x, hundredths, vec![list]))
    };
    let panels = [
        ("RMSE in cycles, every fifth test window", "rmse"),
        ("RMSE in cycles, each engine's last window", "rmse_last"),
    ];
    let panels = panels.into_iter().map(panel).collect::<Result<Vec<_>>>()?;
    let title = "No clear gain from eight heads, and a regression comes close";
    NamedRows::new(&names, 22.0, 2).figure(title, &panels)
}
