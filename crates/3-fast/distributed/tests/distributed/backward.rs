//! The gradients of heads apart and of a batch apart, next to `gradients` on one machine.

use attention::{
    Batch, Gradients, Linear, Matrix, Real, Rng, SeedableRng, max_abs_diff, random_matrix,
};
use distributed::{BatchApart, Engine, Fast, HeadsApart, Plain, Threads};
use fused_heads::FusedAttention;
use gradients::LayerPass;

use crate::cases::{Case, SIZES};

fn on_one<T: Real>(case: &Case<T>, d_out: &Matrix<T>) -> Gradients<T> {
    let layer = FusedAttention::new(&case.layer);
    let pass = LayerPass::self_attend_batch(&layer, &case.x, &case.masks).unwrap();
    pass.backward(d_out).unwrap()
}

fn differ<T: Real>(expected: &Linear<T>, found: &Linear<T>) -> f64 {
    let weights = max_abs_diff(&expected.weight, &found.weight).unwrap();
    let biases = match (&expected.bias, &found.bias) {
        (None, None) => 0.0,
        (Some(a), Some(b)) => (a - b).amax().to_f64(),
        (a, b) => panic!("{a:?} and {b:?}"),
    };
    weights.max(biases)
}

/// The gradients of heads apart, its parameters put together; asserts that what every rank
/// has is the same.
fn heads_apart<T: Real, E: Engine<T>>(
    case: &Case<T>,
    d_out: &Matrix<T>,
    size: usize,
) -> Gradients<T> {
    let parts = Threads::run(size, |group| {
        let mut part: HeadsApart<T, E> = HeadsApart::new(&case.layer, group)?;
        part.backward(group, [&case.x; 3], &case.masks, d_out)
    });
    let parts = parts.unwrap();
    let mut all = on_one(case, d_out);
    for entries in [&mut all.d_w_q, &mut all.d_w_k, &mut all.d_w_v, &mut all.d_w_o] {
        entries.entries_mut().iter_mut().for_each(|part| part.fill(T::of(f64::NAN)));
    }
    let dims = case.layer.dims();
    for part in &parts {
        assert_eq!(part.d_inputs, parts[0].d_inputs);
        assert_eq!(part.d_b_o, parts[0].d_b_o);
        let Some([d_w_q, d_w_k, d_w_v, d_w_o]) = &part.parameters else {
            assert!(part.heads.is_empty());
            continue;
        };
        let columns = [
            (&mut all.d_w_q, d_w_q, dims.d_k()),
            (&mut all.d_w_k, d_w_k, dims.d_k()),
            (&mut all.d_w_v, d_w_v, dims.d_v()),
        ];
        for (to, from, width) in columns {
            let (first, n) = (part.heads.start * width, from.d_out());
            to.weight.columns_mut(first, n).copy_from(&from.weight);
            if let (Some(to), Some(from)) = (&mut to.bias, &from.bias) {
                to.columns_mut(first, n).copy_from(from);
            }
        }
        let (first, n) = (part.heads.start * dims.d_v(), d_w_o.d_in());
        all.d_w_o.weight.rows_mut(first, n).copy_from(&d_w_o.weight);
    }
    all.d_w_o.bias = parts[0].d_b_o.clone();
    all.d_inputs = parts[0].d_inputs.clone();
    all
}

fn check<T: Real, E: Engine<T>>(bound: f64) {
    let mut largest = 0f64;
    for seed in 100..125 {
        let case = Case::<T>::random(seed);
        let (n_rows, width) = case.x.tokens().shape();
        let d_out = random_matrix(n_rows, width, 1.0, &mut Rng::seed_from_u64(seed));
        let expected = on_one(&case, &d_out);
        for size in SIZES {
            let found = heads_apart::<T, E>(&case, &d_out, size);
            let pairs = expected.projections().into_iter().zip(found.projections());
            let d_x =
                max_abs_diff(&expected.d_x().unwrap(), &found.d_x().unwrap()).unwrap();
            let diff = pairs.map(|(a, b)| differ(a, b)).fold(d_x, f64::max);
            assert!(diff <= bound, "{diff:e}: {}", case.name(seed, size));
            largest = largest.max(diff);
        }
    }
    println!("largest difference {largest:e}");
}

#[test]
fn heads_apart_in_f64() {
    check::<f64, Plain>(1e-10);
}

#[test]
fn heads_apart_with_the_last_rung() {
    check::<f32, Fast>(2e-4);
}

#[test]
fn a_batch_apart_sums_the_gradients_of_its_parameters() {
    for seed in 200..215 {
        let case = Case::<f64>::random(seed);
        let (n_rows, width) = case.x.tokens().shape();
        let d_out = random_matrix(n_rows, width, 1.0, &mut Rng::seed_from_u64(seed));
        let expected = on_one(&case, &d_out);
        let (n, n_tokens) = (case.x.n_sequences(), case.n_tokens());
        for size in SIZES {
            let parts = Threads::run(size, |group| {
                let mut layer: BatchApart<f64, Plain> = BatchApart::new(&case.layer)?;
                let mine = layer.sequences(n, group);
                let own = |rows: &Matrix<f64>| {
                    let first = mine.start * n_tokens;
                    rows.rows(first, mine.len() * n_tokens).into_owned()
                };
                if mine.is_empty() {
                    return layer.backward(group, None);
                }
                let (x, d_out) = (own(case.x.tokens()), own(&d_out));
                let x = Batch::new(mine.len(), x)?;
                let masks = &case.masks[mine.clone()];
                layer.backward(group, Some(([&x; 3], masks, &d_out)))
            });
            for part in parts.unwrap() {
                let pairs = expected.projections().into_iter().zip(part.projections());
                let diff = pairs.map(|(a, b)| differ(a, b)).fold(0.0, f64::max);
                assert!(diff <= 1e-10, "{diff:e}: {}", case.name(seed, size));
            }
        }
    }
}
