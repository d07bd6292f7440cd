use attention::{
    Dims, LayerParameters, Linear, Matrix, Rng, RowVector, SeedableRng, max_abs_diff,
    random_matrix,
};

use super::*;

/// Three heads of 16 on this many examples: the sizes, a concatenation, and what reads it.
fn fresh(n_examples: usize) -> (Dims, Matrix<f32>, Linear<f32>) {
    let (dims, rng) = (Dims::new(48, 3).unwrap(), &mut Rng::seed_from_u64(4));
    let concat = random_matrix(n_examples, 48, 1.0, rng);
    (dims, concat, Linear::random(48, 48, true, rng))
}

#[test]
fn what_is_taken_lies_in_the_directions_and_nothing_else_is() {
    let (dims, concat, _) = fresh(20);
    let rng = &mut Rng::seed_from_u64(0);
    let directions = Directions::random(dims, rng);
    for how in Replacement::ALL {
        let taken = directions.taken(&concat, how, rng);
        let directions = directions.columns();
        let outside = &taken - &taken * directions * directions.transpose();
        assert!(outside.amax() < 1e-5, "{how:?}: {}", outside.amax());
        let left = (&concat - &taken) * directions; // [20, 16]
        let part = &concat * directions;
        match how {
            Replacement::Zero => assert!(left.amax() < 1e-5),
            Replacement::Mean => {
                for row in left.row_iter() {
                    assert!((row - part.row_mean()).amax() < 1e-5);
                }
            }
            // The same rows, each in another example.
            Replacement::Resample => {
                let near = |s: usize, t: usize| (left.row(s) - part.row(t)).amax() < 1e-5;
                for s in 0..20 {
                    assert!(!near(s, s), "example {s} kept its own");
                    assert_eq!((0..20).filter(|&t| near(s, t)).count(), 1);
                }
            }
        }
    }
}

/// `Concat(z) W^O + b^O`, from what each of three heads says, `[5, 4]`.
fn merged(parameters: &LayerParameters, z: &[Matrix]) -> Matrix {
    let columns: Vec<_> = z.iter().flat_map(Matrix::column_iter).collect();
    parameters.w_o().forward(&Matrix::from_columns(&columns)).unwrap()
}

#[test]
fn in_the_weights_a_head_says_what_replaces_it() {
    let rng = &mut Rng::seed_from_u64(1);
    let dims = Dims::new(12, 3).unwrap();
    let parameters: LayerParameters = LayerParameters::random(dims, true, rng);
    let z = [(); 3].map(|()| random_matrix(5, 4, 1.0, rng));
    for instead in [None, Some(z[1].row_mean())] {
        let less = ablated_layer(&parameters, &[(1, instead.clone())]).unwrap();
        assert!(less.w_o().weight.rows(4, 4).iter().all(|&x| x == 0.0));
        let instead = instead.unwrap_or_else(|| RowVector::zeros(4));
        let mut replaced = z.clone();
        replaced[1] = Matrix::from_rows(&vec![instead; 5]);
        let (found, expected) = (merged(&less, &z), merged(&parameters, &replaced));
        let difference = max_abs_diff(&found, &expected).unwrap();
        assert!(difference < 1e-12, "{difference:e}");
    }
    insta::assert_snapshot!(ablated_layer(&parameters, &[(3, None)]).unwrap_err(), @"there are 3 heads, 0 to 2: head 3 does not exist");
    let wide = Some(RowVector::zeros(5));
    insta::assert_snapshot!(ablated_layer(&parameters, &[(0, wide)]).unwrap_err(), @"what a head is replaced by has shape (1, 5), expected (1, 4)");
}

/// Any directions, and not those of heads alone: a mean that was subtracted from a kept
/// concatenation, and one that stands in the weights.
#[test]
fn a_constant_in_the_weights_is_the_mean_on_the_concatenation() {
    let (dims, concat, w_o) = fresh(20);
    let rng = &mut Rng::seed_from_u64(0);
    for directions in [Directions::random(dims, rng), Directions::all(dims)] {
        let taken = directions.taken(&concat, Replacement::Mean, rng);
        let expected = w_o.forward(&(&concat - taken)).unwrap();
        let mean = (&concat * directions.columns()).row_mean();
        let constant = directions.replaced_in(&w_o, Some(&mean)).unwrap();
        let found = constant.forward(&concat).unwrap();
        assert!(max_abs_diff(&found, &expected).unwrap() < 1e-5);
    }
}

#[test]
fn what_replaces_a_part_stands_at_the_same_position() {
    let (dims, concat, w_o) = fresh(6);
    let replacement = Replacement::Mean;
    let site = Site { dims, concat: &concat, w_o: &w_o, replacement, n_positions: 2 };
    let taken = site.taken(&Directions::all(site.dims), &mut Rng::seed_from_u64(0));
    let left = &concat - taken;
    for row in 0..6 {
        let [a, b, c] = [0, 2, 4].map(|other| concat.row(row % 2 + other));
        let mean = (a + b + c) / 3.0;
        assert!((left.row(row) - mean).amax() < 1e-5, "row {row}");
    }
}
