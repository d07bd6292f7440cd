//! The book's own parts: a stack of one block whose heads are columns of one matrix, the
//! backward pass of each part, and any number of names at once.
//!
//! Names of one batch are filled up to the longest with ends. A letter attends to none that
//! comes after it, so no letter of a name sees what fills it up; and what stands there asks for
//! no letter, so it has no loss.

use attention::{Batch, Dims, Linear, Mask, Matrix, PackedParameters, Result, RowVector};
use block::{
    Activation, Block, Embedding, FeedForward, LayerNorm, Norms, Stack, StackPass,
    Sublayer,
};
use fused_heads::FusedAttention;
use gradients::{Entries, cross_entropy};

use crate::parts::{PARTS, cut_mut, embedding, matrix};
use crate::scalars::{D_FF, D_MODEL, N_HEADS};

/// The places in [`PARTS`] of what an embedding and a stack hold, in the order of their entries.
const OF_MODEL: [usize; 20] =
    [0, 1, 4, 5, 6, 7, 8, 9, 10, 11, 2, 3, 14, 15, 16, 17, 12, 13, 18, 19];

/// A model made of the book's parts.
struct Model {
    embedding: Embedding,
    stack: Stack<FusedAttention>,
}

/// The loss of some names, and the gradient of each parameter, so many names at once.
///
/// # Errors
/// [`attention::Error`] for a name of no letters, or of too many.
pub(crate) fn gradients(
    parameters: &[f64],
    names: &[Vec<usize>],
    at_once: usize,
) -> Result<(f64, Vec<f64>)> {
    let model = Model::of(parameters)?;
    let n_letters: usize = names.iter().map(|name| name.len() - 1).sum();
    let (mut loss, mut gradients) = (0.0, vec![0.0; parameters.len()]);
    for some in names.chunks(at_once.max(1)) {
        let some = Padded::of(some);
        let share = some.targets.len() as f64 / n_letters as f64;
        loss += share * model.add_gradients(&some, share, &mut gradients)?;
    }
    Ok((loss, gradients))
}

/// Names of one length.
struct Padded {
    n_names: usize,
    length: usize,
    /// Letter by letter, `[n_names · length]`.
    ids: Vec<usize>,
    /// The rows of the letters that are no padding.
    rows: Vec<usize>,
    /// What comes after each of these.
    targets: Vec<usize>,
}

impl Padded {
    fn of(names: &[Vec<usize>]) -> Self {
        let length = names.iter().map(|name| name.len() - 1).max().unwrap_or(0);
        let mut padded = Self {
            n_names: names.len(),
            length,
            ids: vec![0; names.len() * length],
            rows: Vec::new(),
            targets: Vec::new(),
        };
        for (nth, name) in names.iter().enumerate() {
            for (t, pair) in name.windows(2).enumerate() {
                padded.ids[nth * length + t] = pair[0];
                padded.rows.push(nth * length + t);
                padded.targets.push(pair[1]);
            }
        }
        padded
    }
}

impl Model {
    /// The model of a list of parameters.
    fn of(parameters: &[f64]) -> Result<Self> {
        let zeros = |d_in, d_out| {
            Linear::new(Matrix::zeros(d_in, d_out), Some(RowVector::zeros(d_out)))
        };
        let square = || zeros(D_MODEL, D_MODEL);
        let projections = [square()?, square()?, square()?, square()?];
        let packed = PackedParameters::new(Dims::new(D_MODEL, N_HEADS)?, projections)?;
        let (w_1, w_2) = (zeros(D_MODEL, D_FF)?, zeros(D_FF, D_MODEL)?);
        let feed_forward = FeedForward::new(w_1, Activation::GeluTanh, w_2)?;
        let norms = || Norms::before(LayerNorm::identity(D_MODEL));
        let block = Block::new(
            Sublayer::new(FusedAttention::from_packed(packed), norms()),
            Some(Sublayer::new(feed_forward, norms())),
        );
        let last_norm = Some(LayerNorm::identity(D_MODEL).into());
        let mut model = (embedding(parameters), Stack { blocks: vec![block], last_norm });
        for (entries, i) in model.entries_mut().into_iter().zip(OF_MODEL) {
            entries.copy_from_slice(matrix(parameters, i).as_slice());
        }
        let (embedding, stack) = model;
        Ok(Self { embedding, stack })
    }

    /// The mean loss of all letters; their gradients, times `share`, are added.
    fn add_gradients(&self, names: &Padded, share: f64, sum: &mut [f64]) -> Result<f64> {
        let Padded { n_names, length, ids, rows, targets } = names;
        let letters = &self.embedding.tokens;
        let x = Batch::new(*n_names, self.embedding.forward(ids, *length)?)?;
        let pass = StackPass::forward(&self.stack, &x, &[Mask::Causal])?;
        let out = pass.out().select_rows(rows);
        let loss = cross_entropy(&(&out * letters.transpose()), targets)?;

        let d_logits = loss.gradient * share;
        let d_written = d_logits.transpose() * &out;
        let d_of_rows = d_logits * letters;
        let mut d_out = Matrix::zeros(ids.len(), D_MODEL);
        for (d, &row) in d_of_rows.row_iter().zip(rows) {
            d_out.set_row(row, &d);
        }
        let d = pass.backward(&d_out)?;
        let mut d_embedding = self.embedding.backward(ids, *length, d.d_x())?;
        // One table reads letters and writes them, and so gets both gradients.
        d_embedding.tokens += d_written;
        let sums = cut_mut(sum);
        for (entries, i) in (d_embedding, d.d_stack).entries().into_iter().zip(OF_MODEL) {
            let (n_rows, n_columns) = PARTS[i].shape;
            for (at, entry) in entries.iter().enumerate() {
                sums[i][at % n_rows * n_columns + at / n_rows] += entry;
            }
        }
        Ok(loss.value)
    }
}
