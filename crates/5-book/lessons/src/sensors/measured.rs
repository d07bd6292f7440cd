//! What was measured of the heads, and of models without them: seed by seed.

use anyhow::{Context, Result};
use figures::{Axis, Figure, Grouping, palette};
use serde_json::Value;
use training::windows::SPECIALISATIONS;

use super::model::N_HEADS;
use super::{Costs, found, runs};
use crate::Args;
use crate::named_rows::{Look, NamedRows, RowList, RowPanel};
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

fn rows(names: &[String], height: f64, grouping: Grouping) -> NamedRows<'_> {
    NamedRows { names, height, n_columns: 2, grouping }
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
        anyhow::Ok(RowList {
            name: name.to_owned(),
            values: values.collect::<Result<_>>()?,
            look,
        })
    };
    let heads: Vec<String> = (0..N_HEADS).map(|head| head.to_string()).collect();
    let mut panels = Vec::new();
    for (windows, what) in
        [("transition", "around the transition"), ("late", "at the end")]
    {
        panels.push(RowPanel {
            title: format!("heads that do it, {what}"),
            x: Axis::across(&heads, 11),
            decimals: 0,
            lists: vec![list(windows, "trained heads", "trained", Look::Cells(N_HEADS))?],
        });
        panels.push(RowPanel {
            title: format!("of 1,000 layers, {what}"),
            x: Axis::numbers(1150.0),
            decimals: 0,
            lists: vec![
                list(windows, "mixtures", "mixed", Look::Bars(palette::head(2)))?,
                list(windows, "fresh layers", "fresh", Look::Bars(palette::head(5)))?,
            ],
        });
    }
    let title = "Where trained heads do a job, layers of a control do it too";
    rows(&names, 27.0, Grouping::Beside).figure(title, &panels)
}

/// Each head's cost among the draws of its control, and what even weights cost, seed by
/// seed.
pub(super) fn ablations(_: &Args) -> Result<Figure> {
    let found = found()?;
    let names = found.iter().map(|model| format!("seed {}", model["seed"]));
    let names: Vec<String> = names.collect();
    let costs = found.iter().map(Costs::of).collect::<Result<Vec<_>>>()?;
    let list = |name: &str, values, look| RowList { name: name.to_owned(), values, look };
    let even = found.iter().map(|model| Ok(vec![Costs::change(model, "even")?]));
    let even = even.collect::<Result<Vec<_>>>()?;
    let heads = costs.iter().map(|it| it.heads.clone()).collect();
    let draws = costs.iter().map(|it| it.random.concat()).collect();
    let x = || Axis::between([-0.5, 0.8]);
    let panels = [
        RowPanel {
            title: "without one head".to_owned(),
            x: x(),
            decimals: 2,
            lists: vec![
                list("a head", heads, Look::Dots(palette::head(0))),
                list("random directions", draws, Look::Cloud),
            ],
        },
        RowPanel {
            title: "with even attention weights".to_owned(),
            x: x(),
            decimals: 2,
            lists: vec![list("even weights", even, Look::Dots(palette::head(2)))],
        },
    ];
    let title = "Change of the RMSE, in cycles: single heads cost little, and even weights \
                 nothing on average";
    rows(&names, 36.0, Grouping::Beside).figure(title, &panels)
}

/// The RMSE of each variant, seed by seed, on test windows and on each engine's last one.
pub(super) fn parts(_: &Args) -> Result<Figure> {
    let names = VARIANTS.map(|(_, name)| name.to_owned());
    let panel = |(title, key): (&str, &str)| {
        let values = VARIANTS.iter().map(|(variant, _)| {
            let rmse = |run: &Value| run[key].as_f64().context("an RMSE");
            runs(variant)?.iter().map(rmse).collect::<Result<Vec<f64>>>()
        });
        Ok(RowPanel {
            title: title.to_owned(),
            x: Axis::between([12.0, 21.95]),
            decimals: 2,
            lists: vec![RowList {
                name: "RMSE".to_owned(),
                values: values.collect::<Result<_>>()?,
                look: Look::Dots(palette::head(0)),
            }],
        })
    };
    let panels = [
        ("RMSE in cycles, every fifth test window", "rmse"),
        ("RMSE in cycles, each engine's last window", "rmse_last"),
    ];
    let panels = panels.into_iter().map(panel).collect::<Result<Vec<_>>>()?;
    let title = "Eight heads do no better than none, and a regression comes close";
    rows(&names, 22.0, Grouping::Beside).figure(title, &panels)
}
