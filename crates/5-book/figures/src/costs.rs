//! Work by step, as stacked bars, and the time that it took.

use attention::{MultiplyAdds, thousands};

use crate::axis::Axis;
use crate::chart::Chart;
use crate::layout::{NEUTRAL, formula, label_width, rounded};
use crate::marks::Mark;
use crate::panels::{self, NARROW, Panel, Place, WIDE};
use crate::spec::{Grouping, Layout, Legend};
use crate::{Error, Figure, Result, Table, palette, sketch};

/// What a layer of some sizes costs.
#[derive(Debug, Clone, PartialEq)]
pub struct NamedCost {
    /// Its sizes: `8 × 64`.
    pub name: String,
    /// Its work by step.
    pub work: MultiplyAdds,
    /// What a forward pass took, if it was measured.
    pub milliseconds: Option<f64>,
}

/// Multiply-adds by step, one bar a layer, with the measured time beside them where there
/// is one.
///
/// # Errors
/// [`Error::Sizes`] for no layers; [`Error::TooMany`] above 8; [`Error::Number`] for a
/// time below 0.
pub fn costs(title: impl Into<String>, layers: &[NamedCost]) -> Result<Figure> {
    Error::expect_count("the number of layers", layers.len(), 8)?;
    for NamedCost { name, milliseconds, .. } in layers {
        let what = format!("the time of {name}");
        let time = milliseconds.unwrap_or(0.0);
        Error::expect_between(what, time, [0.0, f64::INFINITY])?;
    }
    let names: Vec<String> = layers.iter().map(|layer| layer.name.clone()).collect();
    let mut traces = steps(layers);
    traces.push(totals(layers, Measure::Work));
    if timed(layers) {
        traces.extend([times(layers), totals(layers, Measure::Time)]);
    }
    let layouts =
        [(WIDE, 2), (NARROW, 1)].map(|(width, most)| layout(layers, &names, width, most));
    Chart::new(title)
        .laid_out(layouts)
        .marks(traces)
        .says(description(layers))
        .sketch(sketched(layers, &names))
        .tables([table(layers, &names)])
        .figure()
}

fn timed(layers: &[NamedCost]) -> bool {
    layers.iter().any(|layer| layer.milliseconds.is_some())
}

/// What a panel's bars are as long as.
#[derive(Debug, Clone, Copy)]
enum Measure {
    Work,
    Time,
}

impl Measure {
    fn of(self, layer: &NamedCost) -> Option<f64> {
        match self {
            Self::Work => Some(layer.work.total() as f64),
            Self::Time => layer.milliseconds,
        }
    }

    fn amount(self, layer: &NamedCost) -> String {
        match (self, layer.milliseconds) {
            (Self::Work, _) => in_short(layer.work.total()),
            (Self::Time, Some(time)) => format!("{time:.1} ms"),
            (Self::Time, None) => "not measured".to_owned(),
        }
    }

    fn most(self, layers: &[NamedCost]) -> f64 {
        layers.iter().filter_map(|layer| self.of(layer)).fold(f64::MIN_POSITIVE, f64::max)
    }
}

/// Millions with one decimal, or the number itself where it is small.
fn in_short(multiply_adds: u64) -> String {
    match multiply_adds {
        small if small < 1_000_000 => thousands(small),
        large => format!("{:.1} M", large as f64 / 1e6),
    }
}

/// One trace a step, stacked along the bar.
fn steps(layers: &[NamedCost]) -> Vec<Mark> {
    let steps = layers[0].work.costs(); // every ledger has the same steps
    let step = |at: usize| {
        let each = || layers.iter().map(move |layer| &layer.work.costs()[at]);
        let description = layers.iter().zip(each()).map(|(layer, cost)| {
            let (step, n) = (formula(cost.name), thousands(cost.multiply_adds));
            format!("{}: {step}<br>{}<br>{n} multiply-adds", layer.name, cost.formula)
        });
        Mark::lying_bars(each().map(|cost| cost.multiply_adds))
            .called(steps[at].name)
            .coloured(palette::head(at))
            .hover(description)
    };
    (0..steps.len()).map(step).collect()
}

fn times(layers: &[NamedCost]) -> Mark {
    let description =
        |layer: &NamedCost| format!("{}: {}", layer.name, Measure::Time.amount(layer));
    Mark::lying_bars(layers.iter().map(|layer| layer.milliseconds.map(rounded)))
        .on(1)
        .coloured(NEUTRAL)
        .in_legend(false)
        .hover(layers.iter().map(description))
}

/// The sum at the end of each bar.
fn totals(layers: &[NamedCost], measure: Measure) -> Mark {
    let ends = layers.iter().map(|layer| measure.of(layer).map_or(0.0, rounded));
    let texts = layers.iter().map(|layer| format!(" {}", measure.amount(layer)));
    Mark::texts(ends, 0..layers.len(), texts)
        .on(measure as usize)
        .in_legend(false)
        .silent()
        .placed("middle right")
        .unclipped()
}

fn layout(layers: &[NamedCost], names: &[String], width: f64, most: usize) -> Layout {
    let measures: &[(Measure, &str)] = match timed(layers) {
        true => &[(Measure::Work, "multiply-adds"), (Measure::Time, "measured time")],
        false => &[(Measure::Work, "multiply-adds")],
    };
    let place = Place {
        width,
        n_columns: most.min(measures.len()),
        left: label_width(names, 12),
        left_once: most > 1,
        below: 20.0,
        above: if most > 1 { 34.0 } else { 72.0 },
    };
    let panel = |nth: usize| {
        let (measure, title) = measures[nth];
        // The longest bar leaves room for its sum.
        let room = place.column() / (place.column() - 70.0);
        let x = Axis::numbers(measure.most(layers) * room);
        let y = Axis::down(names, 12).labelled(nth.is_multiple_of(place.n_columns));
        let x = x.in_short();
        Panel::new(title, x, y, layers.len() as f64 * 34.0)
    };
    let panels = (0..measures.len()).map(panel).collect();
    let mut layout = panels::layout(panels, &place);
    if let Legend::Above { in_order, .. } = &mut layout.legend {
        *in_order = true;
    }
    Layout { grouping: Some(Grouping::Stacked), bar_gap: Some(0.3), ..layout }
}

fn table(layers: &[NamedCost], names: &[String]) -> Table {
    let steps = layers[0].work.costs();
    let heads = steps.iter().map(|step| step.name).chain(["total"]);
    let heads = heads.chain(timed(layers).then_some("measured"));
    let heads: Vec<String> = heads.map(str::to_owned).collect();
    let cell = |row: usize, at: usize| {
        let NamedCost { work, .. } = &layers[at];
        match work.costs().get(row) {
            Some(step) => thousands(step.multiply_adds),
            None if row == steps.len() => thousands(work.total()),
            None => Measure::Time.amount(&layers[at]),
        }
    };
    Table::grid("Multiply-adds of one forward pass", "step", &heads, names, cell)
}

fn sketched(layers: &[NamedCost], names: &[String]) -> String {
    let width = sketch::longest(names);
    let line = |layer: &NamedCost| {
        let bar = sketch::bar(layer.work.total() as f64, Measure::Work.most(layers), 40);
        let time =
            layer.milliseconds.map_or(String::new(), |time| format!("{time:.1} ms"));
        let total = Measure::Work.amount(layer);
        format!("{:<width$} {total:>10} {time:>9}  {bar}", layer.name)
    };
    let heading = format!("{:width$} {:>10}", "", "multiply-adds");
    let lines: Vec<_> = layers.iter().map(line).collect();
    format!("{}\n{}", heading.trim_end(), lines.join("\n"))
}

fn description(layers: &[NamedCost]) -> String {
    let one = |layer: &NamedCost| {
        let time = match layer.milliseconds {
            Some(time) => format!(" in {time:.1} ms"),
            None => String::new(),
        };
        format!("{}, {} multiply-adds{time}", layer.name, thousands(layer.work.total()))
    };
    let each: Vec<_> = layers.iter().map(one).collect();
    format!("Stacked bars of the work of a forward pass, by step: {}.", each.join("; "))
}

#[cfg(test)]
mod tests {
    use attention::Dims;

    use super::*;
    use crate::testing::assert_figure;

    fn layer(n_heads: usize, d_k: usize, milliseconds: Option<f64>) -> NamedCost {
        let dims = Dims::with_head_sizes(512, n_heads, d_k, d_k).unwrap();
        let work = MultiplyAdds::count(dims, 100, 100).unwrap();
        NamedCost { name: format!("{n_heads} × {d_k}"), work, milliseconds }
    }

    #[test]
    fn three_layers_counted_and_timed() {
        let layers = [
            layer(1, 512, Some(4.1)),
            layer(8, 64, Some(4.6)),
            layer(8, 512, Some(35.2)),
        ];
        assert_figure!(
            costs("Eight heads of 64 cost what one of 512 costs", &layers).unwrap()
        );
    }

    #[test]
    fn without_times_there_is_one_panel() {
        let figure = costs("", &[layer(1, 512, None)]).unwrap();
        assert!(figure.to_json()["layout"].get("xaxis2").is_none());
        insta::assert_snapshot!(costs("", &[layer(1, 8, Some(-1.0))]).unwrap_err(), @"the time of 1 × 8 is -1, expected at least 0");
    }
}
