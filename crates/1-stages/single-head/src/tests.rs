//! What is true of one head alone, whichever way it is computed.

use attention::{
    Dims, HeadParameters, Mask, Matrix, Result, Rng, SeedableRng, max_abs_diff,
    random_matrix,
};

use crate::{HeadPass, attend, attend_in_loops};

type Attend =
    fn(&HeadParameters, &Matrix, &Matrix, &Matrix, &Mask) -> Result<HeadPass<f64>>;

const BOTH: [Attend; 2] = [attend_in_loops, attend];
const TOLERANCE: f64 = 1e-14;

fn head() -> HeadParameters {
    let dims = Dims::with_head_sizes(6, 1, 4, 3).unwrap();
    HeadParameters::random(dims, true, &mut Rng::seed_from_u64(1))
}

fn tokens(n_tokens: usize, seed: u64) -> Matrix {
    random_matrix(n_tokens, 6, 1.0, &mut Rng::seed_from_u64(seed))
}

/// The rows of a matrix from the last to the first.
fn reversed(x: &Matrix) -> Matrix {
    Matrix::from_fn(x.nrows(), x.ncols(), |i, j| x[(x.nrows() - 1 - i, j)])
}

#[test]
fn every_row_of_the_map_sums_to_one() {
    let x = tokens(5, 2);
    for attend in BOTH {
        let pass = attend(&head(), &x, &x, &x, &Mask::Causal).unwrap();
        for row in pass.attn.row_iter() {
            assert!((row.sum() - 1.0).abs() < TOLERANCE, "{}", row.sum());
        }
    }
}

#[test]
fn the_order_of_keys_does_not_matter_as_long_as_values_go_with_them() {
    let (x, source) = (tokens(3, 3), tokens(5, 4));
    for attend in BOTH {
        let turned = reversed(&source);
        let one = attend(&head(), &x, &source, &source, &Mask::None).unwrap();
        let other = attend(&head(), &x, &turned, &turned, &Mask::None).unwrap();
        let apart = attend(&head(), &x, &turned, &source, &Mask::None).unwrap();
        assert!(max_abs_diff(&one.out, &other.out).unwrap() < TOLERANCE);
        assert!(max_abs_diff(&one.out, &apart.out).unwrap() > 0.01);
    }
}

#[test]
fn queries_in_another_order_give_outputs_in_that_order() {
    let x = tokens(5, 5);
    for attend in BOTH {
        let one = attend(&head(), &x, &x, &x, &Mask::None).unwrap();
        let other = attend(&head(), &reversed(&x), &x, &x, &Mask::None).unwrap();
        assert!(max_abs_diff(&reversed(&one.out), &other.out).unwrap() < TOLERANCE);
    }
}

#[test]
fn the_output_lies_between_the_values() {
    let x = tokens(5, 6);
    for attend in BOTH {
        let pass = attend(&head(), &x, &x, &x, &Mask::None).unwrap();
        for (out, v) in pass.out.column_iter().zip(pass.v.column_iter()) {
            assert!(out.min() >= v.min() - TOLERANCE && out.max() <= v.max() + TOLERANCE);
        }
    }
}

#[test]
fn key_and_value_in_different_numbers_are_refused() {
    let (x, source) = (tokens(3, 7), tokens(5, 8));
    for attend in BOTH {
        let refused = attend(&head(), &x, &source, &x, &Mask::None).unwrap_err();
        let text = "key has 5 tokens and value has 3: each key needs its value";
        assert_eq!(refused.to_string(), text);
    }
}
