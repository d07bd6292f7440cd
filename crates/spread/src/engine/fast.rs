//! The last rung of the ladder, in f32.

use attention::{Batch, Error, Gradients, LayerParameters, Mask, Matrix, Result, View};
use kernels::{
    GroupedHeads, Inputs, Instructions, Packed, PackedCache, Partial, PartialAttention,
    Product, Rung,
};

use super::{Engine, is_one};
use crate::Piece;

/// `kernels`, forward, backward and in pieces, with the threads of the pool that the caller
/// is in.
#[derive(Debug)]
pub struct Fast {
    part: LayerParameters<f32>,
    /// The whole layer of these heads; packed when it is first asked for.
    layer: Option<Packed>,
    /// Its parts, for pieces; likewise.
    parts: Option<Parts>,
}

#[derive(Debug)]
struct Parts {
    /// W^Q, W^K, W^V and W^O.
    products: [Product; 4],
    heads: GroupedHeads,
    attention: PartialAttention,
    /// Keys and values of the last piece: their memory serves the next.
    cache: PackedCache,
}

impl Parts {
    fn new(part: &LayerParameters<f32>) -> Result<Self> {
        let (packed, dims) = (part.pack(), part.dims());
        let products = packed
            .projections()
            .map(|linear| Product::of_linear(linear, Instructions::best()));
        let n_heads = [dims.n_heads(); 2];
        let heads = GroupedHeads::new(n_heads, [dims.d_k(), dims.d_v()])?;
        let attention = PartialAttention::new(heads)?;
        Ok(Self { products, heads, attention, cache: PackedCache::new(heads) })
    }
}

impl Fast {
    fn layer(&mut self) -> &mut Packed {
        self.layer.get_or_insert_with(|| Packed::new(&self.part))
    }

    fn parts(&mut self) -> Result<&mut Parts> {
        let parts = match self.parts.take() {
            Some(parts) => parts,
            None => Parts::new(&self.part)?,
        };
        Ok(self.parts.insert(parts))
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
    const KEYS: usize = 1024;

    fn new(part: &LayerParameters<f32>) -> Self {
        Self { part: part.clone(), layer: None, parts: None }
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

    fn project(&mut self, x: &Matrix<f32>) -> Result<[Matrix<f32>; 3]> {
        let [w_q, w_k, w_v, _] = &mut self.parts()?.products;
        let of = |product: &mut Product| {
            let mut out = Matrix::zeros(x.nrows(), product.d_out());
            product.of(x, &mut out).map(|()| out)
        };
        Ok([of(w_q)?, of(w_k)?, of(w_v)?])
    }

    fn piece(
        &mut self,
        q: &Matrix<f32>,
        k: View<'_, f32>,
        v: View<'_, f32>,
        mask: &Mask,
    ) -> Result<Piece<f32>> {
        let Parts { heads, attention, cache, .. } = self.parts()?;
        cache.truncate(0);
        cache.append_views(k, v)?;
        let Partial { mut out, references, sums } = attention.attend(q, cache, mask)?;
        for (column, mut out) in out.column_iter_mut().enumerate() {
            // Not divided by the sum.
            let sums = sums.column(column / heads.d_v());
            out.iter_mut().zip(&sums).for_each(|(x, sum)| *x *= sum);
        }
        Ok(Piece { references, sums, out })
    }

    fn exp(x: f32) -> f32 {
        x.exp2()
    }

    fn mix(&mut self, concat: &Matrix<f32>) -> Result<Matrix<f32>> {
        let [.., w_o] = &mut self.parts()?.products;
        let mut out = Matrix::zeros(concat.nrows(), w_o.d_out());
        w_o.of(concat, &mut out)?;
        Ok(out)
    }
}
