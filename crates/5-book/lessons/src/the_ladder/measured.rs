//! What was measured beside the ladder: bare products, a wider processor, and a model that
//! writes.

use anyhow::{Context, Result};
use figures::{Axis, Figure, palette};
use runs::{Pass, Row, Run};

use super::CASE;
use crate::Args;
use crate::named_rows::{Look, NamedRows, RowList, RowPanel};
use crate::numbers::{whole, written};

/// What `bench writing` printed of a model that writes.
pub const WRITING: &str =
    include_str!("../../../../tools/bench/benches/writing/measured.txt");

/// What its rows are called, in their order.
const WRITERS: [&str; 6] = [
    "weights in 32 bits",
    "weights in 4 bits",
    "… cache in 16",
    "… cache in 8",
    "… prompt in 8",
    "llama.cpp",
];

/// Milliseconds for the prompt, and tokens a second behind a short text and a long one.
fn writers() -> Result<Vec<[f64; 3]>> {
    let rows = WRITING.split_once("Δ loss\n").context("the heading")?.1;
    let row = |line: &str| {
        let numbers = line.get(16..).context("a row")?.split_whitespace().take(3);
        let numbers: Vec<f64> = numbers.map(str::parse).collect::<Result<_, _>>()?;
        numbers.try_into().ok().context("three numbers")
    };
    rows.lines().take_while(|line| !line.is_empty()).map(row).collect()
}

/// The pixels of a row.
const ROW: f64 = 26.0;

fn bars(name: &str, values: Vec<f64>, hue: usize) -> RowList {
    RowList::single(name, values, Look::Bars(palette::head(hue)))
}

pub(super) fn few_bits(_: &Args) -> Result<Figure> {
    let (names, measured) = (WRITERS.map(str::to_owned), writers()?);
    let panels = [
        ("a prompt of 560 tokens, ms", 2400.0),
        ("tokens/s after 2 tokens", 360.0),
        ("tokens/s after 4,096", 360.0),
    ];
    let panel = |(nth, (title, most)): (usize, (&str, f64))| {
        let values = measured.iter().map(|row| row[nth]).collect();
        let x = Axis::numbers(most).in_short();
        RowPanel::new(title, x, whole, vec![bars("measured", values, 0)])
    };
    let panels: Vec<RowPanel> = panels.into_iter().enumerate().map(panel).collect();
    let title = "SmolLM2 with two threads: in 4 bits it writes two to four times as fast as \
                 in 32";
    NamedRows::new(&names, ROW, 3).figure(title, &panels)
}

/// Bare products, and the layer that calls each, where it was timed too.
const PRODUCTS: [(&str, Option<&str>); 6] = [
    ("packed", Some("packed")),
    ("matrixmultiply", Some("threads")),
    ("PyTorch", Some("PyTorch sdpa")),
    ("candle", None),
    ("burn (ndarray)", None),
    ("burn (flex)", None),
];

/// One bare product, and the layer that calls it.
pub struct Product {
    /// `packed`.
    pub name: &'static str,
    /// Of the best round.
    pub ms: f64,
    /// GFLOP/s of the best round as a part of the peak.
    pub of_peak: f64,
    /// Of the layer's best round.
    pub layer_ms: Option<f64>,
}

/// What was measured of each.
///
/// # Errors
/// If one was not timed.
pub fn products() -> Result<Vec<Product>> {
    let (products, reference) = (runs::products()?, runs::reference()?);
    let product = |(name, layer): (&'static str, Option<&str>)| {
        let row = row(&products, CASE, &format!("{name} product"), Pass::Product)?;
        let gflops = row.gflops * row.median_ms / row.min_ms;
        let ms =
            |layer| anyhow::Ok(self::row(&reference, CASE, layer, Pass::Forward)?.min_ms);
        Ok(Product {
            name,
            ms: row.min_ms,
            of_peak: gflops / products.machine.fma_peak_gflops,
            layer_ms: layer.map(ms).transpose()?,
        })
    };
    PRODUCTS.into_iter().map(product).collect()
}

fn row<'a>(run: &'a Run, case: &str, who: &str, pass: Pass) -> Result<&'a Row> {
    let case = run.case(case).with_context(|| format!("no case {case}"))?;
    let is_it = |row: &&Row| row.who == who && row.pass == pass.name();
    case.rows.iter().find(is_it).with_context(|| format!("no {who}"))
}

pub(super) fn bare_products(_: &Args) -> Result<Figure> {
    let products = products()?;
    let names: Vec<String> = products.iter().map(|it| it.name.to_owned()).collect();
    let timed = || products.iter().filter_map(|it| Some((4.0 * it.ms, it.layer_ms?)));
    let of_peak = products.iter().map(|it| 100.0 * it.of_peak).collect();
    let panels = [
        RowPanel::new(
            "one bare product, % of the peak",
            Axis::numbers(112.0),
            whole,
            vec![bars("bare product", of_peak, 2)],
        ),
        RowPanel::new(
            "the layer that calls it, ms",
            Axis::numbers(420.0),
            whole,
            vec![
                bars("four projections", timed().map(|(four, _)| four).collect(), 0),
                bars("the rest", timed().map(|(four, all)| all - four).collect(), 5),
            ],
        ),
    ];
    let title = "Our layer is faster than PyTorch's mostly outside its four projections";
    NamedRows::new(&names, ROW, 2).stacked().figure(title, &panels)
}

pub(super) fn widths(_: &Args) -> Result<Figure> {
    let measured =
        [("reference run", runs::reference()?), ("twice as wide", runs::wide()?)];
    // The longest case has no gradients.
    let cases = || runs::CASES.iter().filter(|case| case.name != "16k");
    let names: Vec<String> = cases().map(|case| case.name.to_owned()).collect();
    let list = |(nth, (name, run)): (usize, &(&str, Run)), pass, is_speed| {
        let value = |case: &runs::Case| {
            let row = row(run, case.name, "packed", pass)?;
            let speed = row.speed_relative_to_best_peer.context("no peer")?;
            let of_peak = 100.0 * row.share_of_peak(&run.machine);
            Ok(if is_speed { speed } else { of_peak })
        };
        let values = cases().map(value).collect::<Result<Vec<_>>>()?;
        anyhow::Ok(RowList::single(*name, values, Look::Dots(palette::head(2 * nth))))
    };
    let panel = |(title, pass, is_speed): (&str, Pass, bool)| {
        let lists = measured.iter().enumerate().map(|run| list(run, pass, is_speed));
        let (most, written): (_, fn(f64) -> String) = match is_speed {
            true => (2.95, |speed| written(speed, 1)),
            false => (99.0, whole),
        };
        Ok(RowPanel::new(
            title,
            Axis::numbers(most),
            written,
            lists.collect::<Result<_>>()?,
        ))
    };
    let panels = [
        ("forward, % of the peak", Pass::Forward, false),
        ("and backward, % of the peak", Pass::ForwardBackward, false),
        ("forward, × the fastest other library", Pass::Forward, true),
        ("and backward, × the fastest other library", Pass::ForwardBackward, true),
    ];
    let panels = panels.into_iter().map(panel).collect::<Result<Vec<_>>>()?;
    let title = "On one wider processor, share of the peak and lead mostly grow";
    NamedRows::new(&names, ROW, 2).figure(title, &panels)
}

#[cfg(test)]
mod tests {
    use super::*;

    /// What the titles say.
    #[test]
    fn the_titles_are_true() {
        let writers = writers().unwrap();
        assert_eq!(writers.len(), WRITERS.len());
        let faster = |at: usize| writers[1][at] / writers[0][at];
        assert!((3.5..4.5).contains(&faster(1)) && (1.8..3.0).contains(&faster(2)));
        let products = products().unwrap();
        let [ours, _, theirs] = &products[..3] else { panic!("three layers") };
        let lead = theirs.layer_ms.unwrap() - ours.layer_ms.unwrap();
        assert!(4.0 * (theirs.ms - ours.ms) < 0.5 * lead);
    }
}
