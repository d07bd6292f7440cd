//! The backward pass of each of the book's parts, and any number of names at once.
//!
//! Names of one batch are filled up to the longest with ends. A letter attends to none that
//! comes after it, so no letter of a name sees what fills it up; and what stands there asks for
//! no letter, so it has no loss.

use attention::{Batch, Mask, Matrix, Result};
use block::{Dropout, StackPass};
use gradients::{Entries, cross_entropy};

use crate::model::order;
use crate::{Architecture, Model};

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
) -> Result<(f64, Vec<f64>)> {
    let model = Model::new(architecture, parameters)?;
    let n_letters: usize = names.iter().map(|name| name.len() - 1).sum();
    let mut gradients = vec![0.0; parameters.len()];
    let sums = &mut Sums { architecture, list: &mut gradients };
    let mut loss = 0.0;
    for some in names.chunks(at_once.max(1)) {
        let some = Padded::of(some);
        let share = some.targets.len() as f64 / n_letters as f64;
        let dropout = dropout.as_deref_mut();
        loss += share * model.add_gradients(&some, share, sums, dropout)?;
    }
    Ok((loss, gradients))
}

/// Names of one length.
pub(crate) struct Padded {
    pub(crate) n_names: usize,
    pub(crate) length: usize,
    /// Letter by letter, `[n_names · length]`.
    pub(crate) ids: Vec<usize>,
    /// The rows of the letters that are no padding.
    pub(crate) rows: Vec<usize>,
    /// What comes after each of these.
    pub(crate) targets: Vec<usize>,
}

impl Padded {
    pub(crate) fn of(names: &[Vec<usize>]) -> Self {
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

/// The list of gradients, to which names add theirs.
struct Sums<'a> {
    architecture: Architecture,
    list: &'a mut [f64],
}

impl Sums<'_> {
    /// Adds the entries of a model's parts, each column by column.
    fn add(&mut self, d: &dyn Entries<f64>) {
        let parts = self.architecture.parts();
        let sums = &mut self.architecture.cut_mut(self.list);
        for (entries, i) in d.entries().into_iter().zip(order(self.architecture)) {
            let (n_rows, n_columns) = parts[i].shape;
            for (at, entry) in entries.iter().enumerate() {
                sums[i][at % n_rows * n_columns + at / n_rows] += entry;
            }
        }
    }
}

impl Model {
    /// The mean loss of all letters; their gradients, times `share`, are added.
    fn add_gradients(
        &self,
        names: &Padded,
        share: f64,
        sums: &mut Sums<'_>,
        dropout: Option<&mut Dropout>,
    ) -> Result<f64> {
        let Padded { n_names, length, ids, rows, targets } = names;
        let letters = &self.embedding.tokens;
        let x = Batch::new(*n_names, self.embedding.forward(ids, *length)?)?;
        let masks = [Mask::Causal];
        let pass = match dropout {
            None => StackPass::forward(&self.stack, &x, &masks)?,
            Some(it) => StackPass::forward_in_training(&self.stack, &x, &masks, it)?,
        };
        let out = pass.out().select_rows(rows);
        let loss = cross_entropy(&(&out * letters.transpose()), targets)?;

        let d_logits = loss.gradient * share;
        let d_written = d_logits.transpose() * &out;
        let d_of_rows = d_logits * letters;
        let mut d_out = Matrix::zeros(ids.len(), letters.ncols());
        for (d, &row) in d_of_rows.row_iter().zip(rows) {
            d_out.set_row(row, &d);
        }
        let d = pass.backward(&d_out)?;
        let mut d_embedding = self.embedding.backward(ids, *length, d.d_x())?;
        // One table reads letters and writes them, and so gets both gradients.
        d_embedding.tokens += d_written;
        sums.add(&(d_embedding, d.d_stack));
        Ok(loss.value)
    }
}
