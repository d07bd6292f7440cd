//! The last rung of the ladder, in f32.

use attention::{
    Batch, Error, Gradients, LayerParameters, Linear, Mask, Matrix, Positions, Result,
    RowVector, View,
};
use cached::{GroupedHeads, PackedKeys, PartialAttention, Product};
use kernels::{Inputs, Packed, Rung};
use tiles::Instructions;

use super::{Engine, ViewMut, is_one};

/// `kernels`, forward and backward, and `cached` in parts, with the threads of the pool that
/// the caller is in.
#[derive(Debug)]
pub struct Fast {
    part: LayerParameters<f32>,
    heads: GroupedHeads,
    /// The whole layer of these heads; packed when it is first asked for.
    layer: Option<Packed>,
    /// Its projections by themselves; likewise.
    projections: Option<Projections>,
}

#[derive(Debug)]
struct Projections {
    /// W^Q, W^K and W^V side by side: one product for three.
    q_k_v: Product,
    w_o: Product,
}

impl Projections {
    fn new(part: &LayerParameters<f32>) -> Self {
        let packed = part.pack();
        let [w_q, w_k, w_v, w_o] = packed.projections();
        let each = [w_q, w_k, w_v];
        let weights: Vec<_> =
            each.iter().flat_map(|it| it.weight.column_iter()).collect();
        let biases: Vec<_> =
            each.iter().flat_map(|it| it.bias.iter().flatten()).collect();
        let weight = Matrix::from_columns(&weights);
        let bias = (!biases.is_empty())
            .then(|| RowVector::from_iterator(biases.len(), biases.into_iter().copied()));
        let q_k_v = Linear { weight, bias };
        let product = |linear| Product::of_linear(linear, Instructions::best());
        Self { q_k_v: product(&q_k_v), w_o: product(w_o) }
    }
}

impl Fast {
    fn layer(&mut self) -> &mut Packed {
        self.layer.get_or_insert_with(|| Packed::new(&self.part))
    }

    fn projections(&mut self) -> &mut Projections {
        self.projections.get_or_insert_with(|| Projections::new(&self.part))
    }
}

fn inputs<'a>(each: [&'a Batch<f32>; 3], masks: &'a [Mask]) -> Result<Inputs<'a>> {
    let [query, key, value] = each;
    let n = query.n_sequences();
    for (what, batch) in [("key", key), ("value", value)] {
        if batch.n_sequences() != n {
            let found = batch.n_sequences();
            return Err(Error::BatchLength { what, expected: n, found });
        }
    }
    let [q, k, v] = each.map(Batch::tokens);
    Ok(match is_one(each) {
        true => Inputs::self_attention(n, q, masks),
        false => Inputs::cross_attention(n, q, k, v, masks),
    })
}

impl Engine<f32> for Fast {
    type Queries = PartialAttention;

    fn new(part: &LayerParameters<f32>) -> Self {
        let dims = part.dims();
        let sizes = [dims.d_k(), dims.d_v()];
        let heads = GroupedHeads::new([dims.n_heads(); 2], sizes);
        let heads = heads.expect("a layer's heads have sizes, and keys of their own");
        Self { part: part.clone(), heads, layer: None, projections: None }
    }

    fn forward(&mut self, each: [&Batch<f32>; 3], masks: &[Mask]) -> Result<Matrix<f32>> {
        let inputs = inputs(each, masks)?;
        let mut out = Matrix::zeros(each[0].tokens().nrows(), self.part.dims().d_model());
        self.layer().forward(&inputs, &mut out)?;
        Ok(out)
    }

    fn backward(
        &mut self,
        each: [&Batch<f32>; 3],
        masks: &[Mask],
        d_out: &Matrix<f32>,
    ) -> Result<Gradients<f32>> {
        let inputs = inputs(each, masks)?;
        let mut out = Matrix::zeros(each[0].tokens().nrows(), self.part.dims().d_model());
        self.layer().pass(&inputs, &mut out)?.backward(d_out)
    }

    fn project(&mut self, x: &Matrix<f32>, memory: Vec<f32>) -> Result<Matrix<f32>> {
        let dims = self.part.dims();
        for width in [dims.d_model(), dims.key_width(), dims.value_width()] {
            Error::expect_shape("x", (x.nrows(), width), x.shape())?;
        }
        let q_k_v = &mut self.projections().q_k_v;
        let mut all = of_memory(memory, x.nrows(), q_k_v.d_out());
        q_k_v.of(x, &mut all)?;
        Ok(all)
    }

    fn keys(
        &self,
        sequences: &[[View<'_, f32>; 2]],
        mut memory: Vec<f32>,
    ) -> Result<Vec<f32>> {
        PackedKeys::pack(self.heads, sequences, &mut memory)?;
        Ok(memory)
    }

    fn keys_len(&self, n_tokens: usize) -> usize {
        PackedKeys::len_of(self.heads, n_tokens)
    }

    fn queries(
        &self,
        n_sequences: usize,
        q: View<'_, f32>,
        memory: Option<PartialAttention>,
    ) -> Result<PartialAttention> {
        let mut queries = memory.unwrap_or_else(|| PartialAttention::new(self.heads));
        queries.ask(n_sequences, q)?;
        Ok(queries)
    }

    fn see(
        &mut self,
        queries: &mut PartialAttention,
        keys: &[f32],
        masks: &[Mask],
        positions: &Positions,
    ) -> Result<()> {
        let n_tokens = queries.n_sequences() * positions.keys.len();
        queries.see(&PackedKeys::new(self.heads, n_tokens, keys)?, masks, positions)
    }

    fn outputs(queries: &PartialAttention, to: ViewMut<'_, f32>) {
        queries.outputs_to(to);
    }

    fn mix(&mut self, concat: &Matrix<f32>) -> Result<Matrix<f32>> {
        let mut out = Matrix::zeros(concat.nrows(), self.part.dims().d_model());
        self.projections().w_o.of(concat, &mut out)?;
        Ok(out)
    }
}

/// A matrix where another was; what is in it means nothing.
fn of_memory(mut memory: Vec<f32>, n_rows: usize, n_columns: usize) -> Matrix<f32> {
    memory.resize(n_rows * n_columns, 0.0);
    Matrix::from_vec(n_rows, n_columns, memory)
}
