//! The stages side by side, and how far apart they are.

use anyhow::{Result, bail};
use attention::{Attended, Batch, LayerParameters, Matrix, MultiHeadAttention, Real};
use clap::ValueEnum;
use fused_heads::FusedAttention;
use per_head::{NaiveAttention, PerHeadAttention};

use super::finite::NotFinite;
use super::inputs::Inputs;
use super::precision::is_f32;
use super::report::Report;
use workshop::progress::spinner;

/// How the layer is computed.
#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
pub enum Stage {
    /// In loops, as it is defined
    Naive,
    /// Head by head, in matrices
    PerHead,
    /// One projection for all heads, and all sequences at once
    Fused,
    /// Each of them, compared
    All,
}

/// A stage's name, and what it gave for each sequence.
pub type Named<T> = (&'static str, Vec<Attended<T>>);

impl Stage {
    /// Every sequence through this stage, or through each of them.
    pub fn run<T: Real>(
        self,
        layer: &LayerParameters<T>,
        inputs: &Inputs<T>,
    ) -> Result<Vec<Named<T>>> {
        match self {
            Self::Naive => {
                Ok(vec![one_by_one(&NaiveAttention::new(layer.clone()), inputs)?])
            }
            Self::PerHead => {
                Ok(vec![one_by_one(&PerHeadAttention::new(layer.clone()), inputs)?])
            }
            Self::Fused => Ok(vec![at_once(&FusedAttention::new(layer), inputs)?]),
            Self::All => {
                let each = [Self::Naive, Self::PerHead, Self::Fused];
                let each: Result<Vec<_>> =
                    each.iter().map(|stage| stage.run(layer, inputs)).collect();
                Ok(each?.concat())
            }
        }
    }
}

/// Prints how far apart the stages are, and fails if that is more than rounding.
///
/// What rounding does is proportional to the numbers that are rounded. A score of 10⁴ in
/// f32 is known to 10⁻³, and so is, relatively, its weight: the tolerance (10⁻¹⁰ in f64,
/// 10⁻⁴ in f32) grows with the largest score and, for outputs, with the largest output.
pub fn compare<T: Real>(
    to: &mut Report,
    layer: &LayerParameters<T>,
    inputs: &Inputs<T>,
    results: &[Named<T>],
) -> Result<()> {
    let unit = if is_f32::<T>() { 1e-4 } else { 1e-10 };
    let scores = largest_score(layer, inputs)?.max(1.0);
    let outs = results.iter().flat_map(|(_, attended)| attended).map(|one| &one.out);
    let outs = largest(outs).max(1.0);
    let (attn_bound, out_bound) = (unit * scores, unit * scores * outs);

    to.line("\nlargest difference between stages");
    let (mut beyond, mut has_overflow) = (Vec::new(), false);
    for (i, (a_name, a)) in results.iter().enumerate() {
        for (b_name, b) in &results[i + 1..] {
            let (out, attn) = differences(a, b);
            let pair = format!("{a_name} and {b_name}");
            to.line(format_args!("  {pair:<20} output {out:.1e}, maps {attn:.1e}"));
            has_overflow |= out.is_infinite() || attn.is_infinite();
            for (what, found, bound) in
                [("outputs", out, out_bound), ("maps", attn, attn_bound)]
            {
                if found > bound {
                    beyond.push(format!(
                        "the stages {pair} differ by {found:.1e} in their {what}, \
                         and rounding explains at most {bound:.1e}"
                    ));
                }
            }
        }
    }
    let found = NotFinite::find(layer, inputs);
    if has_overflow && found.named().is_none() {
        bail!(
            "{}. So the stages, which add in different orders, cannot be compared; nothing \
             was written{}",
            found.why::<T>(),
            if is_f32::<T>() { ". --dtype f64 holds larger numbers" } else { "" }
        );
    }
    if !beyond.is_empty() {
        bail!("{}; nothing was written", beyond.join("; "));
    }
    Ok(())
}

fn one_by_one<T: Real>(
    stage: &impl MultiHeadAttention<T>,
    inputs: &Inputs<T>,
) -> Result<Named<T>> {
    let Inputs { query, key, value, masks, .. } = inputs;
    let bar = spinner(format!("attend: computing {}", stage.name()));
    let mut attended = Vec::with_capacity(query.len());
    for s in 0..query.len() {
        bar.set_detail(format!(
            "{}: sequence {} of {}",
            stage.name(),
            s + 1,
            query.len()
        ));
        attended.push(stage.forward(&query[s], &key[s], &value[s], &masks[s])?);
    }
    bar.finish_and_clear();
    Ok((stage.name(), attended))
}

fn at_once<T: Real>(stage: &FusedAttention<T>, inputs: &Inputs<T>) -> Result<Named<T>> {
    let n_sequences = inputs.query.len();
    let bar =
        spinner(format!("attend: computing {}, {n_sequences} sequences", stage.name()));
    let [query, key, value] =
        [&inputs.query, &inputs.key, &inputs.value].map(|x| Batch::stack(x));
    let attended = stage.forward_batch(&query?, &key?, &value?, &inputs.masks)?;
    bar.finish_and_clear();
    Ok((stage.name(), attended.into_sequences()))
}

/// The largest scaled score before the mask, in any head.
fn largest_score<T: Real>(
    layer: &LayerParameters<T>,
    inputs: &Inputs<T>,
) -> attention::Result<f64> {
    let stage = PerHeadAttention::new(layer.clone());
    let Inputs { query, key, value, masks, .. } = inputs;
    let mut found = 0.0_f64;
    for s in 0..query.len() {
        let heads = stage.heads(&query[s], &key[s], &value[s], &masks[s])?;
        found = found.max(largest(heads.iter().map(|head| &head.scores)));
    }
    Ok(found)
}

fn largest<'a, T: Real>(matrices: impl Iterator<Item = &'a Matrix<T>>) -> f64 {
    let sizes = matrices.flat_map(|matrix| matrix.iter()).map(|x| x.to_f64().abs());
    sizes.filter(|size| size.is_finite()).fold(0.0, f64::max)
}

/// The largest difference of outputs, and of maps.
fn differences<T: Real>(a: &[Attended<T>], b: &[Attended<T>]) -> (f64, f64) {
    let mut found = (0.0_f64, 0.0_f64);
    for (a, b) in a.iter().zip(b) {
        found.0 = found.0.max(difference(&a.out, &b.out));
        for (a, b) in a.attn.iter().zip(&b.attn) {
            found.1 = found.1.max(difference(a, b));
        }
    }
    found
}

/// The largest difference between two matrices of one shape, where a row with NaN is equal
/// to a row with NaN: the stages agree on which queries read a NaN, and need not agree on
/// where in the row it shows. A NaN in only one of the two is an infinite difference.
fn difference<T: Real>(a: &Matrix<T>, b: &Matrix<T>) -> f64 {
    let mut found = 0.0_f64;
    for (a, b) in a.row_iter().zip(b.row_iter()) {
        let has_nan = [&a, &b].map(|row| row.iter().any(|x| x.is_nan()));
        if has_nan[0] != has_nan[1] {
            return f64::INFINITY;
        }
        if !has_nan[0] {
            let pairs = a.iter().zip(b.iter()).filter(|(a, b)| a != b);
            found = pairs.map(|(a, b)| (*a - *b).to_f64().abs()).fold(found, f64::max);
        }
    }
    found
}

#[cfg(test)]
mod tests {
    use attention::{Dims, Mask, Rng, SeedableRng, random_matrix};

    use super::*;

    fn layer_and_inputs() -> (LayerParameters, Inputs) {
        let rng = &mut Rng::seed_from_u64(1);
        let layer = LayerParameters::random(Dims::new(8, 2).unwrap(), true, rng);
        let x = vec![random_matrix(3, 8, 1.0, rng), random_matrix(3, 8, 1.0, rng)];
        let [query, key, value] = [x.clone(), x.clone(), x];
        let masks = vec![Mask::Causal, Mask::Causal];
        let inputs =
            Inputs { query, key, value, masks, is_batched: true, found: Vec::new() };
        (layer, inputs)
    }

    #[test]
    fn stages_that_differ_are_named() {
        let to = &mut Report::default();
        let (layer, inputs) = layer_and_inputs();
        let mut results = Stage::All.run(&layer, &inputs).unwrap();
        compare(to, &layer, &inputs, &results).unwrap();
        results[1].1[1].attn[1][(2, 0)] += 1e-6;
        let error = compare(to, &layer, &inputs, &results).unwrap_err().to_string();
        let named = ["naive and per-head differ by 1.0e-6", "per-head and fused differ"];
        assert!(named.iter().all(|name| error.contains(name)), "{error}");
        assert!(!error.contains("naive and fused"), "{error}");
    }

    #[test]
    fn a_nan_is_agreed_on_row_by_row() {
        let to = &mut Report::default();
        let (layer, mut inputs) = layer_and_inputs();
        for x in [&mut inputs.query, &mut inputs.key, &mut inputs.value] {
            x[0][(1, 4)] = f64::NAN;
        }
        let mut results = Stage::All.run(&layer, &inputs).unwrap();
        compare(to, &layer, &inputs, &results).unwrap();
        assert!(results[0].1[0].out.row(0).iter().all(|x| x.is_finite()));
        results[2].1[0].out[(0, 0)] = f64::NAN;
        assert!(compare(to, &layer, &inputs, &results).is_err());
    }

    /// One stage is at infinity and another is at NaN, or just below.
    #[test]
    fn an_overflow_is_called_by_its_name() {
        let to = &mut Report::default();
        let (layer, inputs) = layer_and_inputs();
        let mut results = Stage::All.run(&layer, &inputs).unwrap();
        for overflowed in [f64::NAN, f64::INFINITY] {
            results[1].1[0].out[(0, 0)] = overflowed;
            let error = compare(to, &layer, &inputs, &results).unwrap_err().to_string();
            assert!(error.contains("f64 can be (1.8e308): an overflow"), "{error}");
            assert!(!error.contains("differ by"), "{error}");
        }
        // In earnest: products of 1e25 are beyond what f32 holds.
        let layer = layer.cast::<f32>();
        let mut inputs = inputs.cast::<f32>();
        for x in [&mut inputs.query, &mut inputs.key, &mut inputs.value] {
            x[0].scale_mut(1e25);
        }
        let results = Stage::All.run(&layer, &inputs).unwrap();
        if let Err(error) = compare(to, &layer, &inputs, &results) {
            assert!(error.to_string().contains("an overflow"), "{error}");
        }
        let found = NotFinite::find(&layer, &inputs);
        assert_eq!(found.named(), None);
        assert!(found.why::<f32>().contains("larger than an f32 can be (3.4e38)"));
    }
}
