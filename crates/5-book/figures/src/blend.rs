//! What a row of shares blends to, beside another row.

use plotly::Bar;
use plotly::common::{HoverInfo, Marker};
use serde_json::{Value, json, to_value};

use attention::Error as SizeError;

use crate::heads::share;
use crate::layout::{legend_lines, number_axis, rounded, text, token_axis, with};
use crate::panels::{self, NARROW, Panel, Place, WIDE, axis_name};
use crate::{Error, Figure, Result, Table, palette, sketch};

/// A row of shares and the average that it makes.
#[derive(Debug, Clone, PartialEq)]
pub struct Blend {
    /// What tells it from the other rows.
    pub name: String,
    /// One share a token.
    pub shares: Vec<f64>,
    /// The average of the values, with these shares: one amount a feature.
    pub out: Vec<f64>,
}

/// More cannot be told apart, or have no room.
const MOST: [(&str, usize); 3] = [("rows of shares", 4), ("tokens", 8), ("features", 8)];

/// The shares of some rows in one panel, what they blend to in another, one colour a row.
/// Both scales reach from 0 to 1 at least, whatever the rows hold.
///
/// # Shapes
/// Each row has `tokens.len()` shares and `features.len()` amounts.
///
/// # Errors
/// [`Error::Sizes`] for no rows, tokens or features; [`Error::TooMany`] above 4 rows, 8
/// tokens or 8 features; [`Error::Length`] for a row that does not fit; [`Error::Number`]
/// for a share outside 0 to 1 and an amount that is not finite.
pub fn blend(
    title: impl Into<String>,
    tokens: &[&str],
    features: &[&str],
    rows: &[Blend],
) -> Result<Figure> {
    check(tokens, features, rows)?;
    let [tokens, features] = [tokens, features]
        .map(|names| names.iter().map(|&it| it.to_owned()).collect::<Vec<String>>());
    let tables = vec![
        table("Shares", "token", &tokens, rows, |row| &row.shares),
        table("Blend", "feature", &features, rows, |row| &row.out),
    ];
    let told = |row: &Blend| {
        let listed = |numbers: &[f64]| {
            numbers.iter().map(|&it| share(it)).collect::<Vec<_>>().join(", ")
        };
        format!(
            "{}, shares {}, blend {}",
            row.name,
            listed(&row.shares),
            listed(&row.out)
        )
    };
    let told: Vec<String> = rows.iter().map(told).collect();
    let layout = |width: f64, n_columns: usize| {
        let lines = legend_lines(rows.iter().map(|row| row.name.as_str()), width);
        let place = Place {
            width,
            n_columns,
            left: 34.0,
            left_once: false,
            below: 22.0,
            above: lines * 20.0 + 8.0,
        };
        layout(&tokens, &features, rows, &place)
    };
    Ok(Figure {
        title: title.into(),
        alternative: format!(
            "Bars of the shares of {}, and of the amounts of {} that they blend to. {}.",
            tokens.join(", "),
            features.join(", "),
            told.join("; ")
        ),
        sketch: tables.iter().map(sketch::table).collect::<Vec<_>>().join("\n\n"),
        traces: rows
            .iter()
            .enumerate()
            .flat_map(|(nth, row)| traces(nth, row, [&tokens, &features]))
            .collect(),
        tables,
        wide: layout(WIDE, 2),
        narrow: layout(NARROW, 1),
        notebook: None,
    })
}

fn check(tokens: &[&str], features: &[&str], rows: &[Blend]) -> Result<()> {
    SizeError::expect_positive("the number of rows", rows.len())?;
    SizeError::expect_positive("the number of tokens", tokens.len())?;
    SizeError::expect_positive("the number of features", features.len())?;
    let found = [rows.len(), tokens.len(), features.len()];
    for ((what, most), found) in MOST.into_iter().zip(found) {
        Error::expect_at_most(what, found, most)?;
    }
    for Blend { name, shares, out } in rows {
        Error::expect_length(format!("the row {name}"), shares.len(), tokens.len())?;
        Error::expect_length(format!("the blend of {name}"), out.len(), features.len())?;
        for (token, &share) in tokens.iter().zip(shares) {
            let what = format!("the share of {token} in {name}");
            Error::expect_between(what, share, [0.0, 1.0])?;
        }
        for (feature, &amount) in features.iter().zip(out) {
            let what = format!("the amount of {feature} in {name}");
            Error::expect_between(what, amount, [f64::NEG_INFINITY, f64::INFINITY])?;
        }
    }
    Ok(())
}

/// The bars of one row, in both panels; its name stands in the legend once.
fn traces(nth: usize, row: &Blend, names: [&[String]; 2]) -> [Value; 2] {
    [(0, &row.shares), (1, &row.out)].map(|(panel, numbers)| {
        let told = names[panel].iter().zip(numbers).map(|(name, &of)| {
            format!("{}<br>{} {}", text(&row.name), text(name), share(of))
        });
        let heights = numbers.iter().map(|&of| rounded(of)).collect();
        let bars = Bar::new((0..numbers.len()).collect(), heights)
            .name(text(&row.name))
            .x_axis(axis_name("x", panel))
            .y_axis(axis_name("y", panel))
            .show_legend(panel == 0)
            .legend_group(nth.to_string())
            .marker(Marker::new().color(palette::head(nth)))
            .hover_text_array(told.collect())
            .hover_info(HoverInfo::Text);
        with(to_value(bars), [])
    })
}

fn layout(
    tokens: &[String],
    features: &[String],
    rows: &[Blend],
    place: &Place,
) -> Value {
    let amounts = || rows.iter().flat_map(|row| &row.out).copied();
    let (least, most) = (amounts().fold(0.0, f64::min), amounts().fold(1.0, f64::max));
    let panel = |title: &str, names: &[String], [least, most]: [f64; 2]| Panel {
        title: title.to_owned(),
        x: token_axis(names, 12).range(vec![-0.5, names.len() as f64 - 0.5]),
        y: number_axis(1.0, "").range(vec![rounded(least * 1.05), rounded(most * 1.05)]),
        width: None,
        height: 150.0,
    };
    let panels = vec![
        panel("shares", tokens, [0.0, 1.0]),
        panel("what they blend to", features, [least, most]),
    ];
    let mut layout = panels::layout(panels, place);
    layout["barmode"] = json!("group");
    layout["bargap"] = json!(0.35);
    layout
}

fn table(
    caption: &str,
    what: &str,
    names: &[String],
    rows: &[Blend],
    of: impl Fn(&Blend) -> &Vec<f64>,
) -> Table {
    let line = |(at, name): (usize, &String)| {
        let cells = rows.iter().map(|row| share(of(row)[at]));
        std::iter::once(name.clone()).chain(cells).collect()
    };
    let heads = rows.iter().map(|row| row.name.clone());
    Table {
        caption: caption.to_owned(),
        columns: std::iter::once(what.to_owned()).chain(heads).collect(),
        rows: names.iter().enumerate().map(line).collect(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::testing::assert_figure;

    const TOKENS: [&str; 3] = ["pilot", "paris", "crew"];
    const FEATURES: [&str; 2] = ["agent", "place"];

    fn row(name: &str, shares: [f64; 3], out: [f64; 2]) -> Blend {
        Blend { name: name.into(), shares: shares.into(), out: out.into() }
    }

    #[test]
    fn two_rows_with_one_blend() {
        let rows = [
            row("two words", [0.8, 0.2, 0.0], [0.8, 0.2]),
            row("crew alone", [0.0, 0.0, 1.0], [0.8, 0.2]),
        ];
        assert_figure!(blend("Two rows", &TOKENS, &FEATURES, &rows).unwrap());
    }

    #[test]
    fn rows_that_do_not_fit_are_refused() {
        let refused = |rows: &[Blend]| blend("", &TOKENS, &FEATURES, rows).unwrap_err();
        let fits = row("a", [0.5, 0.5, 0.0], [1.0, 0.0]);
        insta::assert_snapshot!(refused(&[]), @"the number of rows is 0, and must be at least 1");
        insta::assert_snapshot!(refused(&vec![fits.clone(); 5]), @"5 rows of shares are too many for one figure: draw at most 4");
        insta::assert_snapshot!(refused(&[Blend { shares: vec![1.0], ..fits.clone() }]), @"the row a has 1 entries, expected 3");
        insta::assert_snapshot!(refused(&[row("a", [1.5, 0.0, 0.0], [0.0; 2])]), @"the share of pilot in a is 1.5, expected from 0 to 1");
        insta::assert_snapshot!(refused(&[row("a", [1.0, 0.0, 0.0], [f64::NAN, 0.0])]), @"the amount of agent in a is NaN, expected a number");
    }
}
