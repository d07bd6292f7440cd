//! Why the scores are divided by √d_k: their spread, and what softmax makes of it.

use crate::axis::Axis;
use crate::chart::Chart;
use crate::layout::{NEUTRAL, formula, rounded};
use crate::marks::Mark;
use crate::panels::Panel;
use crate::{Error, Figure, Result, Table, palette, sketch};

/// What was measured at one width of a head.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct ScaleSample {
    /// The width of queries and keys.
    pub d_k: usize,
    /// The standard deviation of q · k.
    pub std_unscaled: f64,
    /// The standard deviation of q · k / √d_k.
    pub std_scaled: f64,
    /// The mean entropy of a row of softmax(q · k), in bits.
    pub entropy_unscaled: f64,
    /// The mean entropy of a row of softmax(q · k / √d_k), in bits.
    pub entropy_scaled: f64,
}

/// The spread of the scores and the entropy of their rows, against d_k.
///
/// `n_keys` is the length of a row: an even row of so many shares has log₂ `n_keys` bits.
///
/// # Errors
/// [`Error::Sizes`] for no samples, a d_k of 0 or no keys; [`Error::Number`] for a spread
/// below 0, or an entropy that no row of this length has.
pub fn spread(
    title: impl Into<String>,
    samples: &[ScaleSample],
    n_keys: usize,
) -> Result<Figure> {
    check(samples, n_keys)?;
    let most_bits = (n_keys as f64).log2();
    let table = table(samples, n_keys);
    let sketch = format!(
        "{}\n\nEntropy in bits: 0 is one key alone, {most_bits:.2} all {n_keys} keys alike.",
        sketch::table(&table)
    );
    Chart::new(title)
        .panels(panels(samples, most_bits))
        .marks(traces(samples, most_bits))
        .columns(2)
        .above([34.0, 58.0])
        .says(description(samples, n_keys))
        .sketch(sketch)
        .tables([table])
        .figure()
}

fn check(samples: &[ScaleSample], n_keys: usize) -> Result<()> {
    attention::Error::expect_positive("the number of samples", samples.len())?;
    attention::Error::expect_positive("the number of keys", n_keys)?;
    let most_bits = (n_keys as f64).log2();
    for sample in samples {
        attention::Error::expect_positive("d_k", sample.d_k)?;
        let at = |what: &str| format!("the {what} at d_k {}", sample.d_k);
        for std in [sample.std_unscaled, sample.std_scaled] {
            Error::expect_between(at("spread of the scores"), std, [0.0, f64::INFINITY])?;
        }
        for bits in [sample.entropy_unscaled, sample.entropy_scaled] {
            Error::expect_between(at("entropy"), bits, [0.0, most_bits])?;
        }
    }
    Ok(())
}

type Read = fn(&ScaleSample) -> f64;

/// A line of both panels: how it is called, drawn and read.
struct Series {
    name: &'static str,
    symbol: &'static str,
    dash: &'static str,
    std: Read,
    entropy: Read,
}

const SERIES: [Series; 2] = [
    Series {
        name: "q · k as it is",
        symbol: "circle",
        dash: "solid",
        std: |sample| sample.std_unscaled,
        entropy: |sample| sample.entropy_unscaled,
    },
    Series {
        name: "divided by √d_k",
        symbol: "square",
        dash: "dash",
        std: |sample| sample.std_scaled,
        entropy: |sample| sample.entropy_scaled,
    },
];

/// d_k doubles from one place of the axis to the next.
fn place_of(sample: &ScaleSample) -> f64 {
    rounded((sample.d_k as f64).log2())
}

fn traces(samples: &[ScaleSample], most_bits: f64) -> Vec<Mark> {
    let x: Vec<f64> = samples.iter().map(place_of).collect();
    let ends = vec![x[0], x[x.len() - 1]];
    let line = |nth: usize, panel: usize| {
        let series = &SERIES[nth];
        let (what, read) =
            [("standard deviation", series.std), ("entropy in bits", series.entropy)]
                [panel];
        let description = |sample: &ScaleSample| {
            let description = format!("d_k {}, {}", sample.d_k, series.name);
            format!("{}<br>{what} {:.2}", formula(&description), read(sample))
        };
        let y = samples.iter().map(|sample| rounded(read(sample)));
        Mark::lines_and_marks(x.clone(), y)
            .on(panel)
            .called(series.name)
            .of_group(series.name, panel == 0)
            .line(palette::head(nth), 2.5)
            .dashed(series.dash)
            .marked(series.symbol, 8)
            .hover(samples.iter().map(description))
    };
    let even = Mark::lines(ends, vec![rounded(most_bits); 2])
        .on(1)
        .named("all keys alike")
        .line(NEUTRAL, 1.5)
        .dashed("dot")
        .silent();
    vec![line(0, 0), line(0, 1), line(1, 0), line(1, 1), even]
}

fn panels(samples: &[ScaleSample], most_bits: f64) -> [Panel; 2] {
    let places: Vec<f64> = samples.iter().map(place_of).collect();
    let (first, last) = (places[0], places[places.len() - 1]);
    let names = samples.iter().map(|sample| sample.d_k.to_string());
    let widths = Axis::bare([first - 0.3, last + 0.3])
        .at(places, names)
        .level()
        .titled("d_k, doubling at each step");
    let largest = samples.iter().flat_map(|s| [s.std_unscaled, s.std_scaled]);
    let largest = largest.fold(1.0, f64::max);
    let panel = |title, end| Panel::new(title, widths.clone(), Axis::numbers(end), 220.0);
    [
        panel("standard deviation of a score", largest * 1.06),
        panel("entropy of a row, in bits", most_bits.max(0.1) * 1.06),
    ]
}

fn table(samples: &[ScaleSample], n_keys: usize) -> Table {
    let columns = ["d_k", "std of q·k", "… / √d_k", "entropy of q·k", "… / √d_k"];
    let row = |sample: &ScaleSample| {
        let ScaleSample { std_unscaled, std_scaled, .. } = sample;
        let two = |number: &f64| format!("{number:.2}");
        let bits = [&sample.entropy_unscaled, &sample.entropy_scaled].map(two);
        let [unscaled, scaled] = bits;
        [sample.d_k.to_string(), two(std_unscaled), two(std_scaled), unscaled, scaled]
    };
    let caption = format!("Spread of scores and entropy of rows of {n_keys} keys");
    Table::new(caption, columns, samples.iter().map(row))
}

fn description(samples: &[ScaleSample], n_keys: usize) -> String {
    let (first, last) = (&samples[0], &samples[samples.len() - 1]);
    format!(
        "Two charts against d_k from {} to {}. The standard deviation of q·k goes from \
         {:.2} to {:.2}, and divided by √d_k from {:.2} to {:.2}. The entropy of a row of \
         {n_keys} keys goes from {:.2} to {:.2} bits, and divided from {:.2} to {:.2}; \
         {:.2} bits would be an even row.",
        first.d_k,
        last.d_k,
        first.std_unscaled,
        last.std_unscaled,
        first.std_scaled,
        last.std_scaled,
        first.entropy_unscaled,
        last.entropy_unscaled,
        first.entropy_scaled,
        last.entropy_scaled,
        (n_keys as f64).log2(),
    )
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::testing::assert_figure;

    fn sample(d_k: usize, numbers: [f64; 4]) -> ScaleSample {
        let [std_unscaled, std_scaled, entropy_unscaled, entropy_scaled] = numbers;
        ScaleSample { d_k, std_unscaled, std_scaled, entropy_unscaled, entropy_scaled }
    }

    #[test]
    fn spread_grows_and_the_divided_one_does_not() {
        let samples = [
            sample(4, [2.01, 1.0, 2.35, 3.42]),
            sample(64, [7.96, 0.995, 0.81, 3.38]),
            sample(512, [22.7, 1.003, 0.27, 3.4]),
        ];
        let title = "Undivided scores spread as d_k grows, and a row ends on one key";
        assert_figure!(spread(title, &samples, 16).unwrap());
    }

    #[test]
    fn what_cannot_be_measured_is_refused() {
        let refused = |numbers| spread("", &[sample(4, numbers)], 2).unwrap_err();
        insta::assert_snapshot!(refused([f64::NAN, 1.0, 0.5, 0.5]), @"the spread of the scores at d_k 4 is NaN, expected at least 0");
        insta::assert_snapshot!(refused([2.0, 1.0, 0.5, 1.5]), @"the entropy at d_k 4 is 1.5, expected from 0 to 1");
        insta::assert_snapshot!(spread("", &[], 2).unwrap_err(), @"the number of samples is 0, and must be at least 1");
    }
}
