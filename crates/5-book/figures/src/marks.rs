//! What is drawn on the axes of a panel: lines, marks, texts, bars and maps.

mod look;
mod read;

use serde::Serialize;
use serde_json::Value;

use crate::escaped;
use crate::layout::{NEUTRAL, Values, as_number, rounded, significant};
use crate::palette::Stops;
pub(crate) use look::{Colours, Drags, Outline, Scale, Shape, Stroke, Texts};

/// How lines are told apart without their colours.
pub const DASHES: [&str; 4] = ["solid", "dash", "dot", "dashdot"];

/// One kind of thing, drawn at each of some places. It is on the first panel unless it is
/// put [`on`](Self::on) another.
#[derive(Debug, Clone, Default, PartialEq, Serialize)]
pub struct Mark {
    #[serde(flatten)]
    pub(crate) shape: Shape,
    pub(crate) panel: Option<usize>,
    /// As a page reads it.
    pub(crate) name: Option<String>,
    /// Of the entry of the legend that it shares with others.
    pub(crate) group: Option<String>,
    /// Whether it has an entry in the legend.
    pub(crate) legend: Option<bool>,
    pub(crate) line: Option<Stroke>,
    pub(crate) symbol: Option<String>,
    /// Of its marks, in pixels.
    pub(crate) size: Option<usize>,
    pub(crate) colour: Option<Colours>,
    pub(crate) outline: Option<Outline>,
    /// Of its marks, and of all of it.
    pub(crate) mark_opacity: Option<f64>,
    pub(crate) opacity: Option<f64>,
    pub(crate) hatched: Option<bool>,
    /// What each place sets where a page presses it, or drags over bars.
    pub(crate) sets: Option<Texts>,
    /// What a page drags each mark along, and what that sets.
    pub(crate) drags: Option<Drags>,
    /// In a live figure, the control of cells that are on or off by whose map it is painted.
    pub(crate) paints: Option<String>,
    /// Of cells; without one it is the one of the figure's colour bar.
    pub(crate) scale: Option<Scale>,
    pub(crate) texts: Option<Texts>,
    /// Where a text stands: `middle right`, `outside`.
    pub(crate) text_place: Option<String>,
    pub(crate) text_size: Option<usize>,
    pub(crate) text_colour: Option<String>,
    /// Whether cells have their number as their text.
    pub(crate) numbered: Option<bool>,
    /// What is told under the pointer.
    pub(crate) told: Option<Texts>,
    /// The same, where one sentence serves all: `{row} → {column}: {number}`, and `{text}`
    /// or `{told}`.
    pub(crate) pattern: Option<String>,
    /// In a live figure, what a press on a place sets: `query={row}&key={column}` of a cell,
    /// `head={nth}` of another mark, each counted from 0.
    pub(crate) picks: Option<String>,
    /// Whether it is seen at first; another one may be, in its place.
    pub(crate) shown: Option<bool>,
    pub(crate) unclipped: Option<bool>,
    #[serde(skip)]
    pub(crate) is_silent: bool,
    /// The points before they were rounded.
    #[serde(skip)]
    exact: Vec<[f64; 2]>,
    #[serde(skip)]
    plain_name: String,
    #[serde(skip)]
    pub(crate) has_gaps: bool,
}

impl Mark {
    /// Lines through points.
    pub fn lines(x: impl Values, y: impl Values) -> Self {
        Self::at_points(x, y, [true, false, false])
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
        Self::at_points(x, y, [false, true, false])
    }

    /// Lines, and a mark at each of their points.
    pub fn lines_and_marks(x: impl Values, y: impl Values) -> Self {
        Self::at_points(x, y, [true, true, false])
    }

    /// A text at each point, and nothing else.
    pub fn texts(x: impl Values, y: impl Values, texts: impl Values) -> Self {
        let texts = Some(Texts::new(texts));
        Self { texts, ..Self::at_points(x, y, [false, false, true]) }
    }

    /// A thin line between two points, which measures nothing.
    pub fn rule([from, to]: [[f64; 2]; 2]) -> Self {
        let line = Self::lines([from[0], to[0]], [from[1], to[1]]);
        line.in_legend(false).line(NEUTRAL, 1.0).dashed("dot").silent()
    }

    fn at_points(
        x: impl Values,
        y: impl Values,
        [lines, marks, texts]: [bool; 3],
    ) -> Self {
        Self::of(Shape::Points { x: x.column(), y: y.column(), lines, marks, texts })
    }

    /// Bars of these heights at 0, 1, 2, …
    pub fn bars(heights: impl Values) -> Self {
        Self::of(Shape::bars(heights.column(), false))
    }

    /// Bars of these lengths, which lie under one another.
    pub fn lying_bars(lengths: impl Values) -> Self {
        Self::of(Shape::bars(lengths.column(), true))
    }

    /// Rows of cells, `gap` pixels apart.
    pub fn cells(rows: impl IntoIterator<Item: Values>, gap: usize) -> Self {
        let rows = rows.into_iter().map(Values::column).collect();
        Self::of(Shape::Cells { rows, gap })
    }

    /// With gaps for some of the cells, by row and column.
    pub(crate) fn without(mut self, is_gap: impl Fn(usize, usize) -> bool) -> Self {
        if let Shape::Cells { rows, .. } = &mut self.shape {
            for (i, row) in rows.iter_mut().enumerate() {
                for (j, cell) in row.iter_mut().enumerate() {
                    *cell = cell.take().filter(|_| !is_gap(i, j));
                }
            }
        }
        Self { has_gaps: true, ..self }
    }

    /// On the axes of the `nth` panel.
    pub fn on(self, nth: usize) -> Self {
        Self { panel: Some(nth), ..self }
    }

    /// With the name that the legend shows.
    pub fn named(self, plain: &str) -> Self {
        Self { name: Some(escaped(plain)), plain_name: plain.to_owned(), ..self }
    }

    /// The same, where the name may be a formula: `b^O`.
    pub fn called(self, formula: &str) -> Self {
        Self { name: Some(crate::formula(formula)), ..self.named(formula) }
    }

    /// One of several that share an entry of the legend, which stands for `is_first`.
    pub fn of_group(self, group: impl Into<String>, is_first: bool) -> Self {
        self.with_group(group).in_legend(is_first)
    }

    /// One of several that are shown and hidden together.
    pub(crate) fn with_group(self, group: impl Into<String>) -> Self {
        Self { group: Some(group.into()), ..self }
    }

    /// With an entry in the legend, or without one.
    pub fn in_legend(self, is_shown: bool) -> Self {
        Self { legend: Some(is_shown), ..self }
    }

    /// With a line of this colour, in pixels wide.
    pub fn line(self, colour: &str, width: f64) -> Self {
        let dash = self.line.and_then(|line| line.dash);
        let line = Stroke { colour: Some(colour.to_owned()), width: Some(width), dash };
        Self { line: Some(line), ..self }
    }

    /// With a line of these dashes, one of [`DASHES`].
    pub fn dashed(mut self, dash: &str) -> Self {
        self.line.get_or_insert_default().dash = Some(dash.to_owned());
        self
    }

    /// With marks of this shape and of this size, in pixels.
    pub fn marked(self, symbol: &str, size: usize) -> Self {
        Self { symbol: Some(symbol.to_owned()), ..self.sized(size) }
    }

    /// With marks of this size, in pixels.
    pub fn sized(self, size: usize) -> Self {
        Self { size: Some(size), ..self }
    }

    /// With bars or marks of this colour, or of one each.
    pub fn coloured(self, colour: impl Into<Value>) -> Self {
        Self { colour: Colours::new(colour.into()), ..self }
    }

    /// With bars or marks of one colour each.
    pub fn coloured_each(self, colours: impl Values) -> Self {
        self.coloured(colours.json())
    }

    /// With marks that have a line around them, of this colour and in pixels wide.
    pub fn outlined(self, colour: &str, width: impl Into<Value>) -> Self {
        let width = as_number(width);
        Self { outline: Some(Outline { colour: colour.to_owned(), width }), ..self }
    }

    /// Seen through: of this opacity, from 0 to 1.
    pub fn opacity(self, opacity: f64) -> Self {
        Self { opacity: Some(opacity), ..self }
    }

    /// The same for each mark, so that what lies on another is seen.
    pub fn mark_opacity(self, opacity: f64) -> Self {
        Self { mark_opacity: Some(opacity), ..self }
    }

    /// With hatched bars, or with full ones.
    pub fn hatched(self, are_hatched: bool) -> Self {
        Self { hatched: Some(are_hatched), ..self }
    }

    /// With places of which each sets something in a live figure: `row=verb&column=2`, and
    /// nothing where that is empty. A cell or a mark is pressed, and over bars a hand drags.
    pub fn sets(self, settings: impl Values) -> Self {
        Self { sets: Some(Texts::new(settings)), ..self }
    }

    /// With a mark that follows the pointer along x wherever its panel is pressed, in a live
    /// figure: where it is dragged to is what the control of this key is set to.
    pub fn dragged_along_x(self, key: &str) -> Self {
        let drags = Drags { axis: "x", keys: Texts::new([key]) };
        Self { drags: Some(drags), ..self }
    }

    /// With standing bars or marks of which each is dragged up and down in a live figure: the
    /// control of its key is set to where it is dragged to. `scores.0.3` is an entry of a
    /// matrix, by row and column.
    pub fn dragged_along_y(self, keys: impl Values) -> Self {
        let drags = Drags { axis: "y", keys: Texts::new(keys) };
        Self { drags: Some(drags), ..self }
    }

    /// With cells in the colours of a scale between these ends.
    pub fn scaled<T: Into<Value>>(self, stops: Stops, ends: [T; 2]) -> Self {
        let ends = ends.map(as_number);
        Self { scale: Some(Scale { stops, ends }), ..self }
    }

    /// With a text in each bar or beside each mark: at `middle right` of it, `outside` of a
    /// bar, or in the bar where it fits: `auto`.
    pub fn written(mut self, texts: impl Values, position: &str) -> Self {
        if let Shape::Points { lines: false, marks: true, texts, .. } = &mut self.shape {
            *texts = true;
        }
        Self { texts: Some(Texts::new(texts)), ..self }.placed(position)
    }

    /// With its texts at this side of their places: `middle right`.
    pub fn placed(self, position: &str) -> Self {
        Self { text_place: Some(position.to_owned()), ..self }
    }

    /// With its texts left out where they would lie on others.
    pub(crate) fn unwritten(mut self) -> Self {
        if let Shape::Points { texts, .. } = &mut self.shape {
            *texts = false;
        }
        self
    }

    /// With a text in each cell.
    pub fn lettered(self, texts: impl Values) -> Self {
        Self { texts: Some(Texts::new(texts)), ..self }
    }

    /// With its number, to three decimals, in each cell.
    pub fn numbered(self) -> Self {
        Self { numbered: Some(true), ..self }
    }

    /// With texts of this size, in pixels.
    pub fn text_size(self, size: usize) -> Self {
        Self { text_size: Some(size), ..self }
    }

    /// With texts of this colour.
    pub fn text_colour(self, colour: &str) -> Self {
        Self { text_colour: Some(colour.to_owned()), ..self }
    }

    /// With what is told under the pointer, one text per point, bar or cell.
    pub fn hover(self, texts: impl Values) -> Self {
        Self { told: Some(Texts::new(texts)), ..self }
    }

    /// With one sentence for all that is told under the pointer, in which `{row}`,
    /// `{column}` and `{number}` stand for those of a cell, `{text}` for its text and
    /// `{told}` for what it tells itself.
    pub fn tells(self, pattern: impl Into<String>) -> Self {
        Self { pattern: Some(pattern.into()), ..self }
    }

    /// With settings that a press on a place sets, if the figure is live:
    /// `query={row}&key={column}` of a cell, `head={nth}` of any other mark, from 0.
    pub fn picks(self, settings: impl Into<String>) -> Self {
        Self { picks: Some(settings.into()), ..self }
    }

    /// With cells of which a press, or a stroke over several, turns those of the table with
    /// this key on or off, if the figure is live.
    pub fn paints(self, key: &str) -> Self {
        Self { paints: Some(key.to_owned()), ..self }
    }

    /// With nothing under the pointer.
    pub fn silent(self) -> Self {
        Self { is_silent: true, ..self }
    }

    /// Seen at first, or when it replaces another one.
    pub(crate) fn shown(self, is_shown: bool) -> Self {
        Self { shown: Some(is_shown), ..self }
    }

    /// Not cut off where the axes end.
    pub fn unclipped(self) -> Self {
        Self { unclipped: Some(true), ..self }
    }

    /// With nothing drawn where an entry is missing.
    pub fn with_gaps(self) -> Self {
        Self { has_gaps: true, ..self }
    }

    pub(crate) fn panel(&self) -> usize {
        self.panel.unwrap_or(0)
    }

    pub(crate) fn plain_name(&self) -> &str {
        &self.plain_name
    }

    /// Whether it is no rule: something is told of it.
    pub(crate) fn measures(&self) -> bool {
        !self.is_silent
    }

    fn of(shape: Shape) -> Self {
        Self { shape, ..Self::default() }
    }
}

/// Rows of what a map has in each of its cells, by row and column.
pub fn by_cell<T>(
    (n_rows, n_columns): (usize, usize),
    cell: impl Fn(usize, usize) -> T,
) -> Vec<Vec<T>> {
    (0..n_rows).map(|i| (0..n_columns).map(|j| cell(i, j)).collect()).collect()
}

#[cfg(test)]
mod tests;
