//! Masks as maps of what may be attended to.

use plotly::HeatMap;
use plotly::common::{ColorScale, ColorScaleElement, HoverInfo};
use serde_json::{Value, json, to_value};

use attention::{Error as SizeError, Matrix};

use crate::grid::Grid;
use crate::layout::with;
use crate::panels::axis_name;
use crate::{Error, Figure, Result, Table, palette, sketch};

/// Named masks as maps: queries down, keys across, filled where a query **may** attend.
///
/// # Shapes
/// Each mask is `[queries.len(), keys.len()]`; true means "may attend".
///
/// # Errors
/// [`Error::Sizes`] for no masks, no tokens or a mask of another shape;
/// [`Error::TooMany`] above 8 masks.
pub fn mask_maps<Q: AsRef<str>, K: AsRef<str>, S: AsRef<str>>(
    title: impl Into<String>,
    queries: &[Q],
    keys: &[K],
    masks: &[(S, &Matrix<bool>)],
) -> Result<Figure> {
    SizeError::expect_positive("the number of masks", masks.len())?;
    SizeError::expect_positive("the number of query tokens", queries.len())?;
    SizeError::expect_positive("the number of key tokens", keys.len())?;
    Error::expect_at_most("masks", masks.len(), 8)?;
    let masks: Vec<Named> = masks
        .iter()
        .map(|(name, allowed)| Named { name: name.as_ref(), allowed })
        .collect();
    let queries: Vec<String> = queries.iter().map(|it| it.as_ref().to_owned()).collect();
    let keys: Vec<String> = keys.iter().map(|it| it.as_ref().to_owned()).collect();
    for mask in &masks {
        let what = format!("the mask {}", mask.name);
        SizeError::expect_shape(what, (queries.len(), keys.len()), mask.allowed.shape())?;
    }
    let names: Vec<String> = masks.iter().map(|mask| mask.name.to_owned()).collect();
    let grid = Grid { names, rows: &queries, columns: &keys, above: 0.0 };
    let trace = |(nth, mask): (usize, &Named)| mask.trace(nth, &queries, &keys);
    Ok(Figure {
        title: title.into(),
        alternative: told(&masks),
        sketch: sketched(&masks, &queries),
        tables: masks.iter().map(|mask| mask.table(&queries, &keys)).collect(),
        traces: masks.iter().enumerate().map(trace).collect(),
        wide: grid.wide(),
        narrow: grid.narrow(),
        notebook: None,
    })
}

pub(crate) struct Named<'a> {
    pub(crate) name: &'a str,
    pub(crate) allowed: &'a Matrix<bool>,
}

/// Seen on light pages and on dark ones.
const BLOCKED: &str = "rgba(118,118,118,0.18)";

impl Named<'_> {
    pub(crate) fn trace(&self, nth: usize, queries: &[String], keys: &[String]) -> Value {
        let rows = |cell: &dyn Fn(usize, usize) -> Value| -> Value {
            let row = |i| (0..keys.len()).map(|j| cell(i, j)).collect::<Value>();
            (0..queries.len()).map(row).collect()
        };
        let told = |i: usize, j: usize| {
            let (query, key) = (&queries[i], &keys[j]);
            let may = if self.allowed[(i, j)] { "may" } else { "may not" };
            let told = format!("{query} {may} attend to {key}");
            json!(format!("{}<br>{}", self.name, crate::layout::text(&told)))
        };
        let colours = [BLOCKED, palette::head(0)].into_iter().enumerate();
        let colours = colours.map(|(at, it)| ColorScaleElement(at as f64, it.to_owned()));
        let trace = HeatMap::new_z(Vec::<Vec<u8>>::new())
            .name(self.name)
            .x_axis(axis_name("x", nth))
            .y_axis(axis_name("y", nth))
            .zmin(0.0)
            .zmax(1.0)
            .color_scale(ColorScale::Vector(colours.collect()))
            .show_scale(false)
            .hover_info(HoverInfo::Text);
        with(
            to_value(trace),
            [
                ("z", rows(&|i, j| json!(u8::from(self.allowed[(i, j)])))),
                ("hovertext", rows(&told)),
                ("xgap", json!(1)),
                ("ygap", json!(1)),
            ],
        )
    }

    pub(crate) fn table(&self, queries: &[String], keys: &[String]) -> Table {
        let said = |&allowed: &bool| if allowed { "may" } else { "–" }.to_owned();
        let rows = queries.iter().zip(self.allowed.row_iter());
        Table {
            caption: self.name.to_owned(),
            columns: [&["query \\ key".to_owned()], keys].concat(),
            rows: rows
                .map(|(query, row)| {
                    std::iter::once(query.clone()).chain(row.iter().map(said)).collect()
                })
                .collect(),
        }
    }

    /// `10 of 16 pairs`
    pub(crate) fn counted(&self) -> String {
        let allowed = self.allowed.iter().filter(|&&allowed| allowed).count();
        format!("{allowed} of {} pairs", self.allowed.len())
    }
}

pub(crate) fn sketched(masks: &[Named], queries: &[String]) -> String {
    let share = |&allowed: &bool| f64::from(u8::from(allowed));
    let maps: Vec<(String, Matrix)> = masks
        .iter()
        .map(|mask| {
            let (rows, columns) = mask.allowed.shape();
            let shares = mask.allowed.iter().map(share);
            (mask.name.to_owned(), Matrix::from_iterator(rows, columns, shares))
        })
        .collect();
    let named: Vec<_> = maps.iter().map(|(name, map)| (name.clone(), map)).collect();
    let maps = sketch::maps(&named, queries, 1.0);
    format!("{maps}\n\nDown: queries. Across: keys. Filled: may attend.")
}

fn told(masks: &[Named]) -> String {
    let each = masks.iter().map(|mask| format!("{}, {}", mask.name, mask.counted()));
    format!(
        "Maps of which query may attend to which key. Allowed: {}.",
        each.collect::<Vec<_>>().join("; ")
    )
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::testing::assert_figure;

    #[test]
    fn causal_and_padding() {
        let causal = Matrix::from_fn(3, 3, |i, j| j <= i);
        let padding = Matrix::from_fn(3, 3, |_, j| j < 2);
        let masks = [("causal", &causal), ("padding, 2 real", &padding)];
        let words = ["she", "reads", "<pad>"];
        assert_figure!(
            mask_maps("Who may look at whom", &words, &words, &masks).unwrap()
        );
    }

    #[test]
    fn a_mask_of_another_shape_is_refused() {
        let mask = Matrix::from_element(2, 3, true);
        let refused = mask_maps("", &["a"], &["b"], &[("m", &mask)]).unwrap_err();
        insta::assert_snapshot!(refused, @"the mask m has shape (2, 3), expected (1, 1)");
    }
}
