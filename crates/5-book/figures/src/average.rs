//! Rows of weights over the same tokens, bar beside bar.

use attention::Matrix;

use crate::axis::Axis;
use crate::chart::Chart;
use crate::heads::{owned, share};
use crate::layout::{all_rounded, label_width, legend_lines};
use crate::marks::Mark;
use crate::panels::{self, NARROW, Panel, Place, WIDE};
use crate::spec::{Grouping, Layout};
use crate::{Error, Figure, Result, Table, escaped, palette, sketch};

/// How one query spreads its attention: a row of a map, under a name.
#[derive(Debug, Clone, PartialEq)]
pub struct WeightRow {
    /// What tells it from the other rows: `head 11`, `−1e9 for the blocked`.
    pub name: String,
    /// One share a token.
    pub shares: Vec<f64>,
}

impl WeightRow {
    /// The row of one query in an attention map, under a name.
    ///
    /// # Shapes
    /// `map` is `[n_queries, n_keys]`; the row has `n_keys` shares.
    ///
    /// # Errors
    /// [`Error::NoSuchQuery`] if the map has no such row.
    pub fn of_query(name: impl Into<String>, map: &Matrix, query: usize) -> Result<Self> {
        let n_queries = map.nrows();
        if query >= n_queries {
            return Err(Error::NoSuchQuery { number: query, n_queries });
        }
        Ok(Self { name: name.into(), shares: map.row(query).iter().copied().collect() })
    }
}

/// More rows cannot be told apart, and their bars are threads on a phone.
const MOST_ROWS: usize = 6;

/// The weights of several rows over the same tokens, as bars, one colour a row.
///
/// For one query in several heads, or one row under several masks.
///
/// # Shapes
/// Each row has `tokens.len()` shares.
///
/// # Errors
/// [`Error::Sizes`] for no rows or no tokens; [`Error::TooMany`] above 6 rows;
/// [`Error::Length`] for a row that does not fit the tokens; [`Error::Number`] for a share
/// outside 0 to 1.
pub fn average<S: AsRef<str>>(
    title: impl Into<String>,
    tokens: &[S],
    rows: &[WeightRow],
) -> Result<Figure> {
    bars(title.into(), ["attention weight", "token"], tokens, rows)
}

/// The same bars for the probabilities of tokens, each row in one case.
///
/// # Shapes
/// As [`average`].
///
/// # Errors
/// As [`average`].
pub fn probabilities<S: AsRef<str>>(
    title: impl Into<String>,
    tokens: &[S],
    rows: &[WeightRow],
) -> Result<Figure> {
    bars(title.into(), ["probability", "token"], tokens, rows)
}

/// The same bars over heads, one share a head; `what` the shares are is written over them.
///
/// # Shapes
/// As [`average`].
///
/// # Errors
/// As [`average`].
pub fn by_head<S: AsRef<str>>(
    title: impl Into<String>,
    what: &str,
    heads: &[S],
    rows: &[WeightRow],
) -> Result<Figure> {
    bars(title.into(), [what, "head"], heads, rows)
}

/// `what` the bars are is written over them; each stands over a token or another `item`.
fn bars<S: AsRef<str>>(
    title: String,
    [what, item]: [&str; 2],
    tokens: &[S],
    rows: &[WeightRow],
) -> Result<Figure> {
    let tokens = owned(tokens);
    check(&tokens, rows)?;
    let names: Vec<String> = rows.iter().map(|row| row.name.clone()).collect();
    let caption = format!("{}{}", what[..1].to_uppercase(), &what[1..]);
    let cell = |at: usize, row: usize| share(rows[row].shares[at]);
    let traces = rows.iter().enumerate().map(|(nth, row)| trace(&tokens, nth, row));
    let layouts = [(WIDE, 12), (NARROW, 11)].map(|(width, font_size)| {
        let lines = legend_lines(names.iter().map(String::as_str), width);
        layout(what, &tokens, rows, [width, lines * 20.0 + 8.0], font_size)
    });
    Chart::new(title)
        .laid_out(layouts)
        .marks(traces)
        .says(description(item, &tokens, rows))
        .sketch(sketched(&tokens, rows))
        .tables([Table::grid(caption, item, &tokens, &names, cell)])
        .figure()
}

fn check(tokens: &[String], rows: &[WeightRow]) -> Result<()> {
    attention::Error::expect_positive("the number of tokens", tokens.len())?;
    attention::Error::expect_positive("the number of rows", rows.len())?;
    Error::expect_at_most("rows of weights", rows.len(), MOST_ROWS)?;
    for WeightRow { name, shares } in rows {
        Error::expect_length(format!("the row {name}"), shares.len(), tokens.len())?;
        for (token, &share) in tokens.iter().zip(shares) {
            let what = format!("the weight of {token} in the row {name}");
            Error::expect_between(what, share, [0.0, 1.0])?;
        }
    }
    Ok(())
}

fn largest(rows: &[WeightRow]) -> f64 {
    rows.iter().flat_map(|row| &row.shares).copied().fold(0.01, f64::max)
}

fn trace(tokens: &[String], nth: usize, row: &WeightRow) -> Mark {
    let description = |(token, &of): (&String, &f64)| {
        format!("{}<br>{} {}", escaped(&row.name), escaped(token), share(of))
    };
    Mark::bars(all_rounded(&row.shares))
        .named(&row.name)
        .coloured(palette::head(nth))
        .hover(tokens.iter().zip(&row.shares).map(description))
}

fn layout(
    what: &str,
    tokens: &[String],
    rows: &[WeightRow],
    [width, above]: [f64; 2],
    font_size: usize,
) -> Layout {
    let x = Axis::across(tokens, font_size).upright();
    let y = Axis::numbers(largest(rows) * 1.05);
    let below = label_width(tokens, font_size);
    let place = Place { width, n_columns: 1, left: 30.0, left_once: true, below, above };
    let layout = panels::layout(vec![Panel::new(what, x, y, 210.0)], &place);
    Layout { grouping: Some(Grouping::Beside), bar_gap: Some(0.25), ..layout }
}

/// A line a token, a bar a row.
fn sketched(tokens: &[String], rows: &[WeightRow]) -> String {
    let label = sketch::longest(tokens);
    let names: Vec<String> = rows.iter().map(|row| row.name.clone()).collect();
    let width = sketch::longest(&names).max(72 / rows.len() - 3);
    let most = largest(rows);
    let heading = names.iter().map(|name| format!("  {name:<width$} "));
    let lines = tokens.iter().enumerate().map(|(at, token)| {
        let bars = rows.iter().map(|row| {
            let bar = sketch::bar(row.shares[at], most, width - 6);
            let bar = format!("{} {bar}", share(row.shares[at]));
            format!(" │{bar:<width$} ")
        });
        format!("{token:>label$}{}", bars.collect::<String>())
    });
    let heading = format!("{:label$}{}", "", heading.collect::<String>());
    let lines: Vec<String> =
        std::iter::once(heading).chain(lines).map(|l| l.trim_end().to_owned()).collect();
    lines.join("\n")
}

fn description(item: &str, tokens: &[String], rows: &[WeightRow]) -> String {
    let each = rows.iter().map(|row| {
        let mut order: Vec<usize> = (0..tokens.len()).collect();
        order.sort_by(|&a, &b| row.shares[b].total_cmp(&row.shares[a]));
        let most = order
            .iter()
            .take(3)
            .map(|&at| format!("{} {}", tokens[at], share(row.shares[at])));
        format!("{}, {}", row.name, most.collect::<Vec<_>>().join(", "))
    });
    format!(
        "Bars of the weights of {} {item}s. The largest of each row: {}.",
        tokens.len(),
        each.collect::<Vec<_>>().join("; ")
    )
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::testing::{NUMBERS, PILOT, assert_figure, attn};

    #[test]
    fn flew_in_three_heads() {
        let maps = attn();
        let rows = maps.iter().zip(NUMBERS).map(|(map, number)| {
            WeightRow::of_query(format!("head {number}"), map, 2).unwrap()
        });
        let rows: Vec<_> = rows.collect();
        let title = "Three heads give “flew” three different answers";
        assert_figure!(average(title, &PILOT, &rows).unwrap());
    }

    #[test]
    fn probabilities_are_called_so() {
        let row = WeightRow { name: "at 1".into(), shares: vec![0.75, 0.25] };
        let figure = probabilities("Next", &["far", "close"], &[row]).unwrap();
        assert_eq!(figure.tables()[0].caption, "Probability");
        assert!(!figure.to_string().contains("attention"));
    }

    #[test]
    fn shares_by_head_are_not_called_those_of_tokens() {
        let row = WeightRow { name: "bank → loan".into(), shares: vec![0.75, 0.25] };
        let figure = by_head("Two heads", "part", &["0", "1"], &[row]).unwrap();
        assert_eq!(figure.tables()[0].columns[0], "head");
        assert!(figure.alternative().starts_with("Bars of the weights of 2 heads."));
    }

    #[test]
    fn a_row_that_a_map_does_not_have_is_refused() {
        let map = Matrix::from_element(2, 3, 1.0 / 3.0);
        assert_eq!(WeightRow::of_query("a", &map, 1).unwrap().shares.len(), 3);
        let refused = WeightRow::of_query("a", &map, 2).unwrap_err();
        insta::assert_snapshot!(refused, @"there is no query 2 among 2: they count from 0");
    }

    #[test]
    fn rows_that_do_not_fit_are_refused() {
        let row = |shares: &[f64]| WeightRow { name: "a".into(), shares: shares.into() };
        let refused = |rows: &[WeightRow]| average("", &["x", "y"], rows).unwrap_err();
        insta::assert_snapshot!(refused(&[row(&[1.0])]), @"the row a has 1 entries, expected 2");
        insta::assert_snapshot!(refused(&[row(&[0.5, f64::NAN])]), @"the weight of y in the row a is NaN, expected from 0 to 1");
        insta::assert_snapshot!(refused(&vec![row(&[0.5, 0.5]); 7]), @"7 rows of weights are too many for one figure: draw at most 6");
    }
}
