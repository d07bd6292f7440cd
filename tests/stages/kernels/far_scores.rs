//! Scores far from 0, and far from each other: the packed rung subtracts a reference from
//! them that is 0 at first, and has to be put right when a score is far away.

use attention::{HeadParameters, LayerParameters, Linear, Mask, Matrix, max_abs_diff};
use kernels::Inputs;

use super::batches::{every_rung, exact, on_batch};
use super::tokens;
use stages::cases::assert_close;

/// Keys: some blocks of them, and the last is not whole.
const N_KV: usize = 600;

/// The score of a key, of the place where it stands, from 0 to 1.
type Score = fn(f32) -> f32;

/// One head of width 1 that changes nothing: the score of a query of 1 is its key.
fn layer_of_ones() -> LayerParameters<f32> {
    let one = || Linear::new(Matrix::from_element(1, 1, 1.0), None).unwrap();
    let head = HeadParameters { w_q: one(), w_k: one(), w_v: one() };
    LayerParameters::new(vec![head], one()).unwrap()
}

#[test]
fn scores_of_any_size_in_any_order_give_the_softmax() {
    let scores: [(&str, Score); 9] = [
        ("rise", |at| 200.0 * at - 100.0),
        ("fall", |at| 100.0 - 200.0 * at),
        ("rise to the right of 0", |at| 300.0 * at),
        ("are all very low", |_| -300.0),
        ("are all very high", |_| 300.0),
        ("are high from the middle on", |at| if at < 0.5 { -40.0 } else { 40.0 }),
        ("are low from the middle on", |at| if at < 0.5 { 40.0 } else { -40.0 }),
        ("have one that is higher", |at| if at == 0.75 { 95.0 } else { at }),
        ("are near 0", |at| 2.0 * at - 1.0),
    ];
    // More than one group of queries, of one kind and of many. (Where one is not finite, a
    // group is computed again, and nothing that went wrong for the others would be seen.)
    let queries = [[1.0; 5], [-1.0; 5], [0.5; 5], [1.0, 0.25, 0.5, 0.0, 0.01]]
        .map(|kinds| Matrix::from_fn(100, 1, |i, _| kinds[i % 5]));
    let mut largest = 0f64;
    for (name, score) in scores {
        let key = Matrix::from_fn(N_KV, 1, |j, _| score(j as f32 / N_KV as f32));
        for query in &queries {
            for mask in [Mask::None, Mask::Causal, Mask::FirstKeys(N_KV / 2 + 3)] {
                largest = largest.max(difference(name, query, &key, mask));
            }
        }
    }
    println!("scores up to ±300: max |Δ| = {largest:.1e}");
}

/// The largest difference of all rungs.
fn difference(name: &str, query: &Matrix<f32>, key: &Matrix<f32>, mask: Mask) -> f64 {
    let (parameters, value, masks) = (layer_of_ones(), tokens(N_KV, 1, 4), [mask]);
    let inputs = Inputs::cross_attention(1, query, key, &value, &masks);
    let expected = exact(&parameters, &inputs);
    let differences = every_rung(&parameters).into_iter().map(|(rung, mut layer)| {
        let out = on_batch(layer.as_mut(), &inputs);
        let diff = max_abs_diff(&expected, &out).unwrap();
        assert_close(format!("{rung}: scores {name}, {:?}", masks[0]), diff, 1e-5);
        diff
    });
    differences.fold(0.0, f64::max)
}
