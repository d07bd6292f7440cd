//! Every rung of the ladder gives what the definition gives.

/// The maps and gradients of the packed rung.
mod backward;
/// Layers, batches and masks at random, and what the definition says of them.
mod batches;
/// Scores far from 0 and from each other.
mod far_scores;
/// Rows of a mask that are filled with one number.
mod fills;
/// Numbers that are not finite end where the definition lets them end.
mod not_finite;
/// Input that does not fit is refused in the words of the other stages.
mod refused;

use std::cell::Cell;

use ::kernels::{Inputs, ladder};
use attention::{Dims, LayerParameters, Mask, Matrix, Rng, SeedableRng, max_abs_diff};
use proptest::strategy::Strategy;

use crate::torch::{self, read_layer};
use batches::{
    BatchCase, Rungs, any_batch, any_large_batch, every_packed, every_rung, exact,
    on_batch, stack,
};
use stages::cases::{assert_close, check};

#[test]
fn every_rung_agrees_with_the_definition_in_f64() {
    agree_with_the_definition("rungs", 250, any_batch(), every_rung);
}

/// With one thread there are the most groups of queries that go through the keys together.
#[test]
fn groups_that_share_their_keys_agree_with_the_definition_in_f64() {
    let pool = rayon::ThreadPoolBuilder::new().num_threads(1).build().unwrap();
    pool.install(|| {
        agree_with_the_definition("groups", 10, any_large_batch(), every_packed)
    });
}

fn agree_with_the_definition(
    name: &'static str,
    n_cases: u32,
    any_batch: impl Strategy<Value = BatchCase>,
    rungs: fn(&LayerParameters<f32>) -> Rungs,
) {
    let largest = Cell::new(0f64);
    check(name, n_cases, &any_batch, |case| {
        let (parameters, tokens) = (case.parameters(), case.tokens());
        let inputs = case.inputs(&tokens);
        let expected = exact(&parameters, &inputs);
        for (name, mut rung) in rungs(&parameters) {
            let out = on_batch(rung.as_mut(), &inputs);
            let diff = max_abs_diff(&expected, &out).unwrap();
            assert_close(&name, diff, 1e-5);
            largest.set(largest.get().max(diff));
        }
        Ok(())
    });
    println!("{n_cases} random batches: max |Δ| = {:.1e}", largest.get());
}

#[test]
fn every_rung_meets_the_vectors_of_pytorch() {
    for of_file in torch::FILES {
        let file = torch::open(of_file);
        let parameters = read_layer(&file, "").cast::<f32>();
        let all = |of| {
            let of = if file.contains(of) { of } else { "query" };
            file.matrices(of).unwrap()
        };
        let [query, key, value] = ["query", "key", "value"].map(all);
        let (n_q, n_kv) = (query[0].nrows(), key[0].nrows());
        let mask = |s| torch::mask(&file, s, n_q, n_kv);
        let masks: Vec<Mask> = (0..query.len()).map(mask).collect();
        let n_sequences = query.len();
        let [query, key, value] =
            [query, key, value].map(|all| stack(&all).map(|x| x as f32));
        let inputs = Inputs::cross_attention(n_sequences, &query, &key, &value, &masks);
        let expected = stack(&file.matrices("f64/output").unwrap());
        let mut largest = 0f64;
        for (name, mut rung) in every_rung(&parameters) {
            let out = on_batch(rung.as_mut(), &inputs);
            let diff = max_abs_diff(&expected, &out).unwrap();
            assert_close(format!("{of_file}, {name}"), diff, 1e-5);
            largest = largest.max(diff);
        }
        println!("{of_file}: max |Δ| = {largest:.1e}");
    }
}

#[test]
fn a_query_with_nothing_to_attend_to_gives_the_output_bias() {
    let parameters = layer(24, 3);
    for (n_q, n_kv, mask, n_blind) in
        [(300, 140, Mask::Causal, 160), (150, 1, Mask::Causal, 149)]
            .into_iter()
            .chain([(70, 90, Mask::FirstKeys(0), 70)])
    {
        let (query, key) = (tokens(n_q, 24, 1), tokens(n_kv, 24, 2));
        let masks = [mask];
        let inputs = Inputs::cross_attention(1, &query, &key, &key, &masks);
        let expected = exact(&parameters, &inputs);
        for (name, mut rung) in every_rung(&parameters) {
            let out = on_batch(rung.as_mut(), &inputs);
            let bias = parameters.w_o().bias.as_ref().unwrap().map(f64::from);
            for row in out.rows(0, n_blind).row_iter() {
                assert_eq!(row, bias, "{name}, {masks:?}");
            }
            let diff = max_abs_diff(&expected, &out).unwrap();
            assert_close(format!("{name}, {masks:?}"), diff, 1e-5);
        }
    }
}

#[test]
fn scores_of_ten_thousand_do_no_harm() {
    // Whole numbers and powers of two, so that f32 has every score exactly: what differs
    // from f64 is then what the softmax made of them.
    let mut parameters = layer(16, 1);
    let mut heads = parameters.heads().to_vec();
    let head = &mut heads[0];
    for w in [&mut head.w_q, &mut head.w_k] {
        w.weight = Matrix::identity(16, 16);
        w.bias = None;
    }
    parameters = LayerParameters::new(heads, parameters.w_o().clone()).unwrap();
    let x = tokens(300, 16, 3).map(|x| (x * 40.0).round());
    let inputs = Inputs::self_attention(1, &x, &[Mask::None]);
    let expected = exact(&parameters, &inputs);
    let scores = (&x * x.transpose()) / 4.0;
    assert!(scores.max() > 1e4, "{}", scores.max());
    for (name, mut rung) in every_rung(&parameters) {
        let out = on_batch(rung.as_mut(), &inputs);
        // The values are up to 80 instead of 1.
        let diff = max_abs_diff(&expected, &out).unwrap() / x.amax() as f64;
        assert_close(&name, diff, 1e-5);
    }
}

#[test]
fn the_lowest_number_is_a_score_and_blocks_nothing() {
    // Files mask by it. Where all keys are masked so, every share is alike.
    let (parameters, x) = (layer(24, 3), tokens(40, 24, 5));
    let lowest = |i, j| if i < 5 || j % 3 == 1 { f32::MIN.into() } else { 0.0 };
    let masks = [Mask::Additive(Matrix::from_fn(40, 40, lowest))];
    let inputs = Inputs::self_attention(1, &x, &masks);
    let expected = exact(&parameters, &inputs);
    for (name, mut rung) in every_rung(&parameters) {
        let out = on_batch(rung.as_mut(), &inputs);
        assert_close(&name, max_abs_diff(&expected, &out).unwrap(), 1e-5);
    }
}

#[test]
fn query_key_and_value_of_one_shape_may_differ() {
    let parameters = layer(24, 3);
    let [query, key, value] = [1, 2, 3].map(|seed| tokens(20, 24, seed));
    for [query, key, value] in [[&query, &key, &value], [&query, &query, &value]] {
        let masks = [Mask::None];
        let inputs = Inputs::cross_attention(2, query, key, value, &masks);
        for (name, mut rung) in every_rung(&parameters) {
            let out = on_batch(rung.as_mut(), &inputs);
            let diff = max_abs_diff(&exact(&parameters, &inputs), &out).unwrap();
            assert_close(&name, diff, 1e-5);
        }
    }
}

#[test]
fn a_rung_keeps_nothing_from_one_call_to_the_next() {
    let parameters = layer(24, 3);
    let all = [(2, 70), (1, 1), (3, 300), (1, 40), (2, 70)];
    let tokens = all.map(|(s, n)| tokens(s * n, 24, n as u64));
    for (name, mut used) in every_rung(&parameters) {
        for ((n_sequences, _), x) in all.iter().zip(&tokens) {
            for mask in [Mask::Causal, Mask::None] {
                let masks = [mask];
                let inputs = Inputs::self_attention(*n_sequences, x, &masks);
                let seen = on_batch(used.as_mut(), &inputs);
                let diff = max_abs_diff(&exact(&parameters, &inputs), &seen).unwrap();
                assert_close(&name, diff, 1e-5);
            }
        }
    }
}

#[test]
fn the_number_of_threads_does_not_show() {
    let (parameters, x) = (layer(24, 3), tokens(600, 24, 5));
    let inputs = Inputs::self_attention(2, &x, &[Mask::Causal]);
    let expected = exact(&parameters, &inputs);
    for n_threads in [1, 2, 5] {
        let pool = rayon::ThreadPoolBuilder::new().num_threads(n_threads).build();
        pool.unwrap().install(|| {
            for (name, mut rung) in every_rung(&parameters) {
                let out = on_batch(rung.as_mut(), &inputs);
                let diff = max_abs_diff(&expected, &out).unwrap();
                assert_close(format!("{name} on {n_threads}"), diff, 1e-5);
            }
        });
    }
}

#[test]
fn rungs_have_names_of_their_own_and_the_sizes_of_the_layer() {
    let parameters = layer(24, 3);
    let rungs = ladder(&parameters);
    let mut names: Vec<_> = rungs.iter().map(|rung| rung.name()).collect();
    assert!(rungs.iter().all(|rung| rung.dims() == parameters.dims()));
    names.sort_unstable();
    names.dedup();
    assert_eq!(names.len(), rungs.len(), "{names:?}");
}

fn layer(d_model: usize, n_heads: usize) -> LayerParameters<f32> {
    layer_of(d_model, n_heads, 7)
}

fn layer_of(d_model: usize, n_heads: usize, seed: u64) -> LayerParameters<f32> {
    let dims = Dims::new(d_model, n_heads).unwrap();
    LayerParameters::random(dims, true, &mut Rng::seed_from_u64(seed))
}

fn tokens(n_tokens: usize, d_model: usize, seed: u64) -> Matrix<f32> {
    attention::random_matrix(n_tokens, d_model, 1.0, &mut Rng::seed_from_u64(seed))
}
