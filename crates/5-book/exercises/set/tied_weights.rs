//! The gradient of one table that a model uses twice.
//!
//! A table row is what the model knows about a letter. The model **reads** with the
//! table: row t of the first block's input is the table's row for letter `ids[t]`. It
//! also **writes** with the table: `logits = hidden · tableᵀ`, where `hidden` is the last
//! block's output. There is no second table, and no bias.
//!
//! The backward pass has already gone through everything else. `d_logits` is the gradient
//! of the logits, and `d_rows` that of the first block's input, both from the same loss.
//! Return the gradient of the table.
//!
//! What must be true of the answer:
//! - a step against it changes the one table, and with it both reading and writing;
//! - a letter that is read twice affects the loss from both positions;
//! - even a letter that is never read has a gradient, since it has a logit at each
//!   position.
//!
//! A row can be changed in place: `let mut row = m.row_mut(i); row += other.row(j);`.

use std::process::ExitCode;

use exercises::{Matrix, tied_weights};

/// The gradient of the table.
///
/// # Shapes
/// `ids` has n_tokens entries, `d_rows` and `hidden` are `[n_tokens, d_model]`, `d_logits`
/// is `[n_tokens, n_letters]`; the gradient is `[n_letters, d_model]`, like the table.
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
