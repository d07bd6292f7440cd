//! The counted bytes against a cache that holds single rows, by loops of its own.

use std::collections::HashMap;

use attention::{Dims, Mask};
use figures::{TileCounts, tile_kinds};

use super::*;
use crate::the_ladder::work::Work;

const HEAD: TiledHead =
    TiledHead { n_tokens: 96, d_k: 8, tile: [16, 16], is_causal: false, cache: 4096 };

/// A cache of rows: of each, when it was used last, how large it is, whether it is changed.
struct Rows {
    capacity: usize,
    clock: usize,
    rows: HashMap<(char, usize), (usize, usize, bool)>,
    /// The bytes that were moved of each matrix, which a letter names.
    moved: HashMap<char, usize>,
}

impl Rows {
    fn touch(&mut self, row: (char, usize), bytes: usize, [reads, writes]: [bool; 2]) {
        self.clock += 1;
        let known = self.rows.remove(&row);
        if known.is_none() && reads {
            *self.moved.entry(row.0).or_default() += bytes;
        }
        while self.rows.values().map(|it| it.1).sum::<usize>() + bytes > self.capacity {
            let oldest = *self.rows.iter().min_by_key(|(_, it)| it.0).unwrap().0;
            let (_, bytes, changed) = self.rows.remove(&oldest).unwrap();
            if changed {
                *self.moved.entry(oldest.0).or_default() += bytes;
            }
        }
        let changed = writes || known.is_some_and(|it| it.2);
        self.rows.insert(row, (self.clock, bytes, changed));
    }
}

/// Scores, keys and values, queries and outputs, by rows: pairs decide what is computed.
fn by_rows(head: &TiledHead) -> [usize; 3] {
    let TiledHead { n_tokens: n, d_k, tile: [b_q, b_k], is_causal, cache } = *head;
    let (capacity, row) = (cache, 4 * d_k);
    let mut rows =
        Rows { capacity, clock: 0, rows: HashMap::new(), moved: HashMap::new() };
    for q in (0..n).step_by(b_q) {
        let queries = q..(q + b_q).min(n);
        for k in (0..n).step_by(b_k) {
            let keys = k..(k + b_k).min(n);
            let mut pairs =
                queries.clone().flat_map(|i| keys.clone().map(move |j| (i, j)));
            if !pairs.any(|(i, j)| !is_causal || j <= i) {
                continue;
            }
            let scores = 4 * keys.len();
            queries.clone().for_each(|i| rows.touch(('q', i), row, [true, false]));
            keys.clone().for_each(|j| rows.touch(('k', j), row, [true, false]));
            (0..queries.len()).for_each(|i| rows.touch(('s', i), scores, [false, true]));
            (0..queries.len()).for_each(|i| rows.touch(('s', i), scores, [true, false]));
            keys.for_each(|j| rows.touch(('v', j), row, [true, false]));
            queries.clone().for_each(|i| rows.touch(('o', i), row, [k > 0, true]));
        }
    }
    let left: usize = rows
        .rows
        .iter()
        .filter(|((what, _), it)| *what == 'o' && it.2)
        .map(|(_, it)| it.1)
        .sum();
    let moved = |what| rows.moved.get(&what).copied().unwrap_or(0);
    [moved('s'), moved('k') + moved('v'), moved('q') + moved('o') + left]
}

fn in_all(head: &TiledHead) -> Traffic {
    head.after(head.computed().len()).traffic
}

/// The same bytes where tiles divide the tokens. Where the last tile is smaller, a part that
/// makes room makes more than is needed, and a few more bytes are read again.
#[test]
fn whole_parts_move_what_single_rows_move() {
    let mut n_compared = 0;
    for is_causal in [false, true] {
        for tile in [[16, 16], [32, 8], [8, 32], [24, 40], [96, 96], [200, 16]] {
            for cache in [1500, 3100, 4300, 5700, 7900, 12_100, 20_300, 60_700] {
                let head = TiledHead { tile, cache, is_causal, ..HEAD };
                if head.tile_bytes() > cache {
                    continue;
                }
                n_compared += 1;
                let (found, rows) = (in_all(&head), by_rows(&head));
                assert_eq!(found.scores, 0, "{head:?}");
                assert_eq!(found.queries_outputs, rows[2], "{head:?}");
                let more = found.keys_values as f64 / rows[1] as f64 - 1.0;
                let most = if tile == [24, 40] { 0.06 } else { 0.0 };
                assert!((0.0..=most).contains(&more), "{head:?}: {more}");
            }
        }
    }
    assert_eq!(n_compared, 50);
}

/// A tile that does not fit moves more than one that does, and its scores too if they are
/// what makes room.
#[test]
fn what_does_not_fit_is_moved_again() {
    for cache in [600, 900, 1500] {
        let small = TiledHead { cache, ..HEAD };
        assert!(small.tile_bytes() > cache);
        let (found, fits) = (in_all(&small), in_all(&HEAD));
        assert!(found.total() > fits.total(), "{cache}: {found:?}, {fits:?}");
        assert!(found.scores > 0, "{cache}: {found:?}");
    }
}

/// The chapter's case, where keys and values stay and where they do not, by formula.
#[test]
fn a_long_sequence_by_formula() {
    let (n, d_k) = (4096, 64);
    let head = TiledHead {
        n_tokens: n,
        d_k,
        tile: [128, 128],
        is_causal: false,
        cache: 250_000,
    };
    let matrix = 4 * n * d_k;
    assert_eq!(
        in_all(&head).parts(),
        [0, 32 * 2 * matrix, 2 * matrix].map(|it| it as u64)
    );
    let large = TiledHead { cache: 4_000_000, ..head };
    assert_eq!(in_all(&large).parts(), [0, 2 * matrix, 2 * matrix].map(|it| it as u64));
    // As the chapter's roofline counts them, for one head as wide as the layer.
    let work = Work { dims: Dims::new(d_k, 1).unwrap(), batch: 1, tokens: n };
    assert_eq!(in_all(&large).total(), work.tiles().bytes);
    // There each product reads its operands and writes its result, and softmax is between.
    let steps = 2 * work.pairs().bytes + work.softmax().bytes;
    assert_eq!(head.whole_map().total(), steps);
    let cached = TiledHead { cache: 4 * n * n, ..head };
    assert_eq!(cached.whole_map().total(), work.tiles().bytes);
}

#[test]
fn tiles_are_left_out_where_the_mask_blocks_all_pairs() {
    for n_tokens in [64, 100] {
        for side in [8, 16, 24, 64, 128] {
            let head = TiledHead { n_tokens, tile: [side; 2], is_causal: true, ..HEAD };
            assert_eq!(head.kinds(), tile_kinds(&Mask::Causal, n_tokens, side));
            let counts = TileCounts::of(&head.kinds());
            assert_eq!(head.computed().len(), counts.computed());
        }
    }
    // Tiles that are not square: by pairs.
    let head = TiledHead { n_tokens: 50, tile: [12, 7], is_causal: true, ..HEAD };
    for (i, row) in head.kinds().iter().enumerate() {
        for (j, &kind) in row.iter().enumerate() {
            let [queries, keys] = head.ranges([i, j]);
            let all = queries.len() * keys.len();
            let pairs = queries.flat_map(|i| keys.clone().map(move |j| (i, j)));
            let allowed = pairs.filter(|(i, j)| j <= i).count();
            let expected = match allowed {
                0 => TileKind::LeftOut,
                n if n == all => TileKind::Full,
                _ => TileKind::Cut,
            };
            assert_eq!(kind, expected, "{i}, {j}");
        }
    }
}

#[test]
fn bytes_never_become_fewer_and_what_is_held_fits() {
    let head = TiledHead { is_causal: true, ..HEAD };
    let mut before = 0;
    for n in 0..=head.computed().len() {
        let Progress { traffic, held, .. } = head.after(n);
        assert!(traffic.total() >= before);
        before = traffic.total();
        let bytes = held.iter().filter(|&&it| it).count() * 2 * 4 * 16 * 8;
        assert!(bytes <= head.cache, "{n}: {held:?}");
    }
    assert_eq!(head.after(0).traffic, Traffic::default());
    assert!(head.after(1).is_loaded);
}
