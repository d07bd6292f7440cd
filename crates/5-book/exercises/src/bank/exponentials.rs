//! Softmax as its formula stands, which the mistakes of several exercises write.

use attention::Matrix;

/// The exponentials of each row, divided by their sum, with nothing subtracted before.
pub fn shares(logits: &Matrix) -> Matrix {
    let mut shares = logits.map(f64::exp);
    shares.row_iter_mut().for_each(|mut row| row /= row.sum());
    shares
}
