//! Our own product, and everything packed for it.

use attention::{Dims, LayerParameters, Matrix, Result};
use rayon::prelude::*;

use crate::packed::backward::{self, Pass, Turned};
use crate::packed::blocks::Keys;
use crate::packed::forward::{Extent, Memory, Queries, forward};
use crate::packed::maps::Map;
use crate::packed::weights::{Weights, rows_per_head};
use crate::tile::ROWS;
use crate::{Inputs, Instructions, Lengths, Rung};

/// The layer with everything packed for its own product.
#[derive(Debug)]
pub struct Packed {
    pub(crate) weights: Weights,
    /// Parameters for the way back, packed when it is first gone.
    pub(crate) turned: Option<Turned>,
    pub(crate) parameters: LayerParameters<f32>,
    pub(crate) instructions: Instructions,
    pub(crate) memory: Memory,
    pub(crate) back: backward::Memory,
}

impl Packed {
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

    /// A forward pass that keeps what the way back needs: queries, keys, values, the
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
