//! Work by step, as stacked bars, and the time that it took.

use plotly::common::{HoverInfo, Marker, Mode, Orientation};
use plotly::{Bar, Scatter};
use serde_json::{Value, json, to_value};

use attention::{Error as SizeError, MultiplyAdds, thousands};

use crate::layout::{formula, label_width, number_axis, rounded, token_axis, with};
use crate::panels::{self, NARROW, Panel, Place, WIDE, axis_name};
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
    SizeError::expect_positive("the number of layers", layers.len())?;
    Error::expect_at_most("layers", layers.len(), 8)?;
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
    Ok(Figure {
        title: title.into(),
        alternative: told(layers),
        sketch: sketched(layers, &names),
        tables: vec![table(layers)],
        traces,
        wide: layout(layers, &names, WIDE, 2),
        narrow: layout(layers, &names, NARROW, 1),
        notebook: None,
    })
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

    fn said(self, layer: &NamedCost) -> String {
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
fn steps(layers: &[NamedCost]) -> Vec<Value> {
    let steps = layers[0].work.costs(); // every ledger has the same steps
    let step = |at: usize| {
        let each = || layers.iter().map(move |layer| &layer.work.costs()[at]);
        let told = |(layer, cost): (&NamedCost, &attention::Cost)| {
            let (name, n) = (&layer.name, thousands(cost.multiply_adds));
            format!(
                "{name}: {}<br>{}<br>{n} multiply-adds",
                formula(cost.name),
                cost.formula
            )
        };
        let bars = Bar::new(
            each().map(|cost| cost.multiply_adds).collect(),
            (0..layers.len()).collect(),
        )
        .name(formula(steps[at].name))
        .orientation(Orientation::Horizontal)
        .marker(Marker::new().color(palette::head(at)))
        .hover_text_array(layers.iter().zip(each()).map(told).collect())
        .hover_info(HoverInfo::Text);
        with(to_value(bars), [])
    };
    (0..steps.len()).map(step).collect()
}

fn times(layers: &[NamedCost]) -> Value {
    let told =
        |layer: &NamedCost| format!("{}: {}", layer.name, Measure::Time.said(layer));
    let times = layers.iter().map(|layer| layer.milliseconds.map(rounded)).collect();
    let bars = Bar::new(times, (0..layers.len()).collect())
        .orientation(Orientation::Horizontal)
        .x_axis("x2")
        .y_axis("y2")
        .marker(Marker::new().color(crate::layout::NEUTRAL))
        .show_legend(false)
        .hover_text_array(layers.iter().map(told).collect())
        .hover_info(HoverInfo::Text);
    with(to_value(bars), [])
}

/// The sum at the end of each bar.
fn totals(layers: &[NamedCost], measure: Measure) -> Value {
    let nth = measure as usize;
    let ends = layers.iter().map(|layer| measure.of(layer).map_or(0.0, rounded));
    let trace = Scatter::new(ends.collect(), (0..layers.len()).collect())
        .mode(Mode::Text)
        .x_axis(axis_name("x", nth))
        .y_axis(axis_name("y", nth))
        .text_array(
            layers.iter().map(|layer| format!(" {}", measure.said(layer))).collect(),
        )
        .show_legend(false)
        .hover_info(HoverInfo::Skip);
    with(
        to_value(trace),
        [("textposition", json!("middle right")), ("cliponaxis", json!(false))],
    )
}

fn layout(layers: &[NamedCost], names: &[String], width: f64, most: usize) -> Value {
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
        Panel {
            title: title.to_owned(),
            x: number_axis(measure.most(layers) * room, "").tick_format("~s").n_ticks(4),
            y: token_axis(names, 12)
                .show_tick_labels(nth.is_multiple_of(place.n_columns))
                .range(vec![layers.len() as f64 - 0.5, -0.5]), // the first on top
            width: None,
            height: layers.len() as f64 * 34.0,
        }
    };
    let panels = (0..measures.len()).map(panel).collect();
    let mut layout = panels::layout(panels, &place);
    layout["barmode"] = json!("stack");
    layout["bargap"] = json!(0.3);
    layout["legend"]["traceorder"] = json!("normal");
    layout
}

fn table(layers: &[NamedCost]) -> Table {
    let names = layers.iter().map(|layer| layer.name.clone());
    let steps = layers[0].work.costs().iter().enumerate().map(|(at, step)| {
        let each = layers.iter().map(|layer| layer.work.costs()[at].multiply_adds);
        std::iter::once(step.name.to_owned()).chain(each.map(thousands)).collect()
    });
    let row = |head: &str, cell: fn(&NamedCost) -> String| {
        std::iter::once(head.to_owned()).chain(layers.iter().map(cell)).collect()
    };
    let total = row("total", |layer| thousands(layer.work.total()));
    let time = row("measured", |layer| Measure::Time.said(layer));
    Table {
        caption: "Multiply-adds of one forward pass".to_owned(),
        columns: std::iter::once("step".to_owned()).chain(names).collect(),
        rows: steps.chain([total]).chain(timed(layers).then_some(time)).collect(),
    }
}

fn sketched(layers: &[NamedCost], names: &[String]) -> String {
    let width = sketch::longest(names);
    let line = |layer: &NamedCost| {
        let bar = sketch::bar(layer.work.total() as f64, Measure::Work.most(layers), 40);
        let time =
            layer.milliseconds.map_or(String::new(), |time| format!("{time:.1} ms"));
        let total = Measure::Work.said(layer);
        format!("{:<width$} {total:>10} {time:>9}  {bar}", layer.name)
    };
    let heading = format!("{:width$} {:>10}", "", "multiply-adds");
    let lines: Vec<_> = layers.iter().map(line).collect();
    format!("{}\n{}", heading.trim_end(), lines.join("\n"))
}

fn told(layers: &[NamedCost]) -> String {
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
        assert!(figure.wide.get("xaxis2").is_none());
        insta::assert_snapshot!(costs("", &[layer(1, 8, Some(-1.0))]).unwrap_err(), @"the time of 1 × 8 is -1, expected at least 0");
    }
}
