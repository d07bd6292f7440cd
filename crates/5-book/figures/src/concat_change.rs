//! What moves when one head is disturbed: before W^O its block alone, after it everything.

use crate::axis::Axis;
use crate::chart::Chart;
use crate::layout::{NEUTRAL, rounded, significant};
use crate::marks::Mark;
use crate::panels::{self, NARROW, Panel, Place, WIDE};
use crate::spec::{Layout, Rect};
use crate::{Error, Figure, Result, Table, palette, sketch};

/// How far each column moved when one head was disturbed.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct ConcatChange<'a> {
    /// The change of each column of the concatenated heads, `[n_heads · d_v]`.
    pub concat: &'a [f64],
    /// The change of each column of the output, `[d_model]`.
    pub out: &'a [f64],
    /// Whether `W^O` makes the output; without it, the output is the concatenation.
    pub is_mixed: bool,
    /// How many heads lie side by side in `concat`.
    pub n_heads: usize,
    /// Which of them was disturbed.
    pub disturbed: usize,
}

/// The change of every column when one head is disturbed, before W^O and after it.
///
/// A change is a size, such as the largest |Δ| over the tokens: it is not below 0.
///
/// # Errors
/// [`Error::Sizes`] for no columns or no heads; [`Error::Length`] where the heads do not
/// share the columns evenly; [`Error::NoSuchHead`]; [`Error::Number`] for a change below 0
/// or not finite.
pub fn concat_change(title: impl Into<String>, change: ConcatChange) -> Result<Figure> {
    check(change)?;
    let parts = [Part::of_concat(change), Part::of_out(change)];
    let layouts = [(WIDE, 140.0), (NARROW, 120.0)]
        .map(|(width, height)| layout(change, &parts, width, height));
    Chart::new(title)
        .laid_out(layouts)
        .marks((0..2).map(|nth| trace(change, &parts[nth], nth)))
        .says(description(change))
        .sketch(sketched(change, &parts))
        .tables(parts.iter().map(|part| table(change, part)))
        .figure()
}

fn check(change: ConcatChange) -> Result<()> {
    let ConcatChange { concat, out, is_mixed, n_heads, disturbed } = change;
    attention::Error::expect_positive("the number of heads", n_heads)?;
    attention::Error::expect_positive(
        "the number of concatenated columns",
        concat.len(),
    )?;
    attention::Error::expect_positive("the number of output columns", out.len())?;
    let even = n_heads * (concat.len() / n_heads).max(1);
    Error::expect_length("the change of the concatenated heads", concat.len(), even)?;
    if !is_mixed {
        Error::expect_length("the change of the output", out.len(), concat.len())?;
    }
    if disturbed >= n_heads {
        let known = (0..n_heads).collect();
        return Err(Error::NoSuchHead { number: disturbed, known });
    }
    for (what, columns) in [("concat", concat), ("out", out)] {
        for (column, &moved) in columns.iter().enumerate() {
            let what = format!("the change of {what} column {column}");
            Error::expect_between(what, moved, [0.0, f64::INFINITY])?;
        }
    }
    Ok(())
}

/// The columns before W^O, or after it.
struct Part<'a> {
    heading: String,
    columns: &'a [f64],
    /// Columns of one head; none after W^O, where columns belong to no head.
    d_v: Option<usize>,
}

impl<'a> Part<'a> {
    fn of_concat(change: ConcatChange<'a>) -> Self {
        let ConcatChange { concat, n_heads, .. } = change;
        let heading = format!("before W^O: {}", moved(concat));
        Self { heading, columns: concat, d_v: Some(concat.len() / n_heads) }
    }

    fn of_out(change: ConcatChange<'a>) -> Self {
        let ConcatChange { concat, out, is_mixed, n_heads, .. } = change;
        let which = if is_mixed { "after W^O" } else { "without W^O" };
        let d_v = (!is_mixed).then_some(concat.len() / n_heads);
        Self { heading: format!("{which}: {}", moved(out)), columns: out, d_v }
    }

    /// `column 12 of head 3`, or `column 12`.
    fn name(&self, column: usize) -> String {
        match self.d_v {
            Some(d_v) => format!("column {column}, head {}", column / d_v),
            None => format!("column {column}"),
        }
    }

    /// The largest change; 1 where nothing moves, so that there is an axis.
    fn most(&self) -> f64 {
        let most = self.columns.iter().copied().fold(0.0, f64::max);
        if most > 0.0 { most } else { 1.0 }
    }
}

/// `32 of 256 columns move`
fn moved(columns: &[f64]) -> String {
    let moved = columns.iter().filter(|&&column| column > 0.0).count();
    format!("{moved} of {} columns move", columns.len())
}

fn trace(change: ConcatChange, part: &Part, nth: usize) -> Mark {
    let colour = part.d_v.map_or(NEUTRAL, |_| palette::head(change.disturbed));
    let description =
        part.columns.iter().enumerate().map(|(column, moved)| {
            format!("{}<br>moves by {moved:.4}", part.name(column))
        });
    Mark::bars(part.columns.iter().map(|&moved| significant(moved)))
        .on(nth)
        .coloured(colour)
        .hover(description)
}

fn layout(change: ConcatChange, parts: &[Part; 2], width: f64, height: f64) -> Layout {
    let place =
        Place { width, left: 46.0, left_once: true, below: 42.0, ..Place::default() };
    let panel = |part: &Part| {
        let y = Axis::numbers(1.0).titled("moves by");
        let y = y.range([0.0, significant(part.most() * 1.05)]);
        Panel::new(part.heading.clone(), columns_axis(change, part), y, height)
    };
    let mut layout = panels::layout(parts.iter().map(panel).collect(), &place);
    layout.bar_gap = Some(0.0);
    let of_heads = (0..2).filter(|&nth| parts[nth].d_v.is_some());
    layout.boxes = of_heads.flat_map(|nth| blocks(change, nth, height)).collect();
    layout
}

/// Heads under their blocks, or the columns' numbers.
fn columns_axis(change: ConcatChange, part: &Part) -> Axis {
    let axis = Axis::bare([-0.5, part.columns.len() as f64 - 0.5]).level();
    let Some(d_v) = part.d_v.map(|d_v| d_v as f64) else {
        return axis.titled("column of the output");
    };
    let middle = |head: usize| rounded((head as f64 + 0.5) * d_v - 0.5);
    let names = (0..change.n_heads).map(|head| head.to_string());
    axis.at((0..change.n_heads).map(middle), names)
        .apart(6) // clear of the strip
        .titled("head that the columns come from")
}

/// A strip under the columns of the `nth` part, one colour a head.
fn blocks(change: ConcatChange, nth: usize, height: f64) -> Vec<Rect> {
    let d_v = change.concat.len() as f64 / change.n_heads as f64;
    let block = |head: usize| Rect {
        panel: nth,
        x: [head, head + 1].map(|head| head as f64 * d_v - 0.5),
        y: [rounded(-5.0 / height), 0.0],
        strip: Some(true),
        fill: Some(palette::head(head)),
        line: None,
        width: 0.0,
    };
    (0..change.n_heads).map(block).collect()
}

fn sketched(change: ConcatChange, parts: &[Part; 2]) -> String {
    let lines = parts.iter().map(|part| {
        format!("{}\n  {}", part.heading, sketch::columns(part.columns, part.most()))
    });
    let lines: Vec<_> = lines.collect();
    format!("head {} is disturbed\n\n{}", change.disturbed, lines.join("\n\n"))
}

fn table(change: ConcatChange, part: &Part) -> Table {
    let d_v = change.concat.len() / change.n_heads;
    let head = |column: usize| match part.d_v {
        Some(_) => (column / d_v).to_string(),
        None => "all".to_owned(),
    };
    let rows = part.columns.iter().enumerate();
    let rows = rows.map(|(at, moved)| [at.to_string(), head(at), format!("{moved:.4}")]);
    Table::new(part.heading.clone(), ["column", "from head", "moves by"], rows)
}

fn description(change: ConcatChange) -> String {
    let ConcatChange { concat, out, is_mixed, n_heads, disturbed } = change;
    let d_v = concat.len() / n_heads;
    let which = if is_mixed { "After W^O" } else { "Without W^O" };
    format!(
        "Two bar charts of how far each column moves when head {disturbed} of {n_heads} is \
         disturbed. Before W^O {}; the columns of that head are {} to {}. {which} {}.",
        moved(concat),
        disturbed * d_v,
        (disturbed + 1) * d_v - 1,
        moved(out),
    )
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::testing::assert_figure;

    #[test]
    fn a_block_moves_before_w_o_and_everything_after() {
        let change = ConcatChange {
            concat: &[0.0, 0.0, 0.0, 0.41, 0.2, 0.33, 0.0, 0.0, 0.0],
            out: &[0.11, 0.24, 0.03, 0.19, 0.31, 0.08, 0.16, 0.02, 0.21],
            is_mixed: true,
            n_heads: 3,
            disturbed: 1,
        };
        let title = "Head 1 moves its own columns, and W^O carries that to all of them";
        assert_figure!(concat_change(title, change).unwrap());
    }

    #[test]
    fn without_w_o_the_output_is_the_concatenation() {
        let columns = &[0.0, 0.3, 0.0];
        let change = ConcatChange {
            concat: columns,
            out: columns,
            is_mixed: false,
            n_heads: 3,
            disturbed: 1,
        };
        let figure = concat_change("", change).unwrap();
        assert!(figure.alternative().ends_with("Without W^O 1 of 3 columns move."));
        assert_eq!(figure.tables()[0].rows, figure.tables()[1].rows);
        let refused =
            concat_change("", ConcatChange { out: &[0.0], ..change }).unwrap_err();
        insta::assert_snapshot!(refused, @"the change of the output has 1 entries, expected 3");
    }

    /// An axis from 0 to 0 is none.
    #[test]
    fn what_does_not_move_and_what_hardly_does_have_an_axis() {
        for (most, end) in [(0.0, 1.05), (2e-16, 2.1e-16)] {
            let columns = &[0.0, most];
            let change = ConcatChange {
                concat: columns,
                out: columns,
                is_mixed: true,
                n_heads: 2,
                disturbed: 1,
            };
            let figure = concat_change("", change).unwrap();
            let layout = &figure.to_json()["layout"];
            assert_eq!(layout["yaxis"]["range"], serde_json::json!([0.0, end]));
        }
    }

    #[test]
    fn columns_that_no_heads_share_are_refused() {
        let change = ConcatChange {
            concat: &[0.0; 7],
            out: &[0.0],
            is_mixed: true,
            n_heads: 3,
            disturbed: 3,
        };
        let refused = |change| concat_change("", change).unwrap_err();
        insta::assert_snapshot!(refused(change), @"the change of the concatenated heads has 7 entries, expected 6");
        insta::assert_snapshot!(refused(ConcatChange { concat: &[0.0; 6], ..change }), @"there is no head 3 here, only [0, 1, 2]");
        let change = ConcatChange { n_heads: 7, out: &[-0.5], ..change };
        insta::assert_snapshot!(refused(change), @"the change of out column 0 is -0.5, expected at least 0");
    }
}
