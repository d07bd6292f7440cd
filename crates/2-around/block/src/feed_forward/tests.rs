use super::*;
use crate::tests::worst;
use attention::{SeedableRng, random_matrix};

#[test]
fn each_token_is_alone() {
    let rng = &mut Rng::seed_from_u64(1);
    let layer: FeedForward = FeedForward::random(4, 16, rng);
    let x = random_matrix(3, 4, 1.0, rng);
    let mut other = x.clone();
    other.row_mut(1).fill(9.0);
    let (y, changed) = (layer.forward(&x).unwrap(), layer.forward(&other).unwrap());
    assert_eq!((y.row(0), y.row(2)), (changed.row(0), changed.row(2)));
    assert_ne!(y.row(1), changed.row(1));
}

/// Entry by entry, with nothing shared with the layer but its parameters.
#[test]
fn a_unit_is_a_product_of_two_projections() {
    let rng = &mut Rng::seed_from_u64(1);
    let layer: FeedForward = FeedForward::random_gated(3, 4, rng);
    let x: Matrix = random_matrix(2, 3, 1.0, rng);
    let out = layer.forward(&x).unwrap();
    let dot = |w: &Matrix, t: usize, unit: usize| -> f64 {
        (0..3).map(|a| x[(t, a)] * w[(a, unit)]).sum()
    };
    for (t, column) in [(0, 0), (0, 2), (1, 1)] {
        let unit = |unit: usize| {
            let z = dot(&layer.gate.as_ref().unwrap().weight, t, unit);
            let up = dot(&layer.w_1.weight, t, unit);
            z / (1.0 + (-z).exp()) * up * layer.w_2.weight[(unit, column)]
        };
        let expected: f64 = (0..4).map(unit).sum();
        assert!((out[(t, column)] - expected).abs() < 1e-14);
    }
}

#[test]
fn every_gradient_is_a_central_difference() {
    for activation in [Activation::Silu, Activation::Gelu, Activation::None] {
        let rng = &mut Rng::seed_from_u64(2);
        let mut layer: FeedForward = FeedForward::random_gated(5, 7, rng);
        layer.activation = activation;
        layer.w_1 = Linear::random(5, 7, true, rng); // biases too
        let [mut x, probe] = [0, 1].map(|_| random_matrix::<f64>(4, 5, 1.0, rng));
        let kept = layer.pass(&x).unwrap().1;
        let d = layer.backward(&x, &kept, &probe).unwrap();
        let value =
            |layer: &FeedForward, x: &Matrix| layer.forward(x).unwrap().dot(&probe);
        let of_layer = worst(&mut layer.clone(), &d.d_layer, |layer| value(layer, &x));
        let worst = worst(&mut x, &d.d_x, |x| value(&layer, x)).max(of_layer);
        assert!(worst < 1e-7 * d.d_x.amax(), "{activation:?}: {worst:e}");
    }
}

#[test]
fn parts_that_do_not_fit_are_refused() {
    let rng = &mut Rng::seed_from_u64(3);
    let mut linear = |d_in, d_out| Linear::<f64>::random(d_in, d_out, false, rng);
    let refused = FeedForward::new(linear(4, 8), Activation::Relu, linear(8, 5));
    insta::assert_snapshot!(refused.unwrap_err(), @"W_2 has shape (8, 5), expected (8, 4)");
    let silu = Activation::Silu;
    let refused = FeedForward::gated(linear(4, 8), silu, linear(4, 6), linear(8, 4));
    insta::assert_snapshot!(refused.unwrap_err(), @"W_up has shape (4, 6), expected (4, 8)");
    let refused = FeedForward::gated(linear(4, 8), silu, linear(4, 8), linear(4, 8));
    insta::assert_snapshot!(refused.unwrap_err(), @"W_down has shape (4, 8), expected (8, 4)");
}
