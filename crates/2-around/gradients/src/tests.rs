//! What is true of the backward pass alone.

use attention::{
    Batch, Dims, LayerParameters, Mask, Matrix, MultiHeadAttention, Rng, SeedableRng,
    max_abs_diff, random_matrix,
};
use fused_heads::FusedAttention;

use crate::{Gradients, InputGradients, LayerPass};

const TOLERANCE: f64 = 1e-13;
/// Four weights and four biases, which stand first among the gradients.
const N_PARAMETERS: usize = 8;

fn layer() -> FusedAttention {
    let dims = Dims::with_head_sizes(8, 2, 4, 3).unwrap();
    FusedAttention::new(&LayerParameters::random(dims, true, &mut Rng::seed_from_u64(1)))
}

fn random(n_rows: usize, seed: u64) -> Matrix {
    random_matrix(n_rows, 8, 1.0, &mut Rng::seed_from_u64(seed))
}

/// Every matrix of the gradients under its name; biases are matrices of one row.
fn matrices(d: &Gradients) -> Vec<(String, Matrix)> {
    let mut all = Vec::new();
    for (name, linear) in ["q", "k", "v", "o"].iter().zip(d.projections()) {
        let bias = linear.bias.as_ref().unwrap().as_slice();
        all.push((format!("d_w_{name}"), linear.weight.clone()));
        all.push((format!("d_b_{name}"), Matrix::from_row_slice(1, bias.len(), bias)));
    }
    match &d.d_inputs {
        InputGradients::SelfAttention { d_x } => all.push(("d_x".into(), d_x.clone())),
        InputGradients::CrossAttention { d_query, d_key, d_value } => {
            let inputs = [("d_query", d_query), ("d_key", d_key), ("d_value", d_value)];
            all.extend(inputs.map(|(name, matrix)| (name.into(), matrix.clone())));
        }
    }
    all
}

fn assert_same(a: &Gradients, b: &Gradients) {
    for ((name, a), (_, b)) in matrices(a).into_iter().zip(matrices(b)) {
        let diff = max_abs_diff(&a, &b).unwrap();
        assert!(diff <= TOLERANCE, "{name}: max |Δ| = {diff:e}");
    }
}

#[test]
fn a_gradient_of_another_shape_is_refused_with_both() {
    let (layer, x) = (layer(), random(5, 2));
    let pass = LayerPass::self_attend(&layer, &x, &Mask::None).unwrap();
    let refused = |rows, cols| pass.backward(&Matrix::zeros(rows, cols)).unwrap_err();
    insta::assert_snapshot!(refused(4, 8), @"d_out has shape (4, 8), expected (5, 8)");
    insta::assert_snapshot!(refused(5, 7), @"d_out has shape (5, 7), expected (5, 8)");
    insta::assert_snapshot!(refused(0, 0), @"d_out has shape (0, 0), expected (5, 8)");
}

#[test]
fn gradients_of_a_batch_are_those_of_its_sequences() {
    let layer = layer();
    let sequences = [random(5, 3), random(5, 4), random(5, 5)];
    let d_outs = [random(5, 6), random(5, 7), random(5, 8)];
    let masks = [Mask::Causal, Mask::None, Mask::FirstKeys(2)];
    let batch = Batch::stack(&sequences).unwrap();
    let d_out = Batch::stack(&d_outs).unwrap();
    for one_input in [true, false] {
        let pass = if one_input {
            LayerPass::self_attend_batch(&layer, &batch, &masks)
        } else {
            LayerPass::forward_batch(&layer, &batch, &batch, &batch, &masks)
        };
        let of_batch = pass.unwrap().backward(d_out.tokens()).unwrap();
        let alone = [0, 1, 2].map(|s| {
            let (x, mask) = (&sequences[s], &masks[s]);
            let pass = if one_input {
                LayerPass::self_attend(&layer, x, mask)
            } else {
                LayerPass::forward(&layer, x, x, x, mask)
            };
            matrices(&pass.unwrap().backward(&d_outs[s]).unwrap())
        });
        let of_batch = matrices(&of_batch);
        assert_eq!(of_batch.len(), N_PARAMETERS + if one_input { 1 } else { 3 });
        for (m, (name, found)) in of_batch.into_iter().enumerate() {
            let parts = alone.each_ref().map(|d| d[m].1.clone());
            // Parameters are shared by the sequences, and tokens are not.
            let expected = match m < N_PARAMETERS {
                true => parts.iter().sum(),
                false => Batch::stack(&parts).unwrap().tokens().clone(),
            };
            let diff = max_abs_diff(&found, &expected).unwrap();
            assert!(diff <= TOLERANCE, "{name}: max |Δ| = {diff:e}");
        }
    }
}

#[test]
fn the_gradient_of_shared_tokens_is_the_sum_of_three() {
    let (layer, x, d_out) = (layer(), random(5, 9), random(5, 10));
    let mask = Mask::Causal;
    // The constructor decides, and not whether two references are the same.
    let apart = LayerPass::forward(&layer, &x, &x, &x, &mask).unwrap();
    let apart = apart.backward(&d_out).unwrap();
    let clone = x.clone();
    let copied = LayerPass::forward(&layer, &x, &clone, &clone, &mask).unwrap();
    assert_eq!(copied.backward(&d_out).unwrap(), apart);

    let one =
        LayerPass::self_attend(&layer, &x, &mask).unwrap().backward(&d_out).unwrap();
    assert!(one.d_query_key_value().is_err());
    assert_eq!(one.projections(), apart.projections());
    let [d_query, d_key, d_value] = apart.d_query_key_value().unwrap();
    assert_eq!(one.d_x().unwrap(), d_query + d_key + d_value);
    assert_eq!(apart.d_x().unwrap(), d_query + d_key + d_value);
}

/// Token 2 is blocked for every query, and the loss ignores what it says as a query: the
/// usual padding. Whatever stands there, nothing changes, not even at its own place.
#[test]
fn what_stands_in_padding_changes_no_gradient() {
    let layer = layer();
    let mask = Mask::Keys(vec![true, true, false, true, true]);
    let mut d_out = random(5, 11);
    d_out.row_mut(2).fill(0.0);
    let gradients = |padding: f64| {
        let mut x = random(5, 12);
        x.row_mut(2).fill(padding);
        LayerPass::self_attend(&layer, &x, &mask).unwrap().backward(&d_out).unwrap()
    };
    let clean = gradients(0.0);
    assert!(clean.d_x().unwrap().row(2).iter().all(|&d| d == 0.0));
    for padding in [f64::NAN, f64::INFINITY, 1e300] {
        assert_same(&gradients(padding), &clean);
    }
}

#[test]
fn a_nan_that_one_head_may_not_see_stays_out_of_that_head() {
    let (layer, query) = (layer(), random(3, 13));
    let mut source = random(5, 14);
    source[(2, 6)] = f64::NAN;
    let blind = Mask::Keys(vec![true, true, false, true, true]);
    let mask = Mask::PerHead(vec![blind, Mask::None]);
    let pass = LayerPass::forward(&layer, &query, &source, &source, &mask).unwrap();
    let heads = pass.backward(&random(3, 15)).unwrap().per_head(layer.dims()).unwrap();
    for (i, head) in heads.heads().iter().enumerate() {
        for (name, linear) in head.projections() {
            let finite = linear.weight.iter().all(|x| x.is_finite());
            assert_eq!(finite, i == 0, "{name} of head {i}: {}", linear.weight);
        }
    }
}

/// The other way round: an error that is no number in query 1 reaches what query 1 read.
#[test]
fn a_nan_in_the_error_reaches_only_what_was_read() {
    let (layer, query, source) = (layer(), random(3, 16), random(4, 17));
    let mut d_out = random(3, 18);
    d_out.row_mut(1).fill(f64::NAN);
    let mask = Mask::Causal; // query 1 reads keys 0 to 2
    let pass = LayerPass::forward(&layer, &query, &source, &source, &mask).unwrap();
    let d = pass.backward(&d_out).unwrap();
    let nans = |m: &Matrix| -> Vec<bool> {
        m.row_iter().map(|row| row.iter().all(|x| x.is_nan())).collect()
    };
    let [d_query, d_key, d_value] = d.d_query_key_value().unwrap();
    assert_eq!(nans(d_query), [false, true, false]);
    assert_eq!(nans(d_key), [true, true, true, false]);
    assert_eq!(nans(d_value), [true, true, true, false]);
    assert!(d_key.row(3).iter().all(|x| x.is_finite()));
}

/// Above a line of the backward pass stands the line of the forward pass, and not a memory
/// of it.
#[test]
fn every_quoted_line_stands_where_it_is_quoted_from() {
    let layer = include_str!("../../../1-stages/fused-heads/src/pass.rs");
    let head = include_str!("../../../1-stages/attention/src/attend.rs");
    let files = [
        (include_str!("backward.rs"), [layer, head].concat(), 14),
        (
            include_str!("linear.rs"),
            include_str!("../../../1-stages/attention/src/linear.rs").to_string(),
            2,
        ),
    ];
    for (backward, forward, n_quoted) in files {
        let comments =
            backward.lines().filter_map(|line| line.trim().strip_prefix("// "));
        let is_code = |line: &&str| line.ends_with(';') || line.starts_with("None => ");
        let quoted: Vec<&str> = comments.filter(is_code).collect();
        assert_eq!(quoted.len(), n_quoted, "{quoted:#?}");
        for line in quoted {
            assert!(forward.contains(line), "{line}");
        }
    }
}

#[test]
fn packing_the_heads_gradients_gives_those_of_the_packed_parameters() {
    let rng = &mut Rng::seed_from_u64(1);
    let dims = Dims::with_head_sizes(6, 3, 4, 5).unwrap();
    for bias in [true, false] {
        let parameters = LayerParameters::random(dims, bias, rng);
        let layer = FusedAttention::new(&parameters);
        let x: Matrix = random_matrix(4, 6, 1.0, rng);
        let pass = LayerPass::self_attend(&layer, &x, &Mask::None).unwrap();
        let d = pass.backward(&random_matrix(4, 6, 1.0, rng)).unwrap();
        assert_eq!(d.per_head(dims).unwrap().pack().projections(), d.projections());
    }
    let narrow = Gradients::<f64>::default().per_head(dims).unwrap_err();
    insta::assert_snapshot!(narrow, @"w_q has shape (0, 0), expected (6, 12)");
}
