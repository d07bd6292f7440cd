//! The backward pass of each of the book's parts, and any number of names at once.
//!
//! Names of one batch are filled up to the longest with ends. A letter attends to none that
//! comes after it, so no letter of a name sees what fills it up; and what stands there asks for
//! no letter, so it has no loss.

use attention::{Batch, Mask, Matrix, Result};
use block::{Dropout, StackPass};
use gradients::{Entries, Loss, cross_entropy};

use crate::architecture::check_names;
use crate::model::order;
use crate::{Architecture, Gradients, Model};

/// The loss of some names, and the gradient of each parameter, so many names at once; with
/// dropout behind each sub-layer, if there is one.
///
/// # Errors
/// [`attention::Error`] for a name of no letters, or of too many.
pub(crate) fn gradients(
    architecture: Architecture,
    parameters: &[f64],
    names: &[Vec<usize>],
    at_once: usize,
    mut dropout: Option<&mut Dropout>,
) -> Result<Gradients> {
    let model = Model::new(architecture, parameters)?;
    model.gradients(names, at_once, |x| {
        let masks = &[Mask::Causal];
        let pass = match &mut dropout {
            None => StackPass::forward(&model.stack, x, masks)?,
            Some(it) => StackPass::forward_in_training(&model.stack, x, masks, it)?,
        };
        Ok((pass.out().clone(), |d_out: &Matrix| {
            let d = pass.backward(d_out)?;
            Ok((d.d_x().clone(), d.d_stack))
        }))
    })
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
        let (n_names, length) = (names.len(), names.iter().map(Vec::len).max());
        let length = length.unwrap_or(1) - 1;
        let (mut rows, mut targets) = (Vec::new(), Vec::new());
        let mut ids = vec![0; n_names * length];
        for (nth, name) in names.iter().enumerate() {
            for (row, pair) in (nth * length..).zip(name.windows(2)) {
                ids[row] = pair[0];
                rows.push(row);
                targets.push(pair[1]);
            }
        }
        Self { n_names, length, ids, rows, targets }
    }
}

impl Model {
    /// The mean loss of all letters and ends of some names, as a [rung] gives it beside the
    /// gradients.
    ///
    /// # Errors
    /// [`Error`] for no names, and for one of no letters, of too many, or with an id that is no
    /// letter's.
    ///
    /// [rung]: crate::Rung::gradients
    /// [`Error`]: attention::Error
    pub fn loss(&self, names: &[Vec<usize>]) -> Result<f64> {
        check_names(names, self.architecture.n_positions)?;
        let padded = Padded::of(names);
        let pass =
            StackPass::forward(&self.stack, &self.embed(&padded)?, &[Mask::Causal])?;
        Ok(self.loss_of(&padded, pass.out())?.1.value)
    }

    fn embed(&self, Padded { n_names, length, ids, .. }: &Padded) -> Result<Batch> {
        Batch::new(*n_names, self.embedding.forward(ids, *length)?)
    }

    /// Of what came out of a pass, the rows of letters that are no padding, and their mean loss.
    fn loss_of(&self, padded: &Padded, out: &Matrix) -> Result<(Matrix, Loss)> {
        let out = out.select_rows(&padded.rows);
        let logits = &out * self.embedding.tokens.transpose();
        Ok((out, cross_entropy(&logits, &padded.targets)?))
    }

    /// The mean loss of all letters and ends, and the gradient of each parameter, so many names
    /// at once. A pass goes through all blocks and the last norm: it gives what comes out, and
    /// how the gradient of that becomes those of what was read and of the stack.
    pub(crate) fn gradients<B, E: Entries<f64>>(
        &self,
        names: &[Vec<usize>],
        at_once: usize,
        mut pass: impl FnMut(&Batch) -> Result<(Matrix, B)>,
    ) -> Result<Gradients>
    where
        B: FnOnce(&Matrix) -> Result<(Matrix, E)>,
    {
        let n_letters: usize = names.iter().map(|name| name.len() - 1).sum();
        let mut gradients = vec![0.0; self.architecture.n_parameters()];
        let mut sums = self.architecture.cut_mut(&mut gradients);
        let (letters, mut sum) = (&self.embedding.tokens, 0.0);
        for some in names.chunks(at_once.max(1)).map(Padded::of) {
            let (out, backward) = pass(&self.embed(&some)?)?;
            let (out, loss) = self.loss_of(&some, &out)?;
            let share = some.targets.len() as f64 / n_letters as f64;
            sum += share * loss.value;

            let d_logits = loss.gradient * share;
            let mut d_out = Matrix::zeros(some.ids.len(), letters.ncols());
            for (d, &row) in (&d_logits * letters).row_iter().zip(&some.rows) {
                d_out.set_row(row, &d);
            }
            let (d_x, d_stack) = backward(&d_out)?;
            let mut d = self.embedding.backward(&some.ids, some.length, &d_x)?;
            // One table reads letters and writes them, and so gets both gradients.
            d.tokens += d_logits.transpose() * &out;
            add(self.architecture, &mut sums, &[d.entries(), d_stack.entries()].concat());
        }
        Ok((sum, gradients))
    }
}

/// Adds the gradients of a model, each part column by column, to those of the list.
fn add(architecture: Architecture, sums: &mut [&mut [f64]], d: &[&[f64]]) {
    let parts = architecture.parts();
    for (entries, i) in d.iter().zip(order(architecture)) {
        let (n_rows, n_columns) = parts[i].shape;
        for (at, entry) in entries.iter().enumerate() {
            sums[i][at % n_rows * n_columns + at / n_rows] += entry;
        }
    }
}
