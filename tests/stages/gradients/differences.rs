//! Central differences of fourth order:
//! `f'(0) ≈ (8 (f(h) − f(−h)) − (f(2h) − f(−2h))) / 12h`.
//!
//! Their error is about `h⁴ f⁗′ / 30` from the formula and `10⁻¹⁶ |f| / h` from rounding,
//! so that `h = 10⁻³` leaves 10⁻¹² or so where plain differences leave 10⁻¹⁰ at best.

use std::cell::Cell;

use attention::{
    Batch, Dims, LayerParameters, Mask, Matrix, Rng, SeedableRng, random_matrix,
};
use fused_heads::FusedAttention;
use gradients::LayerPass;
use proptest::prelude::*;

use super::{Named, named, named_gradients};
use stages::cases::{any_case, any_mask, assert_close, check};

const H: f64 = 1e-3;
const TOLERANCE: f64 = 1e-7;

/// A layer, a batch, and the gradient of the output: `f = Σ out ⊙ d_out`.
#[derive(Debug)]
struct Problem {
    parameters: LayerParameters,
    inputs: [Batch; 3],
    masks: Vec<Mask>,
    d_out: Matrix,
}

impl Problem {
    /// One sequence a mask.
    fn random(
        dims: Dims,
        bias: bool,
        (n_q, n_kv): (usize, usize),
        masks: Vec<Mask>,
        seed: u64,
    ) -> Self {
        let rng = &mut Rng::seed_from_u64(seed);
        let parameters = LayerParameters::random(dims, bias, rng);
        let mut tokens = |n, width| random_matrix(masks.len() * n, width, 1.0, rng);
        let inputs = [
            tokens(n_q, dims.d_model()),
            tokens(n_kv, dims.key_width()),
            tokens(n_kv, dims.value_width()),
        ];
        let d_out = tokens(n_q, dims.d_model());
        let inputs = inputs.map(|x| Batch::new(masks.len(), x).unwrap());
        Self { parameters, inputs, masks, d_out }
    }

    fn analytic(&self) -> Named {
        let layer = FusedAttention::new(&self.parameters);
        let [query, key, value] = &self.inputs;
        let pass =
            LayerPass::forward_batch(&layer, query, key, value, &self.masks).unwrap();
        named_gradients(&pass.backward(&self.d_out).unwrap(), self.parameters.dims())
    }

    fn numbers(&self) -> Named {
        named(&self.parameters, self.inputs.each_ref().map(Batch::tokens))
    }

    /// f, with these numbers in place of the parameters and inputs.
    fn value(&self, numbers: &Named) -> f64 {
        let mut numbers = numbers.iter().map(|(_, matrix)| matrix.clone());
        let mut next = || numbers.next().unwrap();
        let mut heads = self.parameters.heads().to_vec();
        let mut w_o = self.parameters.w_o().clone();
        let of_heads =
            heads.iter_mut().flat_map(|h| [&mut h.w_q, &mut h.w_k, &mut h.w_v]);
        for linear in of_heads.chain([&mut w_o]) {
            linear.weight = next();
            if let Some(bias) = &mut linear.bias {
                bias.copy_from(&next());
            }
        }
        let n = self.masks.len();
        let [query, key, value] =
            [next(), next(), next()].map(|x| Batch::new(n, x).unwrap());
        let layer = FusedAttention::new(&LayerParameters::new(heads, w_o).unwrap());
        let seen = layer.forward_batch(&query, &key, &value, &self.masks).unwrap();
        seen.out.tokens().dot(&self.d_out)
    }

    /// How f changes when matrix `m` moves along a direction of its shape.
    fn numeric(&self, m: usize, direction: &Matrix) -> f64 {
        let numbers = self.numbers();
        let f = |h: f64| {
            let mut moved = numbers.clone();
            moved[m].1 += direction * h;
            self.value(&moved)
        };
        (8.0 * (f(H) - f(-H)) - (f(2.0 * H) - f(-2.0 * H))) / (12.0 * H)
    }
}

/// The error of matrices of gradients: `‖found − differences‖ / ‖differences‖`, for each
/// matrix alone. Where the true gradient is zero (the key bias's always, Q's and K's with
/// a single key) rounding would stand beside rounding, so no matrix counts as smaller
/// than a thousandth of the largest.
fn relative_error(name: &str, found: &Matrix, differences: &Matrix, largest: f64) -> f64 {
    let size = differences.norm().max(1e-3 * largest);
    let error = (found - differences).norm();
    let error = if error == 0.0 { 0.0 } else { error / size };
    assert_close(format!("{name} and its differences"), error, TOLERANCE);
    error
}

/// Every entry of every matrix by itself.
fn every_entry(problem: &Problem) -> f64 {
    let analytic = problem.analytic();
    let largest = analytic.iter().map(|(_, d)| d.norm()).fold(0.0, f64::max);
    let errors = analytic.iter().enumerate().map(|(m, (name, d))| {
        let differences = Matrix::from_fn(d.nrows(), d.ncols(), |i, j| {
            let mut direction = Matrix::zeros(d.nrows(), d.ncols());
            direction[(i, j)] = 1.0;
            problem.numeric(m, &direction)
        });
        relative_error(name, d, &differences, largest)
    });
    errors.fold(0.0, f64::max)
}

/// Every matrix along three random directions: a wrong matrix has a right product with
/// a random direction as good as never, and large layers would take hours entry by entry.
fn random_directions(problem: &Problem) -> f64 {
    let rng = &mut Rng::seed_from_u64(0);
    let analytic = problem.analytic();
    let largest = analytic.iter().map(|(_, d)| d.norm()).fold(0.0, f64::max);
    let mut worst = 0f64;
    for (m, (name, d)) in analytic.iter().enumerate() {
        let directions = [(); 3].map(|()| {
            let direction: Matrix = random_matrix(d.nrows(), d.ncols(), 1.0, rng);
            direction.normalize()
        });
        let row = |of: &dyn Fn(&Matrix) -> f64| {
            Matrix::from_row_slice(1, 3, &directions.each_ref().map(of))
        };
        let along = row(&|direction| d.dot(direction));
        let differences = row(&|direction| problem.numeric(m, direction));
        worst = worst.max(relative_error(name, &along, &differences, largest));
    }
    worst
}

#[test]
fn every_kind_of_mask() {
    const N_Q: usize = 3;
    const N_KV: usize = 4;
    let some = Mask::Allowed(Matrix::from_fn(N_Q, N_KV, |i, j| (i * 2 + j) % 3 > 0));
    let added =
        |i: usize, j: usize| if i == j { f64::NEG_INFINITY } else { j as f64 - 1.5 };
    let additive = Mask::Additive(Matrix::from_fn(N_Q, N_KV, added));
    let one_a_head = vec![additive.clone(), Mask::FirstKeys(0), Mask::Causal];
    let nothing_for_query_1 = Mask::Allowed(Matrix::from_fn(N_Q, N_KV, |i, _| i != 1));
    let masks = [
        ("none", Mask::None),
        ("causal", Mask::Causal),
        ("padding", Mask::FirstKeys(3)),
        ("padding alone", Mask::FirstKeys(0)),
        ("allowed", some.clone()),
        ("nothing for query 1", nothing_for_query_1),
        ("additive", additive),
        ("all at once", Mask::All(vec![Mask::Causal, some])),
        ("one a head", Mask::PerHead(one_a_head)),
    ];
    for (name, mask) in masks {
        let mut worst = 0f64;
        for (seed, bias) in [(1, true), (2, false)] {
            // d_k ≠ d_v, and queries, keys and values of widths of their own.
            let dims = Dims::with_head_sizes(4, 3, 2, 3).unwrap();
            let dims = dims.with_source_widths(5, 6).unwrap();
            let masks = vec![mask.clone(), Mask::None];
            let problem = Problem::random(dims, bias, (N_Q, N_KV), masks, seed);
            worst = worst.max(every_entry(&problem));
        }
        println!("{name}: relative error {worst:.1e}");
    }
}

/// Small enough to nudge every number.
fn small_problem() -> impl Strategy<Value = Problem> {
    let sizes = (1..=5usize, 1..=3usize, 1..=3usize, 1..=3usize, 1..=5usize, 1..=5usize);
    (sizes, 1..=4usize, 1..=4usize, 1..=3usize, any::<bool>(), any::<u64>())
        .prop_flat_map(
            |((d_model, n_heads, d_k, d_v, key, value), n_q, n_kv, n, bias, seed)| {
                let dims = Dims::with_head_sizes(d_model, n_heads, d_k, d_v).unwrap();
                let dims = dims.with_source_widths(key, value).unwrap();
                let masks = proptest::collection::vec(any_mask(n_heads, n_q, n_kv), n);
                masks.prop_map(move |masks| {
                    Problem::random(dims, bias, (n_q, n_kv), masks, seed)
                })
            },
        )
}

fn on_random<S: Strategy>(
    name: &'static str,
    n_cases: u32,
    strategy: &S,
    worst_of: impl Fn(S::Value) -> f64,
) -> f64
where
    S::Value: std::fmt::Debug,
{
    let worst = Cell::new(0f64);
    check(name, n_cases, strategy, |case| {
        worst.set(worst.get().max(worst_of(case)));
        Ok(())
    });
    worst.get()
}

#[test]
fn small_random_layers_entry_by_entry() {
    let worst =
        on_random("entries", 60, &small_problem(), |problem| every_entry(&problem));
    println!("60 small random layers: relative error {worst:.1e}");
}

#[test]
fn random_layers_along_random_directions() {
    let worst = on_random("directions", 60, &any_case(), |case| {
        let lengths = (case.n_q, case.n_kv);
        let masks = vec![Mask::None, case.mask];
        random_directions(&Problem::random(
            case.dims, case.bias, lengths, masks, case.seed,
        ))
    });
    println!("60 random layers: relative error {worst:.1e}");
}
