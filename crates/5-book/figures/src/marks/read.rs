//! What is read of a mark: whether it can be drawn, and what tables say of it.

use serde_json::Number;

use super::Mark;
use super::look::Shape;
use crate::panels::Panel;
use crate::{Error, Result};

impl Mark {
    /// The rows of a map.
    pub(crate) fn rows(&self) -> Option<Vec<Vec<Option<f64>>>> {
        let Shape::Cells { rows, .. } = &self.shape else { return None };
        Some(rows.iter().map(|row| row.iter().map(float).collect()).collect())
    }

    /// Places and what is there: of bars, their lengths. None where there is a gap.
    pub(crate) fn places(&self) -> Vec<[Option<f64>; 2]> {
        if !self.exact.is_empty() {
            return self.exact.iter().map(|point| point.map(Some)).collect();
        }
        let (places, there) = match &self.shape {
            Shape::Points { x, y, .. } => (x, y),
            Shape::Bars { places, sizes, .. } => (places, sizes),
            Shape::Cells { .. } => return Vec::new(),
        };
        places.iter().zip(there).map(|(x, y)| [float(x), float(y)]).collect()
    }

    /// As it is drawn: without what cannot be seen.
    pub(crate) fn seen(mut self) -> Self {
        if self.is_silent {
            (self.told, self.pattern) = (None, None);
        }
        let tells_text = self.pattern.as_ref().is_some_and(|it| it.contains("{text}"));
        if matches!(self.shape, Shape::Points { texts: false, .. }) && !tells_text {
            (self.texts, self.text_place, self.text_size) = (None, None, None);
        }
        self
    }

    /// Whether its numbers can be drawn on the axes of a panel.
    ///
    /// # Errors
    /// Lists that do not fit; an entry that is no number, or has no logarithm.
    pub(crate) fn check(&self, panel: Option<&Panel>) -> Result<()> {
        let what = |list: &str| match self.plain_name() {
            "" => format!("{list} of the marks of panel {}", self.panel()),
            name => format!("{list} of “{name}”"),
        };
        let [x, y] = match &self.shape {
            Shape::Cells { rows, .. } => {
                for row in rows {
                    Error::expect_length(what("a row"), row.len(), rows[0].len())?;
                    self.expect_numbers(what("a row"), row)?;
                }
                return Ok(());
            }
            Shape::Points { x, y, .. } => [x, y],
            Shape::Bars { places, sizes, lying: Some(_) } => [sizes, places],
            Shape::Bars { places, sizes, lying: None } => [places, sizes],
        };
        let texts = [("hovertext", &self.told), ("text", &self.texts)];
        let lengths = texts.map(|(list, it)| Some((list, it.as_ref()?.len())));
        for (list, n) in [Some(("y", y.len()))].into_iter().chain(lengths).flatten() {
            Error::expect_length(what(list), n, x.len())?;
        }
        for point in &self.exact {
            for (letter, coordinate) in ["x", "y"].into_iter().zip(point) {
                Error::expect_finite(what(letter), *coordinate)?;
            }
        }
        self.expect_numbers(what("x"), x)?;
        self.expect_numbers(what("y"), y)?;
        let axes = panel.map(|panel| [("x", &panel.x, x), ("y", &panel.y, y)]);
        let logs = axes.into_iter().flatten().filter(|(_, axis, _)| axis.is_log());
        for (letter, _, entries) in logs {
            for entry in entries.iter().filter_map(float) {
                Error::expect_above_zero(what(letter), entry)?;
            }
        }
        Ok(())
    }

    fn expect_numbers(&self, what: String, list: &[Option<Number>]) -> Result<()> {
        match list.iter().position(Option::is_none) {
            Some(nth) if !self.has_gaps => Err(Error::NotFinite { what, nth }),
            _ => Ok(()),
        }
    }
}

fn float(number: &Option<Number>) -> Option<f64> {
    number.as_ref()?.as_f64()
}
