//! What must be zero is zero, and nothing is NaN.

use attention::{Dims, Linear, Mask, Matrix, Rng, SeedableRng, random_matrix};
use fused_heads::FusedAttention;
use gradients::{Gradients, LayerPass};

use super::named_gradients;
use stages::cases::{Case, any_case, assert_close, check, layer, tokens};

fn self_attention(mask: &Mask, d_out: &Matrix) -> Gradients {
    let layer = FusedAttention::new(&layer(12, 3, 1));
    let x = tokens(d_out.nrows(), 12, 2);
    LayerPass::forward(&layer, &x, &x, &x, mask).unwrap().backward(d_out).unwrap()
}

#[test]
fn a_query_that_may_attend_to_nothing_asks_for_nothing() {
    let mask = Mask::Allowed(Matrix::from_fn(5, 5, |i, j| i != 3 && j != 1));
    let d = self_attention(&mask, &tokens(5, 12, 3));
    let zero_rows = |m: &Matrix| -> Vec<usize> {
        (0..5).filter(|&i| m.row(i).iter().all(|&x| x == 0.0)).collect()
    };
    let [d_query, d_key, d_value] = d.d_query_key_value().unwrap();
    assert_eq!(zero_rows(d_query), [3]);
    assert_eq!(zero_rows(d_key), [1]);
    assert_eq!(zero_rows(d_value), [1]);
}

#[test]
fn where_nobody_may_attend_only_the_output_bias_learns() {
    let d_out = tokens(5, 12, 3);
    let d = self_attention(&Mask::FirstKeys(0), &d_out);
    assert_eq!(d.d_w_o.bias.as_ref(), Some(&d_out.row_sum()));
    for (name, matrix) in named_gradients(&d, Dims::new(12, 3).unwrap()) {
        let all_zero = matrix.iter().all(|&x| x == 0.0);
        assert_eq!(all_zero, name != "w_o's bias", "{name}: {matrix}");
    }
}

#[test]
fn no_random_layer_gives_a_number_that_is_not_finite() {
    check("finite_gradients", 200, &any_case(), |case: Case| {
        let layer = FusedAttention::new(&case.parameters::<f32>());
        let [query, key, value] = case.inputs::<f32>();
        let pass = LayerPass::forward(&layer, &query, &key, &value, &case.mask).unwrap();
        let d = pass.backward(&query).unwrap();
        for linear in d.projections() {
            assert!(linear.weight.iter().all(|x| x.is_finite()));
        }
        for matrix in d.d_query_key_value().unwrap() {
            assert!(matrix.iter().all(|x| x.is_finite()));
        }
        Ok(())
    });
}

/// It adds `q_i · b` to every score of query i, which no softmax sees.
#[test]
fn the_key_bias_has_no_gradient() {
    let mut largest = 0f64;
    let all_but_one = Mask::Allowed(Matrix::from_fn(7, 7, |i, j| i != j));
    for mask in [Mask::None, Mask::Causal, Mask::FirstKeys(4), all_but_one] {
        let rng = &mut Rng::seed_from_u64(4);
        let d = self_attention(&mask, &random_matrix(7, 12, 1.0, rng));
        let size = |linear: &Linear| linear.bias.as_ref().unwrap().amax();
        let (of_keys, of_queries) = (size(&d.d_w_k), size(&d.d_w_q));
        assert!(of_queries > 1e-3, "the query bias has one: {of_queries:e}");
        assert_close(format!("{mask:?}: the key bias and 0"), of_keys, 1e-14);
        largest = largest.max(of_keys);
    }
    println!("the largest gradient of a key bias: {largest:.1e}");
}
