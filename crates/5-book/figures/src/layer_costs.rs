//! What one layer costs: its parameters by matrix, beside its work by step.

use plotly::Bar;
use plotly::common::{HoverInfo, Marker, Orientation};
use serde_json::{Value, to_value};

use attention::{Error as SizeError, MultiplyAdds, ParameterCount, thousands};

use crate::panels::{NARROW, WIDE, axis_name};
use crate::{Figure, Result, Table, formula, named_bars, palette, sketch};

/// The steps that look at pairs of tokens.
const OF_PAIRS: [&str; 2] = ["Q Kᵀ", "A V"];

/// Bars of a layer's parameters by matrix and bias, and of the multiply-adds of a pass by
/// step: products of pairs of tokens in another colour than projections.
///
/// # Errors
/// [`Error::Sizes`](crate::Error::Sizes) for a ledger without lines.
pub fn layer_costs(
    title: impl Into<String>,
    parameters: &ParameterCount,
    work: &MultiplyAdds,
) -> Result<Figure> {
    SizeError::expect_positive("the number of lines", parameters.counts().len())?;
    let matrix = |count: &attention::Count| {
        let (rows, columns) = count.shape();
        let sizes = match count.copies() {
            1 => format!("({rows}, {columns})"),
            copies => format!("{copies} × ({rows}, {columns})"),
        };
        let n = count.parameters() as u64;
        Line { name: count.name().to_owned(), sizes, n, is_of_pairs: false }
    };
    let step = |cost: &attention::Cost| Line {
        name: cost.name.to_owned(),
        sizes: cost.formula.clone(),
        n: cost.multiply_adds,
        is_of_pairs: OF_PAIRS.contains(&cost.name),
    };
    let lists = [
        List {
            what: "parameters",
            total: parameters.total() as u64,
            lines: parameters.counts().iter().map(matrix).collect(),
        },
        List {
            what: "multiply-adds",
            total: work.total(),
            lines: work.costs().iter().map(step).collect(),
        },
    ];
    let headings = lists.each_ref().map(List::heading);
    let sketches = lists.each_ref().map(List::sketched);
    Ok(Figure {
        title: title.into(),
        alternative: format!(
            "Bars of the parameters of a layer by matrix, and of its work by step: {}.",
            headings.join(", and ")
        ),
        sketch: sketches.join("\n\n"),
        tables: lists.iter().map(List::table).collect(),
        traces: lists.iter().enumerate().map(|(nth, list)| list.trace(nth)).collect(),
        wide: layout(&lists, WIDE, 2),
        narrow: layout(&lists, NARROW, 1),
        notebook: None,
    })
}

/// What a panel shows.
struct List {
    what: &'static str,
    total: u64,
    lines: Vec<Line>,
}

struct Line {
    name: String,
    sizes: String,
    n: u64,
    is_of_pairs: bool,
}

impl List {
    /// `263,168 parameters`
    fn heading(&self) -> String {
        format!("{} {}", thousands(self.total), self.what)
    }

    fn most(&self) -> f64 {
        self.lines.iter().map(|line| line.n).max().unwrap_or(0).max(1) as f64
    }

    fn trace(&self, nth: usize) -> Value {
        let colour = |line: &Line| palette::head(usize::from(line.is_of_pairs));
        let told =
            |line: &Line| format!("{}<br>{}", formula(&line.name), formula(&line.sizes));
        let each = || self.lines.iter();
        let bars = Bar::new(
            each().map(|line| line.n).collect(),
            (0..self.lines.len()).collect(),
        )
        .orientation(Orientation::Horizontal)
        .x_axis(axis_name("x", nth))
        .y_axis(axis_name("y", nth))
        .marker(Marker::new().color_array(each().map(colour).collect()))
        .text_array(each().map(|line| thousands(line.n)).collect())
        .hover_text_array(each().map(told).collect())
        .hover_info(HoverInfo::Text);
        named_bars::written_in(to_value(bars))
    }

    fn table(&self) -> Table {
        let line =
            |line: &Line| [line.name.clone(), line.sizes.clone(), thousands(line.n)];
        let total = ["total".into(), String::new(), thousands(self.total)];
        let rows = self.lines.iter().map(line).chain([total]);
        Table::new(self.what, ["", "sizes", self.what], rows)
    }

    fn sketched(&self) -> String {
        let line = |line: &Line| {
            let bar = sketch::bar(line.n as f64, self.most(), 30);
            let line = format!("  {:<11} {:>15}  {bar}", line.name, thousands(line.n));
            line.trim_end().to_owned()
        };
        let lines: Vec<_> = self.lines.iter().map(line).collect();
        format!("{}\n{}", self.heading(), lines.join("\n"))
    }
}

fn layout(lists: &[List], width: f64, most_columns: usize) -> Value {
    let panel = |list: &List| {
        let names = list.lines.iter().map(|line| line.name.as_str());
        named_bars::panel(list.heading(), names, list.most())
    };
    named_bars::layout(lists.iter().map(panel).collect(), width, most_columns, 76.0)
}

#[cfg(test)]
mod tests {
    use attention::Dims;

    use super::*;
    use crate::testing::assert_figure;

    #[test]
    fn a_small_layer_with_biases() {
        let dims = Dims::new(256, 8).unwrap();
        let parameters = ParameterCount::of_dims(dims, true).unwrap();
        let work = MultiplyAdds::count(dims, 30, 30).unwrap();
        assert_figure!(layer_costs("What a layer costs", &parameters, &work).unwrap());
    }

    #[test]
    fn a_ledger_without_lines_is_refused() {
        let work = MultiplyAdds::count(Dims::new(1, 1).unwrap(), 1, 1).unwrap();
        let refused = layer_costs("", &ParameterCount::default(), &work).unwrap_err();
        insta::assert_snapshot!(refused, @"the number of lines is 0, and must be at least 1");
    }
}
