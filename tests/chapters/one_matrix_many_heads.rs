//! What “One matrix, many heads” quotes.

mod transposed;

use std::fmt::Write;

use attention::{
    Attended, Batch, Dims, LayerParameters, Mask, Matrix, MultiHeadAttention, Rng,
    SeedableRng, max_abs_diff, random_matrix, thousands,
};
use fused_heads::FusedAttention;
use lessons::a_lens_per_head::two_lenses;
use lessons::one_head::{FEATURES, WORDS, words};
use lessons::one_matrix_many_heads::{
    columns_of_heads, layer_with_split, merged_without_transpose, side_by_side,
    view_without_transpose,
};
use model_files::minilm;
use per_head::PerHeadAttention;

use crate::quote::{assert_quote, bound, matrix, values};

/// A matrix of two heads, with a bar between them.
fn two_blocks(name: &str, rows: &[&str], of: &Matrix, digits: usize) -> String {
    let block = |i: usize| of.columns(2 * i, 2).into_owned();
    let [left, right] = [0, 1].map(|i| matrix(name, rows, &block(i), digits));
    let mut text = format!("{name}  {:?}\n", of.shape());
    let label = rows.iter().map(|row| row.len()).max().unwrap() + 2;
    for (left, right) in left.lines().zip(right.lines()).skip(1) {
        writeln!(text, "{left}  │{}", &right[label..]).unwrap();
    }
    text
}

#[test]
fn two_heads_packed() {
    let (parameters, x) = (two_lenses().unwrap(), words());
    let packed = parameters.pack();
    assert_eq!(packed.unpack(), parameters);
    let q = packed.w_q().forward(&x).unwrap();
    for (i, head) in parameters.heads().iter().enumerate() {
        assert_eq!(q.columns(2 * i, 2), head.w_q.forward(&x).unwrap());
    }
    let parts = [
        two_blocks("w_q", &FEATURES, &packed.w_q().weight, 0),
        two_blocks("q = x · w_q", &WORDS, &q, 0),
    ];
    assert_quote!("one_matrix_many_heads_packed", parts.join("\n"));
}

/// The largest difference between the layer of “A lens per head” and the packed one, and whether
/// they are the same to the last bit.
fn apart(parameters: &LayerParameters, x: &Matrix) -> f64 {
    let of = |layer: &dyn MultiHeadAttention| layer.self_attend(x, &Mask::None).unwrap();
    let per_head: Attended = of(&PerHeadAttention::new(parameters.clone()));
    per_head.max_abs_diff(&of(&FusedAttention::new(parameters))).unwrap()
}

#[test]
fn the_same_layer() {
    let layer = minilm().unwrap();
    for sentence in &layer.sentences {
        let difference = apart(&layer.parameters, &sentence.input);
        // Both use one routine for their products, and it adds in the same order
        // wherever a column lies.
        assert_eq!(difference, 0.0, "{}", sentence.name);
    }

    // Narrow heads: here nalgebra takes another routine for a head's product than for
    // the wide one, and it may add in another order.
    let dims = Dims::new(24, 6).unwrap();
    let mut largest = 0.0;
    let n_layers = 100;
    for seed in 0..n_layers {
        let rng = &mut Rng::seed_from_u64(seed);
        let parameters = LayerParameters::random(dims, true, rng);
        largest = f64::max(largest, apart(&parameters, &random_matrix(20, 24, 1.0, rng)));
    }
    let said = [
        ("narrow_d_k", dims.d_k().to_string()),
        ("n_layers", n_layers.to_string()),
        ("narrow_difference", bound(largest, 1e-12)),
    ];
    assert_quote!("one_matrix_many_heads_same", values(&said));
}

#[test]
fn a_view_without_the_transpose() {
    let layer = minilm().unwrap();
    let packed = layer.parameters.pack();
    let sentence = layer.sentence("pilot").unwrap();
    let (x, h) = (&sentence.input, packed.dims().n_heads());
    let right = FusedAttention::new(&layer.parameters);
    let right = right.self_attend(x, &Mask::None).unwrap().out;
    let ours = layer_with_split(&packed, x, columns_of_heads, side_by_side).unwrap();
    assert!(max_abs_diff(&right, &ours).unwrap() <= 1e-12);

    let wrong =
        layer_with_split(&packed, x, view_without_transpose, merged_without_transpose)
            .unwrap();
    let badly_merged =
        layer_with_split(&packed, x, columns_of_heads, merged_without_transpose).unwrap();
    assert_eq!(wrong.shape(), right.shape());

    // Which tokens does "head 0" hold? Label every entry of q with its token.
    let labels = Matrix::from_fn(x.nrows(), 384, |token, _| token as f64);
    let seen = &view_without_transpose(&labels, h)[0];
    let tokens_seen = seen.max() as usize + 1;
    let columns = Matrix::from_fn(x.nrows(), 384, |_, column| (column / 32) as f64);
    let strangers =
        view_without_transpose(&columns, h)[0].iter().filter(|&&i| i > 0.0).count();
    let said = [
        ("n_tokens", x.nrows().to_string()),
        ("entries", seen.len().to_string()),
        ("width", "384".to_string()),
        ("tokens_seen", tokens_seen.to_string()),
        ("strangers", strangers.to_string()),
        ("wrong_difference", format!("{:.2}", max_abs_diff(&right, &wrong).unwrap())),
        (
            "merge_difference",
            format!("{:.2}", max_abs_diff(&right, &badly_merged).unwrap()),
        ),
        ("largest_output", format!("{:.2}", right.amax())),
    ];
    assert_quote!("one_matrix_many_heads_view", values(&said));
}

#[test]
fn a_batch_of_32_sequences() {
    let rng = &mut Rng::seed_from_u64(5);
    let (n_sequences, n_tokens, d_model) = (32, 100, 512);
    let dims = Dims::new(d_model, 8).unwrap();
    let parameters: LayerParameters = LayerParameters::random(dims, true, rng);
    let layer = FusedAttention::new(&parameters);
    let x =
        Batch::new(n_sequences, random_matrix(n_sequences * n_tokens, d_model, 1.0, rng))
            .unwrap();
    let result = layer.forward_batch(&x, &x, &x, &[Mask::None]).unwrap();

    let mut largest = 0.0;
    for s in [0, 17, 31] {
        let alone = layer.self_attend(&x.sequence(s).into_owned(), &Mask::None).unwrap();
        let in_batch = result.out.sequence(s).into_owned();
        largest = f64::max(largest, max_abs_diff(&alone.out, &in_batch).unwrap());
    }

    let said = [
        ("rows", thousands(n_sequences * n_tokens)),
        ("one_by_one", thousands(n_sequences * dims.n_heads() * 3)),
        ("maps", thousands(n_sequences * dims.n_heads())),
        ("tolerance", bound(largest, 1e-12)),
    ];
    assert_quote!("one_matrix_many_heads_batch_values", values(&said));
}

#[test]
fn glorot_depends_on_the_shape() {
    // The standard deviation √(2 / (in + out)) of a projection per head and of the packed one.
    let deviation = |d_in: usize, d_out: usize| (2.0 / (d_in + d_out) as f64).sqrt();
    let quoted = [
        ("narrow", deviation(384, 32)),
        ("wide", deviation(384, 384)),
        ("stacked", deviation(384, 3 * 384)),
    ];
    let quoted = quoted.map(|(name, value)| (name, format!("{value:.3}")));
    assert_quote!("one_matrix_many_heads_glorot", values(&quoted));
}
