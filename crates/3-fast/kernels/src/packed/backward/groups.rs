//! Groups of 48 queries of one head, and what is known of them in the backward pass.

use attention::Dims;
use pulp::Simd;
use tiles::BlockMask;
use tiles::blocks::{Keys, Part};
use tiles::panels::{round_up, rows_per_head};
use tiles::running::Normalisers;
use tiles::tile::{COLUMNS, ROWS, vector};

/// The numbers of 48 queries and 48 keys.
pub(super) const BLOCK: usize = ROWS * ROWS;

/// What the forward pass kept, and the gradients of the heads' outputs.
#[derive(Clone, Copy)]
pub(crate) struct Intermediates<'a> {
    pub(crate) dims: Dims,
    pub(crate) q: &'a [f32],
    pub(crate) k: &'a [f32],
    pub(crate) v: &'a [f32],
    pub(crate) concat: &'a [f32],
    pub(crate) normalisers: &'a [f32],
    pub(crate) d_heads: &'a [f32],
}

/// What is known of 48 queries of one head.
pub(super) struct Group<'a> {
    pub(super) part: Part,
    pub(super) mask: BlockMask<'a>,
    /// `[d_k][48]`.
    pub(super) q: &'a [f32],
    pub(super) normalisers: Normalisers<'a>,
    /// `[d_v][48]`.
    pub(super) d_head: &'a [f32],
    /// `Σ_f d_head · head` of each query, which is `Σ_j d_attn_j · attn_j` too: what
    /// softmax takes from each of a row's gradients.
    pub(super) deltas: [f32; ROWS],
}

/// The memory of one group: its shares, `[query][48 keys]`, the gradients of its scores,
/// likewise, and those of its queries, `[features / 48][query][48]`.
pub(super) struct Work<'a> {
    pub(super) shares: &'a mut [f32],
    pub(super) d_scores: &'a mut [f32],
    pub(super) dq: &'a mut [f32],
}

impl<'a> Intermediates<'a> {
    /// The queries of sequence `s` among those of group `number`.
    #[inline(always)]
    pub(super) fn group<S: Simd>(
        &self,
        simd: S,
        keys: &Keys<'a>,
        s: usize,
        number: usize,
    ) -> Group<'a> {
        let at = number * self.dims.n_heads() + keys.head;
        let (len, d_len) =
            (rows_per_head(self.dims) * ROWS, round_up(self.dims.d_v()) * ROWS);
        let d_head = &self.d_heads[at * d_len..][..d_len];
        let head = &self.concat[at * len..][..len];
        let mut deltas = [0.0; ROWS];
        let sums = S::as_mut_simd_f32s(&mut deltas).0;
        for feature in 0..self.dims.d_v() {
            for (v, sum) in sums.iter_mut().enumerate() {
                let (d, x) =
                    (vector::<S>(d_head, feature, v), vector::<S>(head, feature, v));
                *sum = simd.mul_add_e_f32s(d, x, *sum);
            }
        }
        let part = Part::of_sequence(s, number, keys.lengths.n_q);
        let mask = keys.mask_of(&part);
        let normalisers = Normalisers::of(self.normalisers, at);
        let q = &self.q[at * len..][..len];
        Group { part, mask, q, normalisers, d_head, deltas }
    }
}

/// The first of each 8 queries that have one of this part.
#[inline(always)]
pub(super) fn queries(part: &Part) -> impl Iterator<Item = usize> + use<> {
    (part.lanes.start / COLUMNS * COLUMNS..part.lanes.end).step_by(COLUMNS)
}
