//! What a machine allows: the roof that memory and arithmetic make, and what was reached
//! under it.

mod description;
mod drawn;

use crate::axis::Axis;
use crate::chart::Chart;
use crate::layout::rounded;
use crate::panels::Panel;
use crate::{Error, Figure, Result, log_axis};
use description::{description, reached_table, roofs_table, steps_table};
use drawn::{reached, roof, steps};

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
    let tables = [roofs_table(it), steps_table(it), reached_table(it)];
    let tables = tables.into_iter().filter(|table| !table.rows.is_empty());
    let n_roofs = it.roofs.len();
    Chart::new(title)
        .panels([panel(it)])
        .marks((0..n_roofs).map(|nth| roof(it, nth)))
        .marks((!it.steps.is_empty()).then(|| steps(it)))
        .marks((0..n_roofs).map(|nth| reached(it, nth)))
        .left_once(40.0)
        .above([34.0; 2])
        .says(description(it))
        .tables(tables)
        .figure()
}

fn check(Roofline { roofs, steps, reached }: Roofline) -> Result<()> {
    Error::expect_count("the number of roofs", roofs.len(), 2)?;
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
    [x, [least_y, most_y]]
}

fn panel(it: Roofline) -> Panel {
    let [across, [low, high]] = ranges(it);
    // Above the roof is room for the names of its steps.
    let range = [low.log10().floor(), rounded((high * 3.5).log10())];
    Panel::new(
        "billions of operations a second",
        Axis::decades(across, log_axis::power_of_ten)
            .titled("operations a byte that is read or written"),
        Axis::decades([low, high], log_axis::power_of_ten).range(range),
        300.0,
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
