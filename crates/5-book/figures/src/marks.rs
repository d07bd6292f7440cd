//! What is drawn on the axes of a panel: lines, marks, texts, bars and maps.

use serde_json::{Value, json};

use crate::axis::axis_name;
use crate::escaped;
use crate::layout::{Values, set};

/// How lines are told apart without their colours.
pub(crate) const DASHES: [&str; 4] = ["solid", "dash", "dot", "dashdot"];

/// A trace of plotly's. It is on the first panel unless it is put [`on`](Self::on) another.
#[derive(Debug, Clone)]
pub(crate) struct Trace(Value);

impl Trace {
    /// Lines through points.
    pub(crate) fn lines(x: impl Values, y: impl Values) -> Self {
        Self::scatter("lines", x, y)
    }

    /// A mark at each point.
    pub(crate) fn marks(x: impl Values, y: impl Values) -> Self {
        Self::scatter("markers", x, y)
    }

    /// Lines, and a mark at each of their points.
    pub(crate) fn lines_and_marks(x: impl Values, y: impl Values) -> Self {
        Self::scatter("lines+markers", x, y)
    }

    /// A text at each point, and nothing else.
    pub(crate) fn texts(x: impl Values, y: impl Values, texts: impl Values) -> Self {
        Self::scatter("text", x, y).each("text", texts)
    }

    fn scatter(mode: &str, x: impl Values, y: impl Values) -> Self {
        Self(json!({ "type": "scatter", "mode": mode, "x": x.json(), "y": y.json() }))
    }

    /// Bars of these heights at 0, 1, 2, …
    pub(crate) fn bars(heights: impl Values) -> Self {
        let heights = heights.json();
        let places: Vec<usize> = (0..len(&heights)).collect();
        Self(json!({ "type": "bar", "x": places, "y": heights }))
    }

    /// Bars of these lengths, which lie under one another.
    pub(crate) fn lying_bars(lengths: impl Values) -> Self {
        let lengths = lengths.json();
        let places: Vec<usize> = (0..len(&lengths)).collect();
        Self(json!({ "type": "bar", "x": lengths, "y": places, "orientation": "h" }))
    }

    /// Rows of cells, `gap` pixels apart.
    pub(crate) fn cells(rows: impl Into<Value>, gap: usize) -> Self {
        Self(json!({ "type": "heatmap", "z": rows.into(), "xgap": gap, "ygap": gap }))
    }

    /// On the axes of the `nth` panel.
    pub(crate) fn on(self, nth: usize) -> Self {
        self.with("xaxis", axis_name("x", nth)).with("yaxis", axis_name("y", nth))
    }

    /// With the name that the legend shows.
    pub(crate) fn named(self, plain: &str) -> Self {
        self.with("name", escaped(plain))
    }

    /// One of several that share an entry of the legend, which stands for `is_first`.
    pub(crate) fn of_group(self, group: impl Into<String>, is_first: bool) -> Self {
        self.with("legendgroup", group.into()).in_legend(is_first)
    }

    pub(crate) fn in_legend(self, is_shown: bool) -> Self {
        self.with("showlegend", is_shown)
    }

    /// With a line of this colour, in pixels wide.
    pub(crate) fn line(self, colour: &str, width: f64) -> Self {
        self.with("line.color", colour).with("line.width", width)
    }

    pub(crate) fn dashed(self, dash: &str) -> Self {
        self.with("line.dash", dash)
    }

    /// With marks of this size, in pixels.
    pub(crate) fn marked(self, symbol: &str, size: usize) -> Self {
        self.with("marker.symbol", symbol).with("marker.size", size)
    }

    /// With bars or marks of this colour, or of one each.
    pub(crate) fn coloured(self, colour: impl Into<Value>) -> Self {
        self.with("marker.color", colour)
    }

    /// With cells in the colours of a scale between these ends.
    pub(crate) fn scaled(self, scale: Value, [least, most]: [f64; 2]) -> Self {
        self.with("colorscale", scale)
            .with("showscale", false)
            .with("zmin", least)
            .with("zmax", most)
    }

    /// With a text in each bar or beside each mark, at what plotly calls this position.
    pub(crate) fn written(mut self, texts: impl Values, position: &str) -> Self {
        if self.0["mode"] == "markers" {
            self = self.with("mode", "markers+text");
        }
        self.each("text", texts).with("textposition", position)
    }

    /// With what is told under the pointer, one text per point, bar or cell.
    pub(crate) fn told(self, texts: impl Values) -> Self {
        self.each("hovertext", texts).with("hoverinfo", "text")
    }

    /// With nothing under the pointer.
    pub(crate) fn silent(self) -> Self {
        self.with("hoverinfo", "skip")
    }

    /// Not cut off where the axes end.
    pub(crate) fn unclipped(self) -> Self {
        self.with("cliponaxis", false)
    }

    /// With a field of plotly's that has a value per point, bar or cell.
    pub(crate) fn each(self, path: &str, values: impl Values) -> Self {
        self.with(path, values.json())
    }

    /// With a field of plotly's.
    pub(crate) fn with(mut self, path: &str, value: impl Into<Value>) -> Self {
        set(&mut self.0, path, value.into());
        self
    }

    pub(crate) fn into_json(self) -> Value {
        self.0
    }
}

fn len(list: &Value) -> usize {
    list.as_array().map_or(0, Vec::len)
}

/// Rows of what a map has in each of its cells, by row and column.
pub(crate) fn by_cell<T: Into<Value>>(
    (n_rows, n_columns): (usize, usize),
    cell: impl Fn(usize, usize) -> T,
) -> Value {
    let row = |i| (0..n_columns).map(|j| cell(i, j).into()).collect::<Value>();
    (0..n_rows).map(row).collect()
}

#[cfg(test)]
mod tests;
