//! What a row of shares blends to, beside another row.

use serde_json::json;

use crate::axis::Axis;
use crate::chart::{Chart, Text, legend_room};
use crate::heads::{owned, share};
use crate::layout::all_rounded;
use crate::marks::Mark;
use crate::panels::Panel;
use crate::{Error, Figure, Result, Table, escaped, palette};

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
    let [tokens, features] = [tokens, features].map(owned);
    let heads: Vec<String> = rows.iter().map(|row| row.name.clone()).collect();
    let shares = |at: usize, row: usize| share(rows[row].shares[at]);
    let out = |at: usize, row: usize| share(rows[row].out[at]);
    let tables = vec![
        Table::grid("Shares", "token", &tokens, &heads, shares),
        Table::grid("Blend", "feature", &features, &heads, out),
    ];
    let text = Text::of_tables(told(&tokens, &features, rows), tables);
    Ok(chart(&tokens, &features, rows).drawn(title, text))
}

fn check(tokens: &[&str], features: &[&str], rows: &[Blend]) -> Result<()> {
    // More cannot be told apart, or have no room.
    attention::Error::expect_positive("the number of rows", rows.len())?;
    Error::expect_at_most("rows of shares", rows.len(), 4)?;
    Error::expect_count("the number of tokens", tokens.len(), 8)?;
    Error::expect_count("the number of features", features.len(), 8)?;
    for Blend { name, shares, out } in rows {
        Error::expect_length(format!("the row {name}"), shares.len(), tokens.len())?;
        Error::expect_length(format!("the blend of {name}"), out.len(), features.len())?;
        for (token, &share) in tokens.iter().zip(shares) {
            let what = format!("the share of {token} in {name}");
            Error::expect_between(what, share, [0.0, 1.0])?;
        }
        for (feature, &amount) in features.iter().zip(out) {
            Error::expect_finite(format!("the amount of {feature} in {name}"), amount)?;
        }
    }
    Ok(())
}

fn chart(tokens: &[String], features: &[String], rows: &[Blend]) -> Chart {
    let amounts = || rows.iter().flat_map(|row| &row.out).copied();
    let (least, most) = (amounts().fold(0.0, f64::min), amounts().fold(1.0, f64::max));
    let panel = |title: &str, names: &[String], ends: [f64; 2]| {
        let y = Axis::between(ends.map(|end| end * 1.05));
        Panel::new(title, Axis::across(names, 12), y, 150.0)
    };
    let panels = vec![
        panel("shares", tokens, [0.0, 1.0]),
        panel("what they blend to", features, [least, most]),
    ];
    let traces = rows.iter().enumerate();
    Chart {
        panels,
        marks: traces
            .flat_map(|(nth, row)| traces_of(nth, row, [tokens, features]))
            .collect(),
        n_columns: 2,
        below: 22.0,
        above: legend_room(rows.iter().map(|row| row.name.as_str()), 8.0),
        fields: vec![("barmode", json!("group")), ("bargap", json!(0.35))],
        ..Chart::default()
    }
}

/// The bars of one row, in both panels; its name stands in the legend once.
fn traces_of(nth: usize, row: &Blend, names: [&[String]; 2]) -> [Mark; 2] {
    [(0, &row.shares), (1, &row.out)].map(|(panel, numbers)| {
        let told = names[panel].iter().zip(numbers).map(|(name, &of)| {
            format!("{}<br>{} {}", escaped(&row.name), escaped(name), share(of))
        });
        Mark::bars(all_rounded(numbers))
            .on(panel)
            .named(&row.name)
            .of_group(nth.to_string(), panel == 0)
            .coloured(palette::head(nth))
            .told(told)
    })
}

fn told(tokens: &[String], features: &[String], rows: &[Blend]) -> String {
    let listed = |numbers: &[f64]| {
        numbers.iter().map(|&it| share(it)).collect::<Vec<_>>().join(", ")
    };
    let row = |row: &Blend| {
        let (shares, blend) = (listed(&row.shares), listed(&row.out));
        format!("{}, shares {shares}, blend {blend}", row.name)
    };
    let rows: Vec<String> = rows.iter().map(row).collect();
    format!(
        "Bars of the shares of {}, and of the amounts of {} that they blend to. {}.",
        tokens.join(", "),
        features.join(", "),
        rows.join("; ")
    )
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
