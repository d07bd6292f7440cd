use attention::{Matrix, Rng, SeedableRng, max_abs_diff, random_matrix};
use rand::RngExt;
use tiles::Instructions;

use super::*;

/// Random levels and scales; `scale` makes them.
fn random(
    [d_in, d_out]: [usize; 2],
    bits: Bits,
    block: usize,
    scale: impl Fn(&mut Rng) -> f32 + Sync,
) -> Quantised {
    Quantised::from_rows(d_in, d_out, bits, block, |j, row| {
        let rng = &mut Rng::seed_from_u64(j as u64);
        let most = if bits == Bits::Four { 15u8 } else { 255 };
        row.levels.iter_mut().for_each(|level| *level = rng.random_range(0..=most));
        row.scales.iter_mut().for_each(|of| *of = [scale(rng), scale(rng)]);
    })
    .unwrap()
}

/// The weight as numbers, `[d_in, d_out]`.
fn numbers(weight: &Quantised) -> Matrix<f64> {
    let mut all = Matrix::zeros(weight.d_in(), weight.d_out());
    let mut row = vec![0.0; weight.d_in()];
    for j in 0..weight.d_out() {
        weight.row(j, &mut row).unwrap();
        all.column_mut(j).iter_mut().zip(&row).for_each(|(to, w)| *to = f64::from(*w));
    }
    all
}

#[test]
fn every_size_and_form_gives_the_product_of_its_numbers() {
    let rng = &mut Rng::seed_from_u64(3);
    let half = |rng: &mut Rng| (rng.random_range(-64..64i32) as f32) / 1024.0;
    let single = |rng: &mut Rng| rng.random_range(-0.05f32..0.05);
    for instructions in Instructions::available() {
        for (d_in, d_out, block) in
            [(32, 1, 32), (64, 9, 32), (48, 16, 16), (576, 70, 32)]
        {
            for bits in [Bits::Four, Bits::Eight] {
                for weight in [
                    random([d_in, d_out], bits, block, half),
                    random([d_in, d_out], bits, block, single),
                ] {
                    let bias: Vec<f32> = (0..d_out).map(|j| j as f32).collect();
                    let weight = weight.with_bias(&bias).unwrap();
                    let w = numbers(&weight);
                    for n in [0, 1, 2, 3, 5, 8] {
                        let x: Matrix<f32> = random_matrix(n, d_in, 1.0, rng);
                        let mut out = Matrix::from_element(n, d_out, f32::NAN);
                        few_tokens(
                            instructions,
                            &x,
                            &weight,
                            &mut InPairs::default(),
                            &mut out,
                        );
                        let mut expected = x.map(f64::from) * &w;
                        for (j, mut column) in expected.column_iter_mut().enumerate() {
                            column.add_scalar_mut(j as f64);
                        }
                        // Half a step of 16 bits for each entry, and sums in f32.
                        let largest =
                            f64::from(x.iter().fold(0f32, |a, x| a.max(x.abs())));
                        let weights = w.abs().row_sum().amax();
                        let most = (largest / 65_534.0 + 1e-6) * weights + 1e-5;
                        let apart = max_abs_diff(&out.cast(), &expected).unwrap();
                        assert!(
                            apart < most,
                            "{instructions}, {bits:?}, {n} × {d_in} × {d_out}: {apart:e}"
                        );
                    }
                }
            }
        }
    }
}
