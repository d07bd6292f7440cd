//! Back to the parameters: each gathers from every token that it met.

use attention::{Linear, RowVector};
use pulp::{Simd, WithSimd};
use tiles::merge::{InBlock, Start};
use tiles::queue::{Blocks, Order, Queue};
use tiles::tile::{COLUMNS, ROWS, Segment, tile, vectors};

use super::gradients::of_shape;
use super::strips::Strips;

/// Tokens that are summed before a gradient is written. 8 columns of so many, 16 KiB, stay in
/// the first cache, and [`PANELS`] panels of 48 features, 384 KiB, in the second.
const TOKENS: usize = 512;

/// The most panels of 48 features that one thread goes through together, so that what it
/// has read for one of them serves all.
const PANELS: usize = 4;

/// The gradients of a projection: `d_weight = xᵀ · d` with what went in and the gradient of
/// what came out, and `d_bias`, the sum of d over all tokens.
pub(crate) struct ParametersBack<'a> {
    /// `[d_in / 48][row][48]`.
    x: &'a [f32],
    d: Strips<'a>,
    /// `[d_in, h · features]`.
    d_weight: Blocks<'a, 1>,
    /// Head by head.
    d_bias: Option<Queue<'a, 1>>,
}

impl<'a> ParametersBack<'a> {
    /// With the projection that it is the gradient of.
    pub(crate) fn new(
        x: &'a [f32],
        d: Strips<'a>,
        linear: &Linear<f32>,
        to: &'a mut Linear<f32>,
        n_threads: usize,
    ) -> Self {
        let shape = (linear.d_in(), d.n_heads * d.n_features);
        let Linear { weight, bias } = to;
        let weight = of_shape(weight, shape);
        let n_panels = shape.0.div_ceil(ROWS).div_ceil(n_threads).min(PANELS);
        let rows = n_panels * ROWS;
        let d_weight = Blocks::new([(weight.as_mut_slice(), shape, (rows, shape.1))]);
        if bias.as_ref().map(|bias| bias.len()) != linear.bias.as_ref().map(|_| shape.1) {
            *bias = linear.bias.as_ref().map(|_| RowVector::zeros(shape.1));
        }
        let by_head = |bias: &'a mut [f32]| Queue::new(d.n_heads, Order::InTurn, [bias]);
        let d_bias = bias.as_mut().map(|bias| by_head(bias.as_mut_slice()));
        Self { x, d, d_weight, d_bias }
    }
}

/// Computes what no other thread has; false if a number of it is not finite.
impl WithSimd for &ParametersBack<'_> {
    type Output = bool;

    #[inline(always)]
    fn with_simd<S: Simd>(self, simd: S) -> bool {
        let ParametersBack { d, d_bias, .. } = self;
        let mut finite = self.weight(simd);
        while let Some((head, [sums])) = d_bias.as_ref().and_then(Queue::take) {
            d.sums(head, sums);
            finite &= sums.iter().all(|x| x.is_finite());
        }
        finite
    }
}

impl ParametersBack<'_> {
    #[inline(always)]
    fn weight<S: Simd>(&self, simd: S) -> bool {
        let Self { x, d, d_weight, .. } = self;
        let mut finite = true;
        while let Some([mut block]) = d_weight.take() {
            for token in (0..d.n_tokens).step_by(TOKENS) {
                let start = if token == 0 { Start::Zero } else { Start::There };
                let depth = TOKENS.min(d.n_tokens - token);
                for (head, feature) in columns(d) {
                    let b = &d.strip(head, feature)[token * COLUMNS..];
                    let first = head * d.n_features + feature;
                    let columns = first..first + COLUMNS.min(d.n_features - feature);
                    for row in block.rows().step_by(ROWS) {
                        let a = &x[(row / ROWS * d.n_tokens + token) * ROWS..];
                        let lanes = vectors::<S>(0..(block.rows().end - row).min(ROWS));
                        let (block, columns) = (&mut block, columns.clone());
                        let sums = &mut InBlock { start, block, row, columns };
                        tile::<S, COLUMNS, 1>(
                            simd,
                            lanes,
                            &[Segment { a, b, depth }],
                            sums,
                        );
                    }
                }
            }
            finite &= block.is_finite();
        }
        finite
    }
}

/// Each head, and the first of each 8 of its features.
fn columns(d: &Strips<'_>) -> impl Iterator<Item = (usize, usize)> + use<> {
    let n_features = d.n_features;
    let of_head = move |head| (0..n_features).step_by(COLUMNS).map(move |f| (head, f));
    (0..d.n_heads).flat_map(of_head)
}
