//! What is ours: one variant for each implementation and pass.

use std::hint::black_box;

use anyhow::{Context, Result};
use attention::{Batch, Mask, Matrix};
use fused_heads::FusedAttention;
use gradients::LayerPass;
use kernels::{Gradients, Inputs, Packed, Rung, ladder};
use tiles::Instructions;

use crate::layer::Layer;
use crate::results::Results;
use runs::{Case, Pass};

/// One pass of one implementation.
pub trait Variant {
    fn name(&self) -> &'static str;
    fn pass(&self) -> Pass;
    /// The bytes of the n × n matrices that there are at once.
    fn needs(&self, case: &Case) -> u64;
    /// Makes room for the results of passes over this input.
    fn prepare(&mut self, layer: &Layer) -> Result<()>;
    /// One pass; what it gave is kept if it is asked for.
    fn run(&mut self, layer: &Layer, keep: bool) -> Result<()>;
    /// What the last run that kept it gave.
    fn results(&self) -> Result<Results<f32>>;
    /// The bytes of results for which a run itself makes room.
    fn new_results(&self, layer: &Layer) -> u64;
}

/// The last rung forward and backward, with its weights packed anew: as in a step of a
/// training, which has changed them.
const PACKED_ANEW: &str = "packed anew";

/// Every layer with these parameters.
pub fn layers(layer: &Layer, instructions: Instructions) -> Vec<Box<dyn Variant>> {
    let fused = |pass| -> Box<dyn Variant> { Box::new(Fused::new(layer, pass)) };
    let mut all = vec![fused(Pass::Forward), fused(Pass::ForwardBackward)];
    for rung in ladder(&layer.parameters) {
        let rung = match rung.name() {
            "packed" => {
                Box::new(Packed::with_instructions(&layer.parameters, instructions))
            }
            _ => rung,
        };
        all.push(Box::new(Climbed { rung, out: Matrix::zeros(0, 0), mask: Mask::None }));
    }
    all.push(Box::new(PackedBack::new("packed", layer, instructions)));
    all.push(Box::new(PackedBack::new(PACKED_ANEW, layer, instructions)));
    all
}

/// A rung of the ladder, with the memory that its output is written to.
struct Climbed {
    rung: Box<dyn Rung>,
    out: Matrix<f32>,
    mask: Mask,
}

impl Variant for Climbed {
    fn name(&self) -> &'static str {
        self.rung.name()
    }

    fn pass(&self) -> Pass {
        Pass::Forward
    }

    /// The first two rungs hold the map of one head, and its transposed keys' product.
    fn needs(&self, case: &Case) -> u64 {
        match self.name() {
            "plain" | "one product" => case.map(4),
            _ => 0,
        }
    }

    fn prepare(&mut self, layer: &Layer) -> Result<()> {
        (self.out, self.mask) = (written(layer), layer.case.mask());
        Ok(())
    }

    fn run(&mut self, layer: &Layer, _: bool) -> Result<()> {
        let masks = std::slice::from_ref(&self.mask);
        let inputs = Inputs::self_attention(layer.case.batch, &layer.x, masks);
        Ok(self.rung.forward(&inputs, &mut self.out)?)
    }

    fn results(&self) -> Result<Results<f32>> {
        Ok(Results::output(self.out.clone()))
    }

    fn new_results(&self, _: &Layer) -> u64 {
        0
    }
}

/// The layer of “One matrix, many heads”, and with the pass of “The backward pass”.
struct Fused {
    fused: FusedAttention<f32>,
    pass: Pass,
    x: Option<Batch<f32>>,
    results: Option<Results<f32>>,
}

impl Fused {
    fn new(layer: &Layer, pass: Pass) -> Self {
        let fused = FusedAttention::new(&layer.parameters);
        Self { fused, pass, x: None, results: None }
    }
}

impl Variant for Fused {
    fn name(&self) -> &'static str {
        if self.pass == Pass::Forward { "fused-heads" } else { "gradients" }
    }

    fn pass(&self) -> Pass {
        self.pass
    }

    /// The maps of all heads and sequences, which are among its results or kept for the
    /// backward pass, and there the gradient of one.
    fn needs(&self, case: &Case) -> u64 {
        let n_single = if self.pass == Pass::Forward { 1 } else { 2 };
        case.maps(4) + n_single * case.map(4)
    }

    fn prepare(&mut self, layer: &Layer) -> Result<()> {
        self.x = Some(Batch::new(layer.case.batch, layer.x.clone())?);
        Ok(())
    }

    fn run(&mut self, layer: &Layer, keep: bool) -> Result<()> {
        let x = self.x.as_ref().context("prepared")?;
        let masks = [layer.case.mask()];
        if self.pass == Pass::Forward {
            let out = black_box(self.fused.forward_batch(x, x, x, &masks)?).out;
            self.results = keep.then(|| Results::output(out.tokens().clone()));
            return Ok(());
        }
        let tape = LayerPass::forward_batch(&self.fused, x, x, x, &masks)?;
        let d = tape.backward(&layer.d_out)?;
        let d_x = black_box(d.d_x()?);
        if keep {
            let out = tape.out().clone();
            self.results = Some(Results::with_gradients(out, d_x, d.projections()));
        }
        Ok(())
    }

    fn results(&self) -> Result<Results<f32>> {
        self.results.clone().context("a run came before")
    }

    fn new_results(&self, layer: &Layer) -> u64 {
        let gradients = (self.pass != Pass::Forward).then(|| layer.bytes_of_gradients());
        layer.bytes_of_output() + gradients.unwrap_or(0)
    }
}

/// The last rung, forward and backward.
struct PackedBack {
    name: &'static str,
    packed: Packed,
    mask: Mask,
    out: Matrix<f32>,
    gradients: Gradients<f32>,
    results: Option<Results<f32>>,
}

impl PackedBack {
    fn new(name: &'static str, layer: &Layer, instructions: Instructions) -> Self {
        Self {
            name,
            packed: Packed::with_instructions(&layer.parameters, instructions),
            mask: Mask::None,
            out: Matrix::zeros(0, 0),
            gradients: Gradients::default(),
            results: None,
        }
    }
}

impl Variant for PackedBack {
    fn name(&self) -> &'static str {
        self.name
    }

    fn pass(&self) -> Pass {
        Pass::ForwardBackward
    }

    fn needs(&self, _: &Case) -> u64 {
        0
    }

    fn prepare(&mut self, layer: &Layer) -> Result<()> {
        (self.out, self.mask) = (written(layer), layer.case.mask());
        Ok(())
    }

    fn run(&mut self, layer: &Layer, keep: bool) -> Result<()> {
        let masks = std::slice::from_ref(&self.mask);
        let inputs = Inputs::self_attention(layer.case.batch, &layer.x, masks);
        let d = &mut self.gradients;
        if self.name == PACKED_ANEW {
            self.packed.set_parameters(&layer.parameters);
        }
        self.packed.pass(&inputs, &mut self.out)?.backward_into(&layer.d_out, d)?;
        black_box(&d);
        if keep {
            let (out, d_x) = (self.out.clone(), d.d_x()?);
            let results = Results::with_gradients(out, d_x, d.projections());
            self.results = Some(results);
        }
        Ok(())
    }

    fn results(&self) -> Result<Results<f32>> {
        self.results.clone().context("a run came before")
    }

    fn new_results(&self, layer: &Layer) -> u64 {
        layer.bytes_of_gradients()
    }
}

/// Room for an output. Not zeros, which take memory only when they are written to.
pub(super) fn written(layer: &Layer) -> Matrix<f32> {
    Matrix::from_element(layer.x.nrows(), layer.x.ncols(), f32::NAN)
}
