//! What comes out, next to one machine.

use std::fmt;

use anyhow::{Context, Result, ensure};
use attention::{
    Batch, Dims, InputGradients, LayerParameters, Mask, Matrix, Rng, SeedableRng,
    random_matrix,
};
use distributed::{
    Engine, Fast, Grid, Group, HeadGradients, HeadsApart, OnGrid, Plain, Split, heads_of,
};
use fused_heads::FusedAttention;
use mpi::datatype::Equivalence;
use ranks::Processes;

use crate::measure::slowest;
use crate::times::{Place, Timed};

/// How far the outputs of f64 may be from one machine.
const BOUND: f64 = 1e-12;

/// How far the gradients of f64 may be.
const BOUND_GRADIENTS: f64 = 1e-10;

/// How far f32 may be, relative to the largest entry where that is above 1.
const BOUND_F32: f64 = 1e-5;

/// The largest differences from one machine.
pub struct Differences {
    n_layers: usize,
    outputs: f64,
    gradients: f64,
    single: f64,
}

impl fmt::Display for Differences {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self { n_layers, outputs, gradients, single } = self;
        write!(
            f,
            "{n_layers} small layers by every split, next to one machine: outputs within \
             {outputs:.0e}, gradients of heads apart within {gradients:.0e}, in f32 by \
             the fast kernels within {single:.0e}"
        )
    }
}

/// Small layers by every split that these ranks can have: lengths and heads that nothing
/// divides, fewer heads than ranks, causal, with padding, and one with a NaN.
///
/// # Errors
/// A split that differs from one machine, with the difference.
pub fn small(group: &mut Processes) -> Result<Differences> {
    let mut found =
        Differences { n_layers: 0, outputs: 0.0, gradients: 0.0, single: 0.0 };
    for (seed, n_tokens, n_heads) in [(1, 1, 3), (2, 13, 5), (3, 37, 2), (4, 301, 7)] {
        let rng = &mut Rng::seed_from_u64(seed);
        let dims = Dims::with_head_sizes(9, n_heads, 4, 3)?;
        let layer = LayerParameters::<f64>::random(dims, true, rng);
        let mut x = random_matrix(n_tokens, 9, 1.5, rng);
        let d_out = random_matrix(n_tokens, 9, 1.0, rng);
        if seed == 3 {
            x[(20, 4)] = f64::NAN;
        }
        let x = Batch::new(1, x)?;
        let x_single = Batch::new(1, x.tokens().map(|x| x as f32))?;
        let padded = Mask::All(vec![Mask::Causal, Mask::FirstKeys(2 * n_tokens / 3)]);
        for mask in [Mask::None, Mask::Causal, padded] {
            let masks = std::slice::from_ref(&mask);
            let one = FusedAttention::new(&layer).pass_batch(&x, &x, &x, masks)?.out;
            let diff = outputs::<f64, Plain>(group, &layer, &x, masks, &one)?;
            found.outputs = found.outputs.max(diff);
            let diff = gradients(group, &layer, &x, masks, &d_out)?;
            found.gradients = found.gradients.max(diff);
            let (layer, one) = (layer.cast(), one.map(|x| x as f32));
            let diff = outputs::<f32, Fast>(group, &layer, &x_single, masks, &one)?;
            found.single = found.single.max(diff);
            found.n_layers += 1;
        }
    }
    for (what, largest, bound) in [
        ("the output of a split", &mut found.outputs, BOUND),
        ("a gradient of heads apart", &mut found.gradients, BOUND_GRADIENTS),
        ("the output of a split in f32", &mut found.single, BOUND_F32),
    ] {
        *largest = slowest(group, *largest)?;
        ensure!(*largest <= bound, "{what} differs from one machine by {largest:e}");
    }
    Ok(found)
}

/// The largest difference of this rank's outputs, of all splits.
fn outputs<T, E: Engine<T>>(
    group: &mut Processes,
    layer: &LayerParameters<T>,
    x: &Batch<T>,
    masks: &[Mask],
    one: &Matrix<T>,
) -> Result<f64>
where
    T: attention::Real + Equivalence,
{
    let (size, n_tokens) = (Group::<T>::size(group), x.n_tokens());
    let mut part: HeadsApart<T, E> = HeadsApart::new(layer, group)?;
    let mut largest = differ(one, &part.forward(group, [x; 3], masks)?)?;
    for by_heads in (1..=size).filter(|by| size.is_multiple_of(*by)) {
        let mut grid = Grid::new::<T>(group, by_heads)?;
        let mut part: OnGrid<T, E> = OnGrid::new(layer, &grid)?;
        let chunks = grid.chunks::<T>(n_tokens);
        let rank = Group::<T>::rank(grid.ring());
        let mine = chunks.rows(x.tokens(), 1, rank)?;
        let out = part.forward(&mut grid, &mine, (1, n_tokens), masks)?;
        largest = largest.max(differ(&chunks.rows(one, 1, rank)?, &out)?);
    }
    Ok(largest)
}

/// The largest difference of this rank's gradients.
fn gradients(
    group: &mut Processes,
    layer: &LayerParameters<f64>,
    x: &Batch<f64>,
    masks: &[Mask],
    d_out: &Matrix<f64>,
) -> Result<f64> {
    let mut part: HeadsApart<f64, Plain> = HeadsApart::new(layer, group)?;
    let found = part.backward(group, [x; 3], masks, d_out)?;
    let dims = layer.dims();
    let all = heads_of(layer, 0..dims.n_heads())?.context("a layer has heads")?;
    let one = Plain::new(&all).backward([x; 3], masks, d_out)?;
    let HeadGradients { heads, parameters, d_inputs, .. } = found;
    let (
        InputGradients::SelfAttention { d_x },
        InputGradients::SelfAttention { d_x: all },
    ) = (&d_inputs, &one.d_inputs)
    else {
        anyhow::bail!("the gradient of one input is one matrix");
    };
    let mut largest = differ(all, d_x)?;
    if let Some([d_w_q, d_w_k, d_w_v, d_w_o]) = &parameters {
        let (d_k, d_v) = (dims.d_k(), dims.d_v());
        for (all, mine, width) in
            [(&one.d_w_q, d_w_q, d_k), (&one.d_w_k, d_w_k, d_k), (&one.d_w_v, d_w_v, d_v)]
        {
            let columns = all.weight.columns(heads.start * width, heads.len() * width);
            largest = largest.max(differ(&columns.into_owned(), &mine.weight)?);
        }
        let rows = one.d_w_o.weight.rows(heads.start * d_v, heads.len() * d_v);
        largest = largest.max(differ(&rows.into_owned(), &d_w_o.weight)?);
    }
    Ok(largest)
}

/// The largest difference of two matrices, relative to the largest entry where that is above
/// 1; infinite if one has a number where the other has NaN.
fn differ<T: attention::Real>(expected: &Matrix<T>, found: &Matrix<T>) -> Result<f64> {
    attention::Error::expect_shape("the output", expected.shape(), found.shape())?;
    let size = |x: &T| if x.to_f64().is_finite() { x.to_f64().abs() } else { 0.0 };
    let scale = expected.iter().map(size).fold(1.0, f64::max);
    let apart = |(a, b): (&T, &T)| {
        let (a, b) = (a.to_f64(), b.to_f64());
        match (a.is_nan(), b.is_nan()) {
            (false, false) => (a - b).abs() / scale,
            (true, true) => 0.0,
            _ => f64::INFINITY,
        }
    };
    Ok(expected.iter().zip(found).map(apart).fold(0.0, f64::max))
}

/// The output of a split next to that of one machine, which rank 0 has: the largest
/// difference.
///
/// # Errors
/// A difference above the bound, with the difference.
pub fn same(
    group: &mut Processes,
    timed: &Timed,
    alone: &Timed,
    x: &Batch<f32>,
    split: Split,
) -> Result<f64> {
    let (n, width) = (x.tokens().nrows(), x.tokens().ncols());
    // Rank 0 has the whole; by a sum with zeros, all have it.
    let mut whole = match alone.out.nrows() {
        0 => Matrix::zeros(n, width),
        _ => alone.out.clone(),
    };
    group.all_reduce(whole.as_mut_slice())?;
    let expected = match &timed.place {
        Place::All => whole,
        Place::Chunks(chunks, rank) => chunks.rows(&whole, x.n_sequences(), *rank)?,
        Place::Sequences(sequences) => {
            let n_tokens = x.n_tokens();
            whole
                .rows(sequences.start * n_tokens, sequences.len() * n_tokens)
                .into_owned()
        }
    };
    let diff = slowest(group, differ(&expected, &timed.out)?)?;
    ensure!(diff <= BOUND_F32, "{}: differs from one machine by {diff:e}", split);
    Ok(diff)
}
