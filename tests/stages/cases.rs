//! Random layers, inputs and masks, and the number by which stages are compared.

use attention::{
    Attended, Batch, Dims, LayerParameters, Linear, Mask, Matrix, MultiHeadAttention,
    Real, Result, Rng, SeedableRng, random_matrix,
};
use fused_heads::FusedAttention;
use per_head::{NaiveAttention, PerHeadAttention, SumOfHeadsAttention};
use proptest::prelude::*;
use proptest::test_runner::{Config, FileFailurePersistence, TestCaseResult, TestRunner};

/// A layer and what goes into it, all from one seed.
#[derive(Debug, Clone)]
pub struct Case {
    pub dims: Dims,
    pub n_q: usize,
    pub n_kv: usize,
    pub bias: bool,
    pub mask: Mask,
    pub seed: u64,
}

impl Case {
    pub fn parameters<T: Real>(&self) -> LayerParameters<T> {
        LayerParameters::random(self.dims, self.bias, &mut Rng::seed_from_u64(self.seed))
    }

    /// Query, key and value.
    pub fn inputs<T: Real>(&self) -> [Matrix<T>; 3] {
        let rng = &mut Rng::seed_from_u64(!self.seed);
        [
            random_matrix(self.n_q, self.dims.d_model(), 1.0, rng),
            random_matrix(self.n_kv, self.dims.key_width(), 1.0, rng),
            random_matrix(self.n_kv, self.dims.value_width(), 1.0, rng),
        ]
    }
}

/// 1 to 40 tokens, 1 to 8 heads, every size its own, every mask, with and without biases.
pub fn any_case() -> impl Strategy<Value = Case> {
    let sizes = (1..=16usize, 1..=8usize, 1..=9usize, 1..=9usize);
    let widths = prop_oneof![Just(None), (1..=16usize, 1..=16usize).prop_map(Some)];
    (sizes, widths, 1..=40usize, 1..=40usize, any::<bool>(), any::<u64>()).prop_flat_map(
        |((d_model, n_heads, d_k, d_v), widths, n_q, n_kv, bias, seed)| {
            let mut dims = Dims::with_head_sizes(d_model, n_heads, d_k, d_v).unwrap();
            if let Some((key, value)) = widths {
                dims = dims.with_source_widths(key, value).unwrap();
            }
            any_mask(n_heads, n_q, n_kv).prop_map(move |mask| Case {
                dims,
                n_q,
                n_kv,
                bias,
                mask,
                seed,
            })
        },
    )
}

/// Tries a property on so many random values. A value that fails is made as small as it
/// can be, and its seed is kept in `tests/stages/regressions`: from then on it is tried first, on
/// every machine that has the file.
///
/// # Panics
/// If the property does not hold, with the value.
pub fn check<S: Strategy>(
    name: &'static str,
    n_cases: u32,
    strategy: &S,
    property: impl Fn(S::Value) -> TestCaseResult,
) {
    // proptest asks for a path that lives as long as the program.
    let path = format!("{}/regressions/{name}.txt", env!("CARGO_MANIFEST_DIR"));
    let kept = FileFailurePersistence::Direct(path.leak());
    let config = Config {
        cases: n_cases,
        failure_persistence: Some(Box::new(kept)),
        ..Config::default()
    };
    let outcome = TestRunner::new(config).run(strategy, property);
    outcome.unwrap_or_else(|failure| panic!("{name}: {failure}"));
}

/// A mask of any kind, several at once and one a head among them.
pub fn any_mask(n_heads: usize, n_q: usize, n_kv: usize) -> impl Strategy<Value = Mask> {
    let matrix = move |seed, spread| {
        random_matrix::<f64>(n_q, n_kv, spread, &mut Rng::seed_from_u64(seed))
    };
    let one = prop_oneof![
        Just(Mask::None),
        Just(Mask::Causal),
        Just(Mask::CausalTopLeft),
        (0..=n_kv).prop_map(Mask::FirstKeys),
        proptest::collection::vec(any::<bool>(), n_kv).prop_map(Mask::Keys),
        any::<u64>().prop_map(move |s| Mask::Allowed(matrix(s, 1.0).map(|x| x > 0.0))),
        any::<u64>().prop_map(move |s| Mask::Additive(
            matrix(s, 2.0).map(|x| if x > 2.0 { f64::NEG_INFINITY } else { x })
        )),
    ];
    prop_oneof![
        3 => one.clone(),
        1 => proptest::collection::vec(one.clone(), 2..4).prop_map(Mask::All),
        1 => proptest::collection::vec(one, n_heads).prop_map(Mask::PerHead),
    ]
}

/// Every stage with the same parameters, the definition first.
pub fn every_stage<T: Real>(
    parameters: &LayerParameters<T>,
) -> Vec<Box<dyn MultiHeadAttention<T>>> {
    vec![
        Box::new(NaiveAttention::new(parameters.clone())),
        Box::new(PerHeadAttention::new(parameters.clone())),
        Box::new(SumOfHeadsAttention::new(parameters.clone())),
        Box::new(FusedAttention::new(parameters)),
    ]
}

/// Every stage, and the fused one with the sequence among others in a batch.
pub fn every_stage_and_batched<T: Real>(
    parameters: &LayerParameters<T>,
) -> Vec<Box<dyn MultiHeadAttention<T>>> {
    let mut stages = every_stage(parameters);
    stages.push(Box::new(Batched(FusedAttention::new(parameters))));
    stages
}

/// The fused layer on a batch of three sequences, of which the middle one is asked for:
/// its neighbours must not show.
struct Batched<T: Real>(FusedAttention<T>);

impl<T: Real> MultiHeadAttention<T> for Batched<T> {
    fn name(&self) -> &'static str {
        "batched"
    }

    fn dims(&self) -> Dims {
        self.0.dims()
    }

    fn parameter_count(&self) -> attention::ParameterCount {
        self.0.parameter_count()
    }

    fn forward(
        &self,
        query: &Matrix<T>,
        key: &Matrix<T>,
        value: &Matrix<T>,
        mask: &Mask,
    ) -> Result<Attended<T>> {
        let rng = &mut Rng::seed_from_u64(3);
        let mut among_others = |x: &Matrix<T>| {
            let mut other = || random_matrix(x.nrows(), x.ncols(), 5.0, rng);
            Batch::stack(&[other(), x.clone(), other()])
        };
        let [query, key, value] =
            [among_others(query)?, among_others(key)?, among_others(value)?];
        let masks = [Mask::None, mask.clone(), Mask::FirstKeys(1)];
        let batch = self.0.forward_batch(&query, &key, &value, &masks)?;
        Ok(batch.into_sequences().swap_remove(1))
    }
}

/// How far a stage may be from what the trained layer gave where it was trained, in float32.
pub const TRAINED: f64 = 5e-6;

/// The largest difference between two results of the same shapes.
pub fn difference<T: Real>(a: &Attended<T>, b: &Attended<T>) -> f64 {
    a.max_abs_diff(b).unwrap()
}

/// Fails unless the difference is within the tolerance, and says between whom.
pub fn assert_close(between: impl std::fmt::Display, difference: f64, tolerance: f64) {
    assert!(
        difference <= tolerance,
        "{between}: max |Δ| = {difference:.3e}, allowed {tolerance:.0e}"
    );
}

/// A layer of the usual sizes, for tests of one thing.
pub fn layer(d_model: usize, n_heads: usize, seed: u64) -> LayerParameters {
    let dims = Dims::new(d_model, n_heads).unwrap();
    LayerParameters::random(dims, true, &mut Rng::seed_from_u64(seed))
}

/// Random tokens, `[n_tokens, d_model]`.
pub fn tokens(n_tokens: usize, d_model: usize, seed: u64) -> Matrix {
    random_matrix(n_tokens, d_model, 1.0, &mut Rng::seed_from_u64(seed))
}

/// A layer with W^O replaced.
pub fn with_w_o(layer: &LayerParameters, w_o: Linear) -> LayerParameters {
    LayerParameters::new(layer.heads().to_vec(), w_o).unwrap()
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeSet;

    use proptest::strategy::ValueTree;

    use super::*;

    /// Of which kind a mask is. One more kind does not compile here, and then `any_mask` must
    /// draw it: [`N_KINDS`] are asked for.
    fn kind(mask: &Mask) -> usize {
        match mask {
            Mask::None => 0,
            Mask::Causal => 1,
            Mask::CausalTopLeft => 2,
            Mask::FirstKeys(_) => 3,
            Mask::Keys(_) => 4,
            Mask::Allowed(_) => 5,
            Mask::Additive(_) => 6,
            Mask::All(_) => 7,
            Mask::PerHead(_) => 8,
        }
    }

    const N_KINDS: usize = 9;

    #[test]
    fn masks_of_every_kind_are_drawn() {
        let mut runner = TestRunner::deterministic();
        let drawn = (0..400).map(|_| any_mask(2, 3, 4).new_tree(&mut runner).unwrap());
        let kinds: BTreeSet<usize> = drawn.map(|tree| kind(&tree.current())).collect();
        assert_eq!(kinds, (0..N_KINDS).collect());
    }
}
