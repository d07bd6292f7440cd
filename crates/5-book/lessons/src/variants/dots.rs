//! Runs as dots: a row a setting, a dot each of its runs, and what is said of the row marked
//! on it.

use figures::{Axis, Chart, Figure, Mark, Panel, Place, Table, WIDE, label_width};

use crate::numbers::{ends, written};

/// A panel: the runs of each row, and one number of each row that is marked, in percent.
pub(super) struct Dots {
    pub(super) title: String,
    /// `[row][run]`
    pub(super) runs: Vec<Vec<f64>>,
    /// `[row]`
    pub(super) marked: Vec<f64>,
}

/// Seeds, and their median.
pub(super) const SEEDS: [(&str, &str); 2] =
    [("a seed", "#0278e7"), ("median", "#0278e7")];

const FONT_SIZE: usize = 12;
const ROW: f64 = 27.0;

/// Panels of the same rows, side by side where there is room. `names` says what a dot is
/// and what is marked, each with its colour.
///
/// # Errors
/// A number that is none.
pub(super) fn dots(
    title: &str,
    rows: &[String],
    names: [(&str, &'static str); 2],
    range: [f64; 2],
    panels: &[Dots],
) -> figures::Result<Figure> {
    let (left, end) =
        (label_width(rows, FONT_SIZE), range[1] + 0.04 * (range[1] - range[0]));
    // Side by side only the first says what its rows are.
    let panel = |nth: usize, n_columns: usize| {
        let x = Axis::between([range[0], end]).titled("%");
        let x = x.numbered_at([range[0], (range[0] + range[1]) / 2.0, range[1]]);
        let y = Axis::down(rows, FONT_SIZE).labelled(nth % n_columns == 0);
        Panel::new(panels[nth].title.clone(), x, y, ROW * rows.len() as f64)
    };
    let marks = panels.iter().enumerate().flat_map(|(nth, it)| it.marks(nth, names));
    Chart::new(title)
        .by_width(|width| {
            let n_columns = if width == WIDE { panels.len() } else { 1 };
            let drawn = (0..panels.len()).map(|nth| panel(nth, n_columns)).collect();
            let place = Place {
                width,
                n_columns,
                left,
                left_once: true,
                above: 34.0,
                ..Place::default()
            };
            (drawn, place)
        })
        .panels((0..panels.len()).map(|nth| panel(nth, 1)))
        .marks(marks)
        .tables(panels.iter().map(|it| it.table(rows, names[1].0)))
        .captioned()
        .says(format!(
            "Rows of dots, in percent: {}.",
            panels.iter().map(|it| it.sentence(rows)).collect::<Vec<_>>().join(". ")
        ))
        .figure()
}

impl Dots {
    /// Dots a little above and below their row, so that equal ones are seen.
    fn marks(
        &self,
        nth: usize,
        [(dot, hue), (marked, other)]: [(&str, &str); 2],
    ) -> [Mark; 2] {
        let each = || {
            let rows = self.runs.iter().enumerate();
            rows.flat_map(|(row, runs)| runs.iter().enumerate().map(move |it| (row, it)))
        };
        let y = each().map(|(row, (run, _))| row as f64 + [-0.16, 0.0, 0.16][run % 3]);
        let x: Vec<f64> = each().map(|(_, (_, &score))| score).collect();
        let runs = Mark::points(x.clone(), y.collect::<Vec<_>>())
            .named(dot)
            .marked("circle", 7)
            .coloured(hue)
            .mark_opacity(0.45)
            .hover(x.iter().map(|x| format!("{dot}: {} %", written(*x, 1))));
        let rows = (0..self.marked.len()).map(|row| row as f64).collect::<Vec<_>>();
        let of_rows = Mark::points(self.marked.clone(), rows)
            .named(marked)
            .marked("diamond", 10)
            .coloured(other)
            .hover(self.marked.iter().map(|x| format!("{marked}: {} %", written(*x, 1))));
        [runs, of_rows].map(|mark| mark.on(nth).in_legend(nth == 0))
    }

    fn table(&self, rows: &[String], marked: &str) -> Table {
        let columns = [marked, "least", "most"].map(str::to_owned);
        let cell = |row: usize, at: usize| {
            let [least, _, most] = ends(self.runs[row].iter().copied());
            written([self.marked[row], least, most][at], 1)
        };
        Table::grid(self.title.clone(), "", rows, &columns, cell)
    }

    fn sentence(&self, rows: &[String]) -> String {
        let each = rows.iter().zip(&self.marked);
        let each = each.map(|(row, marked)| format!("{row} {}", written(*marked, 1)));
        format!("{}: {}", self.title, each.collect::<Vec<_>>().join(", "))
    }
}
