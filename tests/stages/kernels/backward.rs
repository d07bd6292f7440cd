//! The packed rung's maps and gradients, compared with `gradients`.

use std::cell::Cell;

use ::kernels::{Gradients, InputGradients, Inputs, Packed};
use attention::{Batch, LayerParameters, Linear, Mask, Matrix, Real, Rng, SeedableRng};
use fused_heads::FusedAttention;
use gradients::LayerPass;
use tiles::Instructions;

use super::batches::{BatchCase, any_batch};
use super::{layer, tokens};
use stages::cases::{assert_close, check};

/// Gradients are sums over up to 900 tokens in f32, some of which cancel: the key bias's is
/// 0 in exact arithmetic.
const GRADIENTS: f64 = 1e-4;

/// Gradients under their names; biases are matrices of one row.
pub type Named = Vec<(&'static str, Matrix)>;

#[test]
fn gradients_and_maps_are_those_of_the_readable_backward_pass() {
    let (n_cases, largest) = (100, Cell::new(0f64));
    check("packed_gradients", n_cases, &any_batch(), |case: BatchCase| {
        let (parameters, tokens) = (case.parameters(), case.tokens());
        let inputs = case.inputs(&tokens);
        let rng = &mut Rng::seed_from_u64(case.seed ^ 1);
        let (n_rows, width) = inputs.query().shape();
        let d_out = attention::random_matrix(n_rows, width, 1.0, rng);
        let (expected, maps) = readable::<f64>(&parameters, &inputs, &d_out);
        for instructions in Instructions::available() {
            let mut packed = Packed::with_instructions(&parameters, instructions);
            let found = gradients_of(&mut packed, &inputs, &d_out);
            let diff = difference(&found, &expected);
            assert_close(format!("{instructions}, gradients"), diff, GRADIENTS);
            largest.set(largest.get().max(diff));
            for (found, expected) in packed.maps(&inputs).unwrap().iter().zip(&maps) {
                for (found, expected) in found.iter().zip(expected) {
                    let found = found.map(f64::from);
                    let diff = attention::max_abs_diff(&found, expected).unwrap();
                    assert_close(format!("{instructions}, a map"), diff, 1e-5);
                }
            }
        }
        Ok(())
    });
    println!("{n_cases} random batches: relative |Δ| = {:.1e}", largest.get());
}

#[test]
fn a_nan_in_padding_stays_there_in_the_backward_pass_too() {
    let (parameters, mut x) = (layer(24, 3), tokens(60, 24, 5));
    x.rows_mut(50, 10).fill(f32::NAN);
    let mut d_out = tokens(60, 24, 6);
    d_out.rows_mut(50, 10).fill(0.0);
    let masks = [Mask::All(vec![Mask::FirstKeys(50), Mask::Causal])];
    let inputs = Inputs::self_attention(1, &x, &masks);
    let (expected, _) = readable::<f32>(&parameters, &inputs, &d_out);
    let finite = |m: &Matrix| m.iter().all(|x| x.is_finite());
    assert!(expected.iter().all(|(_, gradient)| finite(gradient)));
    let found = gradients_of(&mut Packed::new(&parameters), &inputs, &d_out);
    assert_close("gradients", difference(&found, &expected), 1e-5);
}

#[test]
fn a_nan_that_is_read_is_nan_where_the_reference_has_it() {
    let (parameters, mut x) = (layer(24, 3), tokens(60, 24, 5));
    x[(20, 3)] = f32::NAN;
    let d_out = tokens(60, 24, 6);
    let inputs = Inputs::self_attention(2, &x, &[Mask::Causal]);
    let (expected, _) = readable::<f32>(&parameters, &inputs, &d_out);
    let found = gradients_of(&mut Packed::new(&parameters), &inputs, &d_out);
    for ((name, found), (_, expected)) in found.iter().zip(&expected) {
        let nans = |m: &Matrix| m.map(|x| x.is_nan());
        assert_eq!(nans(found), nans(expected), "{name}");
    }
}

#[test]
fn a_gradient_of_another_shape_is_refused_with_both() {
    let (parameters, x) = (layer(24, 3), tokens(6, 24, 5));
    let (mut packed, mut out) = (Packed::new(&parameters), x.clone());
    let inputs = Inputs::self_attention(1, &x, &[Mask::None]);
    let mut pass = packed.pass(&inputs, &mut out).unwrap();
    let refused = pass.backward(&Matrix::zeros(6, 23)).unwrap_err();
    insta::assert_snapshot!(refused, @"d_out has shape (6, 23), expected (6, 24)");
}

/// A clone of the tokens is as good as the tokens.
#[test]
fn the_constructor_decides_what_the_gradients_of_the_inputs_are() {
    let (parameters, x, d_out) = (layer(24, 3), tokens(60, 24, 5), tokens(60, 24, 6));
    let masks = [Mask::Causal];
    let clone = x.clone();
    let of = |inputs: Inputs<'_>| {
        let (mut packed, mut out) = (Packed::new(&parameters), x.clone());
        packed.pass(&inputs, &mut out).unwrap().backward(&d_out).unwrap()
    };
    let one = of(Inputs::self_attention(2, &x, &masks));
    let three = of(Inputs::cross_attention(2, &x, &x, &x, &masks));
    assert_eq!(three, of(Inputs::cross_attention(2, &x, &clone, &clone, &masks)));
    assert!(one.d_query_key_value().is_err() && three.d_query_key_value().is_ok());
    let [one, three] = [one, three].map(|d| d.d_x().unwrap());
    assert_close("d_x", attention::max_abs_diff(&one, &three).unwrap(), 1e-5);
}

#[test]
fn gradients_written_over_others_are_those_of_a_first_time() {
    let (parameters, x, y) = (layer(24, 3), tokens(60, 24, 5), tokens(500, 24, 6));
    let masks = [Mask::None];
    let of_one = Inputs::self_attention(1, &x, &masks);
    let of_three = Inputs::cross_attention(1, &x, &y, &y, &masks);
    let (mut packed, mut written) = (Packed::new(&parameters), Gradients::default());
    for inputs in [of_one, of_one, of_three, of_three, of_one] {
        let (mut out, d_out) = (x.clone(), tokens(60, 24, 7));
        let mut pass = packed.pass(&inputs, &mut out).unwrap();
        pass.backward_into(&d_out, &mut written).unwrap();
        assert_eq!(written, pass.backward(&d_out).unwrap());
        // Whatever stands there is not read.
        written.d_w_q.weight.fill(7.0);
        written.d_w_o.weight.fill(f32::NAN);
    }
}

pub fn gradients_of(
    packed: &mut Packed,
    inputs: &Inputs<'_>,
    d_out: &Matrix<f32>,
) -> Named {
    let mut out = d_out.clone();
    let found = packed.pass(inputs, &mut out).unwrap().backward(d_out).unwrap();
    let mut all = named(found.projections());
    let mut push = |name, d: &Matrix<f32>| all.push((name, d.map(f64::from)));
    match &found.d_inputs {
        InputGradients::SelfAttention { d_x } => push("x", d_x),
        InputGradients::CrossAttention { d_query, d_key, d_value } => {
            push("query", d_query);
            push("key", d_key);
            push("value", d_value);
        }
    }
    all
}

/// The gradients and maps of the readable layer.
pub fn readable<T: Real>(
    parameters: &LayerParameters<f32>,
    inputs: &Inputs<'_>,
    d_out: &Matrix<f32>,
) -> (Named, Vec<Vec<Matrix>>) {
    let cast = |x: &Matrix<f32>| x.map(|x| T::of(f64::from(x)));
    let layer = FusedAttention::<T>::new(&parameters.cast());
    let batch = |x| Batch::new(inputs.n_sequences(), cast(x)).unwrap();
    let [query, key, value] = [inputs.query(), inputs.key(), inputs.value()].map(batch);
    let pass =
        LayerPass::forward_batch(&layer, &query, &key, &value, inputs.masks()).unwrap();
    let d = pass.backward(&cast(d_out)).unwrap();
    let mut all = named(d.projections());
    let mut push = |name, d: &Matrix<T>| all.push((name, d.map(T::to_f64)));
    if inputs.is_self_attention() {
        push("x", &d.d_x().unwrap());
    } else {
        for (name, d) in
            ["query", "key", "value"].into_iter().zip(d.d_query_key_value().unwrap())
        {
            push(name, d);
        }
    }
    let maps =
        pass.attn().iter().map(|maps| maps.iter().map(|m| m.map(T::to_f64)).collect());
    (all, maps.collect())
}

fn named<T: Real>(projections: [&Linear<T>; 4]) -> Named {
    let names = [
        ("w_q", "the bias of w_q"),
        ("w_k", "the bias of w_k"),
        ("w_v", "the bias of w_v"),
        ("w_o", "the bias of w_o"),
    ];
    let mut all = Vec::new();
    for ((name, of_bias), linear) in names.into_iter().zip(projections) {
        all.push((name, linear.weight.map(T::to_f64)));
        all.extend(linear.bias.as_ref().map(|bias| {
            (
                of_bias,
                Matrix::from_row_iterator(1, bias.len(), bias.iter().map(|x| x.to_f64())),
            )
        }));
    }
    all
}

/// The largest difference, in parts of the largest number of the same gradient or of 1,
/// whichever is more.
pub fn difference(found: &Named, expected: &Named) -> f64 {
    assert_eq!(found.len(), expected.len());
    let differences = found.iter().zip(expected).map(|((name, a), (other, b))| {
        assert_eq!(name, other);
        attention::max_abs_diff(a, b).unwrap() / b.amax().max(1.0)
    });
    // `f64::max` would drop a NaN.
    differences
        .fold(0.0, |largest, d| if d.is_nan() || d > largest { d } else { largest })
}
