//! What a machine allows: the roof that memory and arithmetic make, and what was reached
//! under it.

use plotly::Scatter;
use plotly::common::{DashType, HoverInfo, Line, Marker, MarkerSymbol, Mode};
use serde_json::{Value, json, to_value};

use attention::Error as SizeError;

use crate::layout::{NEUTRAL, axis_title, formula, significant, with};
use crate::panels::{self, NARROW, Panel, Place, WIDE};
use crate::{Error, Figure, Result, Table, log_axis, palette, sketch};

/// What one machine can do.
#[derive(Debug, Clone, PartialEq)]
pub struct Roof {
    /// Whose: `the reference run`.
    pub name: String,
    /// Billions of operations a second, at most.
    pub peak_gflops: f64,
    /// Billions of bytes that it reads in a second, at most.
    pub bandwidth_gb_s: f64,
}

/// A step of the layer.
#[derive(Debug, Clone, PartialEq)]
pub struct RoofStep {
    /// `Q Kᵀ`.
    pub name: String,
    /// Its operations a byte that it reads or writes.
    pub flops_per_byte: f64,
}

/// What was measured.
#[derive(Debug, Clone, PartialEq)]
pub struct Reached {
    /// Who: `plain`.
    pub name: String,
    /// Operations a byte.
    pub flops_per_byte: f64,
    /// Billions of operations a second.
    pub gflops: f64,
    /// Under which of the roofs, counted from 0.
    pub roof: usize,
}

/// Roofs, the steps on the first of them, and what was reached.
#[derive(Debug, Clone, Copy)]
pub struct Roofline<'a> {
    /// At most two.
    pub roofs: &'a [Roof],
    /// The steps of the layer.
    pub steps: &'a [RoofStep],
    /// What was measured, under any of the roofs.
    pub reached: &'a [Reached],
}

/// Operations a second against operations a byte, both on logarithmic axes: a roof a
/// machine, hollow marks on the first roof where each step could be, and full marks where
/// measured ones are.
///
/// # Errors
/// [`Error::Sizes`] for no roof; [`Error::TooMany`] above 2 roofs, 8 steps or 24 marks;
/// [`Error::Number`] for a number that is not above 0, or a mark under a roof that is not
/// there.
pub fn roofline(title: impl Into<String>, it: Roofline) -> Result<Figure> {
    check(it)?;
    let mut traces: Vec<Value> = (0..it.roofs.len()).map(|nth| roof(it, nth)).collect();
    if !it.steps.is_empty() {
        traces.push(steps(it));
    }
    traces.extend((0..it.roofs.len()).map(|nth| reached(it, nth)));
    let tables = vec![roofs_table(it), steps_table(it), reached_table(it)];
    let tables: Vec<Table> =
        tables.into_iter().filter(|table| !table.rows.is_empty()).collect();
    let sketches: Vec<String> = tables.iter().map(sketch::table).collect();
    Ok(Figure {
        title: title.into(),
        alternative: told(it),
        sketch: sketches.join("\n\n"),
        tables,
        traces,
        wide: layout(it, WIDE),
        narrow: layout(it, NARROW),
        notebook: None,
    })
}

fn check(Roofline { roofs, steps, reached }: Roofline) -> Result<()> {
    SizeError::expect_positive("the number of roofs", roofs.len())?;
    Error::expect_at_most("roofs", roofs.len(), 2)?;
    Error::expect_at_most("steps", steps.len(), 8)?;
    Error::expect_at_most("marks", reached.len(), 24)?;
    for Roof { name, peak_gflops, bandwidth_gb_s } in roofs {
        Error::expect_above_zero(format!("the peak of {name}"), *peak_gflops)?;
        let what = format!("the bandwidth of {name}");
        Error::expect_above_zero(what, *bandwidth_gb_s)?;
    }
    for RoofStep { name, flops_per_byte } in steps {
        let what = format!("the operations a byte of {name}");
        Error::expect_above_zero(what, *flops_per_byte)?;
    }
    for Reached { name, flops_per_byte, gflops, roof } in reached {
        let what = format!("a number of {name}");
        Error::expect_above_zero(what.clone(), *flops_per_byte)?;
        Error::expect_above_zero(what, *gflops)?;
        let what = format!("the roof of {name}");
        Error::expect_between(what, *roof as f64, [0.0, roofs.len() as f64 - 1.0])?;
    }
    Ok(())
}

impl Roof {
    /// The most operations a second with so many a byte.
    fn over(&self, flops_per_byte: f64) -> f64 {
        self.peak_gflops.min(self.bandwidth_gb_s * flops_per_byte)
    }

    /// Where memory and arithmetic take equally long.
    fn ridge(&self) -> f64 {
        self.peak_gflops / self.bandwidth_gb_s
    }
}

/// The decades that are drawn: operations a byte, and operations a second.
fn ranges(it: Roofline) -> [[f64; 2]; 2] {
    let steps = it.steps.iter().map(|step| step.flops_per_byte);
    let marks = it.reached.iter().map(|mark| mark.flops_per_byte);
    let ridges = it.roofs.iter().map(Roof::ridge);
    let x: Vec<f64> = steps.chain(marks).chain(ridges).collect();
    let least_x = x.iter().copied().fold(f64::INFINITY, f64::min);
    let most_x = x.iter().copied().fold(0.0, f64::max);
    let x = [10f64.powf(least_x.log10().floor()), 10f64.powf(most_x.log10().ceil())];
    let low = it.reached.iter().map(|mark| mark.gflops);
    let low = low.chain(it.roofs.iter().map(|roof| roof.over(x[0])));
    let least_y = low.fold(f64::INFINITY, f64::min);
    let most_y = it.roofs.iter().map(|roof| roof.peak_gflops).fold(0.0, f64::max);
    [x, [least_y, most_y * 1.5]]
}

fn roof(it: Roofline, nth: usize) -> Value {
    let roof = &it.roofs[nth];
    let [[first, last], _] = ranges(it);
    let x = [first, roof.ridge(), last];
    let told = format!(
        "{}<br>at most {:.0} GFLOP/s<br>memory: {:.1} GB/s",
        formula(&roof.name),
        roof.peak_gflops,
        roof.bandwidth_gb_s
    );
    let dashes = [DashType::Solid, DashType::Dash];
    let line = Line::new().color(palette::head(nth)).width(2.5).dash(dashes[nth].clone());
    let trace = Scatter::new(
        x.map(significant).to_vec(),
        x.map(|x| significant(roof.over(x))).to_vec(),
    )
    .mode(Mode::Lines)
    .name(formula(&roof.name))
    .line(line)
    .hover_text_array(vec![told; 3])
    .hover_info(HoverInfo::Text);
    with(to_value(trace), [])
}

/// Names alternate above and below the roof, so that neighbours keep apart.
fn steps(Roofline { roofs, steps, .. }: Roofline) -> Value {
    let at = |step: &RoofStep| roofs[0].over(step.flops_per_byte);
    let limit = |step: &RoofStep| match step.flops_per_byte < roofs[0].ridge() {
        true => "the memory",
        false => "the arithmetic",
    };
    let told = |step: &RoofStep| {
        format!(
            "{}<br>{:.2} operations a byte<br>limited by {}",
            formula(&step.name),
            step.flops_per_byte,
            limit(step)
        )
    };
    let trace = Scatter::new(
        steps.iter().map(|step| significant(step.flops_per_byte)).collect(),
        steps.iter().map(|step| significant(at(step))).collect(),
    )
    .mode(Mode::MarkersText)
    .marker(Marker::new().size(9).symbol(MarkerSymbol::CircleOpen).color(NEUTRAL))
    .text_array(steps.iter().map(|step| formula(&step.name)).collect())
    .show_legend(false)
    .hover_text_array(steps.iter().map(told).collect())
    .hover_info(HoverInfo::Text);
    let places = ["top center", "bottom center"];
    let places: Vec<&str> = (0..steps.len()).map(|nth| places[nth % 2]).collect();
    with(
        to_value(trace),
        [
            ("textposition", json!(places)),
            ("textfont.size", json!(11)),
            ("cliponaxis", json!(false)),
        ],
    )
}

fn reached(it: Roofline, nth: usize) -> Value {
    let mut marks: Vec<&Reached> =
        it.reached.iter().filter(|mark| mark.roof == nth).collect();
    marks.sort_by(|a, b| a.gflops.total_cmp(&b.gflops));
    let roof = &it.roofs[nth];
    let told = |mark: &&Reached| {
        let share = 100.0 * mark.gflops / roof.peak_gflops;
        format!(
            "{}, {}<br>{:.1} GFLOP/s, {share:.0} % of the peak",
            formula(&mark.name),
            formula(&roof.name),
            mark.gflops
        )
    };
    let symbols = [MarkerSymbol::Circle, MarkerSymbol::Diamond];
    let trace = Scatter::new(
        marks.iter().map(|mark| significant(mark.flops_per_byte)).collect(),
        marks.iter().map(|mark| significant(mark.gflops)).collect(),
    )
    .mode(if nth == 0 { Mode::MarkersText } else { Mode::Markers })
    .marker(Marker::new().size(8).symbol(symbols[nth].clone()).color(palette::head(nth)))
    .text_array(names(&marks))
    .show_legend(false)
    .hover_text_array(marks.iter().map(told).collect())
    .hover_info(HoverInfo::Text);
    with(
        to_value(trace),
        [
            ("textposition", json!("middle left")),
            ("textfont.size", json!(11)),
            ("cliponaxis", json!(false)),
        ],
    )
}

/// The names of marks, the lowest first; marks that lie close share one name.
fn names(marks: &[&Reached]) -> Vec<String> {
    let mut names = vec![String::new(); marks.len()];
    let mut at = 0;
    while at < marks.len() {
        let is_close = |mark: &&&Reached| mark.gflops < 1.3 * marks[at].gflops;
        let n = marks[at..].iter().take_while(is_close).count();
        let close: Vec<String> =
            marks[at..][..n].iter().map(|mark| formula(&mark.name)).collect();
        names[at + n / 2] = close.join(", ") + "  ";
        at += n;
    }
    names
}

fn layout(it: Roofline, width: f64) -> Value {
    let [[first, last], [low, high]] = ranges(it);
    let panel = Panel {
        title: "billions of operations a second".to_owned(),
        x: log_axis::decades(first, last, log_axis::power_of_ten)
            .title(axis_title("operations a byte that is read or written")),
        y: log_axis::decades(low, high, log_axis::power_of_ten),
        width: None,
        height: 300.0,
    };
    let place = Place {
        width,
        n_columns: 1,
        left: 40.0,
        left_once: true,
        below: 38.0,
        above: 34.0,
    };
    panels::layout(vec![panel], &place)
}

fn roofs_table(Roofline { roofs, .. }: Roofline) -> Table {
    let row = |roof: &Roof| {
        [
            roof.name.clone(),
            format!("{:.0}", roof.peak_gflops),
            format!("{:.1}", roof.bandwidth_gb_s),
            format!("{:.1}", roof.ridge()),
        ]
    };
    let columns =
        ["", "GFLOP/s", "GB/s", "operations a byte where both take equally long"];
    Table::new("What the machine can do", columns, roofs.iter().map(row))
}

fn steps_table(Roofline { roofs, steps, .. }: Roofline) -> Table {
    let row = |step: &RoofStep| {
        [
            step.name.clone(),
            format!("{:.2}", step.flops_per_byte),
            format!("{:.0}", roofs[0].over(step.flops_per_byte)),
        ]
    };
    let columns = ["", "operations a byte", "GFLOP/s at most"];
    Table::new("Steps of the layer", columns, steps.iter().map(row))
}

fn reached_table(Roofline { roofs, reached, .. }: Roofline) -> Table {
    let row = |mark: &Reached| {
        let share = 100.0 * mark.gflops / roofs[mark.roof].peak_gflops;
        [
            mark.name.clone(),
            roofs[mark.roof].name.clone(),
            format!("{:.1}", mark.gflops),
            format!("{share:.0} %"),
        ]
    };
    let columns = ["", "run", "GFLOP/s", "of the peak"];
    Table::new("What was reached", columns, reached.iter().map(row))
}

fn told(it: Roofline) -> String {
    let one = |roof: &Roof| {
        format!(
            " {}: at most {:.0} GFLOP/s, and {:.1} GB/s from memory, so memory is the limit \
             below {:.1} operations a byte.",
            roof.name,
            roof.peak_gflops,
            roof.bandwidth_gb_s,
            roof.ridge()
        )
    };
    let roofs: String = it.roofs.iter().map(one).collect();
    let step = |step: &RoofStep| format!("{} at {:.2}", step.name, step.flops_per_byte);
    let steps: Vec<String> = it.steps.iter().map(step).collect();
    let mark = |mark: &Reached| format!("{} {:.1}", mark.name, mark.gflops);
    let first = it.reached.iter().filter(|mark| mark.roof == 0).map(mark);
    let marks: Vec<String> = first.collect();
    format!(
        "A chart of operations a second against operations a byte, both logarithmic.{roofs} \
         Steps, in operations a byte: {}. Reached, in GFLOP/s: {}.",
        steps.join(", "),
        marks.join(", ")
    )
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::testing::assert_figure;

    fn machine(name: &str, peak_gflops: f64, bandwidth_gb_s: f64) -> Roof {
        Roof { name: name.to_owned(), peak_gflops, bandwidth_gb_s }
    }

    fn mark(name: &str, gflops: f64, roof: usize) -> Reached {
        Reached { name: name.to_owned(), flops_per_byte: 900.0, gflops, roof }
    }

    #[test]
    fn two_machines() {
        let step =
            |name: &str, flops_per_byte| RoofStep { name: name.into(), flops_per_byte };
        let it = Roofline {
            roofs: &[machine("reference", 500.0, 40.0), machine("yours", 90.0, 18.0)],
            steps: &[step("softmax", 0.5), step("Q Kᵀ", 31.0)],
            reached: &[
                mark("plain", 10.0, 0),
                mark("tiles", 11.0, 0),
                mark("packed", 440.0, 0),
                mark("plain", 6.0, 1),
            ],
        };
        assert_figure!(roofline("The products are limited by arithmetic", it).unwrap());
    }

    #[test]
    fn what_no_machine_does_is_refused() {
        let refused = |roofs: &[Roof], reached: &[Reached]| {
            roofline("", Roofline { roofs, steps: &[], reached }).unwrap_err()
        };
        let fine = machine("a", 500.0, 40.0);
        insta::assert_snapshot!(refused(&[], &[]), @"the number of roofs is 0, and must be at least 1");
        insta::assert_snapshot!(refused(&[machine("a", f64::NAN, 1.0)], &[]), @"the peak of a is NaN, expected above 0");
        insta::assert_snapshot!(refused(std::slice::from_ref(&fine), &[mark("plain", 10.0, 1)]), @"the roof of plain is 1, expected from 0 to 0");
        insta::assert_snapshot!(refused(std::slice::from_ref(&fine), &[mark("plain", 0.0, 0)]), @"a number of plain is 0, expected above 0");
    }
}
