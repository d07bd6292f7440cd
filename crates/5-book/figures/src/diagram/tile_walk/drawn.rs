//! The drawing of [`tile_walk`](super::tile_walk).

use super::{
    Anchor, Canvas, Ink, Key, Look, MOST_BARS, PARTS, Rect, State, TileWalk, count,
    kilobytes, total,
};

/// The side of the map, about.
const SIDE: f64 = 304.0;
/// How wide the strips beside the map are, and how far from it.
const STRIP: f64 = 14.0;
const GAP: f64 = 6.0;
/// Over the upper strip is a line of text, before the left one a word.
const CORNER: [f64; 2] = [52.0, 24.0];
/// How high a line of the list is, and a bar with its text.
const LINE: f64 = 22.0;
const BAR: f64 = 46.0;
/// How wide the list is, and the longest bar; and how far the list is from the map.
const LIST: f64 = 222.0;
const BESIDE: f64 = 8.0;
/// More tiles are too small to be pressed.
const MOST_PRESSED: usize = 400;
const LABEL: Look =
    Look { size: 13.0, is_bold: false, ink: Ink::Plain, room: f64::INFINITY };

/// The colours of [`PARTS`].
const INKS: [Ink; 3] = [Ink::Head(3), Ink::Head(2), Ink::Head(5)];

pub(super) fn drawn(walk: &TileWalk, states: &[Vec<State>], is_wide: bool) -> Canvas {
    let n = [walk.held.len(), states.len()];
    let [w, h] = n.map(|n| (SIDE / n as f64).floor() * n as f64);
    let [x, y] = CORNER.map(|before| before + STRIP + GAP);
    let map = Rect { x, y, w, h };
    let n_lines = State::ALL.len() + PARTS.len();
    // The bar of the cache comes after the others.
    let all_bars = (MOST_BARS + 1) as f64 * BAR + 4.0;
    let list = n_lines as f64 * LINE + all_bars;
    let ([width, height], at) = match is_wide {
        true => {
            let left = map.right() + BESIDE;
            ([left + LIST + 2.0, map.bottom().max(list) + 4.0], [left, 0.0])
        }
        false => {
            let right = map.right().max(x + LIST);
            ([right + 4.0, map.bottom() + 14.0 + list], [x, map.bottom() + 14.0])
        }
    };
    let mut canvas = Canvas::new(width, height);
    strips(&mut canvas, walk, &map);
    tiles(&mut canvas, states, &map);
    pressed(&mut canvas, walk, states, &map);
    bars(&mut canvas, walk, at);
    cache(&mut canvas, walk.needs, [at[0], at[1] + MOST_BARS as f64 * BAR]);
    legend(&mut canvas, states, [at[0], at[1] + all_bars]);
    canvas
}

fn fill(canvas: &mut Canvas, rect: &Rect, ink: Ink) {
    let [x, y, right, bottom] = [rect.x, rect.y, rect.right(), rect.bottom()];
    canvas.filled(&[[x, y], [right, y], [right, bottom], [x, bottom]], ink);
}

/// Over the map the keys, before it the queries.
fn strips(canvas: &mut Canvas, walk: &TileWalk, map: &Rect) {
    let at_work = walk.at_work();
    let [left, above] = CORNER;
    canvas.text("keys, values: in the cache →", [map.x, 11.0], Anchor::Start, LABEL);
    let middle = map.y + map.h / 2.0;
    let look = Look { room: left - 4.0, ..LABEL };
    canvas.text("queries", [left - 4.0, middle - 9.0], Anchor::End, look);
    canvas.text("↓", [left - 22.0, middle + 9.0], Anchor::End, LABEL);

    let keys = Rect { y: above, h: STRIP, ..*map };
    for (column, &held) in walk.held.iter().enumerate() {
        let is_at_work = at_work.is_some_and(|at| at[1] == column);
        let ink = if is_at_work && walk.is_loaded { Ink::Head(1) } else { Ink::Head(0) };
        if held || is_at_work {
            let tile = keys.column(column, walk.held.len());
            let key = Key::new(format!("held.{column}"));
            canvas.keyed(&key, |canvas| fill(canvas, &tile, ink));
        }
    }
    canvas.cell(&keys, Ink::Muted);
    let queries = Rect { x: left, w: STRIP, ..*map };
    if let Some([row, _]) = at_work {
        fill(canvas, &queries.row(row, walk.tiles.len()), Ink::Head(0));
    }
    canvas.cell(&queries, Ink::Muted);
}

/// What fills a tile.
fn ink(state: State) -> Option<Ink> {
    match state {
        State::Done => Some(Ink::Head(0)),
        State::AtWork => Some(Ink::Head(1)),
        State::ToCome => Some(Ink::Plain),
        State::LeftOut => None,
    }
}

/// Neighbours in a row that are alike are one surface: there may be thousands of tiles.
fn tiles(canvas: &mut Canvas, states: &[Vec<State>], map: &Rect) {
    let [n_rows, n_columns] = [states.len(), states[0].len()];
    for (i, states) in states.iter().enumerate() {
        let row = map.row(i, n_rows);
        let mut first = 0;
        for run in states.chunk_by(|a, b| a == b) {
            let tile = row.column(first, n_columns);
            let alike = Rect { w: tile.w * run.len() as f64, ..tile };
            match ink(run[0]) {
                Some(ink) if run[0] == State::AtWork => {
                    canvas
                        .keyed(&Key::new("at-work"), |canvas| fill(canvas, &alike, ink));
                }
                Some(ink) => fill(canvas, &alike, ink),
                None => {}
            }
            first += run.len();
        }
    }
    for i in 1..n_rows {
        let y = map.row(i, n_rows).y;
        canvas.line([map.x, y], [map.right(), y], Ink::Muted);
    }
    for j in 1..n_columns {
        let x = map.column(j, n_columns).x;
        canvas.line([x, map.y], [x, map.bottom()], Ink::Muted);
    }
    canvas.cell(map, Ink::Muted);
}

/// What a press on a tile sets, and the edges of the first tile, which are dragged.
fn pressed(canvas: &mut Canvas, walk: &TileWalk, states: &[Vec<State>], map: &Rect) {
    let [n_rows, n_columns] = [states.len(), states[0].len()];
    let n: usize = states.iter().flatten().filter(|&&it| it != State::LeftOut).count();
    let mut nth = 0;
    let all = (0..n_rows).flat_map(|i| (0..n_columns).map(move |j| (i, j)));
    for (i, j) in all.filter(|_| n <= MOST_PRESSED) {
        if states[i][j] != State::LeftOut {
            nth += 1;
            let step = (nth * walk.n_steps / n).max(1);
            canvas.marked(&[("pick", format!("step={step}"))], |canvas| {
                canvas.bar(&map.row(i, n_rows).column(j, n_columns), Ink::Nothing);
            });
        }
    }
    let tile = map.row(0, n_rows).column(0, n_columns);
    let unit = |long: f64| long / walk.n_tokens.max(1) as f64;
    let edge = |key: &str, axis: &str, zero: f64, unit: f64| {
        [("drag", format!("{key} {zero} {unit}")), ("axis", axis.to_owned())]
    };
    let strip = [map.x, map.y].map(|at| at - STRIP - GAP + KNOB);
    for (marks, at, goes_up) in [
        (edge("keys", "x", map.x, unit(map.w)), [tile.right(), strip[1]], false),
        (edge("queries", "y", map.y, unit(map.h)), [strip[0], tile.bottom()], true),
    ] {
        canvas.marked(&marks, |canvas| {
            let [x, y] = at.map(|it| it - REACH / 2.0);
            canvas.bar(&Rect { x, y, w: REACH, h: REACH }, Ink::Nothing);
            canvas.knob(at, goes_up);
        });
    }
}

/// From the outer edge of a strip to the middle of its knob, and what a finger finds of it.
const KNOB: f64 = 9.0;
const REACH: f64 = 28.0;

/// What the colours are.
fn legend(canvas: &mut Canvas, states: &[Vec<State>], [x, top]: [f64; 2]) {
    let of_state = |it: State| (ink(it), format!("{} {}", count(states, it), it.name()));
    let of_part = |(part, ink): (&&str, Ink)| (Some(ink), (*part).to_owned());
    let is_there = |it: &State| *it != State::LeftOut || count(states, *it) > 0;
    let entries = PARTS
        .iter()
        .zip(INKS)
        .map(of_part)
        .chain(State::ALL.into_iter().filter(is_there).map(of_state));
    let mut y = top;
    for (ink, name) in entries {
        let square = Rect { x, y: y + 3.0, w: 14.0, h: 14.0 };
        if let Some(ink) = ink {
            fill(canvas, &square, ink);
        }
        canvas.cell(&square, Ink::Muted);
        let look = Look { room: LIST - 22.0, ..LABEL };
        canvas.text(&name, [x + 22.0, y + 10.0], Anchor::Start, look);
        y += LINE;
    }
}

/// Under one another, on one scale, each under its name and its number.
fn bars(canvas: &mut Canvas, walk: &TileWalk, [x, top]: [f64; 2]) {
    let most = walk.bars.iter().map(|(_, parts)| total(*parts)).max().unwrap_or(0).max(1);
    for (nth, (name, parts)) in walk.bars.iter().enumerate() {
        let y = top + nth as f64 * BAR;
        let written = format!("{name}: {}", kilobytes(total(*parts)));
        let look = Look { room: LIST, ..LABEL };
        canvas.text(&written, [x, y + 11.0], Anchor::Start, look);
        let mut from = x;
        for (&bytes, ink) in parts.iter().zip(INKS) {
            let w = bytes as f64 / most as f64 * LIST;
            if w > 0.0 {
                fill(canvas, &Rect { x: from, y: y + 20.0, w, h: 16.0 }, ink);
            }
            from += w;
        }
    }
}

/// What a tile needs of the cache, whose size is marked, and what spills beyond it.
fn cache(canvas: &mut Canvas, [need, cache]: [u64; 2], [x, top]: [f64; 2]) {
    let needs = kilobytes(need);
    let needs = needs.trim_end_matches(" kB");
    let written = format!("tile in cache: {needs} of {}", kilobytes(cache));
    canvas.text(&written, [x, top + 11.0], Anchor::Start, Look { room: LIST, ..LABEL });
    let wide = |bytes: u64| bytes as f64 / need.max(cache).max(1) as f64 * LIST;
    let [fits, edge] = [need.min(cache), cache].map(wide);
    let bar = Rect { x, y: top + 20.0, w: fits, h: 16.0 };
    fill(canvas, &bar, Ink::Head(0));
    fill(canvas, &Rect { x: x + edge, w: wide(need) - fits, ..bar }, Ink::Wrong);
    canvas.cell(&Rect { w: edge, ..bar }, Ink::Muted);
    canvas.line([x + edge, bar.y - 4.0], [x + edge, bar.bottom() + 4.0], Ink::Plain);
}
