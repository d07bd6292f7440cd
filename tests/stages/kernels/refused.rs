//! Input that does not fit is refused in the words of the other stages.

use attention::{Mask, Matrix, MultiHeadAttention};
use kernels::Inputs;
use per_head::PerHeadAttention;

use super::batches::every_rung;
use super::{layer, tokens};

/// Refused by every rung, `out` as it was; in these words.
fn refusals(inputs: &Inputs<'_>, out: &Matrix<f32>) -> Vec<String> {
    let refused = every_rung(&layer(12, 3)).into_iter().map(|(name, mut rung)| {
        let mut seen = out.clone();
        let error = rung.forward(inputs, &mut seen).unwrap_err().to_string();
        assert_eq!(&seen, out, "{name}: {error}");
        error
    });
    refused.collect()
}

#[test]
fn one_sequence_is_refused_in_the_words_of_the_other_stages() {
    let (x, other) = (tokens(4, 12, 2), tokens(5, 12, 2));
    let (narrow, none) = (tokens(4, 11, 2), tokens(0, 12, 2));
    let nan = Mask::Additive(Matrix::from_element(4, 4, f64::NAN));
    let bad: Vec<([&Matrix<f32>; 3], Mask)> = vec![
        ([&narrow; 3], Mask::None),
        ([&none; 3], Mask::None),
        ([&x, &none, &none], Mask::None),
        ([&x, &narrow, &x], Mask::None),
        ([&x, &other, &narrow], Mask::None),
        ([&x, &other, &x], Mask::None),
        ([&x; 3], Mask::Keys(vec![true; 5])),
        ([&x; 3], Mask::PerHead(vec![Mask::None; 2])),
        ([&x; 3], Mask::All(vec![Mask::Causal, Mask::FirstKeys(5)])),
        ([&x; 3], nan),
    ];
    let stage = PerHeadAttention::new(layer(12, 3));
    for ([query, key, value], mask) in bad {
        let expected = stage.forward(query, key, value, &mask).unwrap_err().to_string();
        let out = Matrix::from_element(query.nrows(), 12, 7.0);
        let masks = [mask];
        let inputs = Inputs::cross_attention(1, query, key, value, &masks);
        for words in refusals(&inputs, &out) {
            assert_eq!(words, expected);
        }
    }
}

#[test]
fn a_batch_that_does_not_fit_is_refused_with_its_numbers() {
    let (x, longer) = (tokens(6, 12, 2), tokens(7, 12, 2));
    let out = Matrix::from_element(6, 12, 7.0);
    let masks = |n| vec![Mask::None; n];
    let (one, two, none) = (masks(1), masks(2), masks(0));
    let cross =
        |n_sequences| Inputs::cross_attention(n_sequences, &x, &longer, &longer, &one);
    let refused = [
        refusals(&Inputs::self_attention(0, &x, &one), &out),
        refusals(&Inputs::self_attention(4, &x, &one), &out),
        refusals(&cross(3), &out),
        refusals(&Inputs::self_attention(3, &x, &two), &out),
        refusals(&Inputs::self_attention(3, &x, &none), &out),
        refusals(&Inputs::self_attention(3, &x, &one), &Matrix::zeros(6, 11)),
        refusals(&Inputs::self_attention(3, &x, &one), &Matrix::zeros(5, 12)),
    ];
    for rung in 0..refused[0].len() {
        let words: Vec<_> = refused.iter().map(|of_case| &*of_case[rung]).collect();
        insta::allow_duplicates! { insta::assert_snapshot!(words.join("\n"), @"
        the number of sequences is 0, and must be at least 1
        6 rows cannot be cut into 4 sequences of equal length
        7 rows cannot be cut into 3 sequences of equal length
        the list of masks has 2 entries, expected 3
        the list of masks has 0 entries, expected 3
        out has shape (6, 11), expected (6, 12)
        out has shape (5, 12), expected (6, 12)
        ") }
    }
}
