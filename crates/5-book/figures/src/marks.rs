//! What is drawn on the axes of a panel: lines, marks, texts, bars and maps.

use serde_json::{Value, json};

use crate::axis::axis_name;
use crate::layout::{NEUTRAL, Values, rounded, set, significant};
use crate::panels::Panel;
use crate::{Error, Result, escaped};

/// How lines are told apart without their colours.
pub const DASHES: [&str; 4] = ["solid", "dash", "dot", "dashdot"];

/// One kind of thing, drawn at each of some places: a trace of plotly's. It is on the first panel unless it is put [`on`](Self::on) another.
#[derive(Debug, Clone)]
pub struct Mark {
    json: Value,
    /// The points before they were rounded.
    exact: Vec<[f64; 2]>,
    name: String,
    panel: usize,
    has_gaps: bool,
}

impl Mark {
    /// Lines through points.
    pub fn lines(x: impl Values, y: impl Values) -> Self {
        Self::scatter("lines", x, y)
    }

    /// Lines through points, drawn to what can be seen of a number: four decimals, or four
    /// digits where these say more. Tables and sentences have the numbers themselves.
    pub fn curve(points: &[[f64; 2]]) -> Self {
        let drawn = |number: f64| match number.abs() {
            0.1..1e4 => rounded(number),
            _ => significant(number),
        };
        let each = |at: usize| points.iter().map(move |point| drawn(point[at]));
        Self { exact: points.to_vec(), ..Self::lines(each(0), each(1)) }
    }

    /// A mark at each point.
    pub fn points(x: impl Values, y: impl Values) -> Self {
        Self::scatter("markers", x, y)
    }

    /// Lines, and a mark at each of their points.
    pub fn lines_and_marks(x: impl Values, y: impl Values) -> Self {
        Self::scatter("lines+markers", x, y)
    }

    /// A text at each point, and nothing else.
    pub fn texts(x: impl Values, y: impl Values, texts: impl Values) -> Self {
        Self::scatter("text", x, y).each("text", texts)
    }

    /// A thin line between two points, which measures nothing.
    pub fn rule([from, to]: [[f64; 2]; 2]) -> Self {
        let line = Self::lines([from[0], to[0]], [from[1], to[1]]);
        line.in_legend(false).line(NEUTRAL, 1.0).dashed("dot").silent()
    }

    fn of(json: Value) -> Self {
        Self { json, exact: Vec::new(), name: String::new(), panel: 0, has_gaps: false }
    }

    fn scatter(mode: &str, x: impl Values, y: impl Values) -> Self {
        Self::of(json!({ "type": "scatter", "mode": mode, "x": x.json(), "y": y.json() }))
    }

    /// Bars of these heights at 0, 1, 2, …
    pub fn bars(heights: impl Values) -> Self {
        let heights = heights.json();
        let places: Vec<usize> = (0..len(&heights)).collect();
        Self::of(json!({ "type": "bar", "x": places, "y": heights }))
    }

    /// Bars of these lengths, which lie under one another.
    pub fn lying_bars(lengths: impl Values) -> Self {
        let lengths = lengths.json();
        let places: Vec<usize> = (0..len(&lengths)).collect();
        Self::of(json!({ "type": "bar", "x": lengths, "y": places, "orientation": "h" }))
    }

    /// Rows of cells, `gap` pixels apart.
    pub fn cells(rows: impl Into<Value>, gap: usize) -> Self {
        Self::of(json!({ "type": "heatmap", "z": rows.into(), "xgap": gap, "ygap": gap }))
    }

    /// On the axes of the `nth` panel.
    pub fn on(mut self, nth: usize) -> Self {
        self.panel = nth;
        self.with("xaxis", axis_name("x", nth)).with("yaxis", axis_name("y", nth))
    }

    /// With the name that the legend shows.
    pub fn named(mut self, plain: &str) -> Self {
        plain.clone_into(&mut self.name);
        self.with("name", escaped(plain))
    }

    /// The same, where the name may be a formula: `b^O`.
    pub fn called(self, formula: &str) -> Self {
        self.named(formula).with("name", crate::formula(formula))
    }

    /// One of several that share an entry of the legend, which stands for `is_first`.
    pub fn of_group(self, group: impl Into<String>, is_first: bool) -> Self {
        self.with("legendgroup", group.into()).in_legend(is_first)
    }

    /// With an entry in the legend, or without one.
    pub fn in_legend(self, is_shown: bool) -> Self {
        self.with("showlegend", is_shown)
    }

    /// With a line of this colour, in pixels wide.
    pub fn line(self, colour: &str, width: f64) -> Self {
        self.with("line.color", colour).with("line.width", width)
    }

    /// With a line of these dashes, one of [`DASHES`].
    pub fn dashed(self, dash: &str) -> Self {
        self.with("line.dash", dash)
    }

    /// With marks of this size, in pixels.
    pub fn marked(self, symbol: &str, size: usize) -> Self {
        self.with("marker.symbol", symbol).with("marker.size", size)
    }

    /// With bars or marks of this colour, or of one each.
    pub fn coloured(self, colour: impl Into<Value>) -> Self {
        self.with("marker.color", colour)
    }

    /// With cells in the colours of a scale between these ends.
    pub fn scaled(self, scale: Value, [least, most]: [f64; 2]) -> Self {
        self.with("colorscale", scale)
            .with("showscale", false)
            .with("zmin", least)
            .with("zmax", most)
    }

    /// With a text in each bar or beside each mark, at what plotly calls this position.
    pub fn written(mut self, texts: impl Values, position: &str) -> Self {
        if self.json["mode"] == "markers" {
            self = self.with("mode", "markers+text");
        }
        self.each("text", texts).with("textposition", position)
    }

    /// With what is told under the pointer, one text per point, bar or cell.
    pub fn hover(self, texts: impl Values) -> Self {
        self.each("hovertext", texts).with("hoverinfo", "text")
    }

    /// With nothing under the pointer.
    pub fn silent(self) -> Self {
        self.with("hoverinfo", "skip")
    }

    /// Not cut off where the axes end.
    pub fn unclipped(self) -> Self {
        self.with("cliponaxis", false)
    }

    /// With a field of plotly's that has a value per point, bar or cell.
    pub fn each(self, path: &str, values: impl Values) -> Self {
        self.with(path, values.json())
    }

    /// With a field of plotly's.
    pub fn with(mut self, path: &str, value: impl Into<Value>) -> Self {
        set(&mut self.json, path, value.into());
        self
    }

    /// With nothing drawn where an entry is missing.
    pub fn with_gaps(self) -> Self {
        Self { has_gaps: true, ..self }
    }

    pub(crate) fn panel(&self) -> usize {
        self.panel
    }

    pub(crate) fn name(&self) -> &str {
        &self.name
    }

    /// Whether it is no rule: something is told of it.
    pub(crate) fn measures(&self) -> bool {
        self.json["hoverinfo"] != "skip"
    }

    /// The rows of a map.
    pub(crate) fn rows(&self) -> Option<Vec<Vec<Option<f64>>>> {
        let rows = self.json["z"].as_array()?.iter().filter_map(Value::as_array);
        Some(rows.map(|row| row.iter().map(Value::as_f64).collect()).collect())
    }

    /// Places and what is there: of bars, their lengths. None where there is a gap.
    pub(crate) fn places(&self) -> Vec<[Option<f64>; 2]> {
        if !self.exact.is_empty() {
            return self.exact.iter().map(|point| point.map(Some)).collect();
        }
        let is_lying = self.json["orientation"] == "h";
        let [x, y] = if is_lying { ["y", "x"] } else { ["x", "y"] };
        let list = |key: &str| self.json[key].as_array().into_iter().flatten();
        list(x).zip(list(y)).map(|(x, y)| [x.as_f64(), y.as_f64()]).collect()
    }

    /// Whether its numbers can be drawn on the axes of a panel.
    ///
    /// # Errors
    /// Lists that do not fit; an entry that is no number, or has no logarithm.
    pub(crate) fn check(&self, panel: Option<&Panel>) -> Result<()> {
        let what = |list: &str| match self.name() {
            "" => format!("{list} of the marks of panel {}", self.panel),
            name => format!("{list} of “{name}”"),
        };
        let n = len(&self.json["x"]);
        for list in ["y", "hovertext", "text"] {
            if self.json["x"].is_array() && self.json[list].is_array() {
                Error::expect_length(what(list), len(&self.json[list]), n)?;
            }
        }
        let rows = self.json["z"].as_array().map_or(&[][..], Vec::as_slice);
        for row in rows {
            Error::expect_length(what("a row"), len(row), len(&rows[0]))?;
        }
        let axes = panel.map(|panel| [("x", &panel.x), ("y", &panel.y)]);
        for point in &self.exact {
            for (letter, coordinate) in ["x", "y"].into_iter().zip(point) {
                Error::expect_finite(what(letter), *coordinate)?;
            }
        }
        let lists = ["x", "y"].map(|list| (list, &self.json[list])).into_iter();
        for (list, entries) in lists.chain(rows.iter().map(|row| ("a row", row))) {
            let entries = entries.as_array().map_or(&[][..], Vec::as_slice);
            let gap = entries.iter().position(|entry| entry.is_null() && !self.has_gaps);
            if let Some(nth) = gap {
                return Err(Error::NotFinite { what: what(list), nth });
            }
        }
        let axes = axes.into_iter().flatten();
        for (letter, _) in axes.filter(|(_, axis)| axis.is_log()) {
            let entries = self.json[letter].as_array().into_iter().flatten();
            for entry in entries.filter_map(Value::as_f64) {
                Error::expect_above_zero(what(letter), entry)?;
            }
        }
        Ok(())
    }

    pub(crate) fn into_json(self) -> Value {
        self.json
    }
}

fn len(list: &Value) -> usize {
    list.as_array().map_or(0, Vec::len)
}

/// Rows of what a map has in each of its cells, by row and column.
pub fn by_cell<T: Into<Value>>(
    (n_rows, n_columns): (usize, usize),
    cell: impl Fn(usize, usize) -> T,
) -> Value {
    let row = |i| (0..n_columns).map(|j| cell(i, j).into()).collect::<Value>();
    (0..n_rows).map(row).collect()
}

#[cfg(test)]
mod tests;
