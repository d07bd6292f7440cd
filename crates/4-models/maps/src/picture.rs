//! Maps as a paper prints them: SVG of a width in millimetres, on white, with text that can be
//! selected.
//!
//! A map is as dark as its shares are large, white at 0; how large the darkest is, is printed
//! beside it. Of many tokens the names stand in two columns or three, one behind the other, so
//! that their letters keep a size that can be read; of more, every second or third is named,
//! and that is printed too.

use attention::Matrix;

use crate::table::Part;
use crate::{Extract, Kind, TextHeads};

mod atlas;
mod cells;
mod labels;
mod pen;
#[cfg(test)]
mod tests;

pub use atlas::atlas;
use cells::{SHADES, cells, colour};
use labels::Labels;
use pen::Pen;

/// Points in a millimetre.
const POINTS: f64 = 72.0 / 25.4;
/// Letters of titles, and the smallest that are read, in points.
const TITLE: f64 = 7.0;
const SMALL: f64 = 5.0;
/// Between parts.
const GAP: f64 = 4.0;
/// The most keys of a large map: of a longer text, those that show what its queries do.
const MOST_KEYS: usize = 200;
/// The most cells of a small map in a row: of a longer text each is the largest of several.
const MOST_CELLS: usize = 32;

/// The picture, `mm` millimetres wide.
pub fn svg(text: &TextHeads, part: Part, mm: f64) -> String {
    match part {
        Part::Head([layer, head]) => one(text, layer, head, mm),
        Part::Layer(_) | Part::All => many(text, part, mm),
    }
}

/// One map with the names of its tokens.
fn one(text: &TextHeads, layer: usize, head: usize, mm: f64) -> String {
    let whole = &text.maps[layer][head];
    let extract = Extract::of(text, MOST_KEYS);
    let (map, keys) = (&extract.columns(whole), extract.pieces());
    let width = mm * POINTS;
    let (queries, _) = text.asking();
    let sides = [queries, &keys];
    // Names take room from the map, and a smaller map asks for more columns of names.
    let mut labels = sides.map(|pieces| Labels::new(pieces, 1));
    for n_columns in 1..=labels::MOST_COLUMNS {
        labels = sides.map(|pieces| Labels::new(pieces, n_columns));
        let cell = (width - labels[0].room() - GAP) / map.ncols() as f64;
        if labels.iter().all(|labels| labels.fit(cell)) {
            break;
        }
    }
    // One letter fills no page.
    let cell = ((width - labels[0].room() - GAP) / map.ncols() as f64).min(4.0 * SMALL);
    let [left, top] = [labels[0].room(), 2.0 * TITLE + SMALL + GAP + labels[1].room()];
    let [right, bottom] =
        [left + cell * map.ncols() as f64, top + cell * map.nrows() as f64];
    let mut pen = Pen::new();
    pen.text([0.0, TITLE + 0.5], TITLE, "start", &format!("Head {layer}.{head}"));
    pen.text([0.0, TITLE + SMALL + 2.0], SMALL, "start", &preference(text, whole));
    let most = drawn(&mut pen, map, [left, top], [cell, cell]);
    pen.frame([left, top], [right - left, bottom - top]);
    labels[0].down(&mut pen, [left, top], cell);
    labels[1].across(&mut pen, [left, top], cell);
    let every = labels.iter().map(|labels| labels.every(cell)).max().unwrap_or(1);
    let mut lines = vec!["a row per query, a column per key".to_owned()];
    if every > 1 {
        lines.push(format!("one name in {every} is printed"));
    }
    lines.extend(extract.left_out());
    let end = written(&mut pen, bottom + GAP, &lines);
    scale(&mut pen, [0.0, end], &hundredths(most));
    pen.svg([width, end + 1.6 * SMALL], mm, &format!("Head {layer}.{head}"))
}

/// What the head prefers, with its control.
fn preference(text: &TextHeads, map: &Matrix<f32>) -> String {
    let (Some(glance), Some(uniform)) = (text.glance(map), text.uniform()) else {
        return String::new();
    };
    match glance.preferred(&uniform) {
        Some(kind) => format!(
            "prefers {}: {} of the shares; an even head gives {}",
            kind.name(),
            hundredths(glance.share(kind)),
            hundredths(uniform.share(kind))
        ),
        None => {
            "prefers no kind of key by more than a tenth above an even head".to_owned()
        }
    }
}

/// A layer's heads, or all: a row of small maps per layer, or as many rows as it takes.
fn many(text: &TextHeads, part: Part, mm: f64) -> String {
    let width = mm * POINTS;
    let of_all = matches!(part, Part::All);
    let most_heads = text.maps.iter().map(Vec::len).max().unwrap_or(1).max(1);
    let n_columns = if of_all { most_heads } else { most_heads.min(4) };
    let left = if of_all { 4.0 * SMALL } else { 0.0 };
    let step = (width - left) / n_columns as f64;
    let title = if of_all { 0.0 } else { SMALL + 3.0 };
    let size = step - if of_all { 1.5 } else { GAP };
    let mut pen = Pen::new();
    let name = match part {
        Part::Layer(layer) => format!("Layer {layer}"),
        _ => "All heads".to_owned(),
    };
    pen.text([0.0, TITLE + 0.5], TITLE, "start", &name);
    let top = TITLE + GAP + if of_all { SMALL + 2.0 } else { 0.0 };
    let mut bottom = top;
    for ([layer, head], map) in part.heads(text) {
        let row = if of_all { layer } else { head / n_columns };
        let height = size * (map.nrows() as f64 / map.ncols() as f64).min(2.0);
        let x = left + step * (head % n_columns) as f64;
        let y = top + (height + title + if of_all { 1.5 } else { GAP }) * row as f64;
        match of_all {
            true if head == 0 => {
                let at = [left - 3.0, y + (height + SMALL * 0.7) / 2.0];
                pen.text(at, SMALL, "end", &layer.to_string());
            }
            true => {}
            false => {
                pen.text([x, y + SMALL], SMALL, "start", &short(text, layer, head, map))
            }
        }
        if of_all && layer == 0 {
            pen.text([x + size / 2.0, y - 2.5], SMALL, "middle", &head.to_string());
        }
        let pooled = cells::pooled(map, MOST_CELLS);
        let cell = [size / pooled.ncols() as f64, height / pooled.nrows() as f64];
        drawn(&mut pen, &pooled, [x, y + title], cell);
        pen.frame([x, y + title], [size, height]);
        bottom = bottom.max(y + title + height);
    }
    let end = written(&mut pen, bottom + GAP, &below(text, part));
    scale(&mut pen, [0.0, end], "each map's largest share");
    pen.svg([width, end + 1.6 * SMALL], mm, &name)
}

/// What is to be known of small maps.
fn below(text: &TextHeads, part: Part) -> Vec<String> {
    let mut lines = match part {
        Part::All => {
            vec!["a row of maps per layer, a column per head, both from 0".to_owned()]
        }
        _ => vec!["beside a head's name what it prefers, if anything".to_owned()],
    };
    if let (Some(uniform), false) = (text.uniform(), part == Part::All) {
        let chosen: Vec<Kind> = part
            .heads(text)
            .filter_map(|(_, map)| text.glance(map)?.preferred(&uniform))
            .collect();
        let even = Kind::ALL.into_iter().filter(|kind| chosen.contains(kind));
        let even: Vec<String> = even
            .map(|kind| format!("{} {}", kind.name(), hundredths(uniform.share(kind))))
            .collect();
        if !even.is_empty() {
            lines.push(format!("an even head gives {}", even.join(", ")));
        }
    }
    if text.pieces.len().max(text.asking().0.len()) > MOST_CELLS {
        lines.push("a cell is the largest of several shares".to_owned());
    }
    lines
}

/// Lines of small letters below each other; gives where the next thing stands.
fn written(pen: &mut Pen, top: f64, lines: &[String]) -> f64 {
    for (nth, line) in lines.iter().enumerate() {
        pen.text([0.0, top + SMALL * (1.0 + 1.3 * nth as f64)], SMALL, "start", line);
    }
    top + SMALL * (1.3 * lines.len() as f64 + 0.5)
}

/// `5.7 previous .62`.
fn short(text: &TextHeads, layer: usize, head: usize, map: &Matrix<f32>) -> String {
    let name = format!("{layer}.{head}");
    let kind = text.uniform().zip(text.glance(map));
    let kind =
        kind.and_then(|(uniform, glance)| Some((glance, glance.preferred(&uniform)?)));
    kind.map_or(name.clone(), |(glance, kind)| {
        format!("{name} {} {}", kind.name(), hundredths(glance.share(kind)))
    })
}

/// A map's cells; gives its largest share.
fn drawn(pen: &mut Pen, map: &Matrix<f32>, at: [f64; 2], cell: [f64; 2]) -> f64 {
    let most = map.iter().copied().fold(0.0, f32::max);
    pen.shades(at, cell, &cells(map, most));
    f64::from(most)
}

/// From white at 0 to the darkest shade, and what that is.
fn scale(pen: &mut Pen, [x, y]: [f64; 2], most: &str) {
    let step = 2.0;
    pen.text([x, y + SMALL], SMALL, "start", "0");
    for shade in 1..=SHADES {
        let at = [x + 5.0 + step * (shade - 1) as f64, y];
        pen.rect(at, [step, SMALL], &colour(shade));
    }
    pen.frame([x + 5.0, y], [step * SHADES as f64, SMALL]);
    pen.text([x + 8.0 + step * SHADES as f64, y + SMALL], SMALL, "start", most);
}

/// `.62`.
fn hundredths(share: f64) -> String {
    let text = format!("{share:.2}");
    text.strip_prefix('0').map_or(text.clone(), str::to_owned)
}
