//! A product of our own, and everything packed for it.
//!
//! **The idea:** a library's product packs both operands anew in every call, since it
//! cannot know who reads its result. We know. Weights are packed once; queries, keys,
//! values, shares and outputs are written where and how the next product reads them; and
//! one tile of sums in registers (`tile.rs`) serves all products there are. A score becomes
//! a share before it leaves its register (`running.rs`). A block of keys that has come from
//! memory serves a few hundred queries.
//!
//! **What it buys:** the multiply-adds run at most of what the processor can do, at any
//! length; and small inputs are not paid for with calls and copies.
//!
//! **Where it is slower:** weights that change with every step must be packed with every
//! step. A block of scores that are far from their reference is computed twice. A group of
//! 48 queries that is not full computes for lanes that nobody asked for. Numbers that are
//! not finite are computed twice, the second time by the definition. The backward pass has one
//! piece of work for each head and sequence, too few for many threads where there is one
//! long sequence.

use attention::{Dims, LayerParameters, Matrix, Result};
use rayon::prelude::*;

use crate::packed::attend::GROUPS;
use crate::packed::backward::{self, Pass, Turned};
use crate::packed::blocks::Keys;
use crate::packed::forward::{Extent, Memory, Queries, forward};
use crate::packed::maps::Map;
use crate::packed::weights::{Weights, rows_per_head};
use crate::tile::ROWS;
use crate::{Inputs, Instructions, Lengths, Rung};

/// The layer with everything packed for its own product, there and back.
///
/// ```
/// use attention::{Dims, LayerParameters, Mask, Matrix, Rng, SeedableRng, random_matrix};
/// use kernels::{Inputs, Packed, Rung};
///
/// let rng = &mut Rng::seed_from_u64(1);
/// let parameters = LayerParameters::random(Dims::new(8, 2)?, true, rng);
/// let x: Matrix<f32> = random_matrix(2 * 5, 8, 1.0, rng); // 2 sequences of 5 tokens
/// let inputs = Inputs::self_attention(2, &x, &[Mask::Causal]);
///
/// let (mut layer, mut out) = (Packed::new(&parameters), x.clone());
/// layer.forward(&inputs, &mut out)?;
/// assert_eq!(layer.maps(&inputs)?[1][0].shape(), (5, 5)); // sequence 1, head 0
///
/// let d_out = Matrix::from_element(10, 8, 1.0); // of the sum of all outputs
/// let gradients = layer.pass(&inputs, &mut out)?.backward(&d_out)?;
/// assert_eq!(gradients.d_w_q.weight.shape(), (8, 8));
/// # Ok::<(), attention::Error>(())
/// ```
#[derive(Debug)]
pub struct Packed {
    pub(crate) weights: Weights,
    /// Parameters for the backward pass, packed when it is first gone.
    pub(crate) turned: Option<Turned>,
    pub(crate) parameters: LayerParameters<f32>,
    pub(crate) instructions: Instructions,
    pub(crate) memory: Memory,
    pub(crate) back: backward::Memory,
}

impl Packed {
    /// How many queries of a head go through its keys together.
    pub const QUERIES: usize = GROUPS * ROWS;

    /// The layer with these parameters, for the widest instructions of this processor.
    pub fn new(parameters: &LayerParameters<f32>) -> Self {
        Self::with_instructions(parameters, Instructions::best())
    }

    /// The same for other instructions.
    pub fn with_instructions(
        parameters: &LayerParameters<f32>,
        instructions: Instructions,
    ) -> Self {
        Self {
            weights: Weights::new(parameters),
            turned: None,
            parameters: parameters.clone(),
            instructions,
            memory: Memory::default(),
            back: backward::Memory::default(),
        }
    }

    /// A forward pass that keeps what the backward pass needs: queries, keys, values, the
    /// heads' outputs, and one number a query and head, the logarithm of its sum.
    ///
    /// # Shapes
    /// As [`Rung::forward`].
    ///
    /// # Errors
    /// As [`Rung::forward`].
    pub fn pass<'a>(
        &'a mut self,
        inputs: &Inputs<'a>,
        out: &mut Matrix<f32>,
    ) -> Result<Pass<'a>> {
        let lengths = inputs.check(self.dims(), out)?;
        self.turned.get_or_insert_with(|| Turned::new(&self.parameters));
        let extent = self.run(inputs, lengths, Queries::Keep, out);
        Ok(Pass { layer: self, inputs: *inputs, extent })
    }

    /// The attention maps, `maps[s][i]` of sequence s and head i, `[n_q, n_kv]` each.
    ///
    /// # Shapes
    /// As [`Rung::forward`], which makes none: they need `n_sequences · h · n_q · n_kv`
    /// numbers.
    ///
    /// # Errors
    /// As [`Rung::forward`].
    pub fn maps(&mut self, inputs: &Inputs<'_>) -> Result<Vec<Vec<Matrix<f32>>>> {
        let mut out = Matrix::zeros(inputs.query.nrows(), self.dims().d_model());
        let lengths = inputs.check(self.dims(), &out)?;
        let extent = self.run(inputs, lengths, Queries::Keep, &mut out);
        let (dims, n_heads) = (self.dims(), self.dims().n_heads());
        let Self { instructions, memory, .. } = self;
        let map = |i: usize| {
            let (sequence, head) = (i / n_heads, i % n_heads);
            let mut attn = Matrix::zeros(lengths.n_q, lengths.n_kv);
            let mask = inputs.mask(sequence).of_head(head);
            let (k, v) = (memory.k.get(extent.k()), memory.v.get(extent.v()));
            instructions.run(Map {
                keys: Keys { dims, head, lengths, k, v, mask: &mask },
                sequence,
                q: memory.q.get(extent.q()),
                q_len: rows_per_head(dims) * ROWS,
                log_sums: memory.log_sums.get(extent.log_sums()),
                attn: &mut attn,
            });
            attn
        };
        let n_maps = lengths.n_sequences * n_heads;
        let mut maps: Vec<_> = (0..n_maps).into_par_iter().map(map).collect();
        let of_sequence = |_| maps.drain(..n_heads).collect();
        Ok((0..lengths.n_sequences).map(of_sequence).collect())
    }

    fn run(
        &mut self,
        inputs: &Inputs<'_>,
        lengths: Lengths,
        queries: Queries,
        out: &mut Matrix<f32>,
    ) -> Extent {
        let Self { weights, instructions, memory, .. } = self;
        let dims = weights.dims;
        // Within the pool, where joins are cheap and the number of threads is known.
        let within = || {
            let extent =
                Extent { dims, lengths, n_threads: rayon::current_num_threads() };
            forward(weights, *instructions, memory, inputs, extent, queries, out);
            extent
        };
        rayon::join(within, || ()).0
    }
}

impl Rung for Packed {
    fn name(&self) -> &'static str {
        "packed"
    }

    fn dims(&self) -> Dims {
        self.weights.dims
    }

    fn forward(&mut self, inputs: &Inputs<'_>, out: &mut Matrix<f32>) -> Result<()> {
        let lengths = inputs.check(self.dims(), out)?;
        self.run(inputs, lengths, Queries::Overwrite, out);
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::Plain;
    use attention::{Mask, Rng, SeedableRng, max_abs_diff, random_matrix};

    /// Small enough for Miri, with every kind of edge: sequences that end within a group,
    /// sizes that fill no tile, more than one thread.
    #[test]
    fn there_and_back_on_a_few_tokens() {
        let rng = &mut Rng::seed_from_u64(1);
        let dims = Dims::with_head_sizes(5, 2, 3, 9).unwrap();
        let parameters = LayerParameters::random(dims, true, rng);
        let (n_sequences, n_tokens) = (2, if cfg!(miri) { 7 } else { 70 });
        let n_rows = n_sequences * n_tokens;
        let x: Matrix<f32> = random_matrix(n_rows, 5, 1.0, rng);
        let d_out: Matrix<f32> = random_matrix(n_rows, 5, 1.0, rng);
        let masks = [Mask::Causal];
        let inputs = Inputs::self_attention(n_sequences, &x, &masks);
        let [mut expected, mut out] =
            [0.0, 1.0].map(|x| Matrix::from_element(n_rows, 5, x));
        Plain::new(&parameters).forward(&inputs, &mut expected).unwrap();
        let pool = rayon::ThreadPoolBuilder::new().num_threads(2).build().unwrap();
        pool.install(|| {
            let mut packed = Packed::new(&parameters);
            packed.forward(&inputs, &mut out).unwrap();
            assert!(max_abs_diff(&out, &expected).unwrap() < 1e-5);
            for attn in packed.maps(&inputs).unwrap().iter().flatten() {
                assert!(attn.row_iter().all(|row| (row.sum() - 1.0).abs() < 1e-5));
            }
            let d = packed.pass(&inputs, &mut out).unwrap().backward(&d_out).unwrap();
            // What one number of x does to the loss, by a step there and a step back.
            let d_x = d.d_x().unwrap();
            let mut loss = |step: f32| {
                let mut moved = x.clone();
                moved[(1, 2)] += step;
                let inputs = Inputs::self_attention(n_sequences, &moved, &masks);
                packed.forward(&inputs, &mut out).unwrap();
                out.dot(&d_out)
            };
            let slope = (loss(0.01) - loss(-0.01)) / 0.02;
            assert!((slope - d_x[(1, 2)]).abs() < 0.01, "{slope} {}", d_x[(1, 2)]);
        });
    }

    #[test]
    fn finite_numbers_never_take_the_careful_way() {
        use crate::packed::careful::TIMES_TAKEN;
        let rng = &mut Rng::seed_from_u64(2);
        let (n_tokens, d_model) = if cfg!(miri) { (6, 3) } else { (60, 24) };
        let parameters =
            LayerParameters::random(Dims::new(d_model, 3).unwrap(), true, rng);
        let mut x: Matrix<f32> = random_matrix(n_tokens, d_model, 1.0, rng);
        // One thread, so that the count is this thread's alone.
        let pool = rayon::ThreadPoolBuilder::new().num_threads(1).build().unwrap();
        let times = |x: &Matrix<f32>| {
            pool.install(|| {
                TIMES_TAKEN.set(0);
                let masks =
                    [Mask::All(vec![Mask::Causal, Mask::FirstKeys(n_tokens - 2)])];
                let inputs = Inputs::self_attention(1, x, &masks);
                let mut out = x.clone();
                Packed::new(&parameters).forward(&inputs, &mut out).unwrap();
                TIMES_TAKEN.get()
            })
        };
        assert_eq!(times(&x), 0);
        x[(n_tokens - 1, 0)] = f32::NAN; // in the padding: only its own query is not finite
        assert_eq!(times(&x), 3);
    }
}
