//! Bars that lie under one another, each with its name before it and its number written in
//! it, or beside it where it is short: in a figure, and in a table.

use attention::thousands;
use serde_json::{Value, json};

use crate::axis::Axis;
use crate::chart::Chart;
use crate::layout::formula;
use crate::marks::Mark;
use crate::panels::Panel;
use crate::{Table, sketch};

/// What a panel shows.
pub(crate) struct NamedBars {
    /// Stands over the panel.
    pub(crate) heading: String,
    pub(crate) caption: String,
    /// Over the names, the sizes and the numbers.
    pub(crate) columns: [&'static str; 3],
    pub(crate) bars: Vec<NamedBar>,
    /// One for all bars, or one each.
    pub(crate) colours: Value,
    pub(crate) total: u64,
    /// How many characters the names and the numbers take in a sketch.
    pub(crate) widths: [usize; 2],
}

pub(crate) struct NamedBar {
    pub(crate) name: String,
    /// What makes the number.
    pub(crate) sizes: String,
    pub(crate) n: u64,
    /// In the bar, and under the pointer after its name.
    pub(crate) texts: [String; 2],
}

impl NamedBars {
    /// The largest number, for panels on a scale of their own.
    pub(crate) fn most(&self) -> f64 {
        self.bars.iter().map(|bar| bar.n).max().unwrap_or(0).max(1) as f64
    }

    fn panel(&self, most: f64) -> Panel {
        let n = self.bars.len();
        let places = (0..n).map(|at| at as f64);
        let names = self.bars.iter().map(|bar| formula(&bar.name));
        let y = Axis::names(&[], 13).at(places, names);
        let y = y.range([n as f64 - 0.5, -0.5]); // the first on top
        let x = Axis::numbers(most * 1.02).with("tickformat", "~s").with("nticks", 4);
        Panel::new(self.heading.clone(), x, y, n as f64 * 26.0)
    }

    /// Texts lie in the bars where they fit.
    fn trace(&self, nth: usize) -> Mark {
        let each = || self.bars.iter();
        let told =
            each().map(|bar| format!("{}<br>{}", formula(&bar.name), bar.texts[1]));
        Mark::lying_bars(each().map(|bar| bar.n))
            .on(nth)
            .coloured(self.colours.clone())
            .told(told)
            .written(each().map(|bar| bar.texts[0].as_str()), "auto")
            .with("textangle", 0)
            .with("insidetextanchor", "start")
            .with("insidetextfont.color", "#fff")
            .unclipped()
    }

    pub(crate) fn table(&self) -> Table {
        let row =
            |bar: &NamedBar| [bar.name.clone(), bar.sizes.clone(), thousands(bar.n)];
        let total = ["total".into(), String::new(), thousands(self.total)];
        let rows = self.bars.iter().map(row).chain([total]);
        Table::new(self.caption.clone(), self.columns, rows)
    }

    pub(crate) fn sketched(&self, most: f64) -> String {
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
pub(crate) fn chart<'a>(
    panels: impl IntoIterator<Item = (&'a NamedBars, f64)>,
    left: f64,
) -> Chart {
    let panels: Vec<_> = panels.into_iter().collect();
    let traces = panels.iter().enumerate();
    Chart {
        marks: traces.map(|(nth, (bars, _))| bars.trace(nth)).collect(),
        n_columns: panels.len().min(2),
        panels: panels.iter().map(|(bars, most)| bars.panel(*most)).collect(),
        left,
        below: 20.0,
        fields: vec![("bargap", json!(0.25))],
        ..Chart::default()
    }
}
