//! A kernel on its way through the tiles of a map, and the bytes that it moves.

use attention::thousands;

use super::canvas::{Anchor, Canvas, Ink, Key, Look, Rect};
use super::figure;
use super::tile_plan::TileKind;
use crate::chart::Text;
use crate::{Error, Figure, Result, Table, sketch};

mod drawn;

/// More tiles are too small to be told apart.
const MOST: usize = 64;
/// More bars have no room beside the tiles.
const MOST_BARS: usize = 3;
/// What bytes are moved for.
pub(super) const PARTS: [&str; 3] = ["scores", "keys and values", "queries and outputs"];

/// How far a kernel is that computes tiles row by row.
#[derive(Debug, Clone, Copy)]
pub struct TileWalk<'a> {
    /// Rows of tiles: queries down, keys across.
    pub tiles: &'a [Vec<TileKind>],
    /// How many of the tiles that are computed are: the last of them is at work.
    pub n_computed: usize,
    /// Queries and keys of the map: a page drags the edges of its first tile, which sets
    /// `queries` and `keys`.
    pub n_tokens: usize,
    /// How many steps of the setting `step` go through all tiles: a press on one sets it.
    pub n_steps: usize,
    /// Which tiles of keys, with their values, are in the cache. `[columns of tiles]`
    pub held: &'a [bool],
    /// Whether the keys of the tile at work came from memory for it.
    pub is_loaded: bool,
    /// Bytes moved by whom or until when, each for scores, for keys and values, and for
    /// queries and outputs.
    pub bars: &'a [(&'a str, [u64; 3])],
    /// Bytes that a tile needs at once, and those of the cache.
    pub needs: [u64; 2],
}

/// What is to be said of a tile.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum State {
    Done,
    AtWork,
    ToCome,
    LeftOut,
}

impl State {
    const ALL: [Self; 4] = [Self::Done, Self::AtWork, Self::ToCome, Self::LeftOut];

    fn name(self) -> &'static str {
        match self {
            Self::Done => "done",
            Self::AtWork => "at work",
            Self::ToCome => "to come",
            Self::LeftOut => "left out by the mask",
        }
    }

    fn mark(self) -> char {
        match self {
            Self::Done => '█',
            Self::AtWork => '◆',
            Self::ToCome => '░',
            Self::LeftOut => '·',
        }
    }
}

impl TileWalk<'_> {
    fn check(&self) -> Result<()> {
        Error::expect_count("rows of tiles", self.tiles.len(), MOST)?;
        let n_columns = self.tiles[0].len();
        Error::expect_count("columns of tiles", n_columns, MOST)?;
        for row in self.tiles {
            Error::expect_length("a row of tiles", row.len(), n_columns)?;
        }
        Error::expect_length(
            "the list of tiles in the cache",
            self.held.len(),
            n_columns,
        )?;
        let all =
            self.states().iter().flatten().filter(|&&it| it != State::LeftOut).count();
        Error::expect_at_most("tiles that are done", self.n_computed, all)?;
        attention::Error::expect_positive("the number of bars", self.bars.len())?;
        Error::expect_at_most("bars", self.bars.len(), MOST_BARS)
    }

    fn states(&self) -> Vec<Vec<State>> {
        let mut nth = 0;
        let mut state = |tile: &TileKind| {
            if *tile == TileKind::LeftOut {
                return State::LeftOut;
            }
            nth += 1;
            match nth.cmp(&self.n_computed) {
                std::cmp::Ordering::Less => State::Done,
                std::cmp::Ordering::Equal => State::AtWork,
                std::cmp::Ordering::Greater => State::ToCome,
            }
        };
        self.tiles.iter().map(|row| row.iter().map(&mut state).collect()).collect()
    }

    /// Row and column of the tile at work, if one is.
    fn at_work(&self) -> Option<[usize; 2]> {
        let states = self.states();
        let of_row = |row: &Vec<State>| row.iter().position(|&it| it == State::AtWork);
        states.iter().enumerate().find_map(|(i, row)| Some([i, of_row(row)?]))
    }
}

/// The tiles of a map as far as a kernel has come, the tiles of keys that are in the cache
/// over them, and bars of bytes beside them.
///
/// # Errors
/// [`Error::Sizes`] for no tiles or bars; [`Error::TooMany`] above 64 rows or columns of
/// tiles, 3 bars, or more tiles done than there are; [`Error::Length`] for rows of several
/// lengths or a list of the cache that does not fit them.
pub fn tile_walk(title: impl Into<String>, walk: TileWalk) -> Result<Figure> {
    walk.check()?;
    let states = walk.states();
    let text = Text {
        alternative: description(&walk, &states),
        sketch: sketched(&walk, &states),
        tables: vec![table(&walk)],
    };
    let drawn = [true, false].map(|is_wide| drawn::drawn(&walk, &states, is_wide));
    Ok(figure(title, text, drawn))
}

fn count(states: &[Vec<State>], state: State) -> usize {
    states.iter().flatten().filter(|&&it| it == state).count()
}

/// Bytes as `1,049 kB`.
fn kilobytes(bytes: u64) -> String {
    format!("{} kB", thousands((bytes + 500) / 1000))
}

fn total(parts: [u64; 3]) -> u64 {
    parts.into_iter().sum()
}

fn table(walk: &TileWalk) -> Table {
    let row = |(name, parts): &(&str, [u64; 3])| {
        let [scores, keys, queries] = parts.map(kilobytes);
        [(*name).to_owned(), scores, keys, queries, kilobytes(total(*parts))]
    };
    let columns = ["", PARTS[0], PARTS[1], PARTS[2], "in all"];
    Table::new("Bytes between memory and the cache", columns, walk.bars.iter().map(row))
}

fn sketched(walk: &TileWalk, states: &[Vec<State>]) -> String {
    let wide = if walk.held.len() <= 32 { 2 } else { 1 };
    let row = |row: &Vec<State>| {
        row.iter().flat_map(|it| vec![it.mark(); wide]).collect::<String>()
    };
    let held = walk.held.iter();
    let held: String =
        held.flat_map(|&held| vec![if held { '▄' } else { ' ' }; wide]).collect();
    let rows: Vec<String> = states.iter().map(row).collect();
    let each = State::ALL
        .map(|it| format!("{} {}: {}", it.mark(), it.name(), count(states, it)));
    format!(
        "{}\n{}\n\n▄ keys and values in the cache\n{}\n\n{}",
        held.trim_end(),
        rows.join("\n"),
        each.join("\n"),
        sketch::tables(&[table(walk)])
    )
}

fn description(walk: &TileWalk, states: &[Vec<State>]) -> String {
    let at_work = match walk.at_work() {
        None => "None is at work yet".to_owned(),
        Some([row, column]) => {
            let loaded = match walk.is_loaded {
                true => "came from memory",
                false => "were in the cache",
            };
            let (row, column) = (row + 1, column + 1);
            format!(
                "At work is the one in row {row}, column {column}, whose keys {loaded}"
            )
        }
    };
    let bar = |(name, parts): &(&str, [u64; 3])| {
        let each = PARTS.iter().zip(parts);
        let each: Vec<String> =
            each.map(|(part, &bytes)| format!("{part} {}", kilobytes(bytes))).collect();
        format!("{name} {} ({})", kilobytes(total(*parts)), each.join(", "))
    };
    let bars: Vec<String> = walk.bars.iter().map(bar).collect();
    format!(
        "A map in {} rows of {} tiles: {} done, {} to come, {} left out. {at_work}. In the \
         cache are {} tiles of keys and values. A tile needs {}, and the cache has {}. \
         Bytes moved: {}.",
        states.len(),
        walk.held.len(),
        count(states, State::Done),
        count(states, State::ToCome),
        count(states, State::LeftOut),
        walk.held.iter().filter(|&&held| held).count(),
        kilobytes(walk.needs[0]),
        kilobytes(walk.needs[1]),
        bars.join("; ")
    )
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::testing::assert_diagram;

    const BARS: [(&str, [u64; 3]); 2] =
        [("whole map", [16_000, 2000, 2000]), ("tiles", [0, 5000, 2000])];

    fn causal() -> Vec<Vec<TileKind>> {
        use TileKind::{Cut, Full, LeftOut};
        vec![vec![Cut, LeftOut, LeftOut], vec![Full, Cut, LeftOut], vec![Full, Full, Cut]]
    }

    fn walk<'a>(tiles: &'a [Vec<TileKind>], n_computed: usize) -> TileWalk<'a> {
        let held = &[false, true, true];
        let (n_tokens, n_steps) = (12, 9);
        TileWalk {
            tiles,
            n_computed,
            n_tokens,
            n_steps,
            held,
            is_loaded: true,
            bars: &BARS,
            needs: [3000, 2000],
        }
    }

    #[test]
    fn in_the_middle_of_a_causal_map() {
        let tiles = causal();
        assert_diagram!(tile_walk("Half of six tiles", walk(&tiles, 3)).unwrap());
    }

    #[test]
    fn before_the_first_tile_and_at_the_last() {
        let tiles = causal();
        let description =
            |n| tile_walk("", walk(&tiles, n)).unwrap().alternative().to_owned();
        assert!(
            description(0)
                .contains("0 done, 6 to come, 3 left out. None is at work yet.")
        );
        let last = "5 done, 0 to come, 3 left out. At work is the one in row 3, column 3";
        assert!(description(6).contains(last), "{}", description(6));
    }

    #[test]
    fn what_does_not_fit_is_refused() {
        let tiles = causal();
        let refused = |walk| tile_walk("", walk).unwrap_err();
        insta::assert_snapshot!(refused(walk(&tiles, 7)), @"7 tiles that are done are too many for one figure: draw at most 6");
        insta::assert_snapshot!(refused(TileWalk { held: &[true], ..walk(&tiles, 1) }), @"the list of tiles in the cache has 1 entries, expected 3");
        insta::assert_snapshot!(refused(TileWalk { bars: &[], ..walk(&tiles, 1) }), @"the number of bars is 0, and must be at least 1");
        let many = vec![vec![TileKind::Full; 3]; 65];
        insta::assert_snapshot!(refused(walk(&many, 1)), @"65 rows of tiles are too many for one figure: draw at most 64");
    }
}
