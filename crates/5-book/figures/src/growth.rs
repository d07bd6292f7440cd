//! How time and memory grow with the number of tokens.

use attention::thousands;

use crate::axis::Axis;
use crate::chart::{Chart, Text, above_for};
use crate::layout::{rounded, significant};
use crate::panels::Panel;
use crate::trace::Trace;
use crate::{Error, Figure, Result, Table, escaped, log_axis, palette};

/// One implementation at several lengths.
#[derive(Debug, Clone, PartialEq)]
pub struct GrowthLine {
    /// Who: `packed`.
    pub name: String,
    /// In which run, counted from 0; each has its own dash.
    pub run: usize,
    /// What was measured, at rising lengths.
    pub points: Vec<GrowthPoint>,
    /// The slopes that were fitted: the power of n by which time and memory grow.
    pub slopes: [Option<f64>; 2],
}

/// What was measured at one length.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct GrowthPoint {
    /// n.
    pub tokens: usize,
    /// The median time.
    pub milliseconds: f64,
    /// The most memory beyond inputs, parameters and output; none if not measured, and 0
    /// is not drawn.
    pub bytes: Option<u64>,
}

/// Time and memory against the number of tokens, all on logarithmic axes, so that a power
/// of n is a straight line.
///
/// # Errors
/// [`Error::Sizes`] for no lines, or one without points; [`Error::TooMany`] above 8 lines
/// or 3 runs; [`Error::Number`] for a length or time that is not above 0.
pub fn growth(title: impl Into<String>, lines: &[GrowthLine]) -> Result<Figure> {
    check(lines)?;
    let tables = vec![slopes(lines), table(lines, 0), table(lines, 1)];
    let text = Text::of_captioned(told(lines), tables);
    Ok(chart(lines).figure(title, text))
}

fn check(lines: &[GrowthLine]) -> Result<()> {
    Error::expect_count("the number of lines", lines.len(), 8)?;
    for GrowthLine { name, run, points, .. } in lines {
        attention::Error::expect_positive("the number of points", points.len())?;
        Error::expect_at_most("runs", run + 1, DASHES.len())?;
        for point in points {
            let what = format!("a length of {name}");
            Error::expect_between(what, point.tokens as f64, [1.0, f64::INFINITY])?;
            let what = format!("the time of {name} at {} tokens", point.tokens);
            Error::expect_above_zero(what, point.milliseconds)?;
        }
    }
    Ok(())
}

/// One a run.
const DASHES: [&str; 3] = ["solid", "dot", "dash"];

impl GrowthPoint {
    /// The time (0) or the memory (1), if it can be drawn on a logarithmic axis.
    fn number(&self, which: usize) -> Option<f64> {
        match which {
            0 => Some(self.milliseconds),
            _ => self.bytes.filter(|&bytes| bytes > 0).map(|bytes| bytes as f64),
        }
    }
}

fn said(which: usize, number: f64) -> String {
    if which == 0 { log_axis::time(number) } else { log_axis::bytes(number) }
}

fn trace(nth: usize, line: &GrowthLine, panel: usize) -> Trace {
    let drawn = || line.points.iter().filter_map(|p| Some((p.tokens, p.number(panel)?)));
    let told = drawn().map(|(tokens, number)| {
        let (name, n) = (escaped(&line.name), thousands(tokens));
        format!("{name}<br>{n} tokens: {}", said(panel, number))
    });
    let tokens = drawn().map(|(tokens, _)| tokens);
    Trace::lines_and_marks(tokens, drawn().map(|(_, number)| significant(number)))
        .on(panel)
        .named(&line.name)
        .of_group(nth.to_string(), panel == 0)
        .line(palette::head(nth), 2.0)
        .dashed(DASHES[line.run])
        .coloured(palette::head(nth))
        .with("marker.size", 6)
        .told(told)
}

fn chart(lines: &[GrowthLine]) -> Chart {
    let points = || lines.iter().flat_map(|line| &line.points);
    let most = points().map(|point| point.tokens).max().unwrap_or(1);
    let least = points().map(|point| point.tokens).min().unwrap_or(1);
    // Every other doubling has a line.
    let lengths: Vec<usize> =
        (0..).map(|nth| least << (2 * nth)).take_while(|&n| n <= most).collect();
    let places = lengths.iter().map(|&n| n as f64);
    let names = lengths.iter().map(|&n| thousands(n));
    let range = [least as f64 * 0.85, most as f64 * 1.18].map(|n| rounded(n.log10()));
    let tokens = Axis::factors(places, names).range(range).titled("tokens");
    let panel = |which: usize| {
        let numbers = || points().filter_map(|point| point.number(which));
        let least = numbers().fold(f64::INFINITY, f64::min);
        let most = numbers().fold(0.0, f64::max);
        // Where nothing was measured there is still an axis.
        let ends = if least <= most { [least, most] } else { [1e6, 1e9] };
        let unit: fn(i32) -> String =
            [log_axis::time_of_ten, log_axis::bytes_of_ten][which];
        let title = ["time", "peak memory"][which];
        Panel::new(title, tokens.clone(), Axis::decades(ends, unit), 230.0)
    };
    let traces = lines.iter().enumerate();
    Chart {
        panels: vec![panel(0), panel(1)],
        traces: traces
            .flat_map(|(nth, line)| [0, 1].map(|panel| trace(nth, line, panel)))
            .collect(),
        n_columns: 2,
        left: 52.0,
        above: above_for(lines.iter().map(|line| line.name.as_str()), 14.0),
        ..Chart::default()
    }
}

fn slopes(lines: &[GrowthLine]) -> Table {
    let power = |slope: Option<f64>| match slope {
        Some(slope) => format!("n^{slope:.2}"),
        None => "–".to_owned(),
    };
    let row = |line: &GrowthLine| {
        let [time, memory] = line.slopes.map(power);
        [line.name.clone(), time, memory]
    };
    let columns = ["", "time grows as", "memory grows as"];
    Table::new("Fitted slopes", columns, lines.iter().map(row))
}

fn table(lines: &[GrowthLine], which: usize) -> Table {
    let mut lengths: Vec<usize> =
        lines.iter().flat_map(|line| &line.points).map(|point| point.tokens).collect();
    lengths.sort_unstable();
    lengths.dedup();
    let cell = |row: usize, at: usize| {
        let point = lines[at].points.iter().find(|point| point.tokens == lengths[row]);
        let number = point.and_then(|point| point.number(which));
        number.map_or("–".to_owned(), |number| said(which, number))
    };
    let rows: Vec<String> = lengths.iter().map(|&tokens| thousands(tokens)).collect();
    let names: Vec<String> = lines.iter().map(|line| line.name.clone()).collect();
    Table::grid(["Time", "Peak memory"][which], "tokens", &rows, &names, cell)
}

fn told(lines: &[GrowthLine]) -> String {
    let one = |line: &GrowthLine| {
        let [first, last] = [line.points[0], line.points[line.points.len() - 1]];
        format!(
            " {}: {} at {} tokens, {} at {}.",
            line.name,
            log_axis::time(first.milliseconds),
            thousands(first.tokens),
            log_axis::time(last.milliseconds),
            thousands(last.tokens)
        )
    };
    let each: String = lines.iter().map(one).collect();
    format!(
        "Two charts against the number of tokens, all logarithmic: time, memory.{each}"
    )
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::testing::assert_figure;

    fn line(
        name: &str,
        run: usize,
        slopes: [Option<f64>; 2],
        memory: bool,
    ) -> GrowthLine {
        let point = |tokens: usize| {
            let n = tokens as f64;
            let bytes = memory.then_some((1000.0 * n) as u64);
            GrowthPoint { tokens, milliseconds: n * n / 1e5, bytes }
        };
        let points = [256, 512, 1024, 2048, 4096].map(point).to_vec();
        GrowthLine { name: name.to_owned(), run, points, slopes }
    }

    #[test]
    fn three_lines_one_without_memory() {
        let lines = [
            line("packed", 0, [Some(2.0), Some(1.0)], true),
            line("torch <sdpa>", 0, [Some(2.0), None], false),
            line("packed, yours", 1, [Some(2.0), Some(1.0)], true),
        ];
        assert_figure!(growth("Time as n², memory as n", &lines).unwrap());
    }

    #[test]
    fn what_does_not_grow_is_refused() {
        let mut broken = line("a", 0, [None; 2], true);
        insta::assert_snapshot!(growth("", &[]).unwrap_err(), @"the number of lines is 0, and must be at least 1");
        broken.points[1].milliseconds = 0.0;
        insta::assert_snapshot!(growth("", std::slice::from_ref(&broken)).unwrap_err(), @"the time of a at 512 tokens is 0, expected above 0");
        broken.points.clear();
        insta::assert_snapshot!(growth("", &[broken]).unwrap_err(), @"the number of points is 0, and must be at least 1");
    }
}
