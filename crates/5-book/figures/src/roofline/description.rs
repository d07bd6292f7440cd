//! The same numbers as tables and in sentences.

use super::{Reached, Roof, RoofStep, Roofline};
use crate::Table;

pub(super) fn roofs_table(Roofline { roofs, .. }: Roofline) -> Table {
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

pub(super) fn steps_table(Roofline { roofs, steps, .. }: Roofline) -> Table {
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

pub(super) fn reached_table(Roofline { roofs, reached, .. }: Roofline) -> Table {
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

pub(super) fn description(it: Roofline) -> String {
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
