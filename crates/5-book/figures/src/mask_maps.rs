//! Masks as maps of what may be attended to.

use attention::Matrix;

use crate::chart::Chart;
use crate::heads::owned;
use crate::marks::{Mark, by_cell};
use crate::{Error, Figure, Result, Table, escaped, palette, sketch};

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
    mask_chart(title, queries, keys, masks)?.figure()
}

/// The same as a chart, for more marks on the maps: a mask is a panel, its rows and columns
/// count from 0.
///
/// # Errors
/// As [`mask_maps`].
pub fn mask_chart<Q: AsRef<str>, K: AsRef<str>, S: AsRef<str>>(
    title: impl Into<String>,
    queries: &[Q],
    keys: &[K],
    masks: &[(S, &Matrix<bool>)],
) -> Result<Chart> {
    let [queries, keys] = [owned(queries), owned(keys)];
    Error::expect_count("the number of masks", masks.len(), 8)?;
    attention::Error::expect_positive("the number of query tokens", queries.len())?;
    attention::Error::expect_positive("the number of key tokens", keys.len())?;
    let masks =
        masks.iter().map(|(name, allowed)| Named { name: name.as_ref(), allowed });
    let masks: Vec<Named> = masks.collect();
    for mask in &masks {
        let what = format!("the mask {}", mask.name);
        attention::Error::expect_shape(
            what,
            (queries.len(), keys.len()),
            mask.allowed.shape(),
        )?;
    }
    let names: Vec<String> = masks.iter().map(|mask| mask.name.to_owned()).collect();
    let traces = masks.iter().enumerate();
    Ok(Chart::grid(title, &names, &queries, &keys)
        .marks(traces.map(|(nth, mask)| mask.trace(nth, &queries, &keys)))
        .says(description(&masks))
        .sketch(sketched(&masks, &queries))
        .tables(masks.iter().map(|mask| mask.table(&queries, &keys))))
}

pub(crate) struct Named<'a> {
    pub(crate) name: &'a str,
    pub(crate) allowed: &'a Matrix<bool>,
}

/// Seen on light pages and on dark ones.
const BLOCKED: &str = "rgba(118,118,118,0.18)";

impl Named<'_> {
    pub(crate) fn trace(&self, nth: usize, queries: &[String], keys: &[String]) -> Mark {
        let description = |i: usize, j: usize| {
            let (query, key) = (&queries[i], &keys[j]);
            let may = if self.allowed[(i, j)] { "may" } else { "may not" };
            let description = format!("{query} {may} attend to {key}");
            format!("{}<br>{}", self.name, escaped(&description))
        };
        let shape = self.allowed.shape();
        Mark::cells(by_cell(shape, |i, j| u8::from(self.allowed[(i, j)])), 1)
            .on(nth)
            .named(self.name)
            .scaled(palette::from_nothing(BLOCKED), [0.0, 1.0])
            .hover(by_cell(shape, description))
    }

    /// Only the pairs that are blocked, to lie on a map that has gaps there.
    pub(crate) fn blocked(
        &self,
        nth: usize,
        queries: &[String],
        keys: &[String],
    ) -> Mark {
        let at = |colour| vec![(0.0, colour), (1.0, colour)];
        let description = |i: usize, j: usize| {
            escaped(&format!("{} may not attend to {}", queries[i], keys[j]))
        };
        let shape = self.allowed.shape();
        Mark::cells(by_cell(shape, |_, _| 0), 1)
            .on(nth)
            .named("blocked")
            .scaled(at(BLOCKED), [0.0, 1.0])
            .hover(by_cell(shape, description))
            .without(|i, j| self.allowed[(i, j)])
    }

    pub(crate) fn table(&self, queries: &[String], keys: &[String]) -> Table {
        let cell = |i, j| if self.allowed[(i, j)] { "may" } else { "–" }.to_owned();
        Table::grid(self.name, "query \\ key", queries, keys, cell)
    }

    /// `10 of 16 pairs`
    pub(crate) fn counted(&self) -> String {
        let allowed = self.allowed.iter().filter(|&&allowed| allowed).count();
        format!("{allowed} of {} pairs", self.allowed.len())
    }
}

pub(crate) fn sketched(masks: &[Named], queries: &[String]) -> String {
    let share = |allowed: bool| f64::from(u8::from(allowed));
    let maps: Vec<(String, Matrix)> =
        masks.iter().map(|it| (it.name.to_owned(), it.allowed.map(share))).collect();
    let named: Vec<_> = maps.iter().map(|(name, map)| (name.clone(), map)).collect();
    let maps = sketch::maps(&named, queries, 1.0);
    format!("{maps}\n\nDown: queries. Across: keys. Filled: may attend.")
}

fn description(masks: &[Named]) -> String {
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
