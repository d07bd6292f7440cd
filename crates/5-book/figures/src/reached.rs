//! How many shares reach how much: one line per list, one panel per measure.

use attention::median;

use crate::axis::Axis;
use crate::chart::{Chart, Text, above_for};
use crate::heads::share;
use crate::layout::{NEUTRAL, rounded};
use crate::panels::Panel;
use crate::trace::{DASHES, Trace};
use crate::{Error, Figure, Result, Table, escaped, palette};

/// The shares of several layers under one measure.
#[derive(Debug, Clone, PartialEq)]
pub struct Measure {
    /// What was measured: `share among words`.
    pub name: String,
    /// The name of each list, the same in all panels, and its shares.
    pub lists: Vec<(String, Vec<f64>)>,
}

/// Along the axis of shares, a point at every fiftieth.
const STEPS: usize = 50;

/// For each measure, the part of each list that reaches a share, against that share. A line
/// crosses the dotted one at its median.
///
/// # Errors
/// [`Error::Sizes`] for no measure, no list or an empty one; [`Error::TooMany`] above 3
/// measures or 4 lists; [`Error::Number`] for a share outside 0 to 1.
pub fn reached(title: impl Into<String>, measures: &[Measure]) -> Result<Figure> {
    check(measures)?;
    let text = Text::of_captioned(told(measures), measures.iter().map(table).collect());
    Ok(chart(measures).figure(title, text))
}

fn check(measures: &[Measure]) -> Result<()> {
    Error::expect_count("the number of measures", measures.len(), 3)?;
    for Measure { name, lists } in measures {
        Error::expect_count("the number of lists", lists.len(), DASHES.len())?;
        for (list, shares) in lists {
            attention::Error::expect_positive("the number of shares", shares.len())?;
            for &share in shares {
                let what = format!("a share of {list}, {name}");
                Error::expect_between(what, share, [0.0, 1.0])?;
            }
        }
    }
    Ok(())
}

/// The part of the shares that are at least so large.
fn part(shares: &[f64], least: f64) -> f64 {
    let reaching = shares.iter().filter(|&&share| share >= least).count();
    reaching as f64 / shares.len() as f64
}

fn traces_of(panel: usize, measure: &Measure) -> Vec<Trace> {
    let half = Trace::lines(vec![0.0, 1.0], vec![0.5, 0.5])
        .on(panel)
        .in_legend(false)
        .line(NEUTRAL, 1.0)
        .dashed("dot")
        .silent();
    let lines = measure.lists.iter().enumerate().map(|(nth, (name, shares))| {
        let x: Vec<f64> = (0..=STEPS).map(|at| at as f64 / STEPS as f64).collect();
        let y: Vec<f64> = x.iter().map(|&least| rounded(part(shares, least))).collect();
        let told = |(least, part): (&f64, &f64)| {
            let percent = 100.0 * part;
            format!("{}<br>{percent:.1} % reach {}", escaped(name), share(*least))
        };
        let told: Vec<String> = x.iter().zip(&y).map(told).collect();
        Trace::lines(x, y)
            .on(panel)
            .named(name)
            .of_group(name, panel == 0)
            .line(palette::head(nth), 2.5)
            .dashed(DASHES[nth])
            .told(told)
    });
    std::iter::once(half).chain(lines).collect()
}

fn chart(measures: &[Measure]) -> Chart {
    let panel = |measure: &Measure| {
        let x = Axis::numbers(1.0).titled("at least this much");
        Panel::new(measure.name.clone(), x, Axis::numbers(1.02), 210.0)
    };
    let traces = measures.iter().enumerate();
    Chart {
        panels: measures.iter().map(panel).collect(),
        traces: traces.flat_map(|(panel, measure)| traces_of(panel, measure)).collect(),
        n_columns: measures.len(),
        left: 30.0,
        above: above_for(measures[0].lists.iter().map(|(name, _)| name.as_str()), 14.0),
        ..Chart::default()
    }
}

fn table(measure: &Measure) -> Table {
    let row = |(name, shares): &(String, Vec<f64>)| {
        let percent = |least: f64| format!("{:.1} %", 100.0 * part(shares, least));
        [
            name.clone(),
            share(median(shares.iter().copied())),
            percent(1.0 / 3.0),
            percent(0.5),
        ]
    };
    let columns = ["", "median", "a third or more", "a half or more"];
    Table::new(measure.name.clone(), columns, measure.lists.iter().map(row))
}

fn told(measures: &[Measure]) -> String {
    let of = |measure: &Measure| {
        let one = |(name, shares): &(String, Vec<f64>)| {
            let half = 100.0 * part(shares, 0.5);
            format!(
                "{name} {}, {half:.1} % reach a half",
                share(median(shares.iter().copied()))
            )
        };
        let each: Vec<String> = measure.lists.iter().map(one).collect();
        format!(" {}, medians: {}.", measure.name, each.join("; "))
    };
    let each: String = measures.iter().map(of).collect();
    format!("Falling lines: the part of a list that reaches a share, by share.{each}")
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::testing::assert_figure;

    fn measure(name: &str, lists: [&[f64]; 2]) -> Measure {
        let [trained, random] = [("trained", lists[0]), ("random", lists[1])]
            .map(|(name, shares)| (name.to_owned(), shares.to_vec()));
        Measure { name: name.to_owned(), lists: vec![trained, random] }
    }

    #[test]
    fn two_lists_under_two_measures() {
        let measures = [
            measure("as it is", [&[0.1, 0.12, 0.6], &[0.13, 0.14, 0.15, 0.2]]),
            measure("among words", [&[0.2, 0.3, 0.8], &[0.18, 0.19, 0.2, 0.3]]),
        ];
        let title = "The median is lower in one measure and higher in the other";
        assert_figure!(reached(title, &measures).unwrap());
    }

    #[test]
    fn what_is_no_share_is_refused() {
        let refused = |lists| reached("", &[measure("m", lists)]).unwrap_err();
        insta::assert_snapshot!(refused([&[0.1], &[]]), @"the number of shares is 0, and must be at least 1");
        insta::assert_snapshot!(refused([&[1.5], &[0.1]]), @"a share of trained, m is 1.5, expected from 0 to 1");
        insta::assert_snapshot!(refused([&[0.5], &[f64::NAN]]), @"a share of random, m is NaN, expected from 0 to 1");
        insta::assert_snapshot!(reached("", &[]).unwrap_err(), @"the number of measures is 0, and must be at least 1");
    }
}
