//! What one layer costs: its parameters by matrix, beside its work by step.

use attention::{Cost, Count, MultiplyAdds, ParameterCount, thousands};

use crate::chart::Text;
use crate::named_bars::{self, NamedBar, NamedBars};
use crate::{Figure, Result, formula, palette};

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
    attention::Error::expect_positive("the number of lines", parameters.counts().len())?;
    let matrices = parameters.counts().iter().map(matrix).collect();
    let steps = work.costs().iter().map(step).collect();
    let lists = [
        list("parameters", parameters.total() as u64, matrices),
        list("multiply-adds", work.total(), steps),
    ];
    let [parameters, work] = &lists;
    let sketches = lists.each_ref().map(|list| list.sketched(list.most()));
    let text = Text {
        alternative: format!(
            "Bars of the parameters of a layer by matrix, and of its work by step: {}, and {}.",
            parameters.heading, work.heading
        ),
        sketch: sketches.join("\n\n"),
        tables: lists.iter().map(NamedBars::table).collect(),
    };
    let panels = lists.iter().map(|list| (list, list.most()));
    Ok(named_bars::chart(panels, 76.0).drawn(title, text))
}

fn list(what: &'static str, total: u64, bars: Vec<NamedBar>) -> NamedBars {
    NamedBars {
        heading: format!("{} {what}", thousands(total)), // `263,168 parameters`
        caption: what.to_owned(),
        columns: ["", "sizes", what],
        colours: bars.iter().map(colour).collect(),
        bars,
        total,
        widths: [11, 15],
    }
}

fn colour(bar: &NamedBar) -> &'static str {
    palette::head(usize::from(OF_PAIRS.contains(&bar.name.as_str())))
}

fn matrix(count: &Count) -> NamedBar {
    let (rows, columns) = count.shape();
    let sizes = match count.copies() {
        1 => format!("({rows}, {columns})"),
        copies => format!("{copies} × ({rows}, {columns})"),
    };
    bar(count.name(), sizes, count.parameters() as u64)
}

fn step(cost: &Cost) -> NamedBar {
    bar(cost.name, cost.formula.clone(), cost.multiply_adds)
}

fn bar(name: &str, sizes: String, n: u64) -> NamedBar {
    let texts = [thousands(n), formula(&sizes)];
    NamedBar { name: name.to_owned(), sizes, n, texts }
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
