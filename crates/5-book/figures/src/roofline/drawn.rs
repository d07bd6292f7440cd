//! Roofs as lines, steps and measurements as marks.

use plotly::Scatter;
use plotly::common::{DashType, HoverInfo, Line, Marker, MarkerSymbol, Mode};
use serde_json::{Value, json, to_value};

use super::{Reached, RoofStep, Roofline, ranges};
use crate::layout::{NEUTRAL, formula, significant, with};
use crate::palette;

pub(super) fn roof(it: Roofline, nth: usize) -> Value {
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

/// Every other name stands a line higher, so that neighbours keep apart.
pub(super) fn steps(Roofline { roofs, steps, .. }: Roofline) -> Value {
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
    let names = steps.iter().enumerate().map(|(nth, step)| {
        let line = if nth % 2 == 0 { "" } else { "<br> " };
        formula(&step.name) + line
    });
    let trace = Scatter::new(
        steps.iter().map(|step| significant(step.flops_per_byte)).collect(),
        steps.iter().map(|step| significant(at(step))).collect(),
    )
    .mode(Mode::MarkersText)
    .marker(Marker::new().size(9).symbol(MarkerSymbol::CircleOpen).color(NEUTRAL))
    .text_array(names.collect())
    .show_legend(false)
    .hover_text_array(steps.iter().map(told).collect())
    .hover_info(HoverInfo::Text);
    with(
        to_value(trace),
        [
            ("textposition", json!("top center")),
            ("textfont.size", json!(11)),
            ("cliponaxis", json!(false)),
        ],
    )
}

pub(super) fn reached(it: Roofline, nth: usize) -> Value {
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
