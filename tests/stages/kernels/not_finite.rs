//! Numbers that are not finite end where the definition lets them end.

use attention::{LayerParameters, Mask, Matrix, Rng, SeedableRng, max_abs_diff};
use kernels::Inputs;
use proptest::prelude::*;

use super::batches::{BatchCase, any_batch, every_rung, exact, on_batch};
use super::{layer, tokens};
use stages::cases::{self, assert_close};

const BROKEN: [f32; 4] = [f32::NAN, f32::INFINITY, f32::NEG_INFINITY, f32::MAX];

#[test]
fn a_masked_number_that_is_not_finite_reaches_no_other_query() {
    for (n_tokens, place) in [(5, 2), (300, 2), (300, 130), (300, 299)] {
        let others: Vec<bool> = (0..n_tokens).map(|key| key != place).collect();
        let masks = [Mask::Keys(others)];
        for broken in BROKEN {
            let mut x = tokens(n_tokens, 12, 8);
            let expected = exact(&layer(12, 3), &Inputs::self_attention(1, &x, &masks));
            x[(place, 7)] = broken;
            for (name, mut rung) in every_rung(&layer(12, 3)) {
                let inputs = Inputs::self_attention(1, &x, &masks);
                let out = on_batch(rung.as_mut(), &inputs);
                let rest = |out: &Matrix| out.clone().remove_row(place);
                let diff = max_abs_diff(&rest(&expected), &rest(&out)).unwrap();
                assert_close(format!("{name} with {broken}"), diff, 1e-5);
            }
        }
    }
}

#[test]
fn a_nan_reaches_every_query_that_attends_to_it() {
    for (n_tokens, place) in [(5, 2), (300, 2), (300, 130), (300, 299)] {
        let mut x = tokens(n_tokens, 12, 8);
        x[(place, 7)] = f32::NAN;
        let inputs = Inputs::self_attention(1, &x, &[Mask::Causal]);
        for (name, mut rung) in every_rung(&layer(12, 3)) {
            for (i, row) in on_batch(rung.as_mut(), &inputs).row_iter().enumerate() {
                let expected = i >= place;
                let all = row.iter().all(|x| x.is_nan() == expected);
                assert!(all, "{name}: row {i} is {row}");
            }
        }
    }
}

#[test]
fn every_number_is_as_in_the_definition_wherever_the_broken_one_is() {
    let places = proptest::collection::vec((0..3usize, any::<usize>(), 0..3usize), 1..4);
    cases::check("not_finite", 250, &(any_batch(), places), |(case, places)| {
        let mut tokens = case.tokens();
        for (which, place, broken) in places {
            let place = place % tokens[which].len();
            tokens[which][place] = BROKEN[broken];
        }
        check(&case, &case.parameters(), &tokens)
    });
}

fn check(
    case: &BatchCase,
    parameters: &LayerParameters<f32>,
    tokens: &[Matrix<f32>; 3],
) -> Result<(), TestCaseError> {
    let inputs = case.inputs(tokens);
    let expected = exact(parameters, &inputs);
    for (name, mut rung) in every_rung(parameters) {
        let out = on_batch(rung.as_mut(), &inputs);
        for (place, (&expected, &seen)) in expected.iter().zip(&out).enumerate() {
            let same = (expected.is_nan() && seen.is_nan())
                || expected == seen
                || (expected - seen).abs() <= 1e-5;
            prop_assert!(same, "{name}: number {place} is {seen}, expected {expected}");
        }
    }
    Ok(())
}

#[test]
fn a_share_of_zero_leaves_its_value_out_also_if_it_became_zero_later() {
    // Key 0 comes first and its value is not finite; the last key's score is 10⁴, which
    // leaves key 0 a share of exp(−10⁴) = 0.
    let dims = attention::Dims::with_head_sizes(2, 1, 1, 1).unwrap();
    let rng = &mut Rng::seed_from_u64(1);
    let random = LayerParameters::random(dims, false, rng);
    let mut heads = random.heads().to_vec();
    let column = |a, b| Matrix::from_column_slice(2, 1, &[a, b]);
    heads[0].w_q.weight = column(0.0, 1.0);
    heads[0].w_k.weight = column(0.0, 1.0);
    heads[0].w_v.weight = column(1.0, 0.5);
    let parameters = LayerParameters::new(heads, random.w_o().clone()).unwrap();
    for broken in [f32::NAN, f32::INFINITY] {
        let query = Matrix::from_row_slice(1, 2, &[0.0, 100.0]);
        let mut key = Matrix::from_element(300, 2, 0.0);
        key[(299, 1)] = 100.0;
        let mut value = Matrix::from_element(300, 2, 1.0);
        value[(0, 0)] = broken;
        let inputs = Inputs::cross_attention(1, &query, &key, &value, &[Mask::None]);
        let expected = exact(&parameters, &inputs);
        assert!(expected.iter().all(|x| x.is_finite()), "{expected}");
        for (name, mut rung) in every_rung(&parameters) {
            let out = on_batch(rung.as_mut(), &inputs);
            let diff = max_abs_diff(&expected, &out).unwrap();
            assert_close(format!("{name} with {broken}"), diff, 1e-5);
        }
    }
}
