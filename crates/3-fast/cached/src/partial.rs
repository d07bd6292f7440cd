//! Attention to keys that come in parts, of which none is kept.

use attention::nalgebra::DMatrixViewMut;
use attention::{Error, Mask, Matrix, Positions, Result, View};
use tiles::attend::PanelsOf;
use tiles::memory::Aligned;
use tiles::panels::{HeadPanels, n_groups, round_up};
use tiles::tile::ROWS;
use tiles::{Instructions, Lengths};

use crate::panels::write;
use crate::tiled::{self, Tiles};
use crate::{GroupedHeads, Scoring};

/// The keys and values of some tokens, packed into one list of numbers: one that can be sent.
///
/// ```
/// use attention::{Rng, SeedableRng, random_matrix};
/// use cached::{GroupedHeads, PackedKeys};
///
/// let (rng, heads) = (&mut Rng::seed_from_u64(1), GroupedHeads::new([4, 4], [8, 8])?);
/// let [k, v] = [0, 1].map(|_| random_matrix::<f32>(20, 4 * 8, 1.0, rng));
/// let mut sent = Vec::new();
/// PackedKeys::pack(heads, &[[k.as_view(), v.as_view()]], &mut sent)?;
/// let arrived = PackedKeys::new(heads, 20, &sent)?;
/// assert_eq!(arrived.n_tokens(), 20);
/// # Ok::<(), attention::Error>(())
/// ```
#[derive(Debug, Clone, Copy)]
pub struct PackedKeys<'a> {
    heads: GroupedHeads,
    n_tokens: usize,
    /// For each head of keys its panels of 48 tokens, `[panel][d_k][48]`, and then those of
    /// the values, `[panel][d_v][48]`.
    numbers: &'a [f32],
}

impl<'a> PackedKeys<'a> {
    /// What has been [packed](Self::pack) for these heads, of so many tokens.
    ///
    /// # Errors
    /// [`Error::Length`] if they are not [as many](Self::len_of) numbers as that makes.
    pub fn new(heads: GroupedHeads, n_tokens: usize, numbers: &'a [f32]) -> Result<Self> {
        let expected = Self::len_of(heads, n_tokens);
        Error::expect_length(
            "the list of packed keys and values",
            expected,
            numbers.len(),
        )?;
        Ok(Self { heads, n_tokens, numbers })
    }

    /// How many numbers the keys and values of so many tokens are: panels are filled up.
    pub fn len_of(heads: GroupedHeads, n_tokens: usize) -> usize {
        let [k, v] = lens(heads, n_tokens);
        heads.n_kv_heads() * (k + v)
    }

    /// Packs the keys and values of some tokens, those of each sequence behind those of the
    /// one before, in place of what `numbers` had.
    ///
    /// # Shapes
    /// Of each sequence `[n, n_kv_heads · d_k]` and `[n, n_kv_heads · d_v]`.
    ///
    /// # Errors
    /// [`Error::Shape`], [`Error::KeyValueLengths`].
    pub fn pack(
        heads: GroupedHeads,
        sequences: &[[View<'_, f32>; 2]],
        numbers: &mut Vec<f32>,
    ) -> Result<()> {
        for [k, v] in sequences {
            heads.check_keys(k.shape(), v.shape())?;
        }
        let n_tokens: usize = sequences.iter().map(|[k, _]| k.nrows()).sum();
        let [k_len, v_len] = lens(heads, n_tokens);
        numbers.clear();
        numbers.resize(Self::len_of(heads, n_tokens), 0.0);
        let (keys, values) = numbers.split_at_mut(heads.n_kv_heads() * k_len);
        let mut first = 0;
        for [k, v] in sequences {
            for (all, len, width, from) in [
                (&mut *keys, k_len, heads.d_k(), k),
                (&mut *values, v_len, heads.d_v(), v),
            ] {
                for (head, panels) in all.chunks_exact_mut(len.max(1)).enumerate() {
                    let from = from.columns(head * width, width);
                    write(panels, first, from, |x, _| x);
                }
            }
            first += k.nrows();
        }
        Ok(())
    }

    /// The number of tokens, of all sequences together.
    pub fn n_tokens(&self) -> usize {
        self.n_tokens
    }

    /// The panels of one head's keys and of its values.
    fn of_head(&self, kv_head: usize) -> [HeadPanels<'a>; 2] {
        let [k_len, v_len] = lens(self.heads, self.n_tokens);
        let (keys, values) = self.numbers.split_at(self.heads.n_kv_heads() * k_len);
        let (k, v) = (&keys[kv_head * k_len..], &values[kv_head * v_len..]);
        [HeadPanels::alone(k, self.heads.d_k()), HeadPanels::alone(v, self.heads.d_v())]
    }
}

/// How many numbers the keys and the values of one head are.
fn lens(heads: GroupedHeads, n_tokens: usize) -> [usize; 2] {
    [heads.d_k(), heads.d_v()].map(|width| n_groups(n_tokens) * round_up(width) * ROWS)
}

/// Queries, and what they have made of the keys that they have seen so far.
///
/// Between two parts of the keys it holds an output, a reference and a sum for each query
/// and head; a part that comes is merged with them where they lie:
///
/// ```text
/// weight = sum · 2^(reference − the larger reference)        of both
/// output = (weight · output + weight' · output') / (weight + weight')
/// ```
///
/// ```
/// use attention::{Mask, Matrix, Positions};
/// use cached::{GroupedHeads, PackedKeys, PartialAttention};
///
/// let heads = GroupedHeads::new([1, 1], [1, 1])?;
/// let q = Matrix::from_element(1, 1, 1.0);
/// let mut attention = PartialAttention::new(heads);
/// attention.ask(1, q.as_view())?;
/// let mut sent = Vec::new();
/// for (at, key, value) in [(0, 0.0, 0.0), (1, 3f32.ln(), 1.0)] {
///     let [k, v] = [key, value].map(|x| Matrix::from_element(1, 1, x));
///     PackedKeys::pack(heads, &[[k.as_view(), v.as_view()]], &mut sent)?;
///     let keys = PackedKeys::new(heads, 1, &sent)?;
///     let positions = Positions { queries: 0..1, keys: at..at + 1, lengths: (1, 2) };
///     attention.see(&keys, &[Mask::None], &positions)?;
/// }
/// assert!((attention.outputs()[0] - 0.75).abs() < 1e-6); // shares of 1/4 and 3/4
/// # Ok::<(), attention::Error>(())
/// ```
///
/// # Source
/// Liu et al. 2023, "Ring attention with blockwise transformers".
#[derive(Debug)]
pub struct PartialAttention {
    heads: GroupedHeads,
    instructions: Instructions,
    n_sequences: usize,
    n_q: usize,
    /// `[group][head][rows of a head][48]`.
    q: Aligned,
    /// Outputs and normalisers.
    tiles: Tiles,
}

impl PartialAttention {
    /// Heads of these sizes, without a query.
    pub fn new(heads: GroupedHeads) -> Self {
        let (q, tiles) = Default::default();
        let instructions = Instructions::best();
        Self { heads, instructions, n_sequences: 0, n_q: 0, q, tiles }
    }

    /// Takes queries that have seen no key, in place of those there were. Memory is kept.
    ///
    /// # Shapes
    /// `q` is `[n_sequences · n_q, n_heads · d_k]`, not scaled.
    ///
    /// # Errors
    /// [`Error::Shape`]; [`Error::BatchRows`] if sequences would differ in length. The
    /// queries are then those there were.
    pub fn ask(&mut self, n_sequences: usize, q: View<'_, f32>) -> Result<()> {
        let (heads, n_rows) = (self.heads, q.nrows());
        Error::expect_shape("q", (n_rows, heads.n_heads() * heads.d_k()), q.shape())?;
        if n_sequences == 0 || !n_rows.is_multiple_of(n_sequences) {
            return Err(Error::BatchRows { n_rows, n_sequences });
        }
        (self.n_sequences, self.n_q) = (n_sequences, n_rows / n_sequences);
        let factor = Scoring::default().query_factor(heads);
        let packed = self.q.take(tiled::len(heads, n_rows));
        tiled::pack_queries(heads, q, factor, packed);
        // A factor of 0 says that nothing was seen.
        self.tiles.take(heads, n_rows).into_iter().for_each(|all| all.fill(0.0));
        Ok(())
    }

    /// How many sequences the queries are of.
    pub fn n_sequences(&self) -> usize {
        self.n_sequences
    }

    /// The queries of each sequence meet some of its keys.
    ///
    /// # Shapes
    /// One mask for all sequences, or one a sequence: of a whole sequence, in which
    /// `positions` says where the queries and these keys stand.
    ///
    /// # Errors
    /// [`Error::Length`] for another number of queries, keys or masks, or positions that
    /// the sequence does not have; what [`Mask::check`] finds. Nothing is then seen.
    pub fn see(
        &mut self,
        keys: &PackedKeys<'_>,
        masks: &[Mask],
        positions: &Positions,
    ) -> Result<()> {
        let (heads, n, n_q) = (self.heads, self.n_sequences, self.n_q);
        let n_kv = positions.keys.len();
        positions.check()?;
        Error::expect_length("the list of queries", positions.queries.len(), n_q)?;
        Error::expect_length("the packed list of keys", n * n_kv, keys.n_tokens())?;
        if masks.len() != 1 {
            Error::expect_length("the list of masks", n, masks.len())?;
        }
        let (all_q, all_kv) = positions.lengths;
        masks.iter().try_for_each(|mask| mask.check(heads.n_heads(), all_q, all_kv))?;
        if n_q == 0 || n_kv == 0 {
            return Ok(());
        }
        let lengths = Lengths { n_sequences: n, n_q, n_kv };
        let panels: &PanelsOf<'_> = &|head| keys.of_head(head / heads.group());
        let queries_and_keys = tiled::QueriesAndKeys {
            heads,
            instructions: self.instructions,
            lengths,
            masks,
            positions: Some(positions),
            q: Some(self.q.get(tiled::len(heads, n * n_q))),
            panels,
        };
        queries_and_keys.run(&mut self.tiles);
        Ok(())
    }

    /// The outputs, heads side by side, `[n_sequences · n_q, n_heads · d_v]`: zeros for a
    /// query that has seen nothing.
    pub fn outputs(&self) -> Matrix<f32> {
        let n_rows = self.n_sequences * self.n_q;
        let mut out = Matrix::zeros(n_rows, self.heads.n_heads() * self.heads.d_v());
        self.outputs_to(out.as_view_mut());
        out
    }

    /// The same in a part of another matrix.
    ///
    /// # Panics
    /// If it has another shape.
    pub fn outputs_to(&self, to: DMatrixViewMut<'_, f32>) {
        let n_rows = self.n_sequences * self.n_q;
        let expected = (n_rows, self.heads.n_heads() * self.heads.d_v());
        assert_eq!(to.shape(), expected, "the place of the outputs");
        tiled::unpack_outputs(self.heads, &self.tiles, to);
    }
}

#[cfg(test)]
mod tests;
