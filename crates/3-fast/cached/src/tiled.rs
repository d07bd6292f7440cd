//! Many queries on packed keys, through the tiles of a layer. The keys of a group of heads
//! are read where they are by each of them.

use attention::nalgebra::DMatrixViewMut;
use attention::{Dims, Mask, Positions, View};
use tiles::attend::{Attend, PanelsOf, in_runs};
use tiles::memory::{Aligned, Scratch};
use tiles::panels::{n_groups, rows_of, rows_per_head};
use tiles::queue::{Queue, share_out};
use tiles::running::Normalisers;
use tiles::tile::ROWS;
use tiles::{Instructions, Lengths};

use crate::GroupedHeads;

/// What the tiles work in, kept between calls.
#[derive(Debug, Default)]
pub(crate) struct Tiles {
    /// Outputs, and before them queries where those are not kept,
    /// `[group][head][rows of a head][48]`.
    outs: Aligned,
    /// `[group][head]` of [`Normalisers`].
    normalisers: Aligned,
    scratches: Vec<Scratch>,
}

impl Tiles {
    /// The places of so many queries' outputs, and of their normalisers.
    pub(crate) fn take(
        &mut self,
        heads: GroupedHeads,
        n_queries: usize,
    ) -> [&mut [f32]; 2] {
        let n_pieces = n_groups(n_queries) * heads.n_heads();
        let outs = self.outs.take(len(heads, n_queries));
        [outs, self.normalisers.take(n_pieces * Normalisers::LEN)]
    }
}

/// Queries and the keys that they meet.
pub(crate) struct QueriesAndKeys<'a, 'p> {
    pub(crate) heads: GroupedHeads,
    pub(crate) instructions: Instructions,
    pub(crate) lengths: Lengths,
    pub(crate) masks: &'a [Mask],
    /// See [`Attend`].
    pub(crate) positions: Option<&'a Positions>,
    pub(crate) q: Option<&'a [f32]>,
    pub(crate) panels: &'a PanelsOf<'p>,
}

impl QueriesAndKeys<'_, '_> {
    /// The outputs, in their places.
    pub(crate) fn run(&self, tiles: &mut Tiles) {
        // Within the pool, where joins are cheap and the number of threads is known.
        rayon::join(|| self.on_threads(rayon::current_num_threads(), tiles), || ());
    }

    fn on_threads(&self, n_threads: usize, tiles: &mut Tiles) {
        let &Self { heads, instructions, lengths, masks, positions, q, panels } = self;
        let dims = dims(heads);
        let n_queries = lengths.n_sequences * lengths.n_q;
        let n_pieces = n_groups(n_queries) * heads.n_heads();
        let mut scratches = std::mem::take(&mut tiles.scratches);
        if scratches.len() < n_threads {
            scratches.resize_with(n_threads, Scratch::default);
        }
        let slices = tiles.take(heads, n_queries);
        let queue = &Queue::new(n_pieces, in_runs(n_pieces, dims, n_threads), slices);
        share_out(&mut scratches[..n_threads], &|scratch| {
            let attend =
                Attend { dims, masks, lengths, positions, q, panels, queue, scratch };
            instructions.run(attend);
        });
        tiles.scratches = scratches;
    }
}

/// The sizes of a layer in which each query head has keys of its own.
fn dims(heads: GroupedHeads) -> Dims {
    let d_model = heads.n_heads() * heads.d_v();
    let dims = Dims::with_head_sizes(d_model, heads.n_heads(), heads.d_k(), heads.d_v());
    dims.expect("heads that exist have sizes")
}

/// How many numbers so many queries are, and their outputs.
pub(crate) fn len(heads: GroupedHeads, n_queries: usize) -> usize {
    n_groups(n_queries) * heads.n_heads() * rows_per_head(dims(heads)) * ROWS
}

/// Queries as tiles read them, each number times `factor`.
pub(crate) fn pack_queries(
    heads: GroupedHeads,
    q: View<'_, f32>,
    factor: f32,
    to: &mut [f32],
) {
    let len = rows_per_head(dims(heads)) * ROWS;
    for (place, numbers) in to.chunks_exact_mut(len).enumerate() {
        let (group, head) = (place / heads.n_heads(), place % heads.n_heads());
        let columns = q.columns(head * heads.d_k(), heads.d_k());
        let rows = rows_of(group, q.nrows());
        for (lanes, column) in numbers.chunks_exact_mut(ROWS).zip(columns.column_iter()) {
            let from = &column.as_slice()[rows.clone()];
            lanes[from.len()..].fill(0.0);
            lanes.iter_mut().zip(from).for_each(|(to, x)| *to = x * factor);
        }
    }
}

/// The outputs of all queries as the rows of a matrix.
pub(crate) fn unpack_outputs(
    heads: GroupedHeads,
    tiles: &Tiles,
    mut out: DMatrixViewMut<'_, f32>,
) {
    let (len, d_v) = (rows_per_head(dims(heads)) * ROWS, heads.d_v());
    let places = tiles.outs.get(self::len(heads, out.nrows()));
    for (place, numbers) in places.chunks_exact(len).enumerate() {
        let (group, head) = (place / heads.n_heads(), place % heads.n_heads());
        let rows = rows_of(group, out.nrows());
        for (f, lanes) in numbers.chunks_exact(ROWS).take(d_v).enumerate() {
            let mut column = out.column_mut(head * d_v + f);
            let column = column.as_mut_slice(); // a column's rows lie side by side
            column[rows.clone()].copy_from_slice(&lanes[..rows.len()]);
        }
    }
}
