//! Bars that lie under one another, each with its name before it and its number written in
//! it, or beside it where it is short: in a figure, and in a table.

use attention::thousands;
use serde_json::Value;

use crate::axis::Axis;
use crate::chart::Chart;
use crate::layout::formula;
use crate::marks::Mark;
use crate::panels::Panel;
use crate::{Figure, Result, Table, sketch};

/// A panel of bars that lie under one another.
pub struct NamedBars {
    /// Stands over the panel.
    pub heading: String,
    /// Stands over its table.
    pub caption: String,
    /// Over the names, the sizes and the numbers.
    pub columns: [&'static str; 3],
    /// From the top down.
    pub bars: Vec<NamedBar>,
    /// One for all bars, or one each.
    pub colours: Value,
    /// What the numbers come to.
    pub total: u64,
    /// How many characters the names and the numbers take in a sketch.
    pub widths: [usize; 2],
}

/// One of the bars.
pub struct NamedBar {
    /// Stands before it.
    pub name: String,
    /// What makes the number.
    pub sizes: String,
    /// Its length.
    pub n: u64,
    /// In the bar, and under the pointer after its name.
    pub texts: [String; 2],
}

impl NamedBars {
    /// The largest number, for panels on a scale of their own.
    pub fn most(&self) -> f64 {
        self.bars.iter().map(|bar| bar.n).max().unwrap_or(0).max(1) as f64
    }

    fn panel(&self, most: f64) -> Panel {
        let n = self.bars.len();
        let places = (0..n).map(|at| at as f64);
        let names = self.bars.iter().map(|bar| formula(&bar.name));
        let y = Axis::names(&[], 13).at(places, names);
        let y = y.range([n as f64 - 0.5, -0.5]); // the first on top
        let x = Axis::numbers(most * 1.02).in_short();
        Panel::new(self.heading.clone(), x, y, n as f64 * 26.0)
    }

    /// Texts lie in the bars where they fit.
    fn mark(&self) -> Mark {
        let each = || self.bars.iter();
        let description =
            each().map(|bar| format!("{}<br>{}", formula(&bar.name), bar.texts[1]));
        Mark::lying_bars(each().map(|bar| bar.n))
            .coloured(self.colours.clone())
            .hover(description)
            .written(each().map(|bar| bar.texts[0].as_str()), "auto")
            .unclipped()
    }

    fn table(&self) -> Table {
        let row =
            |bar: &NamedBar| [bar.name.clone(), bar.sizes.clone(), thousands(bar.n)];
        let total = ["total".into(), String::new(), thousands(self.total)];
        let rows = self.bars.iter().map(row).chain([total]);
        Table::new(self.caption.clone(), self.columns, rows)
    }

    fn sketched(&self, most: f64) -> String {
        let [of_name, of_number] = self.widths;
        let line = |bar: &NamedBar| {
            let (name, n) = (&bar.name, thousands(bar.n));
            let bar = sketch::bar(bar.n as f64, most, 30);
            let line = format!("  {name:<of_name$} {n:>of_number$}  {bar}");
            line.trim_end().to_owned()
        };
        let lines: Vec<_> = self.bars.iter().map(line).collect();
        format!("{}\n{}", self.heading, lines.join("\n"))
    }
}

/// Panels, each with the end of its scale, and `left` pixels for the names.
///
/// # Errors
/// [`Error::Sizes`](crate::Error::Sizes) for no panels, or one without bars.
pub fn named_bars(
    title: impl Into<String>,
    panels: &[(NamedBars, f64)],
    left: f64,
    sentence: String,
) -> Result<Figure> {
    let mut chart = Chart::new(title)
        .columns(panels.len().min(2))
        .left(left)
        .below(20.0)
        .bar_gap(0.25);
    for (list, most) in panels {
        let n = list.bars.len();
        attention::Error::expect_positive("the number of lines", n)?;
        chart = chart.panel(list.panel(*most), [list.mark()]);
    }
    let sketches = panels.iter().map(|(list, most)| list.sketched(*most));
    chart
        .sketch(sketches.collect::<Vec<_>>().join("\n\n"))
        .tables(panels.iter().map(|(list, _)| list.table()))
        .says(sentence)
        .figure()
}
