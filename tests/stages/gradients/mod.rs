//! The backward pass through the layer, compared with three that know nothing of it.

/// Central differences: nudge one number, run the layer, see what the error does.
mod differences;
/// The layer head by head, its way back in plain loops with every Jacobian written out.
mod loops;
/// What must be zero is zero, and nothing is NaN.
mod nothing;
/// PyTorch's automatic differentiation.
mod pytorch;

use attention::{Dims, LayerParameters, Linear, Matrix};
use gradients::Gradients;

/// Matrices under their names: a layer's parameters head by head, then its inputs; or
/// their gradients. Biases are matrices of one row.
type Named = Vec<(String, Matrix)>;

fn named(parameters: &LayerParameters, inputs: [&Matrix; 3]) -> Named {
    let mut all = Vec::new();
    let mut push = |name: String, linear: &Linear| {
        all.push((name.clone(), linear.weight.clone()));
        let bias = linear.bias.as_ref();
        all.extend(
            bias.map(|bias| (format!("{name}'s bias"), as_matrix(bias.as_slice()))),
        );
    };
    for (i, head) in parameters.heads().iter().enumerate() {
        for (name, linear) in head.projections() {
            push(format!("{name} of head {i}"), linear);
        }
    }
    push("w_o".into(), parameters.w_o());
    let names = ["query", "key", "value"].map(String::from);
    all.extend(names.into_iter().zip(inputs.map(Matrix::clone)));
    all
}

fn named_gradients(d: &Gradients, dims: Dims) -> Named {
    named(&d.per_head(dims).unwrap(), d.d_query_key_value().unwrap())
}

fn as_matrix(bias: &[f64]) -> Matrix {
    Matrix::from_row_slice(1, bias.len(), bias)
}

/// The largest difference, `max |Δ|`, between matrices of the same names.
fn difference(found: &Named, expected: &Named) -> f64 {
    assert_eq!(found.len(), expected.len());
    let differences = found.iter().zip(expected).map(|((name, a), (other, b))| {
        assert_eq!(name, other);
        attention::max_abs_diff(a, b).unwrap()
    });
    // `f64::max` would drop a NaN.
    differences
        .fold(0.0, |largest, d| if d.is_nan() || d > largest { d } else { largest })
}
