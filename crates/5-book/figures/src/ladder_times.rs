//! How long each implementation takes: a panel per case, a line per implementation.

use crate::axis::Axis;
use crate::chart::Chart;
use crate::layout::{label_width, rounded, significant};
use crate::marks::Mark;
use crate::panels::{self, NARROW, Panel, Place, WIDE};
use crate::spec::Layout;
use crate::{Error, Figure, Result, Table, escaped, log_axis, palette};

/// One implementation on one case.
#[derive(Debug, Clone, PartialEq)]
pub struct Timed {
    /// Who: `plain`, `PyTorch sdpa`.
    pub who: String,
    /// Whether it is one of ours.
    pub is_ours: bool,
    /// Its median.
    pub milliseconds: f64,
}

/// A case, and everyone who was measured on it.
#[derive(Debug, Clone, PartialEq)]
pub struct TimedCase {
    /// Its sizes.
    pub name: String,
    /// In the order in which they are drawn, from the top.
    pub rows: Vec<Timed>,
}

/// What was measured on one machine.
#[derive(Debug, Clone, PartialEq)]
pub struct TimedRun {
    /// Whose: `the reference run`.
    pub name: String,
    /// The cases.
    pub cases: Vec<TimedCase>,
}

/// Times on logarithmic axes, a panel a case of the first run. A further run's times
/// stand as hollow marks on the same lines, where there are such lines.
///
/// # Errors
/// [`Error::Sizes`] for no runs, cases or times; [`Error::TooMany`] above 2 runs, 6 cases
/// or 24 lines; [`Error::Number`] for a time that is not above 0.
pub fn ladder_times(title: impl Into<String>, runs: &[TimedRun]) -> Result<Figure> {
    check(runs)?;
    let names = names(runs);
    let layouts =
        [(WIDE, 2), (NARROW, 1)].map(|(width, most)| layout(runs, &names, width, most));
    Chart::new(title)
        .laid_out(layouts)
        .marks(traces(runs, &names))
        .says(description(runs))
        .tables(runs.iter().map(|run| table(run, &names)))
        .captioned()
        .figure()
}

fn check(runs: &[TimedRun]) -> Result<()> {
    Error::expect_count("the number of runs", runs.len(), 2)?;
    Error::expect_count("the number of cases", runs[0].cases.len(), 6)?;
    attention::Error::expect_positive(
        "the number of times",
        runs[0].cases[0].rows.len(),
    )?;
    Error::expect_at_most("lines", names(runs).len(), 24)?;
    for case in runs.iter().flat_map(|run| &run.cases) {
        for Timed { who, milliseconds, .. } in &case.rows {
            let what = format!("the time of {who} on {}", case.name);
            Error::expect_above_zero(what, *milliseconds)?;
        }
    }
    Ok(())
}

/// Everyone, in the order of the first case that names them; ours first.
fn names(runs: &[TimedRun]) -> Vec<String> {
    let rows = || runs.iter().flat_map(|run| &run.cases).flat_map(|case| &case.rows);
    let mut names: Vec<String> = Vec::new();
    for is_ours in [true, false] {
        for row in rows().filter(|row| row.is_ours == is_ours) {
            if !names.contains(&row.who) {
                names.push(row.who.clone());
            }
        }
    }
    names
}

/// A trace a panel and run.
fn traces(runs: &[TimedRun], names: &[String]) -> Vec<Mark> {
    let mut traces = Vec::new();
    for (panel, case) in runs[0].cases.iter().enumerate() {
        for (nth, run) in runs.iter().enumerate() {
            let same = run.cases.iter().find(|other| other.name == case.name);
            traces.push(trace(nth, &run.name, same, panel, names));
        }
    }
    traces
}

fn trace(
    nth: usize,
    run: &str,
    case: Option<&TimedCase>,
    panel: usize,
    names: &[String],
) -> Mark {
    let rows = || case.into_iter().flat_map(|case| &case.rows);
    let line = |row: &Timed| names.iter().position(|name| *name == row.who).unwrap_or(0);
    let description = |row: &Timed| {
        let (who, run) = (escaped(&row.who), escaped(run));
        format!("{who}<br>{}, {run}", log_axis::time(row.milliseconds))
    };
    let said = |row: &Timed| format!("  {}", log_axis::time(row.milliseconds));
    let colour = |row: &Timed| palette::head(if row.is_ours { 0 } else { 1 });
    let times = rows().map(|row| significant(row.milliseconds));
    let trace = Mark::points(times, rows().map(line))
        .on(panel)
        .named(run)
        .of_group(run, panel == 0)
        .marked(["circle", "diamond-open"][nth], 9)
        .coloured_each(rows().map(colour))
        .written(rows().map(said), "middle right")
        .text_size(11)
        .hover(rows().map(description))
        .unclipped();
    if nth == 0 { trace } else { trace.unwritten() }
}

fn layout(runs: &[TimedRun], names: &[String], width: f64, most: usize) -> Layout {
    let cases = &runs[0].cases;
    let place = Place {
        width,
        n_columns: most.min(cases.len()),
        left: label_width(names, 11),
        left_once: most > 1,
        below: 24.0,
        above: if runs.len() > 1 { 34.0 } else { 0.0 },
    };
    let panel = |(nth, case): (usize, &TimedCase)| {
        let same = |other: &&TimedCase| other.name == case.name;
        let of_case = runs.iter().filter_map(|run| run.cases.iter().find(same));
        let times: Vec<f64> =
            of_case.flat_map(|case| &case.rows).map(|row| row.milliseconds).collect();
        let least = times.iter().copied().fold(f64::INFINITY, f64::min);
        let most = times.iter().copied().fold(0.0, f64::max).max(least);
        // The longest time leaves room for its number, and no line lies on an edge.
        let range = [least / 1.4, most * 4.0].map(|time| rounded(time.log10()));
        let x = Axis::decades([least, most], log_axis::time_of_ten).range(range);
        let y = Axis::down(names, 11).labelled(nth.is_multiple_of(place.n_columns));
        Panel::new(case.name.clone(), x, y, names.len() as f64 * 19.0)
    };
    let panels = cases.iter().enumerate().map(panel).collect();
    panels::layout(panels, &place)
}

fn table(run: &TimedRun, names: &[String]) -> Table {
    let cases: Vec<String> = run.cases.iter().map(|case| case.name.clone()).collect();
    let cell = |row: usize, at: usize| {
        let row = run.cases[at].rows.iter().find(|it| it.who == names[row]);
        row.map_or("–".to_owned(), |row| log_axis::time(row.milliseconds))
    };
    Table::grid(format!("Medians, {}", run.name), "", names, &cases, cell)
}

fn description(runs: &[TimedRun]) -> String {
    let one = |case: &TimedCase| {
        let fastest = |is_ours: bool| {
            let rows = case.rows.iter().filter(|row| row.is_ours == is_ours);
            rows.min_by(|a, b| a.milliseconds.total_cmp(&b.milliseconds))
        };
        let said =
            |row: &Timed| format!("{} {}", row.who, log_axis::time(row.milliseconds));
        let both: Vec<String> = [true, false]
            .into_iter()
            .filter_map(|ours| fastest(ours).map(said))
            .collect();
        format!("{}: {}", case.name, both.join(" and "))
    };
    let each: Vec<String> = runs[0].cases.iter().map(one).collect();
    format!(
        "Charts of times on logarithmic axes, one a case. The fastest of ours, and of the \
         others, in {}: {}.",
        runs[0].name,
        each.join("; ")
    )
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::testing::assert_figure;

    fn case(name: &str, ours: &[(&str, f64)], others: &[(&str, f64)]) -> TimedCase {
        let row = |is_ours| {
            move |&(who, milliseconds): &(&str, f64)| {
                let who = who.to_owned();
                Timed { who, is_ours, milliseconds }
            }
        };
        let rows = ours.iter().map(row(true)).chain(others.iter().map(row(false)));
        TimedCase { name: name.to_owned(), rows: rows.collect() }
    }

    #[test]
    fn two_runs_and_a_case_without_everyone() {
        let runs = [
            TimedRun {
                name: "reference".into(),
                cases: vec![
                    case(
                        "small",
                        &[("plain", 1.0), ("packed", 0.044)],
                        &[("torch", 0.13)],
                    ),
                    case("long", &[("packed", 610.0)], &[("torch", 1700.0)]),
                ],
            },
            TimedRun {
                name: "yours".into(),
                cases: vec![case("small", &[("plain", 2.5), ("packed", 0.1)], &[])],
            },
        ];
        assert_figure!(ladder_times("The last rung is first", &runs).unwrap());
    }

    #[test]
    fn what_was_not_measured_is_refused() {
        let run = |cases| TimedRun { name: "r".into(), cases };
        insta::assert_snapshot!(ladder_times("", &[]).unwrap_err(), @"the number of runs is 0, and must be at least 1");
        insta::assert_snapshot!(ladder_times("", &[run(vec![])]).unwrap_err(), @"the number of cases is 0, and must be at least 1");
        insta::assert_snapshot!(ladder_times("", &[run(vec![case("c", &[], &[])])]).unwrap_err(), @"the number of times is 0, and must be at least 1");
        insta::assert_snapshot!(ladder_times("", &[run(vec![case("c", &[("a", -1.0)], &[])])]).unwrap_err(), @"the time of a on c is -1, expected above 0");
    }
}
