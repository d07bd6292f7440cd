//! The Line in small: where a chapter is on it.

use super::{Anchor, Canvas, Ink, Look, Rect, Station, figure};
use crate::chart::Text;
use crate::{Error, Figure, Result, Table};

/// What a chapter does with its stations.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Way {
    /// It is about them.
    Forwards,
    /// It goes from the output to the words.
    Backwards,
    /// It changes them.
    Changed,
    /// It takes them together, piece by piece.
    Framed,
}

impl Way {
    const NAMED: [(&'static str, Self); 4] = [
        ("forwards", Self::Forwards),
        ("backwards", Self::Backwards),
        ("changed", Self::Changed),
        ("framed", Self::Framed),
    ];

    /// The way that a chapter calls so.
    ///
    /// # Errors
    /// [`Error::NoSuchPart`] for another name.
    pub fn named(name: &str) -> Result<Self> {
        Error::find_part(name, &Self::NAMED)
    }

    fn ink(self) -> Ink {
        match self {
            Self::Forwards | Self::Framed => Ink::Lit,
            Self::Backwards | Self::Changed => Ink::Head(1),
        }
    }

    fn verb(self) -> &'static str {
        match self {
            Self::Forwards => "This chapter is about",
            Self::Backwards => "This chapter goes backwards through",
            Self::Changed => "This chapter changes",
            Self::Framed => "This chapter takes together",
        }
    }
}

const HEIGHT: f64 = 56.0;
/// Of a picture: its side, and where it begins.
const SIDE: f64 = 24.0;
const TOP: f64 = 7.0;
/// Where the name under it is.
const NAME: f64 = 44.0;

/// The stations of the Line side by side, those of a chapter lit.
pub fn line_strip(lit: &[Station], way: Way) -> Figure {
    let all = Station::ALL.map(|(_, station, _)| station);
    let names: Vec<&str> =
        all.iter().filter(|it| lit.contains(it)).map(|it| it.name()).collect();
    let title = match names.len() == all.len() {
        true => format!("{} all of it", way.verb()),
        false => format!("{} {}", way.verb(), names.join(", ")),
    };
    let sketch: Vec<String> = all
        .iter()
        .map(|it| match lit.contains(it) {
            true => format!("[{}]", it.name()),
            false => it.name().to_owned(),
        })
        .collect();
    let arrow = if way == Way::Backwards { " ← " } else { " → " };
    let rows = all.iter().map(|it| {
        let is_lit = if lit.contains(it) { "yes" } else { "no" };
        [it.name().to_owned(), is_lit.to_owned()]
    });
    let text = Text {
        alternative: format!("The way from words to an output. {title}."),
        sketch: sketch.join(arrow),
        tables: vec![Table::new("Stations", ["station", "in this chapter"], rows)],
    };
    let drawn = [720.0, 350.0].map(|width| drawn(width, lit, way));
    figure(title, text, drawn)
}

fn drawn(width: f64, lit: &[Station], way: Way) -> Canvas {
    let mut canvas = Canvas::new(width, HEIGHT);
    let pitch = width / Station::ALL.len() as f64;
    for (nth, (_, station, name)) in Station::ALL.into_iter().enumerate() {
        let middle = (nth as f64 + 0.5) * pitch;
        let is_lit = lit.contains(&station);
        let ink = if is_lit { way.ink() } else { Ink::Muted };
        let place = Rect { x: middle - SIDE / 2.0, y: TOP, w: SIDE, h: SIDE };
        picture(&mut canvas, station, &place, ink);
        let look = Look {
            ink: if is_lit { Ink::Plain } else { Ink::Muted },
            is_bold: is_lit,
            room: pitch - 1.0,
            ..Look::note()
        };
        canvas.text(name, [middle, NAME], Anchor::Middle, look);
        if nth > 0 {
            let [left, right] = [middle - pitch + SIDE / 2.0, middle - SIDE / 2.0];
            let y = TOP + SIDE / 2.0;
            let (left, right) = ([left + 3.0, y], [right - 3.0, y]);
            match way {
                Way::Backwards => canvas.arrow(right, left, Ink::Head(1)),
                _ => canvas.arrow(left, right, Ink::Muted),
            }
        }
    }
    if way == Way::Framed {
        frame(&mut canvas, pitch, lit);
    }
    canvas
}

/// Around what is taken together.
fn frame(canvas: &mut Canvas, pitch: f64, lit: &[Station]) {
    let places: Vec<f64> = lit.iter().map(|&it| it as usize as f64).collect();
    let first = places.iter().copied().fold(f64::INFINITY, f64::min);
    let last = places.iter().copied().fold(0.0, f64::max);
    let x = first * pitch + 1.0;
    let w = (last - first + 1.0) * pitch - 2.0;
    canvas.dashed(&Rect { x, y: 1.0, w, h: HEIGHT - 2.0 }, Ink::Plain);
}

/// A picture of what a station makes.
fn picture(canvas: &mut Canvas, station: Station, at: &Rect, ink: Ink) {
    match station {
        Station::Words => {
            for (nth, length) in [0.55, 0.65, 1.0].into_iter().enumerate() {
                let row = at.row(nth, 3);
                let y = row.middle()[1];
                canvas.line([at.x, y], [at.x + length * at.w, y], ink);
            }
        }
        Station::Project => (0..3).for_each(|nth| {
            let column = at.column(nth, 3);
            canvas.cell(&Rect { w: column.w - 2.0, ..column }, ink);
        }),
        Station::Scores => grid(canvas, at, 3, ink),
        Station::Mask => {
            grid(canvas, at, 3, ink);
            let [x, y, side] = [at.x, at.y, at.w / 3.0];
            let corners = [[1, 0], [3, 0], [3, 2], [2, 2], [2, 1], [1, 1]];
            let at = |[column, row]: [i32; 2]| {
                [x + f64::from(column) * side, y + f64::from(row) * side]
            };
            canvas.filled(&corners.map(at), ink);
        }
        Station::Softmax | Station::Mix => shares(canvas, station, at, ink),
        Station::Concat => {
            for nth in 0..2 {
                let half = at.column(nth, 2);
                canvas.cell(&Rect { y: at.y + 4.0, h: at.h - 8.0, ..half }, ink);
            }
        }
        Station::Output => grid(canvas, at, 4, ink),
        Station::Out => {
            (0..3).for_each(|nth| canvas.cell(&at.row(nth, 3), ink));
        }
    }
}

/// So many cells a side.
fn grid(canvas: &mut Canvas, at: &Rect, n: usize, ink: Ink) {
    canvas.cell(at, ink);
    for nth in 1..n {
        let [x, y] = [at.column(nth, n).x, at.row(nth, n).y];
        canvas.line([x, at.y], [x, at.bottom()], ink);
        canvas.line([at.x, y], [at.right(), y], ink);
    }
}

/// Bars of one length, cut into shares; or those strips one upon the other.
fn shares(canvas: &mut Canvas, station: Station, at: &Rect, ink: Ink) {
    let cuts = [[0.33, 0.66], [0.2, 0.4], [0.2, 0.8]];
    for (nth, cuts) in cuts.into_iter().enumerate() {
        let row = at.row(nth, 3);
        let row = Rect { y: row.y + 1.5, h: row.h - 3.0, ..row };
        canvas.cell(&row, ink);
        if station == Station::Softmax {
            for cut in cuts {
                let x = row.x + cut * row.w;
                canvas.line([x, row.y], [x, row.bottom()], ink);
            }
        }
    }
}
