//! Panels of marks, and the figure that they make.
//!
//! ```text
//! Axis, Axis ─▶ Panel ─┐
//! Mark ────────────────┴▶ Chart ─▶ Figure
//! ```
//!
//! A figure says what it has of its own: its panels and what is marked on them. Where the
//! panels lie, what a phone shows, whether the numbers can be drawn, the tables, the sketch
//! and the sentence follow from these; each of the last three can be replaced by a better
//! one.

use crate::axis::Axis;
use crate::figure::Drawn;
use crate::grid::Grid;
use crate::layout::legend_lines;
use crate::marks::Mark;
use crate::panels::{self, NARROW, Panel, Place, WIDE};
use crate::spec::{Grouping, Layout, Plot};
use crate::{Figure, Result, Table, defaults, sketch};

/// Panels side by side where there is room, one above the other on a phone.
pub struct Chart {
    title: String,
    panels: Vec<Panel>,
    marks: Vec<Mark>,
    /// Where there is room; a phone has one.
    n_columns: [usize; 2],
    /// For the labels of a panel's y axis, in pixels.
    left: f64,
    /// Whether a panel's title stands over its plot, and not over its labels too.
    left_once: bool,
    /// For the labels of a panel's x axis.
    below: f64,
    /// For a legend over all panels, where there is room and on a phone.
    above: [f64; 2],
    grouping: Option<Grouping>,
    bar_gap: Option<f64>,
    /// Where there is room and on a phone, if they differ in more than this type says.
    layouts: Option<[Layout; 2]>,
    alternative: Option<String>,
    sketch: Option<String>,
    tables: Vec<Table>,
    is_captioned: bool,
}

impl Chart {
    /// Without panels so far. The title states what is to be seen.
    pub fn new(title: impl Into<String>) -> Self {
        let Place { left, below, .. } = Place::default();
        Self {
            title: title.into(),
            panels: Vec::new(),
            marks: Vec::new(),
            n_columns: [1; 2],
            left,
            left_once: false,
            below,
            above: [0.0; 2],
            grouping: None,
            bar_gap: None,
            layouts: None,
            alternative: None,
            sketch: None,
            tables: Vec::new(),
            is_captioned: false,
        }
    }

    /// Maps of one shape in a grid, one a name: rows down, columns across, all cells of one
    /// size. Their marks are [`Mark::cells`].
    pub fn grid(
        title: impl Into<String>,
        names: &[String],
        rows: &[String],
        columns: &[String],
    ) -> Self {
        let grid = Grid { names: names.to_vec(), rows, columns, above: 0.0 };
        // What the marks stand for; where they lie is the layouts'.
        let panel = |name: &String| {
            Panel::new(name.clone(), Axis::across(columns, 11), Axis::down(rows, 11), 0.0)
        };
        Self::new(title).panels(names.iter().map(panel)).laid_out(grid.layouts())
    }

    /// With one more panel, and what is marked on it.
    pub fn panel(mut self, panel: Panel, marks: impl IntoIterator<Item = Mark>) -> Self {
        let nth = self.panels.len();
        self.panels.push(panel);
        self.marks.extend(marks.into_iter().map(|mark| mark.on(nth)));
        self
    }

    /// With these panels, and no marks yet.
    pub fn panels(mut self, panels: impl IntoIterator<Item = Panel>) -> Self {
        self.panels.extend(panels);
        self
    }

    /// With these marks, each on the first panel or on the one that it was put
    /// [`on`](Mark::on).
    pub fn marks(mut self, marks: impl IntoIterator<Item = Mark>) -> Self {
        self.marks.extend(marks);
        self
    }

    /// With so many panels side by side where there is room.
    pub fn columns(self, n_columns: usize) -> Self {
        Self { n_columns: [n_columns, self.n_columns[1]], ..self }
    }

    /// The same on a phone, where panels stand one above the other otherwise.
    pub fn narrow_columns(self, n_columns: usize) -> Self {
        Self { n_columns: [self.n_columns[0], n_columns], ..self }
    }

    /// With so much room for the labels of a panel's y axis, in pixels.
    pub fn left(self, left: f64) -> Self {
        Self { left, ..self }
    }

    /// The same, where only the first panel of a row has such labels.
    pub fn left_once(self, left: f64) -> Self {
        Self { left, left_once: true, ..self }
    }

    /// With so much room for the labels of a panel's x axis, in pixels.
    pub fn below(self, below: f64) -> Self {
        Self { below, ..self }
    }

    /// With so much room for a legend over all panels, where there is room and on a phone,
    /// in pixels: [`legend_room`] knows how much.
    pub fn above(self, above: [f64; 2]) -> Self {
        Self { above, ..self }
    }

    /// With the bars of several marks side by side, or on one another.
    pub fn grouped(self, grouping: Grouping) -> Self {
        Self { grouping: Some(grouping), ..self }
    }

    /// With so much between bars, as a part of a place.
    pub fn bar_gap(self, gap: f64) -> Self {
        Self { bar_gap: Some(gap), ..self }
    }

    /// With a layout of its own where there is room, and one on a phone.
    pub(crate) fn laid_out(self, layouts: [Layout; 2]) -> Self {
        Self { layouts: Some(layouts), ..self }
    }

    /// With a panel or more whose sizes depend on the width, in pixels: where there is
    /// room, and on a phone.
    pub fn by_width(self, panels: impl Fn(f64) -> (Vec<Panel>, Place)) -> Self {
        let [wide, narrow] = [WIDE, NARROW].map(panels);
        let shown = self.panels(wide.0.iter().cloned());
        let layouts = [wide, narrow].map(|(panels, at)| panels::layout(panels, &at));
        shown.laid_out(layouts)
    }

    /// With a sentence or two in place of the default: what those read who do not see it.
    pub fn says(self, alternative: impl Into<String>) -> Self {
        Self { alternative: Some(alternative.into()), ..self }
    }

    /// With one more sentence after the one that it [`says`](Self::says).
    pub fn adds(self, sentence: impl AsRef<str>) -> Self {
        let said = self.alternative.as_deref().unwrap_or_default();
        let both = format!("{said} {}", sentence.as_ref());
        self.says(both)
    }

    /// With tables in place of the default ones.
    pub fn tables(mut self, tables: impl IntoIterator<Item = Table>) -> Self {
        self.tables.extend(tables);
        self
    }

    /// With a sketch in place of the tables.
    pub fn sketch(self, sketch: impl Into<String>) -> Self {
        Self { sketch: Some(sketch.into()), ..self }
    }

    /// With the caption of each table in the sketch that is made of them.
    pub fn captioned(self) -> Self {
        Self { is_captioned: true, ..self }
    }

    /// What is to be shown.
    ///
    /// # Errors
    /// [`Error::Sizes`](crate::Error::Sizes) for no marks; [`Error::Length`] for lists of a
    /// mark that do not fit one another; [`Error::NotFinite`] for an entry that is no
    /// number, and [`Error::Number`] for one that is not above 0 on a logarithmic axis.
    ///
    /// [`Error::Length`]: crate::Error::Length
    /// [`Error::NotFinite`]: crate::Error::NotFinite
    /// [`Error::Number`]: crate::Error::Number
    pub fn figure(mut self) -> Result<Figure> {
        attention::Error::expect_positive("the number of marks", self.marks.len())?;
        for mark in &self.marks {
            mark.check(self.panels.get(mark.panel()))?;
        }
        if self.tables.is_empty() {
            self.tables = defaults::tables(&self.panels, &self.marks);
        }
        let alternative = self.alternative.take();
        let alternative =
            alternative.unwrap_or_else(|| defaults::sentence(&self.panels, &self.marks));
        let tables = std::mem::take(&mut self.tables);
        let sketch = self.sketch.take().unwrap_or_else(|| match self.is_captioned {
            true => sketch::captioned(&tables),
            false => sketch::tables(&tables),
        });
        let layouts = self.layouts.take();
        let layouts = layouts.unwrap_or_else(|| [0, 1].map(|at| self.layout(at)));
        let layouts = layouts.map(|layout| Layout {
            grouping: self.grouping.or(layout.grouping),
            bar_gap: self.bar_gap.or(layout.bar_gap),
            ..layout
        });
        let text = Text { alternative, sketch, tables };
        Ok(figure(self.title, text, self.marks, layouts))
    }

    /// Where there is room (0), and on a phone (1).
    fn layout(&self, at: usize) -> Layout {
        let place = Place {
            width: [WIDE, NARROW][at],
            n_columns: self.n_columns[at],
            left: self.left,
            left_once: self.left_once,
            below: self.below,
            above: self.above[at],
        };
        panels::layout(self.panels.clone(), &place)
    }
}

/// What a figure says without being drawn.
pub(crate) struct Text {
    pub(crate) alternative: String,
    pub(crate) sketch: String,
    pub(crate) tables: Vec<Table>,
}

/// A figure whose two layouts, wide and narrow, differ in more than a [`Chart`]'s.
pub(crate) fn figure(
    title: impl Into<String>,
    text: Text,
    marks: Vec<Mark>,
    [wide, narrow]: [Layout; 2],
) -> Figure {
    drawn(
        title,
        text,
        Drawn::Chart(Box::new(Plot { marks, wide, narrow, notebook: None })),
    )
}

/// A figure of what is drawn already.
pub(crate) fn drawn(title: impl Into<String>, text: Text, drawn: Drawn) -> Figure {
    let Text { alternative, sketch, tables } = text;
    Figure { title: title.into(), alternative, sketch, tables, drawn }
}

/// Room for a legend of these names with `around` pixels beside its lines, where there is
/// room and on a phone, in pixels.
pub fn legend_room<'a>(
    names: impl Iterator<Item = &'a str> + Clone,
    around: f64,
) -> [f64; 2] {
    [WIDE, NARROW].map(|width| around + 20.0 * legend_lines(names.clone(), width))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::Axis;

    fn bars(heights: &[f64]) -> Chart {
        let heads = ["head 0", "head 1"].map(str::to_owned);
        let panel =
            Panel::new("lost", Axis::across(&heads, 12), Axis::numbers(1.0), 200.0);
        Chart::new("One head is needed")
            .panel(panel, [Mark::bars(heights.to_vec()).named("place")])
    }

    #[test]
    fn tables_sketch_and_sentence_follow_from_the_marks() {
        let figure = bars(&[0.25, 0.75]).figure().unwrap();
        insta::assert_snapshot!(figure, @r"
        One head is needed

                place
        head 0   0.25
        head 1   0.75
        ");
        insta::assert_snapshot!(figure.alternative(), @"lost: the largest of place is 0.75, at head 1.");
    }

    #[test]
    fn each_of_them_can_be_replaced() {
        let table = Table::new("Own", ["", "of it"], [["a".to_owned(), "1".to_owned()]]);
        let figure = bars(&[0.5, 0.5]).says("Two bars.").tables([table]).sketch("▌▌");
        let figure = figure.figure().unwrap();
        assert_eq!(figure.alternative(), "Two bars.");
        assert_eq!((figure.sketch(), figure.tables()[0].caption.as_str()), ("▌▌", "Own"));
    }

    #[test]
    fn what_cannot_be_drawn_is_refused() {
        let refused = |chart: Chart| chart.figure().unwrap_err().to_string();
        insta::assert_snapshot!(refused(Chart::new("")), @"the number of marks is 0, and must be at least 1");
        insta::assert_snapshot!(refused(bars(&[0.5, f64::NAN])), @"entry 1 of y of “place” is no finite number");
        let numbers = || Axis::numbers(1.0);
        let on =
            |y, mark| Chart::new("").panel(Panel::new("", numbers(), y, 200.0), [mark]);
        let log = Axis::decades([0.1, 1.0], crate::log_axis::power_of_ten);
        insta::assert_snapshot!(refused(on(log, Mark::lines([0.0, 1.0], [0.5, 0.0]))), @"y of the marks of panel 0 is 0, expected above 0");
        insta::assert_snapshot!(refused(on(numbers(), Mark::lines([0.0, 1.0], [0.5]))), @"y of the marks of panel 0 has 1 entries, expected 2");
        let gap = Mark::lines([0.0, 1.0], [Some(0.5), None]);
        assert!(on(numbers(), gap.clone().with_gaps()).figure().is_ok());
        insta::assert_snapshot!(refused(on(numbers(), gap)), @"entry 1 of y of the marks of panel 0 is no finite number");
        let rows = [vec![0.0, 1.0], vec![0.5]];
        insta::assert_snapshot!(refused(on(numbers(), Mark::cells(rows, 1))), @"a row of the marks of panel 0 has 1 entries, expected 2");
    }
}
