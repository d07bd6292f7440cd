//! What one head moves between memory and a cache: with a whole map, and tile by tile.
//!
//! The cache is counted in whole parts: the queries of a tile, its keys, its values, its
//! scores, its outputs. What was used longest ago makes room (least recently used), and what
//! was changed is written to memory then. A kernel touches, tile by tile, its queries, keys
//! and scores, and then its scores, values and outputs. Left out: the maximum and the sum of
//! each query, two numbers beside its d_k, and whatever else is in the cache.

use figures::TileKind;

/// Bytes of a number, an f32.
const NUMBER: usize = 4;

/// How often the entries of a map are moved as a roofline counts it: the product writes the
/// scores, softmax reads them and writes weights, the second product reads those.
const WHOLE_MAPS: usize = 4;

/// Bytes moved, in either direction.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct Traffic {
    /// Scores and attention weights.
    pub scores: usize,
    /// Keys and values.
    pub keys_values: usize,
    /// Queries and the head's outputs.
    pub queries_outputs: usize,
}

impl Traffic {
    /// All of them.
    pub fn total(&self) -> usize {
        self.scores + self.keys_values + self.queries_outputs
    }

    /// As a figure takes them.
    pub fn parts(&self) -> [u64; 3] {
        [self.scores, self.keys_values, self.queries_outputs].map(|bytes| bytes as u64)
    }

    fn add(&mut self, part: Part, bytes: usize) {
        *match part {
            Part::Scores => &mut self.scores,
            Part::Keys(_) | Part::Values(_) => &mut self.keys_values,
            Part::Queries(_) | Part::Outputs(_) => &mut self.queries_outputs,
        } += bytes;
    }
}

/// One head whose tokens attend to themselves, in tiles. d_v is d_k.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct TiledHead {
    /// Queries, and keys.
    pub n_tokens: usize,
    /// The size of each.
    pub d_k: usize,
    /// Queries of a tile, and keys of it.
    pub tile: [usize; 2],
    /// Whether a query sees only what is before it.
    pub is_causal: bool,
    /// Bytes of the cache.
    pub cache: usize,
}

/// How far a kernel has come.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Progress {
    /// The bytes moved so far.
    pub traffic: Traffic,
    /// Which tiles of keys are in the cache with their values.
    pub held: Vec<bool>,
    /// Whether the keys of the last tile came from memory for it.
    pub is_loaded: bool,
}

impl TiledHead {
    /// The least that a whole map needs: queries, keys and values are read once and outputs
    /// written once, and the map goes to memory and back twice, if it is larger than the
    /// cache. A mask spares none of it.
    pub fn whole_map(&self) -> Traffic {
        let matrix = NUMBER * self.n_tokens * self.d_k;
        let map = NUMBER * self.n_tokens * self.n_tokens;
        Traffic {
            scores: if map > self.cache { WHOLE_MAPS * map } else { 0 },
            keys_values: 2 * matrix,
            queries_outputs: 2 * matrix,
        }
    }

    /// What a tile needs at once: its queries, outputs, keys, values and scores.
    pub fn tile_bytes(&self) -> usize {
        let [queries, keys] = self.tile.map(|side| side.min(self.n_tokens));
        NUMBER * (2 * self.d_k * (queries + keys) + queries * keys)
    }

    /// Rows of tiles: which the mask leaves out, which it cuts.
    pub fn kinds(&self) -> Vec<Vec<TileKind>> {
        let [n_rows, n_columns] = self.tile.map(|side| self.n_tokens.div_ceil(side));
        let kind = |row, column| {
            let [queries, keys] = self.ranges([row, column]);
            match () {
                () if !self.is_causal || keys.end <= queries.start + 1 => TileKind::Full,
                () if keys.start < queries.end => TileKind::Cut,
                () => TileKind::LeftOut,
            }
        };
        (0..n_rows).map(|i| (0..n_columns).map(|j| kind(i, j)).collect()).collect()
    }

    /// The queries and the keys of the tile in this row and column.
    pub fn ranges(&self, at: [usize; 2]) -> [std::ops::Range<usize>; 2] {
        [0, 1].map(|axis| {
            let (nth, side) = (at[axis], self.tile[axis]);
            nth * side..((nth + 1) * side).min(self.n_tokens)
        })
    }

    /// Row and column of each tile that is computed, in order.
    pub fn computed(&self) -> Vec<[usize; 2]> {
        let kinds = self.kinds();
        let of_row = |(i, row): (usize, &Vec<TileKind>)| {
            let columns = 0..row.len();
            let computed = columns.filter(|&j| row[j] != TileKind::LeftOut);
            computed.map(|j| [i, j]).collect::<Vec<_>>()
        };
        kinds.iter().enumerate().flat_map(of_row).collect()
    }

    /// What the first `n_computed` tiles move. With the last tile of all, outputs that are
    /// still in the cache are written.
    pub fn after(&self, n_computed: usize) -> Progress {
        let computed = self.computed();
        let mut cache = Cache::new(self.cache);
        let mut is_loaded = false;
        for &[row, column] in &computed[..n_computed] {
            let [queries, keys] = self.ranges([row, column]).map(|range| range.len());
            let of_queries = NUMBER * queries * self.d_k;
            let of_keys = NUMBER * keys * self.d_k;
            let scores = NUMBER * queries * keys;
            cache.touch(Part::Queries(row), of_queries, Access::Read);
            is_loaded = cache.touch(Part::Keys(column), of_keys, Access::Read);
            cache.touch(Part::Scores, scores, Access::Write);
            cache.touch(Part::Scores, scores, Access::Read);
            cache.touch(Part::Values(column), of_keys, Access::Read);
            let to_outputs = if column == 0 { Access::Write } else { Access::Update };
            cache.touch(Part::Outputs(row), of_queries, to_outputs);
        }
        if n_computed == computed.len() {
            cache.write_outputs();
        }
        let held = |j| cache.holds(Part::Keys(j)) && cache.holds(Part::Values(j));
        let held = (0..self.n_tokens.div_ceil(self.tile[1])).map(held).collect();
        Progress { traffic: cache.traffic, held, is_loaded }
    }
}

/// What is in a cache.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Part {
    /// Of the nth tile of queries, or of keys, as the others.
    Queries(usize),
    Keys(usize),
    Values(usize),
    Outputs(usize),
    /// In one place for all tiles.
    Scores,
}

/// What is done with a part.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Access {
    Read,
    /// Written whole: what it was before is not needed.
    Write,
    /// Read, and written.
    Update,
}

struct CachedPart {
    part: Part,
    bytes: usize,
    /// Whether it is not yet in memory as it is here.
    is_changed: bool,
}

struct Cache {
    capacity: usize,
    /// What was used last is at the end.
    held: Vec<CachedPart>,
    traffic: Traffic,
}

impl Cache {
    fn new(capacity: usize) -> Self {
        Self { capacity, held: Vec::new(), traffic: Traffic::default() }
    }

    fn holds(&self, part: Part) -> bool {
        self.held.iter().any(|held| held.part == part)
    }

    /// Uses a part; returns whether it came from memory.
    fn touch(&mut self, part: Part, bytes: usize, access: Access) -> bool {
        let at = self.held.iter().position(|held| held.part == part);
        let before = at.map(|at| self.held.remove(at));
        let is_loaded = before.is_none() && access != Access::Write;
        if is_loaded {
            self.traffic.add(part, bytes);
        }
        let was_changed = before.is_some_and(|held| held.is_changed);
        let held =
            CachedPart { part, bytes, is_changed: was_changed || access != Access::Read };
        let in_use =
            |held: &[CachedPart]| held.iter().map(|held| held.bytes).sum::<usize>();
        while !self.held.is_empty() && in_use(&self.held) + bytes > self.capacity {
            let oldest = self.held.remove(0);
            self.write_back(&oldest);
        }
        match bytes > self.capacity {
            true => self.write_back(&held),
            false => self.held.push(held),
        }
        is_loaded
    }

    fn write_back(&mut self, held: &CachedPart) {
        if held.is_changed {
            self.traffic.add(held.part, held.bytes);
        }
    }

    /// At the end. Nobody needs the scores.
    fn write_outputs(&mut self) {
        for held in std::mem::take(&mut self.held) {
            if matches!(held.part, Part::Outputs(_)) {
                self.write_back(&held);
            }
            self.held.push(CachedPart { is_changed: false, ..held });
        }
    }
}

#[cfg(test)]
mod tests;
