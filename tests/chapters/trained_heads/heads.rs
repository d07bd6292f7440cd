//! The trained layer: its sizes, and the order of tokens.

use attention::{Mask, Matrix, max_abs_diff};
use model_files::{TrainedLayer, minilm};

use crate::quote::{assert_quote, values};
use stages::cases::TRAINED;
use stages::cases::{assert_close, every_stage_and_batched};

#[test]
fn the_sizes_of_the_trained_layer() {
    let dims = minilm().unwrap().parameters.dims();
    let quoted = [
        ("d_model", dims.d_model().to_string()),
        ("d_k", dims.d_k().to_string()),
        ("reference_tolerance", TRAINED.to_string()),
    ];
    assert_quote!("trained_heads_heads_values", values(&quoted));
}

#[test]
fn no_stage_knows_the_order_of_the_tokens() {
    let TrainedLayer { parameters, sentences } = minilm().unwrap();
    for sentence in &sentences {
        let n = sentence.tokens.len();
        let reversed =
            |m: &Matrix| Matrix::from_fn(n, m.ncols(), |i, j| m[(n - 1 - i, j)]);
        for stage in every_stage_and_batched(&parameters) {
            let out = |x: &Matrix| stage.self_attend(x, &Mask::None).unwrap().out;
            let seen = out(&reversed(&sentence.input));
            let diff = max_abs_diff(&reversed(&out(&sentence.input)), &seen).unwrap();
            assert_close(format!("{} on {}", stage.name(), sentence.name), diff, 1e-12);
        }
    }
}
