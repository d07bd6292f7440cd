//! Tokens apart, and both: keys and values go round a ring.

use std::ops::Range;

use attention::nalgebra::DMatrixView;
use attention::{
    Dims, Error as LayerError, LayerParameters, Mask, Matrix, Real, RowVector,
};

use crate::heads::add_bias;
use crate::{Chunks, Engine, Error, Group, Piece, Result, heads_of, masks, share};

/// Below so many keys, a message is not worth cutting.
const FEWEST: usize = 64;

/// Into how many blocks each chunk is cut at least, where there are keys enough. A rank
/// holds its piece of all keys and values, and one block more, which is arriving.
const BLOCKS: usize = 4;

/// A group of ranks as a grid: in a column are ranks that share out the tokens, in a row
/// those that share out the heads.
///
/// With one group of heads it is a ring of tokens; with as many groups as ranks, no token
/// moves.
#[derive(Debug)]
pub struct Grid<G> {
    /// Ranks with the same heads and other tokens.
    ring: G,
    /// Ranks with the same tokens and other heads.
    sum: G,
}

impl<G> Grid<G> {
    /// Ranks in `by_heads` groups, each of which has all tokens and some heads. Ranks whose
    /// numbers follow each other pass keys and values on to each other.
    ///
    /// # Errors
    /// [`Error::NoRanks`], [`Error::Grid`].
    pub fn new<T: Real>(group: &mut G, by_heads: usize) -> Result<Self>
    where
        G: Group<T>,
    {
        let size = group.size();
        if by_heads == 0 {
            return Err(Error::NoRanks { what: "the number of groups of heads" });
        }
        if !size.is_multiple_of(by_heads) {
            return Err(Error::Grid { size, by_heads });
        }
        let by_tokens = size / by_heads;
        let ring = group.split(|rank| rank / by_tokens)?;
        let sum = group.split(|rank| rank % by_tokens)?;
        Ok(Self { ring, sum })
    }

    /// The tokens of all ranks of the ring, for sequences of this length.
    pub fn chunks<T: Real>(&self, n_tokens: usize) -> Chunks
    where
        G: Group<T>,
    {
        Chunks::new(n_tokens, self.ring.size())
    }

    /// The ranks among which the tokens are shared out.
    pub fn ring(&mut self) -> &mut G {
        &mut self.ring
    }
}

/// A layer on a grid of ranks: self-attention, each rank with some heads and some tokens.
///
/// ```
/// use attention::{Dims, LayerParameters, Mask, Rng, SeedableRng, random_matrix};
/// use spread::{Grid, Group, OnGrid, Plain, Threads};
///
/// let rng = &mut Rng::seed_from_u64(1);
/// let layer: LayerParameters = LayerParameters::random(Dims::new(12, 3)?, true, rng);
/// let x = random_matrix(10, 12, 1.0, rng);
/// let outs = Threads::run(2, |group| {
///     let mut grid = Grid::new(group, 1)?; // tokens apart, and no heads
///     let mut part: OnGrid<f64, Plain> = OnGrid::new(&layer, &grid)?;
///     let mine = grid.chunks(10).rows(&x, 1, group.rank())?;
///     part.forward(&mut grid, &mine, (1, 10), &[Mask::Causal])
/// })?;
/// assert_eq!(outs[0].nrows() + outs[1].nrows(), 10);
/// # Ok::<(), spread::Error>(())
/// ```
///
/// # Source
/// Liu et al. 2023, "Ring attention with blockwise transformers"; Shoeybi et al. 2019 for
/// the heads.
#[derive(Debug, Clone)]
pub struct OnGrid<T: Real, E> {
    dims: Dims,
    heads: Range<usize>,
    engine: Option<E>,
    b_o: Option<RowVector<T>>,
}

impl<T: Real, E: Engine<T>> OnGrid<T, E> {
    /// This rank's part of a layer: its heads.
    ///
    /// # Errors
    /// A layer whose inputs differ in width: tokens attend to themselves here.
    pub fn new<G: Group<T>>(layer: &LayerParameters<T>, grid: &Grid<G>) -> Result<Self> {
        let dims = layer.dims();
        for (what, width) in [("key", dims.key_width()), ("value", dims.value_width())] {
            let what = format!("the {what} of self-attention");
            LayerError::expect_shape(what, (1, dims.d_model()), (1, width))?;
        }
        let heads = share(dims.n_heads(), grid.sum.size(), grid.sum.rank());
        let engine = heads_of(layer, heads.clone())?.map(|part| E::new(&part));
        Ok(Self { dims, heads, engine, b_o: layer.w_o().bias.clone() })
    }

    /// The layer's output for this rank's tokens.
    ///
    /// # Shapes
    /// `x` has the rows of [`Chunks::rows`]; `lengths` are the number of sequences and that
    /// of tokens of each, on all ranks together; one mask for all sequences, or one a
    /// sequence. The result has the shape of `x`.
    ///
    /// # Errors
    /// Shapes or masks that do not fit; [`Error::AdditiveMask`]; what communication finds.
    pub fn forward<G: Group<T>>(
        &mut self,
        grid: &mut Grid<G>,
        x: &Matrix<T>,
        (n_sequences, n_tokens): (usize, usize),
        masks: &[Mask],
    ) -> Result<Matrix<T>> {
        let chunks = grid.chunks(n_tokens);
        let n_rows = n_sequences * chunks.len(grid.ring.rank());
        LayerError::expect_shape("x", (n_rows, self.dims.d_model()), x.shape())?;
        if masks.len() != 1 {
            LayerError::expect_length("the list of masks", n_sequences, masks.len())?;
        }
        for mask in masks {
            mask.check(self.dims.n_heads(), n_tokens, n_tokens)?;
            masks::refuse_additive(mask)?;
        }
        let mine = |mask| masks::of_heads(mask, self.heads.clone());
        let masks: Vec<Mask> = masks.iter().map(mine).collect();
        let mut out = match &mut self.engine {
            Some(engine) => {
                let q_k_v = engine.project(x)?;
                let h = self.heads.len();
                let widths = [h * self.dims.d_k(), h * self.dims.d_v()];
                let turn = Turn { chunks, n_sequences, masks: &masks, h, widths };
                let concat = turn.round(&mut grid.ring, engine, q_k_v)?;
                engine.mix(&concat)?
            }
            // All ranks of this ring are without heads.
            None => Matrix::zeros(n_rows, self.dims.d_model()),
        };
        grid.sum.all_reduce(out.as_mut_slice())?;
        add_bias(&mut out, self.b_o.as_ref());
        Ok(out)
    }
}

/// What stays the same while keys and values go round.
struct Turn<'a> {
    chunks: Chunks,
    n_sequences: usize,
    masks: &'a [Mask],
    /// How many heads, and how wide their keys and their values are together.
    h: usize,
    widths: [usize; 2],
}

/// The queries of one chunk of one sequence, and what they have seen so far.
struct Queries<T: Real> {
    sequence: usize,
    tokens: Range<usize>,
    q: Matrix<T>,
    seen: Piece<T>,
}

impl Turn<'_> {
    /// The heads' outputs for this rank's tokens. Keys and values move on while they are
    /// computed with, block by block: a block is sent to the next rank, the next owner's
    /// arrives, and meanwhile all queries here meet the block.
    // ANCHOR: round
    fn round<T: Real, E: Engine<T>, G: Group<T>>(
        &self,
        ring: &mut G,
        engine: &mut E,
        [q, k, v]: [Matrix<T>; 3],
    ) -> Result<Matrix<T>> {
        let (p, r) = (ring.size(), ring.rank());
        let n_blocks = self.n_blocks(E::KEYS);
        let mut queries = self.queries(r, &q);
        let mut held = self.messages(r, n_blocks, &k, &v);
        drop((q, k, v));
        let mut arriving = Vec::new();
        for step in 0..p {
            let (owner, next_owner) = ((r + p - step) % p, (r + 2 * p - step - 1) % p);
            let blocks = self.chunks.blocks(owner, n_blocks);
            let next_blocks = self.chunks.blocks(next_owner, n_blocks);
            for (b, keys) in blocks.into_iter().enumerate() {
                if step == p - 1 {
                    let last = std::mem::take(&mut held[b]);
                    self.meet(engine, &mut queries, &last, keys, &mut || ())?;
                    continue;
                }
                arriving.resize(self.message_len(&next_blocks[b]), T::zero());
                let (message, room) = (&held[b], &mut arriving);
                ring.exchange((r + 1) % p, message, (r + p - 1) % p, room, |look| {
                    self.meet(engine, &mut queries, message, keys, look)
                })??;
                std::mem::swap(&mut held[b], &mut arriving);
            }
        }
        Ok(self.concat(queries))
    }
    // ANCHOR_END: round

    /// All queries here meet one block of keys, wherever it is from.
    fn meet<T: Real, E: Engine<T>>(
        &self,
        engine: &mut E,
        queries: &mut [Queries<T>],
        message: &[T],
        keys: Range<usize>,
        look: &mut dyn FnMut(),
    ) -> Result<()> {
        let [k_width, v_width] = self.widths;
        let len = message.len() / self.n_sequences.max(1);
        for Queries { sequence, tokens, q, seen } in queries {
            let mask = &self.masks[*sequence % self.masks.len()];
            let sees = masks::seen(mask, tokens.clone(), keys.clone());
            let Some(masks::Seen { queries, mask }) = sees else { continue };
            let (k, v) = message[*sequence * len..][..len].split_at(keys.len() * k_width);
            let k = DMatrixView::from_slice(k, keys.len(), k_width);
            let v = DMatrixView::from_slice(v, keys.len(), v_width);
            let first = queries.start - tokens.start;
            let piece = match queries.len() == q.nrows() {
                true => engine.piece(q, k, v, &mask)?,
                false => {
                    let some = q.rows(first, queries.len()).into_owned();
                    engine.piece(&some, k, v, &mask)?
                }
            };
            seen.merge(first, &piece, E::exp);
            look();
        }
        Ok(())
    }

    /// How many blocks each chunk is cut into, the same on all ranks.
    fn n_blocks(&self, liked: usize) -> usize {
        let longest = self.chunks.of(0)[0].len();
        longest.div_ceil(liked).max(BLOCKS.min(longest / FEWEST)).max(1)
    }

    fn message_len(&self, keys: &Range<usize>) -> usize {
        self.n_sequences * keys.len() * self.widths.iter().sum::<usize>()
    }

    /// This rank's keys and values as they are sent: for each block, the keys and the values
    /// of each sequence.
    fn messages<T: Real>(
        &self,
        rank: usize,
        n_blocks: usize,
        k: &Matrix<T>,
        v: &Matrix<T>,
    ) -> Vec<Vec<T>> {
        let message = |keys: Range<usize>| {
            let mut message = Vec::with_capacity(self.message_len(&keys));
            for s in 0..self.n_sequences {
                let rows = self.rows_of(rank, s, &keys);
                for from in [k, v] {
                    let columns = from.column_iter();
                    columns.for_each(|it| message.extend(&it.as_slice()[rows.clone()]));
                }
            }
            message
        };
        self.chunks.blocks(rank, n_blocks).into_iter().map(message).collect()
    }

    fn queries<T: Real>(&self, rank: usize, q: &Matrix<T>) -> Vec<Queries<T>> {
        let d_v = self.widths[1] / self.h;
        let both = self.chunks.of(rank);
        let each = (0..self.n_sequences).flat_map(|s| both.iter().map(move |c| (s, c)));
        let filled = each.filter(|(_, tokens)| !tokens.is_empty());
        let one = |(sequence, tokens): (usize, &Range<usize>)| {
            let rows = self.rows_of(rank, sequence, tokens);
            let q = q.rows(rows.start, rows.len()).into_owned();
            let seen = Piece::nothing(q.nrows(), self.h, d_v);
            Queries { sequence, tokens: tokens.clone(), q, seen }
        };
        filled.map(one).collect()
    }

    /// Where tokens of one of a rank's chunks stand among its rows.
    fn rows_of(
        &self,
        rank: usize,
        sequence: usize,
        tokens: &Range<usize>,
    ) -> Range<usize> {
        let [low, high] = self.chunks.of(rank);
        let start = match tokens.start < low.end {
            true => tokens.start - low.start,
            false => low.len() + tokens.start - high.start,
        };
        let start = sequence * self.chunks.len(rank) + start;
        start..start + tokens.len()
    }

    fn concat<T: Real>(&self, queries: Vec<Queries<T>>) -> Matrix<T> {
        let n_rows = queries.iter().map(|it| it.q.nrows()).sum();
        let mut concat = Matrix::zeros(n_rows, self.widths[1]);
        let mut row = 0;
        for Queries { seen, .. } in queries {
            let out = seen.finish();
            concat.rows_mut(row, out.nrows()).copy_from(&out);
            row += out.nrows();
        }
        concat
    }
}
