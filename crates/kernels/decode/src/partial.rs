//! Attention to keys that come in parts, of which none is kept.

use attention::nalgebra::DMatrixViewMut;
use attention::{Error, Mask, Matrix, Positions, Result, View};
use tiles::attend::PanelsOf;
use tiles::memory::Aligned;
use tiles::panels::{HeadPanels, n_groups, round_up};
use tiles::tile::ROWS;
use tiles::{Instructions, Lengths};

use crate::cache::write;
use crate::meeting::{self, Tiles};
use crate::{GroupedHeads, Scoring};

/// The keys and values of some tokens, packed into one list of numbers: one that can be sent.
///
/// ```
/// use attention::{Rng, SeedableRng, random_matrix};
/// use decode::{GroupedHeads, PackedKeys};
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
            let rows = first..first + k.nrows();
            let each = keys.chunks_exact_mut(k_len.max(1));
            write(each, heads.d_k(), rows.clone(), *k);
            let each = values.chunks_exact_mut(v_len.max(1));
            write(each, heads.d_v(), rows.clone(), *v);
            first = rows.end;
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
/// use decode::{GroupedHeads, PackedKeys, PartialAttention};
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
        let packed = self.q.take(meeting::len(heads, n_rows));
        meeting::pack_queries(heads, q, factor, packed);
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
        let queries_and_keys = meeting::Meeting {
            heads,
            instructions: self.instructions,
            lengths,
            masks,
            positions: Some(positions),
            q: Some(self.q.get(meeting::len(heads, n * n_q))),
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
        meeting::unpack_outputs(self.heads, &self.tiles, to);
    }
}

#[cfg(test)]
mod tests {
    use std::ops::Range;

    use attention::{Batch, Rng, SeedableRng, attend_heads, max_abs_diff, random_matrix};

    use super::*;

    /// Queries of two sequences meet their keys in parts, the last part first.
    fn in_parts(
        all: &[Matrix<f32>; 3],
        heads: GroupedHeads,
        mask: &Mask,
        cuts: &[usize],
    ) -> Matrix<f32> {
        let mut attention = PartialAttention::new(heads);
        // The second time in memory that other queries have left.
        for q in [-&all[0], all[0].clone()] {
            attention.ask(2, q.as_view()).unwrap();
            for part in cuts.windows(2).rev() {
                see(&mut attention, all, heads, mask, part[0]..part[1]);
            }
        }
        attention.outputs()
    }

    fn see(
        attention: &mut PartialAttention,
        [q, k, v]: &[Matrix<f32>; 3],
        heads: GroupedHeads,
        mask: &Mask,
        keys: Range<usize>,
    ) {
        let (n_q, n_kv) = (q.nrows() / 2, k.nrows() / 2);
        let of_sequence =
            |m: &Matrix<f32>, s| m.rows(s * n_kv + keys.start, keys.len()).into_owned();
        let each = [0, 1].map(|s| [of_sequence(k, s), of_sequence(v, s)]);
        let views = each.each_ref().map(|both| both.each_ref().map(|m| m.as_view()));
        let mut sent = vec![f32::NAN; 7]; // what was there before
        PackedKeys::pack(heads, &views, &mut sent).unwrap();
        let packed = PackedKeys::new(heads, 2 * keys.len(), &sent).unwrap();
        let positions = Positions { queries: 0..n_q, keys, lengths: (n_q, n_kv) };
        attention.see(&packed, std::slice::from_ref(mask), &positions).unwrap();
    }

    /// The same by the definition, all keys at once.
    fn whole(all: &[Matrix<f32>; 3], n_heads: usize, mask: &Mask) -> Matrix<f64> {
        let of_sequence = |s: usize| {
            let [q, k, v] = all.each_ref().map(|m| {
                let n = m.nrows() / 2;
                m.rows(s * n, n).map(f64::from)
            });
            let views = (q.as_view(), k.as_view(), v.as_view());
            attend_heads(views.0, views.1, views.2, n_heads, None, mask).unwrap().out
        };
        Batch::stack(&[0, 1].map(of_sequence)).unwrap().tokens().clone()
    }

    #[test]
    fn parts_of_the_keys_make_the_whole() {
        let rng = &mut Rng::seed_from_u64(3);
        let heads = GroupedHeads::new([3, 3], [5, 7]).unwrap();
        let cases = [
            (2, vec![0, 1, 2]),
            (50, vec![0, 1, 50]),
            (100, vec![0, 49, 50, 100]),
            (300, vec![0, 10, 250, 300]),
        ];
        let cases = cases.into_iter().take(if cfg!(miri) { 1 } else { 4 });
        for (n, cuts) in cases {
            // Scores of tens: references differ from 0.
            let all = [(5, 8.0), (5, 4.0), (7, 1.0)]
                .map(|(width, size)| random_matrix::<f32>(2 * n, 3 * width, size, rng));
            let keys = Mask::Keys((0..n).map(|j| j % 3 != 1).collect());
            let scattered = Matrix::from_fn(n, n, |i, j| (3 * i + 5 * j) % 7 < 4);
            let added = random_matrix(n, n, 5.0, rng);
            for mask in [
                Mask::None,
                Mask::Causal,
                Mask::FirstKeys(n / 2),
                Mask::All(vec![keys, Mask::CausalTopLeft]),
                Mask::Allowed(scattered),
                Mask::All(vec![Mask::Causal, Mask::Additive(added)]),
            ] {
                let found = in_parts(&all, heads, &mask, &cuts).map(f64::from);
                let diff = max_abs_diff(&whole(&all, 3, &mask), &found).unwrap();
                assert!(diff < 1e-4, "{n} tokens, {cuts:?}, {mask:?}: {diff:e}");
            }
        }
    }

    #[test]
    fn what_is_not_finite_stays_where_it_is_seen() {
        let rng = &mut Rng::seed_from_u64(4);
        let heads = GroupedHeads::new([1, 1], [4, 4]).unwrap();
        let mut all = [(); 3].map(|()| random_matrix::<f32>(2 * 60, 4, 1.0, rng));
        all[1][(30, 0)] = f32::NAN;
        all[2][(60 + 10, 0)] = f32::INFINITY;
        let out = in_parts(&all, heads, &Mask::Causal, &[0, 20, 40, 60]);
        for (row, numbers) in out.row_iter().enumerate() {
            let sees = (30..60).contains(&row) || row >= 60 + 10;
            assert_eq!(!numbers.iter().all(|x| x.is_finite()), sees, "row {row}");
        }
        // Nothing is seen, and nothing comes out.
        let out = in_parts(&all, heads, &Mask::FirstKeys(0), &[0, 30, 60]);
        assert!(out.iter().all(|&x| x == 0.0));
    }

    #[test]
    fn a_share_that_is_nothing_beside_those_of_other_parts_leaves_its_value_out() {
        let heads = GroupedHeads::new([1, 1], [1, 1]).unwrap();
        let column = |rows: [f32; 4]| Matrix::from_column_slice(4, 1, &rows);
        for score in [1e3, -1e3] {
            // Of either sequence, one key scores 1000 more than the other.
            let keys = column([score, 0.0, score, 0.0]);
            let mut values = column([5.0, 5.0, 5.0, 5.0]);
            let hidden = usize::from(score > 0.0);
            (values[hidden], values[2 + hidden]) = (f32::NAN, f32::INFINITY);
            let all = [column([1.0; 4]), keys, values];
            let out = in_parts(&all, heads, &Mask::None, &[0, 1, 2]);
            assert!(out.iter().all(|&x| x == 5.0), "{out}");
        }
    }

    #[test]
    fn what_does_not_fit_is_refused_with_its_numbers() {
        let heads = GroupedHeads::new([2, 1], [4, 4]).unwrap();
        let q = Matrix::zeros(6, 8);
        let mut attention = PartialAttention::new(heads);
        let refused = attention.ask(4, q.as_view()).unwrap_err();
        assert_eq!(
            refused.to_string(),
            "6 rows cannot be cut into 4 sequences of equal length"
        );
        let refused = PackedKeys::new(heads, 3, &[0.0; 5]).unwrap_err();
        assert_eq!(
            refused.to_string(),
            "the list of packed keys and values has 5 entries, expected 768"
        );
        attention.ask(2, q.as_view()).unwrap();
        let numbers = vec![0.0; PackedKeys::len_of(heads, 10)];
        let keys = PackedKeys::new(heads, 10, &numbers).unwrap();
        let mut see = |queries, keys_at, lengths| {
            let positions = Positions { queries, keys: keys_at, lengths };
            attention.see(&keys, &[Mask::None], &positions).unwrap_err().to_string()
        };
        assert_eq!(
            see(0..3, 8..13, (20, 12)),
            "the sequence that keys are a part of has 12 entries, expected 13"
        );
        assert_eq!(
            see(0..4, 0..5, (20, 12)),
            "the list of queries has 3 entries, expected 4"
        );
        assert_eq!(
            see(0..3, 0..4, (20, 12)),
            "the packed list of keys has 10 entries, expected 8"
        );
    }
}
