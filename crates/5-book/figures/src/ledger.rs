//! Ledgers of parameters as bars, one a matrix or bias.

use attention::{Count, ParameterCount, thousands};

use crate::named_bars::{NamedBar, NamedBars, named_bars};
use crate::{Error, Figure, Result, palette};

/// Ledgers of parameters side by side on one scale, each under its name.
///
/// # Errors
/// [`Error::Sizes`] for no ledgers or one without lines; [`Error::TooMany`] above 4.
pub fn ledger<S: AsRef<str>>(
    title: impl Into<String>,
    ledgers: &[(S, &ParameterCount)],
) -> Result<Figure> {
    Error::expect_count("the number of ledgers", ledgers.len(), 4)?;
    let lists = ledgers.iter().enumerate();
    let lists = lists.map(|(nth, (name, count))| bars(nth, name.as_ref(), count));
    let lists: Vec<NamedBars> = lists.collect();
    let most = lists.iter().map(NamedBars::most).fold(1.0, f64::max);
    let headings: Vec<&str> = lists.iter().map(|it| it.heading.as_str()).collect();
    let sentence = format!("Bars of parameters. {}.", headings.join(". "));
    let panels: Vec<_> = lists.into_iter().map(|list| (list, most)).collect();
    named_bars(title, &panels, 42.0, sentence)
}

fn bars(nth: usize, name: &str, ledger: &ParameterCount) -> NamedBars {
    let bar = |line: &Count| NamedBar {
        name: line.name().to_owned(),
        sizes: factors(line),
        n: line.parameters() as u64,
        texts: [product(line), product(line)],
    };
    NamedBars {
        // `8 heads of 32: 263,168 parameters`
        heading: format!("{name}: {} parameters", thousands(ledger.total())),
        caption: name.to_owned(),
        columns: ["matrix", "heads × rows × columns", "parameters"],
        bars: ledger.counts().iter().map(bar).collect(),
        colours: palette::head(nth).into(),
        total: ledger.total() as u64,
        widths: [6, 9],
    }
}

/// `8 × 256 × 32`
fn factors(line: &Count) -> String {
    let (rows, columns) = line.shape();
    let factors = match rows {
        1 => vec![line.copies(), columns],
        _ => vec![line.copies(), rows, columns],
    };
    let at_least_one = factors.len() - 1;
    let factors = factors.into_iter().enumerate();
    // One copy goes without saying.
    let said = factors.filter(|&(at, n)| n != 1 || at == at_least_one);
    said.map(|(_, n)| n.to_string()).collect::<Vec<_>>().join(" × ")
}

/// `65,536 = 8 × 256 × 32`
fn product(line: &Count) -> String {
    let (n, factors) = (thousands(line.parameters()), factors(line));
    if factors.contains('×') { format!("{n} = {factors}") } else { n }
}

#[cfg(test)]
mod tests {
    use attention::{Dims, LayerParameters, Rng, SeedableRng};

    use super::*;
    use crate::testing::assert_figure;

    #[test]
    fn two_ledgers_of_one_total() {
        let count = |n_heads: usize| {
            let dims = Dims::new(256, n_heads).unwrap();
            let layer: LayerParameters =
                LayerParameters::random(dims, true, &mut Rng::seed_from_u64(1));
            layer.count()
        };
        let (eight, one) = (count(8), count(1));
        let ledgers = [("8 heads of 32", &eight), ("1 head of 256", &one)];
        let title = "Eight narrow heads have as many parameters as one wide head";
        assert_figure!(ledger(title, &ledgers).unwrap());
    }

    #[test]
    fn ledgers_without_lines_are_refused() {
        let none = ParameterCount::default();
        insta::assert_snapshot!(ledger("", &[("a", &none)]).unwrap_err(), @"the number of lines is 0, and must be at least 1");
        insta::assert_snapshot!(ledger::<&str>("", &[]).unwrap_err(), @"the number of ledgers is 0, and must be at least 1");
    }
}
