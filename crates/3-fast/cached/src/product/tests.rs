use super::*;
use crate::quantised::Bits;
use attention::{Rng, SeedableRng, max_abs_diff, random_matrix};

#[test]
fn every_size_gives_the_product() {
    let rng = &mut Rng::seed_from_u64(7);
    for instructions in Instructions::available() {
        for (n, d_in, d_out) in
            [(1, 1, 1), (30, 16, 16), (48, 7, 9), (500, 33, 40), (0, 4, 4)]
        {
            let weight: Matrix<f32> = random_matrix(d_in, d_out, 1.0, rng);
            let mut product = Product::new(&weight, instructions);
            // A second matrix of the same size is not taken for the first.
            for _ in 0..2 {
                let x: Matrix<f32> = random_matrix(n, d_in, 1.0, rng);
                let mut out = Matrix::from_element(n, d_out, f32::NAN);
                product.of(&x, &mut out).unwrap();
                let difference = max_abs_diff(&out, &(&x * &weight)).unwrap();
                assert!(difference < 1e-4, "{instructions}, {n}: {difference:e}");
            }
        }
    }
}

#[test]
fn a_few_tokens_and_many_have_one_answer() {
    let rng = &mut Rng::seed_from_u64(8);
    for instructions in Instructions::available() {
        for (d_in, d_out) in [(1, 1), (3, 17), (5, 8), (33, 70), (130, 24), (0, 3)] {
            let linear: Linear<f32> = Linear::random(d_in, d_out, true, rng);
            let mut product = Product::of_linear(&linear, instructions);
            for n in 0..=FEW + 1 {
                let x: Matrix<f32> = random_matrix(n, d_in, 1.0, rng);
                let mut out = Matrix::from_element(n, d_out, f32::NAN);
                product.of(&x, &mut out).unwrap();
                let expected = linear.cast::<f64>().forward(&x.cast()).unwrap();
                let difference = max_abs_diff(&out.cast(), &expected).unwrap();
                let case = format!("{instructions}, {n} × {d_in} × {d_out}");
                assert!(difference < 1e-5, "{case}: {difference:e}");
            }
        }
    }
}

#[test]
fn levels_have_the_answer_of_their_numbers_for_any_tokens() {
    let rng = &mut Rng::seed_from_u64(12);
    for (bits, most) in [(Bits::Four, 15), (Bits::Eight, 255)] {
        let weight = Quantised::from_rows(96, 21, bits, 32, |j, row| {
            let level = |p: usize| ((7 * p + 13 * j) % (most + 1)) as u8;
            row.levels.iter_mut().enumerate().for_each(|(p, to)| *to = level(p));
            row.scales.fill([0.01, -0.07 - j as f32 / 512.0]);
        });
        let weight = weight.unwrap().with_bias(&[0.5; 21]).unwrap();
        let numbers = Product::of_levels(weight.clone(), Instructions::best());
        let read = |j: usize, row: &mut [f32]| numbers.row(j, row).unwrap();
        for instructions in Instructions::available() {
            let mut by_numbers = Product::from_rows(96, 21, read, instructions);
            let mut by_levels = Product::of_levels(weight.clone(), instructions);
            let mut unrounded = Product::of_levels(weight.clone(), instructions);
            unrounded.in_f32();
            for n in [0, 1, 8, 9, 48, 130] {
                let x: Matrix<f32> = random_matrix(n, 96, 1.0, rng);
                let mut out = [0, 1].map(|_| Matrix::from_element(n, 21, f32::NAN));
                by_numbers.of(&x, &mut out[0]).unwrap();
                by_levels.of(&x, &mut out[1]).unwrap();
                let expected = out[0].add_scalar(0.5);
                let difference = max_abs_diff(&out[1], &expected).unwrap();
                let is_rounded = n > FEW && Bytes::with(instructions).is_some();
                let steps = if is_rounded { 127.0 } else { 32_767.0 };
                let bound = f64::from(rounding(&x, &weight, steps) + 5e-5);
                assert!(difference < bound, "{instructions}, {n}: {difference:e}");
                unrounded.of(&x, &mut out[1]).unwrap();
                let exact = max_abs_diff(&out[1], &expected).unwrap();
                let bound = f64::from(rounding(&x, &weight, 32_767.0) + 5e-5);
                assert!(exact < bound, "{instructions}, {n}: {exact:e}");
                // The bounds are not so wide that all are within them.
                let widest = f64::from(rounding(&x, &weight, steps));
                assert!(widest <= 0.1 * f64::from(expected.amax()), "{widest}");
            }
        }
    }
}

/// The most that an output can be off if every number of a token is off by half a step, of
/// so many to the largest of its block.
fn rounding(x: &Matrix<f32>, weight: &Quantised, steps: f32) -> f32 {
    let mut row = vec![0.0; weight.d_in()];
    let mut most = 0f32;
    for j in 0..weight.d_out() {
        weight.row(j, &mut row).unwrap();
        for token in x.row_iter() {
            let blocks = token.iter().copied().collect::<Vec<_>>();
            let blocks = blocks.chunks(32).zip(row.chunks(32));
            let of_block = |(x, w): (&[f32], &[f32])| {
                let largest = x.iter().fold(0f32, |largest, x| largest.max(x.abs()));
                largest / (2.0 * steps) * w.iter().map(|w| w.abs()).sum::<f32>()
            };
            most = most.max(blocks.map(of_block).sum());
        }
    }
    most
}

#[test]
fn a_nan_stays_in_its_token() {
    let rng = &mut Rng::seed_from_u64(9);
    let mut product = Product::new(&random_matrix(20, 9, 1.0, rng), Instructions::best());
    let mut x: Matrix<f32> = random_matrix(5, 20, 1.0, rng);
    x[(3, 19)] = f32::NAN;
    let mut out = Matrix::zeros(5, 9);
    product.of(&x, &mut out).unwrap();
    for (token, row) in out.row_iter().enumerate() {
        assert!(row.iter().all(|y| y.is_nan() == (token == 3)), "{token}: {row}");
    }
}

#[test]
fn a_nan_or_an_infinity_is_never_rounded_away() {
    let weight = Quantised::from_rows(64, 9, Bits::Four, 32, |_, row| {
        row.levels.fill(3);
        row.scales.fill([0.5, -1.0]);
    });
    let mut product = Product::of_levels(weight.unwrap(), Instructions::best());
    for bad in [f32::NAN, f32::INFINITY] {
        let mut x = Matrix::from_element(20, 64, 1.0);
        x[(17, 40)] = bad;
        let mut out = Matrix::zeros(20, 9);
        product.of(&x, &mut out).unwrap();
        for (token, row) in out.row_iter().enumerate() {
            assert!(row.iter().all(|y| y.is_finite() == (token != 17)), "{token}: {row}");
        }
    }
}

#[test]
fn rows_of_a_file_are_the_transposed_weight() {
    let rng = &mut Rng::seed_from_u64(10);
    let stored: Matrix<f32> = random_matrix(21, 13, 1.0, rng); // [d_out, d_in]
    let read = |j: usize, row: &mut [f32]| {
        row.iter_mut().zip(&stored.row(j)).for_each(|(to, from)| *to = *from);
    };
    let product = Product::from_rows(13, 21, read, Instructions::best());
    let transposed = Product::new(&stored.transpose(), Instructions::best());
    assert_eq!(product.weight, transposed.weight);
    assert_eq!(product.bytes(), 24 * (13 + 1) * 4); // in panels of 8
    let mut row = [0.0; 13];
    product.row(20, &mut row).unwrap();
    assert!(row.iter().eq(stored.row(20).iter()));
    let refused = product.row(21, &mut row).unwrap_err();
    assert_eq!(refused.to_string(), "row 21 has shape (22, 13), expected (21, 13)");
    let refused = product.row(0, &mut row[1..]).unwrap_err();
    assert_eq!(refused.to_string(), "row has 12 entries, expected 13");
}

#[test]
fn other_shapes_are_refused() {
    let weight = Matrix::zeros(3, 2);
    let mut product = Product::new(&weight, Instructions::best());
    let mut of = |x, out: (usize, usize)| {
        product.of(&x, &mut Matrix::zeros(out.0, out.1)).unwrap_err().to_string()
    };
    assert!(of(Matrix::zeros(4, 2), (4, 2)).contains("x"));
    assert!(of(Matrix::zeros(4, 3), (4, 3)).contains("out"));
}
