//! Roofs as lines, steps and measurements as marks.

use super::{Reached, RoofStep, Roofline, ranges};
use crate::layout::{NEUTRAL, formula, significant};
use crate::marks::{DASHES, Mark};
use crate::palette;

pub(super) fn roof(it: Roofline, nth: usize) -> Mark {
    let roof = &it.roofs[nth];
    let [[first, last], _] = ranges(it);
    let x = [first, roof.ridge(), last];
    let name = formula(&roof.name);
    let description = format!(
        "{name}<br>at most {:.0} GFLOP/s<br>memory: {:.1} GB/s",
        roof.peak_gflops, roof.bandwidth_gb_s
    );
    Mark::lines(x.map(significant), x.map(|x| significant(roof.over(x))))
        .called(&roof.name)
        .line(palette::head(nth), 2.5)
        .dashed(DASHES[nth])
        .hover(vec![description; 3])
}

/// Marks with a text beside each.
fn named_marks(
    points: impl Iterator<Item = [f64; 2]> + Clone,
    texts: Vec<String>,
    position: &str,
) -> Mark {
    let each = |axis: usize| points.clone().map(move |point| significant(point[axis]));
    Mark::points(each(0), each(1))
        .written(texts, position)
        .text_size(11)
        .in_legend(false)
        .unclipped()
}

/// Every other name stands a line higher, so that neighbours keep apart.
pub(super) fn steps(Roofline { roofs, steps, .. }: Roofline) -> Mark {
    let limit = |step: &RoofStep| match step.flops_per_byte < roofs[0].ridge() {
        true => "the memory",
        false => "the arithmetic",
    };
    let description = |step: &RoofStep| {
        let (name, limit) = (formula(&step.name), limit(step));
        let x = step.flops_per_byte;
        format!("{name}<br>{x:.2} operations a byte<br>limited by {limit}")
    };
    let names = steps.iter().enumerate().map(|(nth, step)| {
        let line = if nth % 2 == 0 { "" } else { "<br> " };
        formula(&step.name) + line
    });
    let points = steps.iter().map(|step| step.flops_per_byte);
    named_marks(points.map(|x| [x, roofs[0].over(x)]), names.collect(), "top center")
        .marked("circle-open", 9)
        .coloured(NEUTRAL)
        .hover(steps.iter().map(description))
}

pub(super) fn reached(it: Roofline, nth: usize) -> Mark {
    let mut marks: Vec<&Reached> =
        it.reached.iter().filter(|mark| mark.roof == nth).collect();
    marks.sort_by(|a, b| a.gflops.total_cmp(&b.gflops));
    let roof = &it.roofs[nth];
    let description = |mark: &&Reached| {
        let share = 100.0 * mark.gflops / roof.peak_gflops;
        format!(
            "{}, {}<br>{:.1} GFLOP/s, {share:.0} % of the peak",
            formula(&mark.name),
            formula(&roof.name),
            mark.gflops
        )
    };
    let points = marks.iter().map(|mark| [mark.flops_per_byte, mark.gflops]);
    let trace = named_marks(points, names(&marks), "middle left")
        .marked(["circle", "diamond"][nth], 8)
        .coloured(palette::head(nth))
        .hover(marks.iter().map(description));
    if nth == 0 { trace } else { trace.unwritten() }
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
