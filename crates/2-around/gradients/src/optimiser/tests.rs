use attention::{Dims, LayerParameters, Mask, Matrix, Rng, SeedableRng, random_matrix};

use super::*;
use crate::{LayerPass, mean_squared_error};

/// Three parameters: two weights and a bias.
fn linear(numbers: [f64; 3]) -> Linear {
    let [a, b, c] = numbers;
    Linear::new(Matrix::from_vec(2, 1, vec![a, b]), Some(vec![c].into())).unwrap()
}

fn assert_close(found: &Linear, expected: [f64; 3]) {
    let expected = linear(expected);
    let bias = |linear: &Linear| linear.bias.as_ref().unwrap()[0];
    let diff = (&found.weight - &expected.weight).amax();
    let diff = diff.max((bias(found) - bias(&expected)).abs());
    assert!(diff < 1e-14, "max |Δ| = {diff:e}: {found:?}");
}

#[test]
fn gradient_descent_goes_against_the_gradient() {
    let mut theta = linear([1.0, -2.0, 3.0]);
    let mut descent = Sgd { lr: 0.1 };
    descent.step(&mut [&mut theta], &[&linear([0.5, -1.0, 0.0])]).unwrap();
    assert_close(&theta, [0.95, -1.9, 3.0]);
}

/// The numbers are those of `torch.optim.Adam(lr=0.1)` of PyTorch 2.15 in float64.
#[test]
fn adam_takes_the_steps_of_pytorch() {
    let mut theta = linear([1.0, -2.0, 3.0]);
    let mut adam = Adam::new(0.1);
    let steps = [
        ([0.5, -1e-3, 0.0], [0.900000002, -1.90000099999, 3.0]),
        ([0.25, 2e-3, 0.0], [0.8067820404774624, -1.9366111211855885, 3.0]),
        ([-1.0, 1e-3, 4.0], [0.8274177428854115, -1.988534835650871, 2.9361186403366246]),
    ];
    for (gradient, expected) in steps {
        adam.step(&mut [&mut theta], &[&linear(gradient)]).unwrap();
        assert_close(&theta, expected);
    }
}

#[test]
fn the_first_step_of_adam_is_the_rate_whatever_the_gradient() {
    for gradient in [1e-4, 1.0, 1e4] {
        let mut theta = linear([0.0; 3]);
        let d = linear([gradient, -gradient, 0.0]);
        Adam::new(0.01).step(&mut [&mut theta], &[&d]).unwrap();
        assert!((theta.weight[0] + 0.01).abs() < 1e-5, "{theta:?}");
        assert!((theta.weight[1] - 0.01).abs() < 1e-5, "{theta:?}");
        assert_eq!(theta.bias.unwrap()[0], 0.0);
    }
}

#[test]
fn one_list_and_two_lists_are_the_same_steps() {
    let d = [linear([1.0, -2.0, 0.5]), linear([0.1, 0.2, -0.3])];
    let mut together = [linear([1.0; 3]), linear([2.0; 3])];
    let mut apart = together.clone();
    let (mut adam, mut adams) = (Adam::new(0.1), [Adam::new(0.1), Adam::new(0.1)]);
    for _ in 0..3 {
        adam.step(&mut together.each_mut(), &d.each_ref()).unwrap();
        for i in 0..2 {
            adams[i].step(&mut [&mut apart[i]], &[&d[i]]).unwrap();
        }
    }
    assert_eq!(together, apart);
}

#[test]
fn both_lead_a_layer_towards_what_it_should_say() {
    let rng = &mut Rng::seed_from_u64(1);
    let dims = Dims::with_head_sizes(6, 2, 4, 5).unwrap();
    let parameters: LayerParameters = LayerParameters::random(dims, true, rng);
    let (x, target) = (random_matrix(5, 6, 1.0, rng), random_matrix(5, 6, 1.0, rng));
    let optimisers: [Box<dyn Optimiser>; 2] =
        [Box::new(Sgd { lr: 0.5 }), Box::new(Adam::new(0.01))];
    for mut optimiser in optimisers {
        let mut layer = FusedAttention::new(&parameters);
        let mut losses = Vec::new();
        for _ in 0..200 {
            let pass = LayerPass::self_attend(&layer, &x, &Mask::None).unwrap();
            let loss = mean_squared_error(pass.out(), &target).unwrap();
            let gradients = pass.backward(&loss.gradient).unwrap();
            optimiser.step_layer(&mut layer, &gradients).unwrap();
            losses.push(loss.value);
        }
        assert!(losses[199] < 0.1 * losses[0], "from {} to {}", losses[0], losses[199]);
    }
}

#[test]
fn a_step_of_a_layer_is_a_step_of_its_four_projections() {
    let rng = &mut Rng::seed_from_u64(2);
    let parameters: LayerParameters =
        LayerParameters::random(Dims::new(6, 2).unwrap(), true, rng);
    let mut layer = FusedAttention::new(&parameters);
    let before = layer.clone();
    let x = random_matrix(5, 6, 1.0, rng);
    let pass = LayerPass::self_attend(&before, &x, &Mask::None).unwrap();
    let gradients = pass.backward(&x).unwrap();
    Sgd { lr: 0.1 }.step_layer(&mut layer, &gradients).unwrap();

    let (before, moved) = (before.parameters(), layer.parameters());
    let pairs = before.projections().into_iter().zip(gradients.projections());
    for ((before, d), after) in pairs.zip(moved.projections()) {
        assert_eq!(after.weight, &before.weight - &d.weight * 0.1);
        let (before, d) = (before.bias.as_ref().unwrap(), d.bias.as_ref().unwrap());
        assert_eq!(after.bias.as_ref().unwrap(), &(before - d * 0.1));
    }
}

#[test]
fn gradients_that_do_not_fit_change_nothing_and_are_refused_with_their_numbers() {
    let without_bias = Linear::new(Matrix::zeros(2, 1), None).unwrap();
    let wide = Linear::new(Matrix::zeros(2, 2), None).unwrap();
    let d = linear([1.0; 3]);
    let refused = |gradients: &[&Linear]| {
        let optimisers: [Box<dyn Optimiser>; 2] =
            [Box::new(Sgd { lr: 0.1 }), Box::new(Adam::new(0.1))];
        let errors = optimisers.map(|mut optimiser| {
            let mut parameters = [linear([1.0, 2.0, 3.0]), linear([4.0, 5.0, 6.0])];
            let before = parameters.clone();
            let refused = optimiser.step(&mut parameters.each_mut(), gradients);
            assert_eq!(parameters, before);
            refused.unwrap_err()
        });
        assert_eq!(errors[0], errors[1]);
        errors[0].to_string()
    };
    insta::assert_snapshot!(refused(&[&d]), @"the list of gradients has 1 entries, expected 2");
    insta::assert_snapshot!(refused(&[&d, &wide]), @"the gradient of projection 1's weight has shape (2, 2), expected (2, 1)");
    insta::assert_snapshot!(refused(&[&d, &without_bias]), @"the gradient of projection 1's bias has 0 entries, expected 1");
}

#[test]
fn adam_refuses_other_parameters_than_those_that_it_knows() {
    let mut adam = Adam::new(0.1);
    let three = linear([1.0; 3]);
    adam.step(&mut [&mut three.clone()], &[&three]).unwrap();
    let two = Linear::new(Matrix::zeros(2, 1), None).unwrap();
    let refused = adam.step(&mut [&mut two.clone()], &[&two]).unwrap_err();
    insta::assert_snapshot!(refused, @"the list of all parameters has 2 entries, expected 3");
}

#[test]
fn gradients_of_another_layer_leave_this_one_as_it_was() {
    let rng = &mut Rng::seed_from_u64(3);
    let mut layer = |bias| {
        let parameters = LayerParameters::random(Dims::new(6, 2).unwrap(), bias, rng);
        FusedAttention::<f64>::new(&parameters)
    };
    let (mut with_biases, without) = (layer(true), layer(false));
    let x = Matrix::identity(5, 6);
    let pass = LayerPass::self_attend(&without, &x, &Mask::None).unwrap();
    let gradients = pass.backward(&x).unwrap();
    let before = with_biases.clone();
    for mut optimiser in
        [Box::new(Sgd { lr: 0.1 }) as Box<dyn Optimiser>, Box::new(Adam::new(0.1))]
    {
        let refused = optimiser.step_layer(&mut with_biases, &gradients).unwrap_err();
        insta::allow_duplicates! {
            insta::assert_snapshot!(refused, @"the gradient of projection 0's bias has 0 entries, expected 6");
        }
        assert_eq!(with_biases, before);
    }
}
