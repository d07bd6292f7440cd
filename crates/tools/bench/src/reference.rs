//! The right answer, in f64: what every row is compared with before it is timed.

use anyhow::{Result, ensure};
use attention::{
    Batch, Mask, Matrix, MultiHeadAttention, Rng, SeedableRng, random_matrix,
};
use fused_heads::FusedAttention;
use gradients::LayerPass;
use per_head::PerHeadAttention;

use super::layer::Layer;
use super::memory;
use super::results::Results;
use runs::{Case, Pass};

/// How far a row may be from the reference.
pub const TOLERANCE: f64 = 1e-4;

/// How much all maps may take for every row of the output to be checked.
const FULL: u64 = 2 << 30;

/// How many rows are checked where not every one is.
const ROWS: usize = 64;

/// The right answer, or as much of it as this machine can hold.
pub enum Reference {
    /// Every number, by the per-head stage and by the gradients of “The backward pass”.
    Full(Results),
    /// Some rows of the output, each by itself.
    Rows(Vec<(usize, Matrix)>),
}

impl Reference {
    /// # Errors
    /// A backward pass that is too long to be checked.
    pub fn new(layer: &Layer, pass: Pass) -> Result<Self> {
        let fits = fits(&layer.case);
        match pass {
            Pass::Product => Ok(Self::Full(product(layer))),
            Pass::Forward if fits => forward(layer).map(Self::Full),
            Pass::Forward => Ok(Self::Rows(rows(layer, ROWS)?)),
            Pass::ForwardBackward => {
                ensure!(
                    fits,
                    "not timed: to check gradients takes every head's map in f64, {}",
                    super::table::bytes(layer.case.maps(8))
                );
                forward_and_backward(layer).map(Self::Full)
            }
        }
    }

    /// What of the answer is checked, if not all.
    pub fn remark(&self) -> Option<String> {
        let Self::Rows(rows) = self else { return None };
        Some(format!("Checked on {} random rows of the output.", rows.len()))
    }

    /// How far an answer is from the right one.
    pub fn difference(&self, found: &Results) -> Result<f64> {
        let rows = match self {
            Self::Full(expected) => return found.difference(expected),
            Self::Rows(rows) => rows,
        };
        let pick = |r: &usize| found.out().row(*r).into_owned();
        let n_rows = found.out().nrows();
        let (at, expected): (Vec<usize>, Vec<_>) = rows.iter().cloned().unzip();
        ensure!(
            at.iter().all(|&r| r < n_rows),
            "output has {n_rows} rows, expected over {}",
            at.iter().max().unwrap_or(&0)
        );
        let found: Vec<_> = at.iter().map(pick).collect();
        let expected: Vec<_> =
            expected.iter().map(|row| row.row(0).into_owned()).collect();
        let all = |rows: &[_]| Results::output(Matrix::from_rows(rows));
        all(&found).difference(&all(&expected))
    }
}

/// Whether all maps fit, in f64, in what may be spent on them.
fn fits(case: &Case) -> bool {
    case.maps(8) <= memory::available().map_or(FULL, |free| FULL.min(free / 3))
}

/// All tokens by W^Q.
fn product(layer: &Layer) -> Results {
    let w_q = layer.w_q().map(f64::from);
    Results::output(layer.x.map(f64::from) * w_q)
}

/// Sequence by sequence, so that only the maps of one are there at a time.
fn forward(layer: &Layer) -> Result<Results> {
    let Case { batch, tokens, .. } = layer.case;
    let heads = PerHeadAttention::<f64>::new(layer.parameters.cast());
    let x = layer.x.map(f64::from);
    let mut out = Matrix::zeros(x.nrows(), x.ncols());
    for s in 0..batch {
        let x = x.rows(s * tokens, tokens).into_owned();
        let attended = heads.self_attend(&x, &layer.case.mask())?;
        out.rows_mut(s * tokens, tokens).copy_from(&attended.out);
    }
    Ok(Results::output(out))
}

fn forward_and_backward(layer: &Layer) -> Result<Results> {
    let fused = FusedAttention::<f64>::new(&layer.parameters.cast());
    let batch = Batch::new(layer.case.batch, layer.x.map(f64::from))?;
    let masks = [layer.case.mask()];
    let tape = LayerPass::forward_batch(&fused, &batch, &batch, &batch, &masks)?;
    let gradients = tape.backward(&layer.d_out.map(f64::from))?;
    let (out, d_x) = (tape.out().clone(), gradients.d_x()?);
    Ok(Results::with_gradients(out, d_x, gradients.projections()))
}

/// Random rows of the output, each computed from the definition: one query at a time
/// against all keys of its sequence.
fn rows(layer: &Layer, n_rows: usize) -> Result<Vec<(usize, Matrix)>> {
    let Case { batch, tokens, .. } = layer.case;
    let (parameters, mask) = (layer.parameters.cast::<f64>(), layer.case.mask());
    let x = layer.x.map(f64::from);
    let at = some_of(batch * tokens, n_rows);
    let d_v = parameters.dims().d_v();
    let mut concat = Matrix::zeros(n_rows, parameters.dims().concat_width());
    for (h, head) in parameters.heads().iter().enumerate() {
        let (k, v) = (head.w_k.forward(&x)?, head.w_v.forward(&x)?);
        for (r, &row) in at.iter().enumerate() {
            let (s, i) = (row / tokens, row % tokens);
            let q = head.w_q.forward(&x.rows(row, 1).into_owned())?; // [1, d_k]
            let keys = k.rows(s * tokens, tokens);
            let values = v.rows(s * tokens, tokens);
            let mut shares = keys * q.transpose() / (q.ncols() as f64).sqrt(); // [n, 1]
            softmax_seen(&mut shares, &mask, i);
            let head_i = shares.transpose() * values; // [1, d_v]
            concat.view_mut((r, h * d_v), (1, d_v)).copy_from(&head_i);
        }
    }
    let out = parameters.w_o().forward(&concat)?;
    Ok(at
        .iter()
        .enumerate()
        .map(|(r, &row)| (row, out.rows(r, 1).into_owned()))
        .collect())
}

/// So many random numbers below `n`.
fn some_of(n: usize, how_many: usize) -> Vec<usize> {
    let rng = &mut Rng::seed_from_u64(2);
    let uniform: Matrix = random_matrix(1, how_many, 1.0 / 12f64.sqrt(), rng); // ±½
    uniform.iter().map(|u| (((u + 0.5) * n as f64) as usize).min(n - 1)).collect()
}

/// Softmax over the keys that query i may attend to; the others get a share of 0.
fn softmax_seen(scores: &mut Matrix, mask: &Mask, i: usize) {
    let n = scores.nrows();
    for j in 0..n {
        if mask.added((i, j), (n, n)).is_none() {
            scores[(j, 0)] = f64::NEG_INFINITY;
        }
    }
    let max = scores.max();
    scores.apply(|score| *score = (*score - max).exp());
    let sum = scores.sum();
    *scores /= sum;
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_row_by_itself_is_the_row_of_the_whole() {
        for causal in [false, true] {
            let layer = Layer::random(Case::new("", [3, 7, 12, 3], causal)).unwrap();
            let full = forward(&layer).unwrap();
            let sample = Reference::Rows(rows(&layer, 20).unwrap());
            let difference = sample.difference(&full).unwrap();
            assert!(difference < 1e-13, "{difference:e}");

            let back = forward_and_backward(&layer).unwrap();
            let output = Results::output(back.out().clone());
            assert!(full.difference(&output).unwrap() < 1e-13);
            assert!(back.difference(&full).is_err());
        }
    }

    #[test]
    fn a_product_is_that_of_the_first_projection() {
        let layer = Layer::random(Case::new("", [3, 7, 12, 3], false)).unwrap();
        let query = layer.parameters.cast::<f64>().pack();
        let bare = attention::Linear { bias: None, ..query.w_q().clone() };
        let expected = bare.forward(&layer.x.map(f64::from)).unwrap();
        let product = Reference::new(&layer, Pass::Product).unwrap();
        let difference = product.difference(&Results::output(expected)).unwrap();
        assert!(difference < 1e-13, "{difference}");
    }

    #[test]
    fn a_wrong_row_is_seen() {
        let layer = Layer::random(Case::new("", [1, 5, 8, 2], false)).unwrap();
        let mut found = forward(&layer).unwrap().out().clone();
        let sample = Reference::Rows(rows(&layer, 4).unwrap());
        let Reference::Rows(at) = &sample else { unreachable!() };
        found[(at[3].0, 7)] += 0.5;
        let difference = sample.difference(&Results::output(found)).unwrap();
        assert!((difference - 0.5).abs() < 1e-12, "{difference}");
    }

    #[test]
    fn gradients_that_cannot_be_checked_are_refused_with_the_size() {
        let case = Case::new("16k", [1, 16384, 4, 4], false);
        let layer = Layer::random(case).unwrap();
        let refused = Reference::new(&layer, Pass::ForwardBackward).err().unwrap();
        insta::assert_snapshot!(refused, @"not timed: to check gradients takes every head's map in f64, 8.0 GiB");
    }
}
