//! Heads that add into one row of the output.

use anyhow::Result;
use attention::{Matrix, RowVector};
use figures::{
    Axis, Chart, Figure, Grouping, Mark, NEUTRAL, Panel, Table, all_rounded, escaped,
    legend_room, palette,
};

use crate::args::Args;
use crate::trained::{at, passes};

/// The token whose output is taken apart, of "The river banks overflowed.".
pub const TOKEN: &str = "banks";
/// Which entries of its output are shown: the first ones, unselected.
pub const FEATURES: usize = 6;

/// One token's output as a sum: a row per head, and W^O's bias.
pub struct Adding {
    /// head_i W_i^O at the token, `[n_heads, d_model]`.
    pub heads: Matrix,
    /// b^O, `[d_model]`.
    pub bias: RowVector,
    /// What the layer gives at the token, `[d_model]`.
    pub out: RowVector,
}

impl Adding {
    /// Of the trained layer.
    ///
    /// # Errors
    /// None; the layer and the sentence are parts of the program.
    pub fn new() -> Result<Self> {
        let layer = crate::trained::layer()?;
        let sentence = layer.sentence("river_banks")?;
        let token = at(sentence, TOKEN)?;
        let passes = passes(&layer.parameters, &sentence.input)?;
        let w_o = layer.parameters.w_o();
        let rows = passes.iter().enumerate().map(|(i, pass)| {
            pass.out.row(token) * layer.parameters.w_o_of_head(i) // [1, d_model]
        });
        let heads = Matrix::from_rows(&rows.collect::<Vec<_>>());
        let outs: Vec<_> = passes.iter().map(|pass| &pass.out).collect();
        let out = w_o.forward(&per_head::concat(outs)?)?.row(token).into_owned();
        let bias = w_o.bias.clone().unwrap_or_else(|| RowVector::zeros(w_o.d_out()));
        Ok(Self { heads, bias, out })
    }
}

/// How many heads have a colour of their own; b^O has the last one.
const NAMED: usize = palette::N_HUES - 1;

/// What is added to the shown features, under a name.
type Part = (String, Vec<f64>);

/// Bars from 0, of the five heads that add most, of all others together, and of the bias:
/// what is added stands above the line, what is taken away below it, and a mark stands at
/// the sum.
pub(super) fn figure(_: &Args) -> Result<Figure> {
    let adding = Adding::new()?;
    let first = |row: &[f64]| row[..FEATURES].to_vec();
    let rows = adding.heads.row_iter().map(|row| row.iter().copied().collect::<Vec<_>>());
    let heads: Vec<Part> = rows
        .enumerate()
        .map(|(head, row)| (format!("head {head}"), first(&row)))
        .collect();
    let bias: Part = ("b^O".to_owned(), first(adding.bias.as_slice()));
    let parts: Vec<&Part> = heads.iter().chain([&bias]).collect();
    let sum =
        |nth: usize| heads.iter().map(|(_, row)| row[nth]).sum::<f64>() + bias.1[nth];
    let sums: Vec<f64> = (0..FEATURES).map(sum).collect();
    let drawn = drawn(&heads, &bias);
    let names = drawn.iter().map(|((name, _), _)| name.as_str()).chain(["sum"]);
    let figure = Chart::new(format!(
        "{} heads and b^O add up to each entry of a token's output",
        heads.len()
    ))
    .left_once(40.0)
    .below(20.0)
    .above(legend_room(names, 8.0))
    .grouped(Grouping::Signed)
    .bar_gap(0.35)
    .panels([panel(&drawn)])
    .marks(marks(&drawn, &sums))
    .tables([table(&parts, &sums)])
    .says(sentence(&parts, &sums))
    .figure()?;
    Ok(figure)
}

/// The heads that add most, each under its name, the others as one, and the bias; each with
/// its colour.
fn drawn(heads: &[Part], bias: &Part) -> Vec<(Part, &'static str)> {
    let size = |head: usize| heads[head].1.iter().map(|it| it.abs()).sum::<f64>();
    let mut by_size: Vec<usize> = (0..heads.len()).collect();
    by_size.sort_by(|&a, &b| size(b).total_cmp(&size(a)));
    let (largest, others) = by_size.split_at(by_size.len().min(NAMED));
    let mut largest = largest.to_vec();
    largest.sort_unstable();
    let largest = largest.iter().enumerate();
    let mut drawn: Vec<_> =
        largest.map(|(nth, &head)| (heads[head].clone(), palette::head(nth))).collect();
    if !others.is_empty() {
        let sum = |nth| others.iter().map(|&head| heads[head].1[nth]).sum();
        let sums = (0..FEATURES).map(sum).collect();
        drawn.push(((format!("{} other heads", others.len()), sums), NEUTRAL));
    }
    drawn.push((bias.clone(), palette::head(NAMED)));
    drawn
}

/// With its sign: a reader adds them up.
fn signed(number: f64) -> String {
    format!("{number:+.4}").replace('-', "−")
}

fn marks(drawn: &[(Part, &'static str)], sums: &[f64]) -> Vec<Mark> {
    let told = |name: &str, numbers: &[f64]| -> Vec<String> {
        let each = numbers.iter().enumerate();
        each.map(|(nth, &number)| {
            format!("{}<br>feature {nth}: {}", escaped(name), signed(number))
        })
        .collect()
    };
    let bars = drawn.iter().map(|((name, part), colour)| {
        Mark::bars(all_rounded(part))
            .called(name)
            .coloured(*colour)
            .hover(told(name, part))
    });
    // White within black, over bars of any colour on any page.
    let sums = Mark::points(0..sums.len(), all_rounded(sums))
        .named("sum")
        .marked("diamond", 11)
        .coloured("#ffffff")
        .outlined("#000000", 2)
        .hover(told("sum", sums));
    bars.chain([sums]).collect()
}

/// As high as the bars reach, above 0 and below it.
fn panel(drawn: &[(Part, &'static str)]) -> Panel {
    let reach = |sign: f64| {
        let of = |nth: usize| {
            drawn.iter().map(|((_, part), _)| (part[nth] * sign).max(0.0)).sum::<f64>()
        };
        (0..FEATURES).map(of).fold(0.0, f64::max) * 1.08
    };
    let features: Vec<String> = (0..FEATURES).map(|nth| nth.to_string()).collect();
    let numbers = Axis::between([-reach(-1.0), reach(1.0)]);
    let title = format!("added to the output of “{TOKEN}”, by feature");
    Panel::new(title, Axis::across(&features, 12), numbers, 260.0)
}

fn table(parts: &[&Part], sums: &[f64]) -> Table {
    let (mut names, mut rows): (Vec<String>, Vec<&[f64]>) =
        parts.iter().map(|(name, part)| (name.clone(), &part[..])).unzip();
    names.push("sum".to_owned());
    rows.push(sums);
    let features: Vec<String> =
        (0..FEATURES).map(|nth| format!("feature {nth}")).collect();
    let caption = format!("What is added to the output of “{TOKEN}”");
    Table::grid(caption, "from", &names, &features, |i, j| signed(rows[i][j]))
}

fn sentence(parts: &[&Part], sums: &[f64]) -> String {
    let one = |(nth, sum): (usize, &f64)| {
        let size = |part: &&Part| part.1[nth].abs();
        let most = parts.iter().copied().max_by(|a, b| size(a).total_cmp(&size(b)));
        let (name, most) = most.map_or(("", 0.0), |(name, part)| (name, part[nth]));
        let (sum, most) = (signed(*sum), signed(most));
        format!("feature {nth}, sum {sum}, most from {name} {most}")
    };
    let each: Vec<String> = sums.iter().enumerate().map(one).collect();
    format!(
        "Stacked bars, above and below 0, of what {} heads and b^O add to {FEATURES} \
         entries of the output of “{TOKEN}”. {}.",
        parts.len() - 1,
        each.join("; ")
    )
}

#[cfg(test)]
mod tests {
    use super::*;

    /// The sum over heads is the layer's output.
    #[test]
    fn heads_add_up_to_the_output() {
        let adding = Adding::new().unwrap();
        let sum = adding.heads.row_sum() + &adding.bias;
        let difference = (&sum - &adding.out).amax();
        assert!(difference < 1e-12, "{difference:e}");
        let figure = figure(&Args::default()).unwrap();
        let sums = figure.tables()[0].rows.last().unwrap();
        for (nth, told) in sums[1..].iter().enumerate() {
            let told: f64 = told.replace('−', "-").parse().unwrap();
            assert!((told - adding.out[nth]).abs() < 1e-4, "feature {nth}");
        }
    }
}
