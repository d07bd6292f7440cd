//! Random layers, and a second implementation of the right one: in loops, and in any
//! precision.

#![allow(dead_code)] // each of the test programs uses a part

pub mod loops;

use attention::{Dims, LayerParameters, Linear, Matrix, Rng, random_matrix};
use diagnosis::recipe::Packing;
use diagnosis::{
    Corner, Diagnosis, EmptyRow, HeadNorm, Intent, Masks, Mistake, NormKind, Pairing,
    Positions, Precision, Record, State, Weights, bank, computed, diagnose, mistake,
};
use loops::Machine;
use rand::RngExt;

/// The sets of mistakes that explain a layer.
pub fn ids(diagnosis: &Diagnosis) -> Vec<Vec<&'static str>> {
    let sets = diagnosis.explanations.iter();
    sets.map(|set| set.iter().map(|it| it.id).collect()).collect()
}

/// All that is said of a layer, for the words of a test that fails.
pub fn summary(diagnosis: &Diagnosis) -> String {
    let Diagnosis { verdict, number_words, condition, tensors, .. } = diagnosis;
    let ids = ids(diagnosis);
    format!("{verdict:?} {ids:?}, {number_words:?}, {condition:?}, {tensors:?}")
}

pub fn mistakes(ids: &[&str]) -> Vec<&'static Mistake> {
    ids.iter().map(|id| mistake(id).unwrap()).collect()
}

/// Random self-attention of so many sequences and tokens, d_model and heads, stored in float32
/// and without an output.
pub fn self_attention([batch, n, d_model, h]: [usize; 4], rng: &mut Rng) -> Layer {
    let layer = LayerParameters::random(Dims::new(d_model, h).unwrap(), true, rng).pack();
    let sequences = (0..batch).map(|_| random_matrix(n, d_model, 1.0, rng)).collect();
    let mut record = Record::of_layer(&layer, sequences);
    record.precision = Precision::F32;
    Layer { record, intent: Intent::heads(h) }
}

/// A tensor as this kind of numbers has it.
pub fn stored(tensor: Vec<Matrix>, precision: Precision) -> Vec<Matrix> {
    let file = Machine::of(precision);
    tensor.into_iter().map(|m| m.map(|x| file.kept(x))).collect()
}

/// Changes every number of the parameters and the inputs.
pub fn change_all(record: &mut Record, change: impl Fn(&mut f64)) {
    let Weights { projections, packed, output, .. } = &mut record.weights;
    for linear in projections.iter_mut().chain(packed).chain(output) {
        let bias = linear.bias.iter_mut().flatten();
        linear.weight.iter_mut().chain(bias).for_each(&change);
    }
    record.inputs.iter_mut().flatten().flatten().for_each(change);
}

/// Multiplies the weights of separate projections, and not their biases.
pub fn multiply_weights(record: &mut Record, factor: f64) {
    let Weights { projections, output, .. } = &mut record.weights;
    projections.iter_mut().chain(output).for_each(|linear| linear.weight *= factor);
}

/// The numbers of a layer, and what was meant.
#[derive(Debug, Clone)]
pub struct Layer {
    pub record: Record,
    pub intent: Intent,
}

impl Layer {
    /// The output of the layer with these mistakes; nothing where shapes do not fit.
    pub fn output(&self, mistakes: &[&Mistake]) -> Option<Vec<Matrix>> {
        self.output_with(mistakes, self.intent.empty_row)
    }

    /// The same where a query without a key gets this.
    pub fn output_with(
        &self,
        wrong: &[&Mistake],
        empty: EmptyRow,
    ) -> Option<Vec<Matrix>> {
        let intent = Intent { empty_row: empty, ..self.intent.clone() };
        computed(&self.record, &intent, State::Output, wrong)
    }

    /// The output with these mistakes, if it is of another shape, or further by this share of its
    /// size, than what it is without one or all of them, whatever a query without a key gets.
    pub fn shown(&self, mistakes: &[&Mistake], share: f64) -> Option<Vec<Matrix>> {
        let wrong = self.output_with(mistakes, EmptyRow::Zeros)?;
        let size = size(&wrong);
        let mut without = vec![vec![]];
        for left_out in mistakes.iter().filter(|_| mistakes.len() > 1) {
            without.push(mistakes.iter().copied().filter(|it| it != left_out).collect());
        }
        let is_far = |empty_row| {
            let mut others = without.iter().map(|it| self.output_with(it, empty_row));
            others.all(|it| {
                it.is_some_and(|it| apart(&wrong, &it).is_none_or(|x| x > share * size))
            })
        };
        let empty_rows = [EmptyRow::Zeros, EmptyRow::Even, EmptyRow::Unmasked];
        (size.is_finite() && empty_rows.into_iter().all(is_far)).then_some(wrong)
    }

    /// Adds the tensor of the layer with these mistakes, in float32.
    pub fn add(&mut self, state: State, ids: &[&str]) {
        let tensor = computed(&self.record, &self.intent, state, &mistakes(ids)).unwrap();
        self.record.tensors.insert(state, stored(tensor, Precision::F32));
    }

    /// The mistakes that it may have.
    pub fn possible(&self) -> Vec<&'static Mistake> {
        bank().filter(|it| it.is_possible(&self.record, &self.intent)).collect()
    }

    pub fn diagnosis(&self) -> Diagnosis {
        diagnose(&self.record, &self.intent).expect("shapes that fit")
    }

    /// The same with this output.
    pub fn with(mut self, output: Vec<Matrix>) -> Self {
        self.record.tensors.insert(State::Output, output);
        self
    }

    /// What is said of it where its output is this one.
    pub fn diagnosed(&self, output: Vec<Matrix>) -> Diagnosis {
        self.clone().with(output).diagnosis()
    }
}

/// The root of the sum of the squares.
pub fn size(tensor: &[Matrix]) -> f64 {
    tensor.iter().map(|m| m.norm_squared()).sum::<f64>().sqrt()
}

/// That of a difference; nothing where shapes differ.
pub fn apart(a: &[Matrix], b: &[Matrix]) -> Option<f64> {
    let is_same = a.len() == b.len() && a[0].shape() == b[0].shape();
    is_same.then(|| size(&a.iter().zip(b).map(|(a, b)| a - b).collect::<Vec<_>>()))
}

/// How often of ten.
fn of_ten(times: u32, rng: &mut Rng) -> bool {
    rng.random_range(0..10) < times
}

/// A layer of random sizes and kinds, with inputs and masks and without an output.
pub fn random_layer(rng: &mut Rng) -> Layer {
    let n_heads = rng.random_range(1..=4);
    let divisors: Vec<usize> = (1..=n_heads).filter(|h| n_heads % h == 0).collect();
    let n_kv_heads = match of_ten(6, rng) {
        true => n_heads,
        false => divisors[rng.random_range(0..divisors.len())],
    };
    let has_rotary = of_ten(4, rng);
    let d_k =
        if has_rotary { 2 * rng.random_range(1..=4) } else { rng.random_range(1..=8) };
    let is_packed = of_ten(4, rng);
    let is_by_heads = of_ten(3, rng) && is_packed && n_kv_heads == n_heads;
    let mut intent = Intent {
        n_heads,
        n_kv_heads,
        causal: of_ten(4, rng).then_some(match of_ten(7, rng) {
            true => Corner::BottomRight,
            false => Corner::TopLeft,
        }),
        rotary: has_rotary.then(|| {
            let pairing = if of_ten(5, rng) { Pairing::Halves } else { Pairing::Pairs };
            (pairing, if of_ten(7, rng) { 10_000.0 } else { 500_000.0 })
        }),
        scale: of_ten(2, rng).then_some(0.3),
        cap: of_ten(2, rng).then_some(2.0),
        packing: if is_by_heads { Packing::HeadByHead } else { Packing::Blocks },
        ..Intent::heads(n_heads)
    };
    let is_square = of_ten(7, rng);
    let d_model = if is_square { n_heads * d_k } else { rng.random_range(3..=24) };
    let weights = weights(&intent, [d_model, d_k], is_packed, rng);
    let inputs = inputs(d_model, is_packed, rng);
    let masks = masks(&inputs, n_heads, rng);
    let mut record = Record { masks, ..Record::new(weights, inputs) };
    if of_ten(4, rng) {
        add_kinds(&mut record, &mut intent, rng);
    }
    Layer { record, intent }
}

/// Norms, sinks, windows, slopes and positions.
fn add_kinds(record: &mut Record, intent: &mut Intent, rng: &mut Rng) {
    let [q, k] = [0, 1].map(|role| record.weights.projections[role].d_out());
    let row = |n: usize, rng: &mut Rng| {
        random_matrix::<f64>(1, n, 0.7, rng).row(0).into_owned()
    };
    if of_ten(5, rng) {
        let is_whole = of_ten(3, rng);
        let is_one = !is_whole && of_ten(8, rng);
        let (is_layer, has_bias) = (of_ten(3, rng), of_ten(5, rng));
        let widths = if is_one { [q / intent.n_heads; 2] } else { [q, k] };
        let norm = |n: usize| HeadNorm {
            gain: row(n, rng).add_scalar(1.0),
            bias: (is_layer && has_bias).then(|| row(n, rng)),
            kind: if is_layer { NormKind::Layer } else { NormKind::RootMeanSquare },
            is_whole,
            eps: 1e-6,
        };
        record.weights.norms = Some(widths.map(norm));
    }
    let h = intent.n_heads;
    record.weights.sinks = of_ten(4, rng).then(|| row(h, rng).iter().copied().collect());
    let (n_q, n_kv) = record.lengths();
    intent.window = of_ten(4, rng).then(|| rng.random_range(1..=n_kv));
    intent.slopes = of_ten(4, rng).then(|| match of_ten(7, rng) {
        true => Intent::paper_slopes(h),
        false => row(h, rng).iter().map(|x| x.abs() + 0.01).collect(),
    });
    if of_ten(5, rng) {
        intent.offset = Some(rng.random_range(0..n_kv));
    }
    if of_ten(3, rng) {
        let lists = if of_ten(5, rng) { 1 } else { record.batch() };
        let first = intent.first_query((n_q, n_kv)).max(0) as usize;
        let mut list = |first: usize, n: usize| -> Vec<f64> {
            let padding = rng.random_range(0..=2);
            (0..n).map(|t| (first + t).saturating_sub(padding) as f64).collect()
        };
        intent.positions = Some(Positions {
            queries: (0..lists).map(|_| list(first, n_q)).collect(),
            keys: (0..lists).map(|_| list(0, n_kv)).collect(),
        });
    }
}

fn weights(intent: &Intent, dims: [usize; 2], is_packed: bool, rng: &mut Rng) -> Weights {
    let [d_model, d_k] = dims;
    let Intent { n_heads, n_kv_heads, packing, .. } = *intent;
    let has_bias = of_ten(7, rng);
    let widths = [n_heads, n_kv_heads, n_kv_heads].map(|heads| heads * d_k);
    let mut linear = |d_out: usize, d_in: usize| {
        let mut linear = Linear::<f64>::random(d_in, d_out, has_bias, rng);
        linear.weight *= 1.5;
        if let Some(bias) = &mut linear.bias {
            *bias = random_matrix(1, d_out, 0.5, rng).row(0).into_owned();
        }
        linear
    };
    let output = linear(d_model, n_heads * d_k);
    if !is_packed {
        let projections = widths.map(|width| linear(width, d_model));
        return Weights::new(projections, Some(output));
    }
    let packed = linear(widths.iter().sum(), d_model);
    let output = Some(output);
    Weights::of_packed(packed, packing, widths, d_k, output).expect("widths that fit")
}

fn inputs(d_model: usize, is_packed: bool, rng: &mut Rng) -> [Vec<Matrix>; 3] {
    let batch = rng.random_range(1..=4);
    let n_q = rng.random_range(1..=8);
    let sequences = |n: usize, rng: &mut Rng| -> Vec<Matrix> {
        (0..batch).map(|_| random_matrix(n, d_model, 1.0, rng)).collect()
    };
    let query = sequences(n_q, rng);
    let (is_cross, n_kv) = (of_ten(3, rng) && !is_packed, rng.random_range(1..=8));
    if !is_cross {
        return [query.clone(), query.clone(), query];
    }
    let key = sequences(if n_kv % 2 == 0 { n_q } else { n_kv }, rng);
    let value = sequences(key[0].nrows(), rng);
    let is_one = n_kv % 3 > 0;
    [query, key.clone(), if is_one { key } else { value }]
}

fn masks(inputs: &[Vec<Matrix>; 3], n_heads: usize, rng: &mut Rng) -> Masks {
    let (batch, n_q, n_kv) =
        (inputs[0].len(), inputs[0][0].nrows(), inputs[1][0].nrows());
    let mut masks = Masks::default();
    if of_ten(3, rng) {
        let mut list = || -> Vec<bool> {
            let length = rng.random_range(1..=n_kv);
            (0..n_kv).map(|t| t < length).collect()
        };
        masks.padding = Some((0..batch).map(|_| list()).collect());
    }
    let counts = [1, batch, batch * n_heads];
    let n = counts[rng.random_range(0..3)];
    if of_ten(2, rng) {
        let mut open = || Matrix::from_fn(n_q, n_kv, |_, _| of_ten(7, rng));
        masks.pairs = Some((0..n).map(|_| open()).collect());
    } else if of_ten(1, rng) {
        masks.added = Some((0..n).map(|_| random_matrix(n_q, n_kv, 1.0, rng)).collect());
    }
    masks
}
