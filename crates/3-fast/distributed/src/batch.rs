//! A batch apart: sequences know nothing of each other.

use std::ops::Range;

use attention::{
    Batch, Dims, Gradients, LayerParameters, Linear, Mask, Matrix, Real, RowVector, Shape,
};

use crate::heads::{add_bias, sum_of_rows};
use crate::{Engine, Group, Result, heads_of, share};

/// A layer of which every rank has all parameters, for the sequences that it has.
///
/// Forward, no rank needs another. Backward, each has the gradients that its own sequences
/// ask for, and one all-reduce of all parameters' gradients adds them up.
#[derive(Debug, Clone)]
pub struct BatchApart<T: Real, E> {
    dims: Dims,
    /// Always there, since a layer has heads.
    engine: Option<E>,
    b_o: Option<RowVector<T>>,
    /// The shapes of W^Q, W^K, W^V and W^O, and whether there is a bias.
    shapes: [(Shape, bool); 4],
}

impl<T: Real, E: Engine<T>> BatchApart<T, E> {
    /// The whole layer.
    ///
    /// # Errors
    /// None for a layer that exists.
    pub fn new(layer: &LayerParameters<T>) -> Result<Self> {
        let dims = layer.dims();
        let engine = heads_of(layer, 0..dims.n_heads())?.map(|all| E::new(&all));
        let head = &layer.heads()[0];
        let h = dims.n_heads();
        let of = |linear: &Linear<T>, n| {
            ((linear.d_in(), n * linear.d_out()), linear.bias.is_some())
        };
        let w_o = layer.w_o();
        let shapes = [of(&head.w_q, h), of(&head.w_k, h), of(&head.w_v, h), of(w_o, 1)];
        Ok(Self { dims, engine, b_o: w_o.bias.clone(), shapes })
    }

    /// This rank's sequences of so many, as a range.
    pub fn sequences(&self, n: usize, group: &impl Group<T>) -> Range<usize> {
        share(n, group.size(), group.rank())
    }

    /// The output of this rank's sequences.
    ///
    /// # Shapes
    /// As on one machine.
    ///
    /// # Errors
    /// As on one machine.
    pub fn forward(
        &mut self,
        inputs: [&Batch<T>; 3],
        masks: &[Mask],
    ) -> Result<Matrix<T>> {
        let [query, key, value] = inputs;
        attention::check_batch(self.dims, query, key, value, masks)?;
        let n_rows = query.tokens().nrows();
        let mut out = match &mut self.engine {
            Some(engine) => engine.forward(inputs, masks)?,
            None => Matrix::zeros(n_rows, self.dims.d_model()),
        };
        add_bias(&mut out, self.b_o.as_ref());
        Ok(out)
    }

    /// The gradients of all parameters, summed over all ranks, and those of this rank's
    /// inputs.
    ///
    /// # Shapes
    /// `inputs`, with the gradient of what came out; `None` for a rank without sequences.
    ///
    /// # Errors
    /// Shapes or masks that do not fit, and what communication finds.
    #[expect(clippy::type_complexity, reason = "what a pass took, and what it gave")]
    pub fn backward<G: Group<T>>(
        &mut self,
        group: &mut G,
        inputs: Option<([&Batch<T>; 3], &[Mask], &Matrix<T>)>,
    ) -> Result<Gradients<T>> {
        let mut gradients = match (inputs, &mut self.engine) {
            (Some(([query, key, value], masks, d_out)), Some(engine)) => {
                attention::check_batch(self.dims, query, key, value, masks)?;
                let expected = (query.tokens().nrows(), self.dims.d_model());
                attention::Error::expect_shape("d_out", expected, d_out.shape())?;
                let mut gradients = engine.backward([query, key, value], masks, d_out)?;
                gradients.d_w_o.bias = self.b_o.as_ref().map(|_| sum_of_rows(d_out));
                gradients
            }
            _ => zeros(self.shapes),
        };
        let Gradients { d_w_q, d_w_k, d_w_v, d_w_o, .. } = &mut gradients;
        // One message, and not eight: each has its latency.
        let mut parts: Vec<&mut [T]> = [d_w_q, d_w_k, d_w_v, d_w_o]
            .into_iter()
            .flat_map(Linear::entries_mut)
            .collect();
        let mut all: Vec<T> =
            parts.iter().flat_map(|part| part.iter().copied()).collect();
        group.all_reduce(&mut all)?;
        let mut rest = &all[..];
        for part in &mut parts {
            let (here, behind) = rest.split_at(part.len());
            part.copy_from_slice(here);
            rest = behind;
        }
        Ok(gradients)
    }
}

/// What a rank without sequences adds.
fn zeros<T: Real>(shapes: [(Shape, bool); 4]) -> Gradients<T> {
    let [d_w_q, d_w_k, d_w_v, d_w_o] = shapes.map(|((d_in, d_out), has_bias)| Linear {
        weight: Matrix::zeros(d_in, d_out),
        bias: has_bias.then(|| RowVector::zeros(d_out)),
    });
    Gradients { d_w_q, d_w_k, d_w_v, d_w_o, ..Gradients::default() }
}
