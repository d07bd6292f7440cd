//! The trained converter of dates, and what it does with a line of text.

use std::sync::OnceLock;

use anyhow::{Context, Result};
use attention::Matrix;
use figures::{
    Axis, Chart, Figure, Heads, Mark, NEUTRAL, Panel, escaped, head_maps, palette,
    rounded, share,
};
use training::dates::{DateConverter, DateTexts, Dates};

pub use training::dates::FILE;

/// The number of its heads: controls are made where the model is not there.
pub const N_HEADS: usize = 4;

static MODEL: OnceLock<DateConverter> = OnceLock::new();

/// The trained converter. A page's module is built without its weights, and must be
/// [given](give) them first.
///
/// # Errors
/// In a page, if it was not given.
pub fn opened() -> Result<&'static DateConverter> {
    #[cfg(not(target_arch = "wasm32"))]
    if MODEL.get().is_none() {
        let embedded = DateConverter::from_safetensors(FILE)?;
        MODEL.get_or_init(|| embedded);
    }
    MODEL.get().context("the converter of dates has not been loaded")
}

/// Gives the bytes of [`FILE`] to what runs without them.
///
/// # Errors
/// If they are another file's.
pub fn give(bytes: Vec<u8>) -> Result<()> {
    let model = DateConverter::from_safetensors(bytes)?;
    MODEL.get_or_init(|| model);
    Ok(())
}

/// What is written after a line of text was read, and where the heads looked meanwhile.
pub struct Translation {
    /// The line that was read.
    pub read: String,
    /// What is written.
    pub text: String,
    /// A map per head, `[N_TARGET, n_source]`.
    pub maps: Vec<Matrix>,
}

impl Translation {
    /// Has a model read a line and write.
    ///
    /// # Errors
    /// A letter that the model does not know, by name; a line that is too long.
    pub fn by(model: &DateConverter, read: &str) -> Result<Self> {
        let texts = DateTexts::of_text(read)?;
        let (letters, maps) = model.write_and_look(&texts)?;
        let maps = maps.iter().map(|map| map.map(f64::from)).collect();
        Ok(Self { read: read.to_owned(), text: Dates::letters(&letters), maps })
    }

    /// Its maps: letters that are written down, letters that were read across.
    ///
    /// # Errors
    /// If the maps have another size.
    pub fn figure(&self, title: impl Into<String>) -> Result<Figure> {
        let letters = |text: &str| -> Vec<String> {
            text.chars().map(|letter| seen(letter).to_string()).collect()
        };
        let heads = Heads::new(&self.maps, &letters(&self.text), &letters(&self.read))?;
        Ok(head_maps(title, &heads))
    }

    /// The same as ribbons from each letter that is written, below, up to the letters that the
    /// head attends to, wider for a larger weight, and faint but for the largest of a letter;
    /// grey in the heads that are removed. `presses` gives what a press on a head does and what
    /// it sets; where `meant` is known, letters that are wrong stand out.
    ///
    /// # Errors
    /// As [`figure`](Self::figure).
    pub fn ribbons(
        &self,
        title: impl Into<String>,
        removed: &[usize],
        presses: impl Fn(usize) -> [String; 2],
        meant: Option<&str>,
    ) -> Result<Figure> {
        let maps = self.figure("")?;
        let n_read = self.read.chars().count() as f64;
        let mut chart = Chart::new(title).columns(2).left(8.0).below(6.0);
        for (head, map) in self.maps.iter().enumerate() {
            let (name, colour) = match removed.contains(&head) {
                false => (format!("head {head}"), palette::beside_wrong(head)),
                true => (format!("head {head}, removed"), NEUTRAL),
            };
            let [action, sets] = presses(head);
            let x = Axis::hidden([-0.9, n_read - 0.1]);
            let panel = Panel::new(name, x, Axis::hidden([-0.45, 1.4]), 150.0);
            let ribbons = [(false, 0.25), (true, 0.9)].into_iter().flat_map(|look| {
                WIDTHS.iter().filter_map(move |step| ribbons(map, *step, look, colour))
            });
            let ribbons = ribbons.map(|mark| mark.tells(&*action).picks(&*sets));
            chart = chart.panel(panel, ribbons.chain(self.letters(map, meant)));
        }
        let tables = maps.tables().iter().cloned();
        Ok(chart
            .tables(tables)
            .sketch(maps.sketch())
            .says(maps.alternative())
            .figure()?)
    }

    /// The letters that were read, above, and those that are written, below, each with where
    /// its weights go.
    fn letters(&self, map: &Matrix, meant: Option<&str>) -> [Mark; 4] {
        let read: Vec<char> = self.read.chars().map(seen).collect();
        let written: Vec<char> = self.text.chars().map(seen).collect();
        let below: Vec<f64> = (0..written.len()).map(|row| x_of(row, map)).collect();
        let told = written.iter().enumerate().map(|(row, letter)| {
            let mut keys: Vec<usize> = (0..read.len()).collect();
            keys.sort_by(|&a, &b| map[(row, b)].total_cmp(&map[(row, a)]));
            let most = keys.iter().take(3).map(|&key| {
                format!("{} {}", escaped(&read[key].to_string()), share(map[(row, key)]))
            });
            format!("{letter} attends to {}", most.collect::<Vec<_>>().join(", "))
        });
        let dots = Mark::points(below.clone(), vec![-0.04; written.len()]);
        let texts = |x: Vec<f64>, y: f64, letters: &[char]| {
            let texts = letters.iter().map(char::to_string);
            let mark =
                Mark::texts(x, vec![y; letters.len()], texts).placed("middle center");
            mark.text_size(15).in_legend(false).silent().unclipped()
        };
        let meant: Vec<char> = meant.map_or(written.clone(), |it| it.chars().collect());
        let only = |wrong: bool| -> (Vec<f64>, Vec<char>) {
            let placed = written.iter().zip(&below).enumerate();
            let shown = placed
                .filter(|(at, (letter, _))| (meant.get(*at) != Some(letter)) == wrong);
            shown.map(|(_, (letter, x))| (*x, *letter)).unzip()
        };
        let [right, wrong] = [false, true].map(only);
        let above = (0..read.len()).map(|key| key as f64).collect();
        [
            dots.sized(5).coloured(NEUTRAL).in_legend(false).hover(told),
            texts(above, 1.18, &read),
            texts(right.0, -0.25, &right.1),
            texts(wrong.0, -0.25, &wrong.1).text_colour(palette::wrong()).text_size(22),
        ]
    }
}

/// Weights from the first number up to the second have ribbons of this width, in pixels.
const WIDTHS: [[f64; 3]; 4] =
    [[0.55, 1.1, 5.0], [0.35, 0.55, 3.5], [0.2, 0.35, 2.0], [0.1, 0.2, 1.0]];

/// Places along a ribbon.
const N_PLACES: usize = 12;

/// Where a letter that is written stands below those that were read.
fn x_of(row: usize, map: &Matrix) -> f64 {
    rounded((row as f64 + 0.5) / map.nrows() as f64 * map.ncols() as f64 - 0.5)
}

/// The ribbons of one width, if there are any: to the letters to which most goes, or to the
/// others.
fn ribbons(
    map: &Matrix,
    [least, below, width]: [f64; 3],
    (to_most, opacity): (bool, f64),
    colour: &str,
) -> Option<Mark> {
    let (mut x, mut y) = (Vec::new(), Vec::new());
    for row in 0..map.nrows() {
        let most = map.row(row).max();
        let is_shown =
            |share: f64| (share == most) == to_most && (least..below).contains(&share);
        for key in (0..map.ncols()).filter(|&key| is_shown(map[(row, key)])) {
            let (from, to) = (x_of(row, map), key as f64);
            let places = (0..=N_PLACES).map(|at| at as f64 / N_PLACES as f64);
            let smooth = |t: f64| from + (to - from) * t * t * (3.0 - 2.0 * t);
            x.extend(places.clone().map(|t| Some(rounded(smooth(t)))).chain([None]));
            y.extend(places.map(|t| Some(rounded(t))).chain([None]));
        }
    }
    let mark = (!x.is_empty()).then(|| Mark::lines(x, y).with_gaps());
    mark.map(|mark| mark.line(colour, width).opacity(opacity).in_legend(false))
}

/// A letter, as it is seen: a space has a sign of its own.
pub(super) fn seen(letter: char) -> char {
    if letter == ' ' { '␣' } else { letter }
}
