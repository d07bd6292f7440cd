//! What “The block” quotes.

mod agree;
mod cost;
mod depth;
mod order;
mod slips;

use attention::Matrix;
use block::{LayerNorm, RmsNorm};

use crate::quote::{assert_quote, matrix};

#[test]
fn two_tokens_normed() {
    let x =
        Matrix::from_row_slice(2, 4, &[1.0, 3.0, 5.0, 7.0, 100.0, 300.0, 500.0, 700.0]);
    let layer = LayerNorm::identity(4).forward(&x).unwrap();
    let rms = RmsNorm::identity(4).forward(&x).unwrap();
    for y in [&layer, &rms] {
        assert!((y.row(0) - y.row(1)).amax() < 1e-5);
    }
    let rows = ["quiet", "loud"];
    let text = [
        matrix("x", &rows, &x, 0),
        matrix("layer norm", &rows, &layer, 3),
        matrix("RMSNorm", &rows, &rms, 3),
    ]
    .join("\n");
    assert_quote!("the_block_norm", text.trim_end());
}
