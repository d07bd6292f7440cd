//! One block, in the order of the readable one.

use attention::{Linear, Matrix};
use block::{Activation, Block, FeedForward, Norm, Norms, Sublayer};
use cached::{
    Gate, GroupedAttention, GroupedHeads, PackedCache, Product, ProductMemory, Quantised,
    Scoring, gated,
};
use tiles::Instructions;
use variants::{Changes, QkNorm, VariantAttention};

use super::few_bits::FewBits;
use super::layer::{biases, fit, norm, normalise, side_by_side};
use super::rotation::Angles;
use crate::{Error, Result};

/// A block whose weights are packed.
#[derive(Debug)]
pub(super) struct FastBlock {
    heads: GroupedHeads,
    scoring: Scoring,
    attention_norms: Norms<f32>,
    /// W^Q, W^K and W^V side by side.
    projections: Product,
    qk_norm: Option<QkNorm<f32>>,
    w_o: Product,
    feed_forward_norms: Norms<f32>,
    feed_forward: FastFeedForward,
    parallel: bool,
    /// The heads that put out zeros.
    off: Vec<usize>,
}

/// The feed-forward layer.
#[derive(Debug)]
struct FastFeedForward {
    /// W₁, or the gate and what it lets through side by side.
    inner: Product,
    bend: Bend,
    outer: Product,
}

/// What stands between its products.
#[derive(Debug, Clone, Copy)]
enum Bend {
    Plain(Activation),
    Gated(Gate),
    /// A gate for which there is no kernel.
    GatedBy(Activation),
}

/// What blocks work in, one after the other; kept between calls.
#[derive(Debug)]
pub(super) struct Work {
    /// One for each kind of layer: with a window and without, say.
    attention: Vec<GroupedAttention>,
    instructions: Instructions,
    product: ProductMemory,
    normed: Matrix<f32>,
    projected: Matrix<f32>,
    heads: Matrix<f32>,
    out: Matrix<f32>,
    inner: Matrix<f32>,
    bent: Matrix<f32>,
}

impl Work {
    /// For these blocks.
    pub(super) fn new(blocks: &[FastBlock]) -> Result<Self> {
        let mut kinds: Vec<&FastBlock> = Vec::new();
        for block in blocks {
            if !kinds.iter().any(|kind| kind.scoring == block.scoring) {
                kinds.push(block);
            }
        }
        let attention = kinds
            .into_iter()
            .map(|kind| GroupedAttention::new(kind.heads, kind.scoring.clone()));
        let empty = || Matrix::zeros(0, 0);
        Ok(Self {
            attention: attention.collect::<Result<_, _>>()?,
            instructions: Instructions::best(),
            product: ProductMemory::default(),
            normed: empty(),
            projected: empty(),
            heads: empty(),
            out: empty(),
            inner: empty(),
            bent: empty(),
        })
    }
}

impl Work {
    pub(super) fn compute_with(&mut self, instructions: Instructions) {
        self.instructions = instructions;
        self.attention.iter_mut().for_each(|kind| kind.compute_with(instructions));
    }
}

impl FastBlock {
    /// A block, and those of its matrices that stay in few bits.
    pub(super) fn new(
        block: Block<VariantAttention<f32>, f32>,
        few_bits: FewBits,
    ) -> Result<Self> {
        let FewBits { projections, w_o, inner, outer } = few_bits;
        let (attention, feed_forward, parallel) = parts(block)?;
        let sizes = attention.function.sizes();
        let heads = GroupedHeads::new(
            [sizes.groups.n_heads(), sizes.groups.n_kv_heads()],
            [sizes.dims.d_k(), sizes.dims.d_v()],
        )?;
        let scoring = scoring(attention.function.changes())?;
        let qk_norm = attention.function.changes().norm.clone();
        let matrices = attention.function.projections();
        Ok(Self {
            heads,
            scoring,
            attention_norms: attention.norms,
            projections: product(&matrices[..3], projections)?,
            qk_norm,
            w_o: product(&matrices[3..], w_o)?,
            feed_forward_norms: feed_forward.norms,
            feed_forward: FastFeedForward::new(feed_forward.function, inner, outer)?,
            parallel,
            off: Vec::new(),
        })
    }

    pub(super) fn heads(&self) -> GroupedHeads {
        self.heads
    }

    /// Products from now on round no tokens.
    pub(super) fn in_f32(&mut self) {
        self.products().into_iter().for_each(Product::in_f32);
    }

    pub(super) fn compute_with(&mut self, instructions: Instructions) {
        self.products()
            .into_iter()
            .for_each(|product| product.compute_with(instructions));
    }

    fn products(&mut self) -> [&mut Product; 4] {
        let FastFeedForward { inner, outer, .. } = &mut self.feed_forward;
        [&mut self.projections, &mut self.w_o, inner, outer]
    }

    /// Heads that put out zeros from now on; all others are on.
    pub(super) fn ablate(&mut self, heads: Vec<usize>) {
        self.off = heads;
    }

    /// The bytes of all weights.
    pub(super) fn bytes(&self) -> usize {
        let FastFeedForward { inner, outer, .. } = &self.feed_forward;
        [&self.projections, &self.w_o, inner, outer].map(Product::bytes).iter().sum()
    }

    /// What the next token reads of a cache, its own key and value included.
    pub(super) fn bytes_of_cache(&self, cache: &PackedCache) -> usize {
        let n_tokens = cache.n_tokens() + 1;
        let seen = self.scoring.window.map_or(n_tokens, |window| window.min(n_tokens));
        cache.bytes_of(0..seen)
    }

    /// Tokens of one text, behind those of its cache; gives their queries.
    pub(super) fn prompt(
        &self,
        work: &mut Work,
        x: &mut Matrix<f32>,
        angles: Option<&Angles>,
        cache: &mut PackedCache,
    ) -> attention::Result<Matrix<f32>> {
        let q = self.keys(work, x, angles, cache)?;
        if let Some(attention) = work.attention.iter_mut().find(|kind| self.is_of(kind)) {
            attention.prompt(&q, cache, &mut work.heads)?;
        }
        self.rest(work, x)?;
        Ok(q)
    }

    /// Their keys and values alone, to the cache; gives their queries.
    pub(super) fn keys(
        &self,
        work: &mut Work,
        x: &Matrix<f32>,
        angles: Option<&Angles>,
        cache: &mut PackedCache,
    ) -> attention::Result<Matrix<f32>> {
        let [q, k, v] = self.project(work, x, angles)?;
        cache.append(&k, &v)?;
        Ok(q)
    }

    /// What queries of the tokens at these places give the keys of a cache, head by head.
    pub(super) fn rows(
        &self,
        work: &Work,
        q: &Matrix<f32>,
        cache: &PackedCache,
        places: &[usize],
    ) -> attention::Result<Vec<Matrix<f32>>> {
        let attention = work.attention.iter().find(|kind| self.is_of(kind));
        attention.map_or(Ok(Vec::new()), |attention| attention.rows(q, cache, places))
    }

    fn is_of(&self, attention: &GroupedAttention) -> bool {
        *attention.scoring() == self.scoring
    }

    /// Queries, keys and values, of one size and rotated.
    fn project(
        &self,
        work: &mut Work,
        x: &Matrix<f32>,
        angles: Option<&Angles>,
    ) -> attention::Result<[Matrix<f32>; 3]> {
        let heads = self.heads;
        norm(self.attention_norms.before.as_ref(), x, &mut work.normed)?;
        fit(&mut work.projected, x.nrows(), self.projections.d_out());
        self.projections.of_in(&mut work.product, &work.normed, &mut work.projected)?;
        let widths = [
            heads.n_heads() * heads.d_k(),
            heads.n_kv_heads() * heads.d_k(),
            heads.n_kv_heads() * heads.d_v(),
        ];
        let mut first = 0;
        let [mut q, mut k, v] = widths.map(|width| {
            first += width;
            let n = x.nrows();
            let columns = (first - width) * n..first * n;
            Matrix::from_column_slice(n, width, &work.projected.as_slice()[columns])
        });
        if let Some(QkNorm { q: of_q, k: of_k, eps }) = &self.qk_norm {
            normalise(&mut q, of_q, *eps as f32);
            normalise(&mut k, of_k, *eps as f32);
        }
        if let Some(angles) = angles {
            angles.rotate(&mut q, heads.d_k());
            angles.rotate(&mut k, heads.d_k());
        }
        fit(&mut work.heads, x.nrows(), heads.n_heads() * heads.d_v());
        Ok([q, k, v])
    }

    /// What follows the heads' outputs: W^O and the feed-forward layer, each added to x.
    fn rest(&self, work: &mut Work, x: &mut Matrix<f32>) -> attention::Result<()> {
        let d_v = self.heads.d_v();
        for head in &self.off {
            work.heads.columns_mut(head * d_v, d_v).fill(0.0);
        }
        fit(&mut work.out, x.nrows(), self.w_o.d_out());
        let Norms { before, of_output, .. } = &self.feed_forward_norms;
        let before = before.as_ref();
        if self.parallel {
            norm(before, x, &mut work.normed)?;
        }
        self.w_o.of_in(&mut work.product, &work.heads, &mut work.out)?;
        let of_attention = self.attention_norms.of_output.as_ref();
        add(x, &work.out, of_attention, &mut work.heads)?;
        if !self.parallel {
            norm(before, x, &mut work.normed)?;
        }
        self.feed_forward.forward(work)?;
        add(x, &work.out, of_output.as_ref(), &mut work.heads)
    }
}

type Attention = Sublayer<VariantAttention<f32>, f32>;

/// Attention, the feed-forward layer, and whether they stand side by side.
fn parts(
    block: Block<VariantAttention<f32>, f32>,
) -> Result<(Attention, Sublayer<FeedForward<f32>, f32>, bool)> {
    let Block { attention, cross, feed_forward, parallel } = block;
    let not_fast = |what| Error::NotFast { what };
    let feed_forward =
        feed_forward.ok_or_else(|| not_fast("block without a feed-forward layer"))?;
    let norms = [&attention.norms, &feed_forward.norms];
    let left_out = [
        ("attention to another text", cross.is_some()),
        ("layer without its residual", !(attention.residual && feed_forward.residual)),
        ("norm of a sum", norms.iter().any(|norms| norms.after.is_some())),
    ];
    match left_out.into_iter().find(|(_, is_there)| *is_there) {
        Some((what, _)) => Err(not_fast(what)),
        None => Ok((attention, feed_forward, parallel)),
    }
}

/// Adds `out` to x, behind a norm where there is one.
fn add(
    x: &mut Matrix<f32>,
    out: &Matrix<f32>,
    of_output: Option<&Norm<f32>>,
    room: &mut Matrix<f32>,
) -> attention::Result<()> {
    match of_output {
        None => *x += out,
        Some(_) => {
            norm(of_output, out, room)?;
            *x += &*room;
        }
    }
    Ok(())
}

/// Matrices side by side as one product: in few bits, if they are given so.
fn product(linears: &[Linear<f32>], few_bits: Option<Quantised>) -> Result<Product> {
    let best = Instructions::best();
    Ok(match few_bits {
        None => Product::of_linear(&side_by_side(linears), best),
        Some(weight) => Product::of_levels(weight.with_bias(&biases(linears))?, best),
    })
}

impl FastFeedForward {
    fn new(
        layer: FeedForward<f32>,
        inner: Option<Quantised>,
        outer: Option<Quantised>,
    ) -> Result<Self> {
        let FeedForward { gate, w_1, activation, w_2 } = layer;
        let (inner, bend) = match gate {
            None => (product(&[w_1], inner)?, Bend::Plain(activation)),
            Some(gate) => {
                let bend = match activation {
                    Activation::Silu => Bend::Gated(Gate::Silu),
                    Activation::GeluTanh => Bend::Gated(Gate::GeluTanh),
                    other => Bend::GatedBy(other),
                };
                (product(&[gate, w_1], inner)?, bend)
            }
        };
        Ok(Self { inner, bend, outer: product(&[w_2], outer)? })
    }

    /// From `work.normed` to `work.out`.
    fn forward(&self, work: &mut Work) -> attention::Result<()> {
        let Work { instructions, product, normed, out, inner, bent, .. } = work;
        fit(inner, normed.nrows(), self.inner.d_out());
        self.inner.of_in(product, normed, inner)?;
        fit(bent, normed.nrows(), self.outer.d_in());
        match self.bend {
            Bend::Plain(activation) => *bent = activation.forward(inner),
            Bend::Gated(gate) => gated(gate, inner, bent, *instructions)?,
            Bend::GatedBy(activation) => {
                let d_ff = bent.ncols();
                let gate = activation.forward(&inner.columns(0, d_ff).into_owned());
                *bent = gate.component_mul(&inner.columns(d_ff, d_ff));
            }
        }
        self.outer.of_in(product, bent, out)
    }
}

/// What the kernels know of a layer's changes.
fn scoring(changes: &Changes<f32>) -> Result<Scoring> {
    let Changes { norm: _, rotary: _, scale, soft_cap, alibi, relative, window, sink } =
        changes;
    let left_out = [
        ("scores that fall with distance", alibi.is_some()),
        ("learned relative positions", relative.is_some()),
        ("window that keeps the first tokens", window.is_some_and(|w| w.n_sinks > 0)),
    ];
    if let Some((what, _)) = left_out.into_iter().find(|(_, is_there)| *is_there) {
        return Err(Error::NotFast { what });
    }
    Ok(Scoring {
        scale: scale.map(|scale| scale as f32),
        soft_cap: soft_cap.as_ref().map(|cap| cap.bound() as f32),
        window: window.and_then(|window| window.left).map(|left| left.saturating_add(1)),
        sink: sink.as_ref().map(|sink| sink.scores.clone()),
    })
}
