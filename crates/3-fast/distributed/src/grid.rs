//! Tokens apart, and both: keys and values go round a ring.

use std::ops::Range;

use attention::{Dims, LayerParameters, Mask, Matrix, Positions, Real, RowVector};

use crate::heads::add_bias;
use crate::{Chunks, Engine, Error, Group, Result, heads_of, masks, share};

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
/// use distributed::{Grid, Group, OnGrid, Plain, Threads};
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
/// # Ok::<(), distributed::Error>(())
/// ```
///
/// # Source
/// Liu et al. 2023, "Ring attention with blockwise transformers"; Shoeybi et al. 2019 for
/// the heads.
#[derive(Debug)]
pub struct OnGrid<T: Real, E: Engine<T>> {
    dims: Dims,
    heads: Range<usize>,
    engine: Option<E>,
    b_o: Option<RowVector<T>>,
    memory: Memory<T, E::Queries>,
}

/// What is kept between calls: the second of the same size asks for no memory.
#[derive(Debug, Clone)]
struct Memory<T, Q> {
    /// Of queries, keys and values, and later of the heads' outputs.
    matrix: Vec<T>,
    /// Keys and values, block by block, and the block that is arriving.
    held: Vec<Vec<T>>,
    arriving: Vec<T>,
    /// Those of either chunk.
    queries: [Option<Q>; 2],
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
            attention::Error::expect_shape(what, (1, dims.d_model()), (1, width))?;
        }
        let heads = share(dims.n_heads(), grid.sum.size(), grid.sum.rank());
        let engine = heads_of(layer, heads.clone())?.map(|part| E::new(&part));
        let b_o = layer.w_o().bias.clone();
        let (matrix, held, arriving, queries) = Default::default();
        let memory = Memory { matrix, held, arriving, queries };
        Ok(Self { dims, heads, engine, b_o, memory })
    }

    /// How many bytes of keys and values this rank holds while they go round: its own, which
    /// become others', and those that arrive. (While it projects, its own are there twice.)
    pub fn bytes_of_keys(&self) -> usize {
        let Memory { held, arriving, .. } = &self.memory;
        let capacities = held.iter().chain([arriving]).map(Vec::capacity);
        capacities.sum::<usize>() * size_of::<T>()
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
        attention::Error::expect_shape("x", (n_rows, self.dims.d_model()), x.shape())?;
        if masks.len() != 1 {
            attention::Error::expect_length(
                "the list of masks",
                n_sequences,
                masks.len(),
            )?;
        }
        for mask in masks {
            mask.check(self.dims.n_heads(), n_tokens, n_tokens)?;
            masks::refuse_additive(mask)?;
        }
        let mine = |mask| masks::of_heads(mask, self.heads.clone());
        let masks: Vec<Mask> = masks.iter().map(mine).collect();
        let mut out = match &mut self.engine {
            Some(engine) => {
                let (rank, h) = (grid.ring.rank(), self.heads.len());
                let widths = [h * self.dims.d_k(), h * self.dims.d_v()];
                let turn = Turn { chunks, rank, n_sequences, masks: &masks, widths };
                let memory = &mut self.memory;
                let concat = turn.round(&mut grid.ring, engine, memory, x)?;
                let out = engine.mix(&concat)?;
                memory.matrix = concat.data.into();
                out
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
    rank: usize,
    n_sequences: usize,
    masks: &'a [Mask],
    /// How wide the keys and the values of this rank's heads are together.
    widths: [usize; 2],
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
        memory: &mut Memory<T, E::Queries>,
        x: &Matrix<T>,
    ) -> Result<Matrix<T>> {
        let (p, r) = (ring.size(), self.rank);
        self.project(engine, memory, x)?;
        let Memory { held, arriving, queries, .. } = memory;
        for step in 0..p {
            // Whose blocks are here, and whose arrive: those of the rank before, and so on.
            let (owner, next_owner) = ((r + p - step) % p, (r + 2 * p - step - 1) % p);
            let next_blocks = self.blocks(next_owner);
            for (b, keys) in self.blocks(owner).into_iter().enumerate() {
                if step == p - 1 {
                    self.meet(engine, queries, &held[b], keys)?;
                    continue;
                }
                let n_arriving = self.n_sequences * next_blocks[b].len();
                arriving.resize(engine.keys_len(n_arriving), T::zero());
                ring.exchange_while(
                    (r + 1) % p,
                    &held[b],
                    (r + p - 1) % p,
                    arriving,
                    || self.meet(engine, queries, &held[b], keys),
                )??;
                std::mem::swap(&mut held[b], arriving);
            }
        }
        Ok(self.outputs::<T, E>(memory))
    }
    // ANCHOR_END: round

    /// All queries here meet one block of keys, wherever it is from. A rank whose tokens are
    /// 12 to 15 says so: counted from its own first token they would be the sequence's
    /// first, and a causal mask would hide from them all that they should see.
    fn meet<T: Real, E: Engine<T>>(
        &self,
        engine: &mut E,
        queries: &mut [Option<E::Queries>; 2],
        block: &[T],
        keys: Range<usize>,
    ) -> Result<()> {
        let lengths = (self.chunks.n_tokens(), self.chunks.n_tokens());
        for (tokens, queries) in self.chunks.of(self.rank).into_iter().zip(queries) {
            let Some(queries) = queries else { continue };
            let positions = Positions { queries: tokens, keys: keys.clone(), lengths };
            engine.see(queries, block, self.masks, &positions)?;
        }
        Ok(())
    }

    /// This rank's tokens, in memory: as keys and values, block by block, and as queries of
    /// each of its chunks.
    fn project<T: Real, E: Engine<T>>(
        &self,
        engine: &mut E,
        memory: &mut Memory<T, E::Queries>,
        x: &Matrix<T>,
    ) -> Result<()> {
        let q_k_v = engine.project(x, std::mem::take(&mut memory.matrix))?;
        let [k_width, v_width] = self.widths;
        let q = q_k_v.columns(0, k_width);
        let k = q_k_v.columns(k_width, k_width);
        let v = q_k_v.columns(2 * k_width, v_width);
        let blocks = self.blocks(self.rank);
        memory.held.resize_with(blocks.len(), Vec::new);
        for (keys, held) in blocks.into_iter().zip(&mut memory.held) {
            let of_sequence = |s| {
                let rows = self.rows_of(s, &keys);
                [&k, &v].map(|of_all| of_all.rows(rows.start, rows.len()))
            };
            let each: Vec<_> = (0..self.n_sequences).map(of_sequence).collect();
            *held = engine.keys(&each, std::mem::take(held))?;
        }
        let mut first = 0;
        for (rows, queries) in self.rows().into_iter().zip(&mut memory.queries) {
            let q = q.rows(first, rows);
            *queries = Some(engine.queries(self.n_sequences, q, queries.take())?);
            first += rows;
        }
        // As they were projected, keys and values are here once more: nobody needs them.
        memory.matrix = q_k_v.data.into();
        memory.matrix.truncate(x.nrows() * v_width);
        memory.matrix.shrink_to_fit();
        Ok(())
    }

    /// What the queries have made of all keys, in the place where they were projected.
    fn outputs<T: Real, E: Engine<T>>(
        &self,
        memory: &mut Memory<T, E::Queries>,
    ) -> Matrix<T> {
        let (n_rows, width) = (self.rows().into_iter().sum(), self.widths[1]);
        let mut numbers = std::mem::take(&mut memory.matrix);
        numbers.resize(n_rows * width, T::zero());
        let mut concat = Matrix::from_vec(n_rows, width, numbers);
        let mut first = 0;
        for (rows, queries) in self.rows().into_iter().zip(&memory.queries) {
            if let Some(queries) = queries {
                E::outputs(queries, concat.rows_mut(first, rows));
            }
            first += rows;
        }
        concat
    }

    /// The keys of each block of a rank, in the order in which they go round: as many blocks
    /// on all ranks.
    fn blocks(&self, rank: usize) -> Vec<Range<usize>> {
        self.chunks.blocks(rank, self.chunks.n_blocks())
    }

    /// How many rows this rank has of either chunk, of all sequences.
    fn rows(&self) -> [usize; 2] {
        self.chunks.of(self.rank).map(|chunk| self.n_sequences * chunk.len())
    }

    /// Where tokens of one of this rank's chunks stand among its rows.
    fn rows_of(&self, sequence: usize, tokens: &Range<usize>) -> Range<usize> {
        let [low, high] = self.chunks.of(self.rank);
        let start = match tokens.start < low.end {
            true => sequence * low.len() + tokens.start - low.start,
            false => self.rows()[0] + sequence * high.len() + tokens.start - high.start,
        };
        start..start + tokens.len()
    }
}
