//! One head's scores tile by tile, and the bytes that move: live.

use anyhow::Result;
use attention::thousands;
use figures::{TileWalk, tile_walk};

use super::traffic::{Progress, TiledHead};
use crate::live::{LiveFigure, LiveView, Question, Settings, live};
use crate::numbers::{kilobytes, written};

/// Draws the tiles as far as a kernel has come.
pub(crate) const LIVE: LiveFigure<Set, Facts> = LiveFigure::new("tiles", draw, QUESTIONS);

const QUESTIONS: &[Question<Set, Facts>] = &[
    Question {
        ask: "Keys and values are read 8 times. Drag the edges of the first tile so \
              that they are read 4 times and still no scores go to memory.",
        is_answered: |set, it| {
            let Set { step, queries, keys, .. } = *set;
            let only_tiles_differ = *set == Set { step, queries, keys, ..Set::first() };
            only_tiles_differ && it.times <= 4.0 && it.score_bytes == 0
        },
        answer: |set| (set.queries, set.keys) = (256, 64),
        found: "Each tile of queries reads all keys once, so twice the queries halve the \
                reading; a tile must still fit the cache, so its keys become fewer.",
    },
    Question {
        ask: "In this cache, with how few tokens does a whole map have no more bytes to \
              move than tiles?",
        is_answered: |set, it| {
            let first = Set::first();
            let is_shorter = set.cache == first.cache && set.tokens < first.tokens;
            is_shorter && it.whole <= it.all
        },
        answer: |set| set.tokens = 250,
        found: "A map of n² scores of four bytes stays in the cache up to n = √(cache / \
                4): below that, tiles save nothing in memory.",
    },
    Question {
        ask: "Put the causal mask on. Which tiles leave out at least 46 % of the map, \
              and what do they cost?",
        is_answered: |set, it| set.causal && it.left_out >= 0.46,
        answer: |set| (set.causal, set.queries, set.keys) = (true, 64, 64),
        found: "The smaller the tiles, the nearer to a half is what they leave out; and \
                the more often keys and values are read.",
    },
];

/// How many steps there are from the first tile to the last.
const STEPS: usize = 64;
/// At first, the third tile of the third row.
const STEP: usize = 19;

live! {
    struct Set {
        step: usize = "Step, of 64", slider([0, STEPS], 1, STEP).played();
        queries: usize = "Queries in a tile", slider([64, 1024], 32, 128);
        keys: usize = "Keys in a tile", slider([64, 1024], 32, 128);
        cache: usize = "Cache, in kB", count([32, 16_384], 256);
        tokens: usize = "Tokens", count([64, 4096], 1024);
        d_k: usize = "d_k", count([8, 256], 64);
        causal: bool = "Causal mask", switch(false);
    }

    struct Facts {
        /// The bytes that a whole map moves, and that tiles do.
        whole: usize, all: usize,
        /// Those of the tiles' scores among them.
        score_bytes: usize,
        /// How often tiles read keys and values.
        times: f64,
        /// The part of the tiles that is left out.
        left_out: f64,
    }
}

impl Set {
    fn head(&self) -> TiledHead {
        TiledHead {
            n_tokens: self.tokens,
            d_k: self.d_k,
            tile: [self.queries, self.keys],
            is_causal: self.causal,
            cache: 1000 * self.cache,
        }
    }
}

fn draw(set: &Set) -> Result<LiveView<Facts>> {
    let head = set.head();
    let (kinds, computed) = (head.kinds(), head.computed());
    let n_computed = (set.step * computed.len()).div_ceil(STEPS);
    let (so_far, all) = (head.after(n_computed), head.after(computed.len()).traffic);
    let whole = head.whole_map();
    let times = all.keys_values as f64 / whole.keys_values as f64;
    let in_all = format!("tiles, K and V read {}", how_often(times));
    let bars = [
        ("whole map, at least", whole.parts()),
        (in_all.as_str(), all.parts()),
        ("tiles, so far", so_far.traffic.parts()),
    ];
    let title = format!(
        "One head of {} tokens{} in tiles of {} queries by {} keys, with a cache of {}",
        thousands(head.n_tokens as u64),
        if head.is_causal { ", causal," } else { "" },
        head.tile[0],
        head.tile[1],
        kilobytes(head.cache)
    );
    let walk = TileWalk {
        tiles: &kinds,
        n_computed,
        n_tokens: head.n_tokens,
        n_steps: STEPS,
        held: &so_far.held,
        is_loaded: so_far.is_loaded,
        bars: &bars,
        needs: [head.tile_bytes(), head.cache].map(|bytes| bytes as u64),
    };
    let figure = tile_walk(title, walk)?;
    let n_tiles = kinds.iter().map(Vec::len).sum::<usize>();
    let n_left_out = n_tiles - computed.len();
    let words = format!(
        "{} In all, tiles move {}, and read keys and values {}; a whole map moves at least \
         {}.{}",
        at_work(&head, n_computed, &so_far),
        kilobytes(all.total()),
        how_often(times),
        kilobytes(whole.total()),
        remarks(&head, n_left_out, n_tiles),
    );
    let facts = Facts {
        whole: whole.total(),
        all: all.total(),
        score_bytes: all.scores,
        times,
        left_out: n_left_out as f64 / n_tiles as f64,
    };
    Ok(LiveView { figure, words, facts })
}

/// The last of the tiles that are computed.
fn at_work(head: &TiledHead, n_computed: usize, so_far: &Progress) -> String {
    let computed = head.computed();
    let n = computed.len();
    let Some(last) = n_computed.checked_sub(1) else {
        return format!("None of {n} tiles is computed yet.");
    };
    let [queries, keys] = head.ranges(computed[last]);
    let from = if so_far.is_loaded { "come from memory" } else { "are in the cache" };
    format!(
        "Tile {n_computed} of {n}: queries {} to {} meet keys {} to {}, which {from}. So far \
         {} moved.",
        queries.start,
        queries.end - 1,
        keys.start,
        keys.end - 1,
        kilobytes(so_far.traffic.total())
    )
}

/// What is not so in every plan.
fn remarks(head: &TiledHead, n_left_out: usize, n_tiles: usize) -> String {
    let mut remarks = String::new();
    if n_left_out > 0 {
        remarks += &format!(" The mask leaves out {n_left_out} of {n_tiles} tiles.");
    }
    if head.tile_bytes() > head.cache {
        let bytes = kilobytes(head.tile_bytes());
        remarks += &format!(" A tile needs {bytes} at once, more than the cache.");
    }
    remarks
}

/// `once`, `4.5 times`.
fn how_often(times: f64) -> String {
    match times {
        1.0 => "once".to_owned(),
        2.0 => "twice".to_owned(),
        _ => format!("{} times", written(times, 2)),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::live::Live;

    fn words(pairs: &[(&str, &str)]) -> String {
        LIVE.at(pairs.iter().copied()).unwrap().words
    }

    #[test]
    fn what_is_said_at_first_and_elsewhere() {
        let all = [
            words(&[]),
            words(&[("step", "0"), ("causal", "on")]),
            words(&[("step", "64"), ("causal", "on")]),
            words(&[("causal", "on"), ("queries", "64"), ("keys", "64")]),
            words(&[("queries", "256"), ("keys", "64")]),
            words(&[("queries", "512"), ("keys", "512")]),
            words(&[("cache", "1000"), ("step", "9")]),
            words(&[("tokens", "250"), ("step", "40")]),
            words(&[("tokens", "4096"), ("step", "1")]),
        ];
        insta::assert_snapshot!(all.join("\n"), @r"
        Tile 19 of 64: queries 256 to 383 meet keys 256 to 383, which come from memory. So far 1,409 kB moved. In all, tiles move 4,719 kB, and read keys and values 8 times; a whole map moves at least 17,826 kB.
        None of 36 tiles is computed yet. In all, tiles move 2,818 kB, and read keys and values 4.38 times; a whole map moves at least 17,826 kB. The mask leaves out 28 of 64 tiles.
        Tile 36 of 36: queries 896 to 1023 meet keys 896 to 1023, which come from memory. So far 2,818 kB moved. In all, tiles move 2,818 kB, and read keys and values 4.38 times; a whole map moves at least 17,826 kB. The mask leaves out 28 of 64 tiles.
        Tile 41 of 136: queries 512 to 575 meet keys 256 to 319, which come from memory. So far 1,114 kB moved. In all, tiles move 4,489 kB, and read keys and values 7.56 times; a whole map moves at least 17,826 kB. The mask leaves out 120 of 256 tiles.
        Tile 19 of 64: queries 256 to 511 meet keys 128 to 191, which come from memory. So far 819 kB moved. In all, tiles move 2,621 kB, and read keys and values 4 times; a whole map moves at least 17,826 kB.
        Tile 2 of 4: queries 0 to 511 meet keys 512 to 1023, which come from memory. So far 5,243 kB moved. In all, tiles move 10,748 kB, and read keys and values twice; a whole map moves at least 17,826 kB. A tile needs 1,573 kB at once, more than the cache.
        Tile 9 of 64: queries 128 to 255 meet keys 0 to 127, which are in the cache. So far 590 kB moved. In all, tiles move 1,049 kB, and read keys and values once; a whole map moves at least 17,826 kB.
        Tile 3 of 4: queries 128 to 249 meet keys 0 to 127, which come from memory. So far 258 kB moved. In all, tiles move 384 kB, and read keys and values twice; a whole map moves at least 256 kB.
        Tile 16 of 1024: queries 0 to 127 meet keys 1920 to 2047, which come from memory. So far 1,081 kB moved. In all, tiles move 69,206 kB, and read keys and values 32 times; a whole map moves at least 272,630 kB.
        ");
    }

    /// The numbers that the questions look at, from the walk itself.
    #[test]
    fn numbers_are_those_of_the_walk() {
        for pairs in [
            vec![],
            vec![("causal", "on")],
            vec![("tokens", "777"), ("queries", "100"), ("keys", "90"), ("causal", "on")],
        ] {
            let set = Set::read(pairs).unwrap();
            let (head, found) = (set.head(), draw(&set).unwrap().facts);
            let n = head.computed().len();
            assert_eq!(found.all, head.after(n).traffic.total());
            let keys = head.after(n).traffic.keys_values as f64;
            let once = (2 * 4 * head.n_tokens * head.d_k) as f64;
            assert_eq!(found.times, keys / once);
            let all: usize = head.kinds().iter().map(Vec::len).sum();
            let left_out = 1.0 - n as f64 / all as f64;
            assert!((found.left_out - left_out).abs() < 1e-12);
        }
    }

    /// Tiles that do not fit read keys and values less often, and are no answer.
    #[test]
    fn what_reads_less_for_another_reason_is_no_answer() {
        for pairs in [
            vec![("queries", "512"), ("keys", "512")],
            vec![("queries", "256"), ("keys", "64"), ("tokens", "512")],
            vec![("cache", "1000")],
            vec![("causal", "on"), ("queries", "256"), ("keys", "64")],
        ] {
            let shown = Live::draw(&LIVE, &pairs).unwrap();
            assert!(shown.facts["times"].as_f64().unwrap() <= 4.0, "{pairs:?}");
            assert!(!shown.answered[0], "{pairs:?}");
        }
    }

    /// The sizes at the ends of the controls, and those that do not divide each other. The
    /// bytes can be counted in a page too, where a usize has 32 bits.
    #[test]
    fn every_size_is_drawn() {
        for tokens in [64, 65, 1000, 4096] {
            for [queries, keys] in [[64, 64], [1024, 64], [100, 1024]] {
                for (cache, step) in [(32, 0), (300, 33), (16_384, 64)] {
                    for (d_k, causal) in [(8, true), (256, true), (256, false)] {
                        let set = Set { step, queries, keys, cache, tokens, d_k, causal };
                        let view = draw(&set).unwrap();
                        assert!(view.words.ends_with('.'), "{}", view.words);
                        assert!(view.facts.times >= 1.0, "{set:?}");
                        assert!(view.facts.all < u32::MAX as usize);
                    }
                }
            }
        }
    }
}
