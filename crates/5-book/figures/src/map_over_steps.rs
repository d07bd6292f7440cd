//! How a map forms: one heat map a look, and a slider through them.

use attention::{Error as SizeError, Matrix};
use serde_json::{Value, json};

use crate::grid::Grid;
use crate::heads::{check_entries, share};
use crate::layout::with;
use crate::{Error, Figure, Result, Table, share_map, sketch};

/// The most looks that one figure takes.
const MOST_LOOKS: usize = 24;

/// Room for the slider, in pixels.
const SLIDER: f64 = 70.0;

/// A map that was looked at as training went.
#[derive(Debug, Clone, Copy)]
pub struct MapOverSteps<'a> {
    /// After how many steps, rising, and the map, `[rows, columns]`.
    pub looks: &'a [(usize, Matrix)],
    /// What the rows are: heads, or queries.
    pub rows: &'a [String],
    /// What the columns are: the tokens.
    pub columns: &'a [String],
}

/// A heat map of shares from 0 to 1, with a slider through the steps of a training. The
/// last look is shown first.
///
/// # Errors
/// [`Error::Sizes`] for no looks, rows or columns, or a map of another shape;
/// [`Error::TooMany`] above 24 looks; [`Error::Entry`] for an entry outside 0 to 1.
pub fn map_over_steps(title: impl Into<String>, map: MapOverSteps) -> Result<Figure> {
    check(map)?;
    let grid = Grid {
        names: vec![String::new()],
        rows: map.rows,
        columns: map.columns,
        above: 0.0,
    };
    Ok(Figure {
        title: title.into(),
        alternative: told(map),
        sketch: sketched(map),
        tables: map.looks.iter().map(|(step, look)| table(map, *step, look)).collect(),
        traces: traces(map),
        wide: slid(grid.wide(), map),
        narrow: slid(grid.narrow(), map),
        notebook: None,
    })
}

fn check(MapOverSteps { looks, rows, columns }: MapOverSteps) -> Result<()> {
    SizeError::expect_positive("the number of looks", looks.len())?;
    SizeError::expect_positive("the number of rows", rows.len())?;
    SizeError::expect_positive("the number of columns", columns.len())?;
    Error::expect_at_most("looks", looks.len(), MOST_LOOKS)?;
    for (step, look) in looks {
        let what = format!("the map after {step} steps");
        SizeError::expect_shape(what, (rows.len(), columns.len()), look.shape())?;
        check_entries(0, look)?;
    }
    Ok(())
}

fn after(step: usize) -> String {
    match step {
        0 => "before".to_owned(),
        step => format!("after {step}"),
    }
}

fn traces(MapOverSteps { looks, rows, columns }: MapOverSteps) -> Vec<Value> {
    let one = |(nth, (step, look)): (usize, &(usize, Matrix))| {
        let visible = nth + 1 == looks.len();
        with(
            Ok(share_map::trace(look, rows, columns)),
            [("name", json!(after(*step))), ("visible", json!(visible))],
        )
    };
    looks.iter().enumerate().map(one).collect()
}

/// The layout with a slider under the map.
fn slid(mut layout: Value, MapOverSteps { looks, .. }: MapOverSteps) -> Value {
    let below = layout["margin"]["b"].as_f64().unwrap_or(0.0);
    for path in ["/height", "/margin/b"] {
        if let Some(size) = layout.pointer_mut(path) {
            *size = json!(size.as_f64().unwrap_or(0.0) + SLIDER);
        }
    }
    let step = |nth: usize| {
        let visible: Vec<bool> = (0..looks.len()).map(|other| other == nth).collect();
        json!({
            "label": looks[nth].0.to_string(),
            "method": "restyle",
            "args": ["visible", visible],
        })
    };
    layout["annotations"] = json!([]);
    layout["showlegend"] = json!(false);
    layout["sliders"] = json!([{
        "active": looks.len() - 1,
        "currentvalue": { "prefix": "steps: ", "font": { "size": 12 } },
        "font": { "size": 10 },
        "x": 0, "len": 1, "xanchor": "left",
        "y": 0, "yanchor": "top",
        "pad": { "t": below, "b": 0 },
        "ticklen": 3,
        "steps": (0..looks.len()).map(step).collect::<Vec<_>>(),
    }]);
    layout
}

/// At most six of the maps, the first and the last among them.
fn sketched(MapOverSteps { looks, rows, columns }: MapOverSteps) -> String {
    let n = looks.len().min(6);
    let nth = |at: usize| at * (looks.len() - 1) / (n - 1).max(1);
    let named: Vec<(String, &Matrix)> = (0..n)
        .map(|at| &looks[nth(at)])
        .map(|(step, look)| (after(*step), look))
        .collect();
    format!(
        "{}\n\nAcross: {}. Full block: 1.",
        sketch::maps(&named, rows, 1.0),
        columns.join(", ")
    )
}

fn table(
    MapOverSteps { rows, columns, .. }: MapOverSteps,
    step: usize,
    look: &Matrix,
) -> Table {
    let row = |(name, row): (&String, usize)| {
        let shares = look.row(row).iter().map(|&entry| share(entry)).collect::<Vec<_>>();
        std::iter::once(name.clone()).chain(shares).collect()
    };
    Table {
        caption: format!("Shares {}", after(step)),
        columns: [&[String::new()], columns].concat(),
        rows: rows.iter().zip(0..).map(row).collect(),
    }
}

fn told(MapOverSteps { looks, rows, columns }: MapOverSteps) -> String {
    let strongest = |row: usize, look: &Matrix| {
        let (column, entry) = look.row(row).transpose().argmax();
        format!("{} {}", columns[column], share(entry))
    };
    let ((_, first), (_, last)) = (&looks[0], &looks[looks.len() - 1]);
    let one = |(row, name): (usize, &String)| {
        format!("{name}, {} and then {}", strongest(row, first), strongest(row, last))
    };
    let each: Vec<String> = rows.iter().enumerate().map(one).collect();
    format!(
        "A heat map at {} steps of a training, with a slider. The largest share of each \
         row, at first and at last: {}.",
        looks.len(),
        each.join("; ")
    )
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::testing::assert_figure;

    fn names(names: &[&str]) -> Vec<String> {
        names.iter().map(|name| (*name).to_owned()).collect()
    }

    #[test]
    fn two_heads_at_three_steps() {
        let map = |numbers: &[f64]| Matrix::from_row_slice(2, 3, numbers);
        let looks = [
            (0, map(&[0.3, 0.4, 0.3, 0.2, 0.3, 0.5])),
            (50, map(&[0.7, 0.2, 0.1, 0.1, 0.2, 0.7])),
            (100, map(&[1.0, 0.0, 0.0, 0.0, 0.01, 0.99])),
        ];
        let (rows, columns) =
            (names(&["head 0", "head 1"]), names(&["agent", "verb", "<place>"]));
        let map = MapOverSteps { looks: &looks, rows: &rows, columns: &columns };
        assert_figure!(map_over_steps("Two heads part ways", map).unwrap());
    }

    #[test]
    fn what_does_not_fit_is_refused() {
        let (rows, columns) = (names(&["a"]), names(&["b", "c"]));
        let refused = |looks: &[(usize, Matrix)]| {
            let map = MapOverSteps { looks, rows: &rows, columns: &columns };
            map_over_steps("", map).unwrap_err()
        };
        insta::assert_snapshot!(refused(&[]), @"the number of looks is 0, and must be at least 1");
        insta::assert_snapshot!(refused(&[(5, Matrix::zeros(2, 2))]), @"the map after 5 steps has shape (2, 2), expected (1, 2)");
        let many: Vec<_> = (0..25).map(|step| (step, Matrix::zeros(1, 2))).collect();
        insta::assert_snapshot!(refused(&many), @"25 looks are too many for one figure: draw at most 24");
    }
}
