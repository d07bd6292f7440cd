//! The gradient of one table that a model uses twice.
//!
//! A row of the table is what the model knows of a letter. It **reads** with the table:
//! row t of what enters the first block is the table's row of the letter `ids[t]`. And it
//! **writes** with it: `logits = hidden · tableᵀ`, where a row of `hidden` is what comes
//! out of the last block. There is no second table, and no bias.
//!
//! The backward pass has come through everything else already. `d_logits` is the gradient
//! of the logits, and `d_rows` that of the rows that entered the first block: both are
//! gradients of one loss. Return the gradient of the table.
//!
//! What must be true of the answer:
//! - a step against it changes the table once, and reading and writing change with it;
//! - a letter that is read twice moves the loss from both places;
//! - a letter that is never read has a gradient too, since it has a logit everywhere.
//!
//! A row can be changed in place: `let mut row = m.row_mut(i); row += other.row(j);`.

use std::process::ExitCode;

use exercises::{Matrix, tied_weights};

/// The gradient of the table.
///
/// # Shapes
/// `ids` has n_tokens entries, `d_rows` and `hidden` are `[n_tokens, d_model]`, `d_logits`
/// is `[n_tokens, n_letters]`; the gradient is `[n_letters, d_model]`, as the table is.
// ANCHOR: answer
pub fn tied_weights(
    ids: &[usize],
    d_rows: &Matrix,
    hidden: &Matrix,
    d_logits: &Matrix,
) -> Matrix {
    // YOURS: the gradient from writing, and the one from reading.
    let mut d_table = d_logits.transpose() * hidden; // [n_letters, d_model]
    for (t, &id) in ids.iter().enumerate() {
        let mut row = d_table.row_mut(id);
        row += d_rows.row(t);
    }
    d_table
}
// ANCHOR_END: answer

fn main() -> ExitCode {
    tied_weights::check(tied_weights)
}
