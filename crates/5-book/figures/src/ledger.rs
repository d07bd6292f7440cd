//! Ledgers of parameters as bars, one a matrix or bias.

use plotly::Bar;
use plotly::common::{HoverInfo, Marker, Orientation};
use serde_json::{Value, to_value};

use attention::{Count, Error as SizeError, ParameterCount, thousands};

use crate::panels::{NARROW, WIDE, axis_name};
use crate::{Error, Figure, Result, Table, formula, named_bars, palette, sketch};

/// Ledgers of parameters side by side on one scale, each under its name.
///
/// # Errors
/// [`Error::Sizes`] for no ledgers or one without lines; [`Error::TooMany`] above 4.
pub fn ledger<S: AsRef<str>>(
    title: impl Into<String>,
    ledgers: &[(S, &ParameterCount)],
) -> Result<Figure> {
    SizeError::expect_positive("the number of ledgers", ledgers.len())?;
    Error::expect_at_most("ledgers", ledgers.len(), 4)?;
    let ledgers: Vec<Ledger> = ledgers
        .iter()
        .map(|(name, count)| Ledger { name: name.as_ref(), count })
        .collect();
    for ledger in &ledgers {
        SizeError::expect_positive("the number of lines", ledger.count.counts().len())?;
    }
    let headings: Vec<String> = ledgers.iter().map(Ledger::heading).collect();
    Ok(Figure {
        title: title.into(),
        alternative: format!("Bars of parameters. {}.", headings.join(". ")),
        sketch: ledgers
            .iter()
            .map(|it| it.sketched(most(&ledgers)))
            .collect::<Vec<_>>()
            .join("\n\n"),
        tables: ledgers.iter().map(Ledger::table).collect(),
        traces: ledgers.iter().enumerate().map(|(nth, it)| it.trace(nth)).collect(),
        wide: layout(&ledgers, WIDE, 2),
        narrow: layout(&ledgers, NARROW, 1),
        notebook: None,
    })
}

struct Ledger<'a> {
    name: &'a str,
    count: &'a ParameterCount,
}

impl Ledger<'_> {
    /// `8 heads of 32: 263,168 parameters`
    fn heading(&self) -> String {
        format!("{}: {} parameters", self.name, thousands(self.count.total()))
    }

    fn trace(&self, nth: usize) -> Value {
        let lines = self.count.counts();
        let told =
            |line: &Count| format!("{}<br>{}", formula(line.name()), product(line));
        let parameters = lines.iter().map(Count::parameters).collect();
        let bars = Bar::new(parameters, (0..lines.len()).collect())
            .orientation(Orientation::Horizontal)
            .x_axis(axis_name("x", nth))
            .y_axis(axis_name("y", nth))
            .marker(Marker::new().color(palette::head(nth)))
            .text_array(lines.iter().map(product).collect())
            .hover_text_array(lines.iter().map(told).collect())
            .hover_info(HoverInfo::Text);
        named_bars::written_in(to_value(bars))
    }

    fn table(&self) -> Table {
        let line = |line: &Count| {
            [line.name().to_owned(), factors(line), thousands(line.parameters())]
        };
        let total = ["total".into(), String::new(), thousands(self.count.total())];
        let rows = self.count.counts().iter().map(line).chain([total]);
        Table::new(self.name, ["matrix", "heads × rows × columns", "parameters"], rows)
    }

    fn sketched(&self, most: f64) -> String {
        let line = |line: &Count| {
            let n = line.parameters();
            let bar = sketch::bar(n as f64, most, 30);
            format!("  {:<6} {:>9}  {bar}", line.name(), thousands(n))
                .trim_end()
                .to_owned()
        };
        let lines: Vec<_> = self.count.counts().iter().map(line).collect();
        format!("{}\n{}", self.heading(), lines.join("\n"))
    }
}

fn most(ledgers: &[Ledger]) -> f64 {
    let lines = ledgers.iter().flat_map(|ledger| ledger.count.counts());
    lines.map(Count::parameters).max().unwrap_or(0).max(1) as f64
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

fn layout(ledgers: &[Ledger], width: f64, most_columns: usize) -> Value {
    let most = most(ledgers);
    let panel = |ledger: &Ledger| {
        let names = ledger.count.counts().iter().map(Count::name);
        named_bars::panel(ledger.heading(), names, most)
    };
    let panels = ledgers.iter().map(panel).collect();
    named_bars::layout(panels, width, most_columns, 42.0)
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
