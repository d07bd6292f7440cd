//! A product of our own, and everything packed for it.
//!
//! **The idea:** a library's product packs both operands anew in every call, since it
//! cannot know who reads its result. We know. Weights are packed once; queries, keys,
//! values, shares and outputs are written where and how the next product reads them; and
//! one tile of sums in registers (`tile.rs` of `tiles`) serves all products there are. A score becomes
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

use attention::{Dims, Matrix, Result};

use crate::packed::forward::Queries;
use crate::{Inputs, Packed, Rung};

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
    use attention::{
        LayerParameters, Mask, Rng, SeedableRng, max_abs_diff, random_matrix,
    };

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
}
