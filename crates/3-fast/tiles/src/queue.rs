//! Work that threads take piece by piece, and the memory that belongs to each piece.
//!
//! A queue owns the slices that are written, and hands out each piece once: a thread that
//! has a piece has its memory for itself. A thread that is done takes the next, so a thread
//! that is slowed down by something else on the machine does less.

use std::iter::StepBy;
use std::marker::PhantomData;
use std::ops::Range;
use std::sync::atomic::{AtomicUsize, Ordering};

/// Runs `work` once for each state, on as many threads.
pub fn share_out<T: Send>(states: &mut [T], work: &(impl Fn(&mut T) + Sync)) {
    match states {
        [] => {}
        [state] => work(state),
        _ => {
            let (left, right) = states.split_at_mut(states.len() / 2);
            rayon::join(|| share_out(left, work), || share_out(right, work));
        }
    }
}

/// In which order the pieces are handed out.
#[derive(Debug, Clone, Copy)]
pub enum Order {
    /// As they lie in memory, one at a time.
    InTurn,
    /// Pieces lie as `[group][head]` and are handed out head by head, so that the keys
    /// and values of one head stay in the cache, in runs of so many groups; the last run
    /// first, since under a causal mask it is the longest. The last head's runs are
    /// shorter, so that no thread waits long for another at the end.
    ByHead {
        /// How many heads the pieces are of.
        n_heads: usize,
        /// Groups a run.
        run: usize,
    },
}

impl Order {
    /// The pieces of one turn, while there are any.
    #[inline]
    fn pieces(self, turn: usize, n_pieces: usize) -> Option<StepBy<Range<usize>>> {
        match self {
            Self::InTurn => (turn < n_pieces).then(|| (turn..turn + 1).step_by(1)),
            Self::ByHead { n_heads, run } => {
                let n_groups = n_pieces / n_heads;
                let n_runs = n_groups.div_ceil(run);
                let before_last = (n_heads - 1) * n_runs;
                let (head, nth, run) = match turn.checked_sub(before_last) {
                    None => (turn / n_runs, turn % n_runs, run),
                    Some(nth) => (n_heads - 1, nth, run.div_ceil(4)),
                };
                let first = (n_groups.div_ceil(run).checked_sub(nth + 1)?) * run;
                let groups = first..(first + run).min(n_groups);
                let pieces = groups.start * n_heads + head..groups.end * n_heads;
                Some(pieces.step_by(n_heads))
            }
        }
    }
}

/// The numbers below `end`, each for one caller.
struct Turns {
    next: AtomicUsize,
    end: usize,
}

impl Turns {
    fn new(end: usize) -> Self {
        Self { next: AtomicUsize::new(0), end }
    }

    /// The next, while there are any.
    #[inline]
    fn take(&self) -> Option<usize> {
        // Once all are given, nothing is counted any more: however often somebody asks, the
        // counter never comes round to 0.
        if self.next.load(Ordering::Relaxed) >= self.end {
            return None;
        }
        let turn = self.next.fetch_add(1, Ordering::Relaxed);
        (turn < self.end).then_some(turn)
    }
}

/// Pieces of N slices: piece i is chunk i of each.
pub struct Queue<'a, const N: usize> {
    turns: Turns,
    n_pieces: usize,
    order: Order,
    starts: [*mut f32; N],
    lens: [usize; N],
    slices: PhantomData<&'a mut [f32]>,
}

// SAFETY: the pointers are to slices that the queue borrows mutably, and `take` gives each
// chunk of them to one caller only.
unsafe impl<const N: usize> Sync for Queue<'_, N> {}

impl<'a, const N: usize> Queue<'a, N> {
    /// A queue of `n_pieces`.
    ///
    /// # Panics
    /// If there are no pieces, if a slice cannot be cut into that many equal chunks, or if the
    /// heads of [`Order::ByHead`] do not divide them or its runs are empty.
    pub fn new(n_pieces: usize, order: Order, slices: [&'a mut [f32]; N]) -> Self {
        for slice in &slices {
            assert!(slice.len().is_multiple_of(n_pieces));
        }
        if let Order::ByHead { n_heads, run } = order {
            assert!(n_pieces.is_multiple_of(n_heads) && run > 0);
        }
        let lens = std::array::from_fn(|i| slices[i].len() / n_pieces);
        let starts = slices.map(|slice| slice.as_mut_ptr());
        let turns = Turns::new(n_pieces); // in runs there are fewer
        Self { turns, n_pieces, order, starts, lens, slices: PhantomData }
    }

    /// The next piece of a queue [in turn](Order::InTurn): its number, and its chunk of
    /// each slice.
    pub fn take(&self) -> Option<(usize, [&'a mut [f32]; N])> {
        debug_assert!(matches!(self.order, Order::InTurn), "a run is taken whole");
        self.take_run()?.next()
    }

    /// The next pieces, one after the other.
    pub fn take_run(
        &self,
    ) -> Option<impl Iterator<Item = (usize, [&'a mut [f32]; N])> + use<'a, N>> {
        let (starts, lens) = (self.starts, self.lens);
        let pieces = self.order.pieces(self.turns.take()?, self.n_pieces)?;
        Some(pieces.map(move |piece| {
            let chunks = std::array::from_fn(|i| {
                // SAFETY: `Turns` gives each turn out once, each order puts every piece below
                // n_pieces into one turn, once, and this iterator comes to each of them
                // once. So no chunk is given twice, and n_pieces chunks of this length are
                // the whole slice, which is borrowed for 'a.
                unsafe {
                    std::slice::from_raw_parts_mut(
                        starts[i].add(piece * lens[i]),
                        lens[i],
                    )
                }
            });
            (piece, chunks)
        }))
    }
}

/// A matrix that is stored column by column, its shape, and that of its blocks.
pub type InBlocks<'a> = (&'a mut [f32], (usize, usize), (usize, usize));

/// Blocks of N matrices that are stored column by column: each piece of work is the block
/// with the same number of every matrix.
pub struct Blocks<'a, const N: usize> {
    turns: Turns,
    matrices: [BlockedMatrix; N],
    of: PhantomData<&'a mut [f32]>,
}

/// A matrix, and the rows and columns of its blocks (fewer at the edges).
#[derive(Clone, Copy)]
struct BlockedMatrix {
    start: *mut f32,
    shape: (usize, usize),
    block: (usize, usize),
}

// SAFETY: the pointers are to slices that this borrows mutably, and `take` gives each block
// of them to one caller only.
unsafe impl<const N: usize> Sync for Blocks<'_, N> {}

impl<'a, const N: usize> Blocks<'a, N> {
    /// All blocks of these.
    ///
    /// # Panics
    /// If there is no matrix, if a matrix has another number of entries, a block none, or one
    /// matrix more blocks than another.
    pub fn new(matrices: [InBlocks<'a>; N]) -> Self {
        let matrices = matrices.map(|(matrix, shape, block)| {
            assert_eq!(Some(matrix.len()), shape.0.checked_mul(shape.1));
            assert!(block.0 > 0 && block.1 > 0);
            BlockedMatrix { start: matrix.as_mut_ptr(), shape, block }
        });
        let (down, across) = matrices[0].n_blocks();
        assert!(matrices.iter().all(|cut| cut.n_blocks() == (down, across)));
        // An empty matrix has none, however many there are in its other direction.
        let n_blocks =
            down.checked_mul(across).expect("a matrix has fewer blocks than entries");
        Self { turns: Turns::new(n_blocks), matrices, of: PhantomData }
    }

    /// The next blocks: column after column within the same rows, then the next rows.
    pub fn take(&self) -> Option<[Block<'a>; N]> {
        let turn = self.turns.take()?;
        let (_, across) = self.matrices[0].n_blocks();
        Some(std::array::from_fn(|i| {
            let BlockedMatrix { start, shape, block } = self.matrices[i];
            let (row, column) = (turn / across * block.0, turn % across * block.1);
            Block {
                start,
                stride: shape.0,
                rows: row..(row + block.0).min(shape.0),
                columns: column..(column + block.1).min(shape.1),
                of: PhantomData,
            }
        }))
    }
}

impl BlockedMatrix {
    /// Stacked, and side by side.
    #[inline]
    fn n_blocks(&self) -> (usize, usize) {
        (self.shape.0.div_ceil(self.block.0), self.shape.1.div_ceil(self.block.1))
    }
}

/// Some rows and columns of a matrix, for one thread.
pub struct Block<'a> {
    start: *mut f32,
    stride: usize,
    rows: Range<usize>,
    columns: Range<usize>,
    of: PhantomData<&'a mut [f32]>,
}

impl Block<'_> {
    /// Its rows of the matrix.
    #[inline]
    pub fn rows(&self) -> Range<usize> {
        self.rows.clone()
    }

    /// Its columns of the matrix.
    #[inline]
    pub fn columns(&self) -> Range<usize> {
        self.columns.clone()
    }

    /// Whether no number of it is NaN or infinite.
    #[inline]
    pub fn is_finite(&mut self) -> bool {
        // A column is looked at whole: so many numbers are looked at at once.
        let finite = |part: &[f32]| part.iter().fold(true, |all, x| all & x.is_finite());
        self.columns().fold(true, |all, j| all & finite(self.column(j)))
    }

    /// This block's rows of column `j` of the matrix, to be written.
    ///
    /// # Panics
    /// If the column is not this block's.
    #[inline]
    pub fn column(&mut self, j: usize) -> &mut [f32] {
        // SAFETY: `Turns` gives each pair of row block and column block to one `Block`, once,
        // so these entries are in no other block; `&mut self` lets one column be
        // written at a time. They lie within the matrix since both ranges do.
        unsafe { std::slice::from_raw_parts_mut(self.first(j), self.rows.len()) }
    }

    /// The first of this block's entries of column `j`.
    #[inline]
    fn first(&self, j: usize) -> *mut f32 {
        assert!(self.columns.contains(&j), "column {j} of {:?}", self.columns);
        // SAFETY: the column and the row are the matrix's, so this is within it.
        unsafe { self.start.add(j * self.stride + self.rows.start) }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_piece_is_handed_out_once() {
        let by_head = |run| Order::ByHead { n_heads: 3, run };
        for order in
            [Order::InTurn, by_head(1), by_head(2), by_head(4), by_head(5), by_head(9)]
        {
            let (mut a, mut b) = (vec![0.0; 30], vec![0.0; 60]);
            let queue = Queue::new(15, order, [&mut a[..], &mut b[..]]);
            share_out(&mut [(); 3], &|_| {
                while let Some(run) = queue.take_run() {
                    for (piece, [a, b]) in run {
                        a.iter_mut().chain(b).for_each(|x| *x += 1.0 + piece as f32);
                    }
                }
            });
            let expected = |len| (0..15 * len).map(move |i| 1.0 + (i / len) as f32);
            assert!(a.iter().copied().eq(expected(2)), "{order:?}");
            assert!(b.iter().copied().eq(expected(4)), "{order:?}");
        }
    }

    #[test]
    #[should_panic(expected = "left: Some(0)")]
    fn a_shape_whose_product_overflows_is_not_that_of_an_empty_matrix() {
        Blocks::new([(&mut [], (1 << 63, 2), (1, 1))]);
    }

    #[test]
    fn nothing_is_handed_out_again() {
        let turns = Turns::new(3);
        assert_eq!(std::iter::from_fn(|| turns.take()).collect::<Vec<_>>(), [0, 1, 2]);
        for _ in 0..100 {
            assert_eq!(turns.take(), None);
        }
        assert_eq!(turns.next.into_inner(), 3);
    }

    #[test]
    fn an_empty_matrix_has_no_blocks() {
        for shape in [(0, 1 << 60), (1 << 60, 0), (0, 0)] {
            assert!(Blocks::new([(&mut [], shape, (1, 1))]).take().is_none());
        }
    }

    #[test]
    fn every_entry_of_a_matrix_is_in_one_block() {
        let mut matrix = vec![0.0; 7 * 5];
        let mut other = vec![0.0; 6 * 9];
        let blocks =
            Blocks::new([(&mut matrix, (7, 5), (3, 2)), (&mut other, (6, 9), (2, 3))]);
        share_out(&mut [(); 3], &|_| {
            while let Some(both) = blocks.take() {
                for mut block in both {
                    for j in block.columns() {
                        block.column(j).iter_mut().for_each(|x| *x += 1.0);
                    }
                }
            }
        });
        assert_eq!((matrix, other), (vec![1.0; 35], vec![1.0; 54]));
    }
}
