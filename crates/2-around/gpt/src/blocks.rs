//! The book's own parts: a stack of one block whose heads are columns of one matrix, the
//! backward pass of each part, and any number of names at once.
//!
//! Names of one batch are filled up to the longest with ends. A letter attends to none that
//! comes after it, so no letter of a name sees what fills it up; and what stands there asks for
//! no letter, so it has no loss.

use attention::{
    Batch, Dims, Linear, Mask, Matrix, PackedParameters, Real, Result, RowVector,
};
use block::{
    Activation, Block, FeedForward, LayerNorm, Norms, Stack, StackPass, Sublayer,
};
use fused_heads::FusedAttention;
use gradients::{Entries, cross_entropy};

use crate::parts::{PARTS, Part, cut, cut_mut};
use crate::scalars::{D_FF, D_MODEL, N_HEADS, N_POSITIONS};

/// The places in [`PARTS`] of what a stack holds, in the order of its entries.
const OF_STACK: [usize; 18] =
    [4, 5, 6, 7, 8, 9, 10, 11, 2, 3, 14, 15, 16, 17, 12, 13, 18, 19];

/// A model made of the book's parts.
struct Model<T: Real> {
    letters: Matrix<T>,
    positions: Matrix<T>,
    stack: Stack<FusedAttention<T>, T>,
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
    let model = Model::<f64>::of(parameters)?;
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

impl<T: Real> Model<T> {
    /// The model of a list of parameters.
    fn of(parameters: &[f64]) -> Result<Self> {
        let parts = cut(parameters);
        let matrix = |i: usize| {
            let Part { shape: (rows, columns), .. } = PARTS[i];
            Matrix::from_fn(rows, columns, |r, c| T::of(parts[i][r * columns + c]))
        };
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
        let mut stack = Stack { blocks: vec![block], last_norm };
        for (entries, i) in stack.entries_mut().into_iter().zip(OF_STACK) {
            entries.copy_from_slice(matrix(i).as_slice());
        }
        Ok(Self { letters: matrix(0), positions: matrix(1), stack })
    }

    /// The mean loss of all letters; their gradients, times `share`, are added.
    fn add_gradients(&self, names: &Padded, share: f64, sum: &mut [f64]) -> Result<f64> {
        let Padded { n_names, length, ids, rows, targets } = names;
        let x = Matrix::from_fn(ids.len(), D_MODEL, |i, j| {
            self.letters[(ids[i], j)] + self.positions[(i % length, j)]
        });
        let x = Batch::new(*n_names, x)?;
        let pass = StackPass::forward(&self.stack, &x, &[Mask::Causal])?;
        let out = pass.out().select_rows(rows);
        let loss = cross_entropy(&(&out * self.letters.transpose()), targets)?;

        let d_logits = loss.gradient * T::of(share);
        let mut d_letters = d_logits.transpose() * &out;
        let d_of_rows = d_logits * &self.letters;
        let mut d_out = Matrix::zeros(ids.len(), D_MODEL);
        for (d, &row) in d_of_rows.row_iter().zip(rows) {
            d_out.set_row(row, &d);
        }
        let d = pass.backward(&d_out)?;
        let mut d_positions = Matrix::zeros(N_POSITIONS, D_MODEL);
        for (i, d_x) in d.d_x().row_iter().enumerate() {
            // A letter is read here, and written above: one table gets both.
            let mut of_letter = d_letters.row_mut(ids[i]);
            of_letter += d_x;
            let mut of_position = d_positions.row_mut(i % length);
            of_position += d_x;
        }
        let embeddings = [(d_letters.as_slice(), 0), (d_positions.as_slice(), 1)];
        let of_stack = d.d_stack.entries().into_iter().zip(OF_STACK);
        let sums = cut_mut(sum);
        for (entries, i) in embeddings.into_iter().chain(of_stack) {
            let (n_rows, n_columns) = PARTS[i].shape;
            for (at, &entry) in entries.iter().enumerate() {
                sums[i][at % n_rows * n_columns + at / n_rows] += entry.to_f64();
            }
        }
        Ok(loss.value.to_f64())
    }
}
