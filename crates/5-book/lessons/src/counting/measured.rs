//! What the benchmark of widths measured: how much of the time is softmax, and what that
//! takes.

use anyhow::{Context, Result};
use figures::{
    Axis, Chart, Figure, Grouping, Mark, Panel, label_width, legend_room, palette,
    rounded,
};

use crate::args::Args;

/// As the benchmark prints it.
const MEASURED: &str =
    include_str!("../../../../tools/bench/benches/widths/measured.txt");

/// The numbers of a line that begins so, after a heading that begins so.
fn numbers(heading: &str, line: &str) -> Result<Vec<f64>> {
    let after = MEASURED.split(heading).nth(1).context(heading.to_owned())?;
    let found = after.lines().find_map(|it| it.strip_prefix(line));
    let words = found.context(line.to_owned())?.split_whitespace();
    Ok(words.filter_map(|word| word.parse().ok()).collect())
}

/// A layer at a length: its time beside 1 × 512 of the same length, and what part of that
/// is softmax.
struct Timed {
    name: String,
    time: f64,
    of_softmax: f64,
}

fn timed() -> Result<Vec<Timed>> {
    let cases = ["100", "1000"].into_iter();
    let cases = cases.flat_map(|n| ["1 × 512", "8 × 64"].map(|layer| (n, layer)));
    let case = |(n, layer): (&str, &str)| {
        let found = numbers(&format!("{n} tokens"), layer)?;
        let [_, _, time, median, of_softmax] = found[..] else {
            anyhow::bail!("{layer} has {} numbers, expected 5", found.len());
        };
        let of_softmax = time * of_softmax / median;
        Ok(Timed { name: format!("{layer}, {n} tokens"), time, of_softmax })
    };
    cases.map(case).collect()
}

/// What of a softmax is timed, in the order of rows.
const PARTS: [&str; 5] = [
    "as written",
    "  its exponentials alone",
    "  its passes alone",
    "the same loops over slices",
    "  those passes alone",
];

/// The times of two layers at two lengths, and the times of a softmax's parts.
pub(super) fn figure(_: &Args) -> Result<Figure> {
    let timed = timed()?;
    let names: Vec<String> = timed.iter().map(|it| it.name.clone()).collect();
    let rest = Mark::lying_bars(timed.iter().map(|it| rounded(it.time - it.of_softmax)));
    let softmax = Mark::lying_bars(timed.iter().map(|it| rounded(it.of_softmax)));
    let ends = timed.iter().map(|it| rounded(it.time));
    let texts = timed.iter().map(|it| format!(" × {:.2}", it.time));
    let totals = Mark::texts(ends, 0..timed.len(), texts).in_legend(false).silent();
    let of_parts = PARTS.map(|part| numbers("ns per entry", part));
    let of_parts = of_parts.into_iter().map(|found| Ok(found?[0]));
    let of_parts = of_parts.collect::<Result<Vec<f64>>>()?;
    let most = of_parts.iter().copied().fold(0.0, f64::max);
    let parts = PARTS.map(|part| part.trim_start().to_owned());
    let written: Vec<String> = of_parts.iter().map(|ns| format!("{ns} ns")).collect();
    let bars = Mark::lying_bars(of_parts)
        .named("ns per entry")
        .in_legend(false)
        .coloured(palette::head(1))
        .written(written, "outside")
        .unclipped();
    let (left, series) = ([&names[..], &parts].concat(), ["all else", "softmax"]);
    let title =
        "More heads take more time for the same multiply-adds, mostly for softmax";
    let times = Axis::numbers(2.3).without_lines();
    let of_time = "time, that of 1 × 512 being 1";
    let nanoseconds = Axis::numbers(1.35 * most).without_lines();
    let of_entry = "softmax of 8 × 64 at 1000 tokens, for each entry of a map";
    Ok(Chart::new(title)
        .left(label_width(&left, 12))
        .above(legend_room(series.into_iter(), 14.0))
        .grouped(Grouping::Stacked)
        .bar_gap(0.3)
        .panel(
            Panel::new(of_time, times, Axis::down(&names, 12), 4.0 * 26.0),
            [
                rest.named(series[0]).coloured(palette::head(0)),
                softmax.named(series[1]).coloured(palette::head(1)),
                totals.placed("middle right").unclipped(),
            ],
        )
        .panel(
            Panel::new(of_entry, nanoseconds, Axis::down(&parts, 12), 5.0 * 26.0),
            [bars],
        )
        .figure()?)
}

#[cfg(test)]
mod tests {
    use super::*;

    /// By hand from the file: 113.36 − 60.84 ms, of which 53.75 − 6.66 ms are softmax.
    #[test]
    fn most_of_the_difference_is_softmax() {
        let all = timed().unwrap();
        for (pair, at_least) in [(&all[..2], 0.7), (&all[2..], 0.85)] {
            let [more, of_softmax] =
                [pair[1].time - pair[0].time, pair[1].of_softmax - pair[0].of_softmax];
            assert!(of_softmax / more > at_least, "{of_softmax} of {more}");
        }
        let figure = figure(&Args::default()).unwrap();
        assert!(figure.sketch().contains("0.4"), "{}", figure.sketch());
    }
}
