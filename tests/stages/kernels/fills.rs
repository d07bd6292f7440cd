//! Rows of a mask that are filled with one number, however large: a softmax does not see
//! it, and no digit may be lost to it.

use attention::{Batch, LayerParameters, Mask, Matrix, max_abs_diff};
use fused_heads::FusedAttention;
use kernels::{Inputs, Packed, Rung};
use tiles::Instructions;

use super::backward::{Named, difference, gradients_of, readable};
use super::batches::{every_rung, exact, on_batch};
use super::{layer, tokens};
use stages::cases::assert_close;

const N: usize = 140;

/// ±1 to ±1e9, and what f32 cannot hold.
fn fills() -> Vec<f64> {
    let sizes = (0..=9).map(|power| 10f64.powi(power)).chain([3.5e38, 1e300, f64::MAX]);
    sizes.flat_map(|size| [-size, size]).collect()
}

/// Every third row is the fill alone; every other third is the fill for some keys, and a
/// little beside it for others.
fn filled(fill: f64) -> Mask {
    let beside = |j: usize| if j.is_multiple_of(2) { fill } else { fill - 0.5 };
    let near = fill.abs() < 1e6; // f64 too has only so many digits
    Mask::Additive(Matrix::from_fn(N, N, |i, j| match i % 3 {
        0 => fill,
        1 if near => beside(j),
        1 if j < 70 => fill,
        1 => f64::NEG_INFINITY,
        _ => 0.0,
    }))
}

/// The same, said by small numbers.
fn relative(fill: f64) -> Mask {
    let Mask::Additive(all) = filled(fill) else { unreachable!("it is made above") };
    let relative = |(i, _), added: f64| if i % 3 == 2 { added } else { added - fill };
    Mask::Additive(Matrix::from_fn(N, N, |i, j| relative((i, j), all[(i, j)])))
}

#[test]
fn a_row_filled_with_any_number_is_the_row_without_it() {
    let (parameters, x, d_out) = (layer(24, 3), tokens(N, 24, 5), tokens(N, 24, 6));
    let mut largest = [0f64; 3];
    for fill in fills() {
        let masks = [relative(fill)];
        let inputs = Inputs::self_attention(1, &x, &masks);
        let (expected, maps) = readable::<f64>(&parameters, &inputs, &d_out);
        let expected_out = exact(&parameters, &inputs);
        let masks = [Mask::All(vec![filled(fill), Mask::FirstKeys(N)])];
        let inputs = Inputs::self_attention(1, &x, &masks);
        for (name, mut rung) in every_rung(&parameters) {
            let diff =
                max_abs_diff(&expected_out, &on_batch(rung.as_mut(), &inputs)).unwrap();
            assert_close(format!("{name}, {fill:e}"), diff, 1e-5);
            largest[0] = largest[0].max(diff);
        }
        for instructions in Instructions::available() {
            let what = format!("{instructions}, {fill:e}");
            let mut packed = Packed::with_instructions(&parameters, instructions);
            for (map, expected) in packed.maps(&inputs).unwrap()[0].iter().zip(&maps[0]) {
                let diff = max_abs_diff(&map.map(f64::from), expected).unwrap();
                assert_close(format!("{what}: a map"), diff, 1e-5);
                largest[1] = largest[1].max(diff);
            }
            let diff = difference(&gradients_of(&mut packed, &inputs, &d_out), &expected);
            assert_close(format!("{what}: gradients"), diff, 1e-4);
            largest[2] = largest[2].max(diff);
        }
    }
    let [out, map, gradients] = largest;
    println!(
        "fills to ±1.8e308: outputs {out:.1e}, maps {map:.1e}, gradients {gradients:.1e}"
    );
}

#[test]
fn every_stage_in_either_precision_means_the_same_by_a_fill() {
    let (parameters, x) = (layer(24, 3), tokens(N, 24, 5));
    for fill in fills() {
        let masks = [relative(fill)];
        let expected = exact(&parameters, &Inputs::self_attention(1, &x, &masks));
        let mask = filled(fill);
        for stage in stages::cases::every_stage(&parameters) {
            let out = stage.forward(&x, &x, &x, &mask).unwrap().out.map(f64::from);
            assert_close(
                format!("f32, {fill:e}"),
                max_abs_diff(&expected, &out).unwrap(),
                1e-5,
            );
        }
        let wide = x.map(f64::from);
        for stage in stages::cases::every_stage(&parameters.cast::<f64>()) {
            let out = stage.forward(&wide, &wide, &wide, &mask).unwrap().out;
            let diff = max_abs_diff(&expected, &out).unwrap();
            assert_close(format!("f64, {fill:e}"), diff, 1e-9);
        }
    }
}

#[test]
fn maps_sum_to_1_and_are_those_of_the_output_wherever_the_scores_lie() {
    let x = tokens(N, 24, 5);
    for factor in [1f32, 30.0, 100.0] {
        let parameters = far(&layer(24, 3), factor);
        for fill in [0.0, -1e4, 1e9] {
            let masks = [filled(fill)];
            let inputs = Inputs::self_attention(1, &x, &masks);
            for instructions in Instructions::available() {
                let what = format!("{instructions}, {factor}, {fill:e}");
                let mut packed = Packed::with_instructions(&parameters, instructions);
                let maps = packed.maps(&inputs).unwrap().remove(0);
                let mut out = x.clone();
                packed.forward(&inputs, &mut out).unwrap();
                for row in maps.iter().flat_map(|map| map.row_iter().map(|r| r.sum())) {
                    assert_close(
                        format!("{what}: a sum"),
                        (row - 1.0).abs().into(),
                        1e-5,
                    );
                }
                let by_maps = through(&parameters, &maps, &x);
                let diff = max_abs_diff(&by_maps, &out.map(f64::from)).unwrap();
                assert_close(format!("{what}: maps · v"), diff, 1e-5);
            }
        }
    }
}

/// The weights of queries and keys, so many times as large.
fn far(parameters: &LayerParameters<f32>, factor: f32) -> LayerParameters<f32> {
    let mut heads = parameters.heads().to_vec();
    for head in &mut heads {
        head.w_q.weight *= factor;
        head.w_k.weight *= factor;
    }
    LayerParameters::new(heads, parameters.w_o().clone()).unwrap()
}

/// The layer's output from its maps, in f64.
fn through(
    parameters: &LayerParameters<f32>,
    maps: &[Matrix<f32>],
    x: &Matrix<f32>,
) -> Matrix {
    let (parameters, x) = (parameters.cast::<f64>(), x.map(f64::from));
    let heads = maps
        .iter()
        .zip(parameters.heads())
        .map(|(map, head)| map.map(f64::from) * head.w_v.forward(&x).unwrap());
    let columns: Vec<_> = heads
        .flat_map(|head| {
            head.column_iter().map(|column| column.into_owned()).collect::<Vec<_>>()
        })
        .collect();
    parameters.w_o().forward(&Matrix::from_columns(&columns)).unwrap()
}

/// Weights that make scores of ±1e4: what f32 keeps of them is what it keeps of them
/// anywhere, and the packed rung loses no more.
#[test]
fn far_scores_are_no_farther_from_f64_than_in_the_readable_stages() {
    for instructions in Instructions::available() {
        let n_seeds = 20;
        let ratios: Vec<_> =
            (0..n_seeds).map(|seed| far_scores(instructions, seed)).collect();
        for (i, what) in ["outputs", "maps", "gradients"].into_iter().enumerate() {
            let mean = ratios.iter().map(|r| r[i].ln()).sum::<f64>() / n_seeds as f64;
            let mean = mean.exp();
            println!("{instructions}, {what}: {mean:.2} × as far as the readable stages");
            assert!(mean < 1.1, "{instructions}, {what}: {mean:.2}");
        }
    }
}

/// How far output, maps and gradients are from f64, in parts of what `fused-heads` and
/// `gradients` are in f32.
fn far_scores(instructions: Instructions, seed: u64) -> [f64; 3] {
    let parameters = far(&super::layer_of(24, 3, seed), 230.0);
    let (x, d_out) = (tokens(N, 24, 50 + seed), tokens(N, 24, 90 + seed));
    let masks = [Mask::None];
    let inputs = Inputs::self_attention(1, &x, &masks);
    let exact_out = exact(&parameters, &inputs);
    let (exact_d, exact_maps) = readable::<f64>(&parameters, &inputs, &d_out);
    let (readable_d, readable_maps) = readable::<f32>(&parameters, &inputs, &d_out);
    let batch = Batch::new(1, x.clone()).unwrap();
    let fused = FusedAttention::<f32>::new(&parameters);
    let readable_out = fused.forward_batch(&batch, &batch, &batch, &masks).unwrap().out;
    let readable_out = readable_out.tokens().map(f64::from);

    let mut packed = Packed::with_instructions(&parameters, instructions);
    let out = on_batch(&mut packed, &inputs);
    let maps: Vec<Matrix> =
        packed.maps(&inputs).unwrap()[0].iter().map(|m| m.map(f64::from)).collect();
    let d = gradients_of(&mut packed, &inputs, &d_out);

    let maps_apart = |maps: &[Matrix]| {
        let apart = maps.iter().zip(&exact_maps[0]);
        apart.map(|(a, b)| (a - b).norm_squared()).sum::<f64>().sqrt()
    };
    let d_apart = |d: &Named| {
        let apart = d.iter().zip(&exact_d);
        apart.map(|((_, a), (_, b))| (a - b).norm() / b.norm().max(1.0)).sum::<f64>()
    };
    [
        (&out - &exact_out).norm() / (&readable_out - &exact_out).norm(),
        maps_apart(&maps) / maps_apart(&readable_maps[0]),
        d_apart(&d) / d_apart(&readable_d),
    ]
}
