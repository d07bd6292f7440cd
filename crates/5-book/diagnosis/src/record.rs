//! What is known of a layer of somebody else: its numbers.

use std::collections::BTreeMap;
use std::slice;

use crate::digits::Digits;
use crate::step::State;
use crate::{Error, Intent, Precision, Result};
use attention::{Linear, Matrix, PackedParameters, RowVector};

/// The parameters, `[in, out]` as the paper writes them.
#[derive(Debug, Clone, PartialEq)]
pub struct Weights {
    /// W^Q, W^K and W^V with their biases, as the layer's maker meant them.
    pub projections: [Linear; 3],
    /// The three side by side as the file has them, where it packs them.
    pub packed: Option<Linear>,
    /// W^O and its bias; a layer without one gives its heads side by side.
    pub output: Option<Linear>,
    /// Norms of queries and of keys, before they are rotated.
    pub norms: Option<[HeadNorm; 2]>,
    /// A score more for each head, whose weight is dropped after the softmax.
    pub sinks: Option<Vec<f64>>,
}

impl Weights {
    /// Projections alone.
    pub fn new(projections: [Linear; 3], output: Option<Linear>) -> Self {
        Self { projections, packed: None, output, norms: None, sinks: None }
    }
}

/// A norm of queries or keys.
#[derive(Debug, Clone, PartialEq)]
pub struct HeadNorm {
    /// What an entry is multiplied by: d_k of them for every head, or those of all heads.
    pub gain: RowVector<f64>,
    /// What is then added, as many.
    pub bias: Option<RowVector<f64>>,
    /// What it divides by.
    pub kind: NormKind,
    /// Whether it is over all heads together, and not over each.
    pub is_whole: bool,
    /// What is added to the mean of the squares.
    pub eps: f64,
}

/// What a norm divides by.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum NormKind {
    /// The root of the mean of the squares.
    RootMeanSquare,
    /// The same after the mean is subtracted.
    Layer,
    /// Nothing says which of the two: the first, and then the second is tried too.
    Unsaid,
}

impl HeadNorm {
    /// A root mean square over each head, with these gains.
    pub fn of_heads(gain: RowVector<f64>) -> Self {
        let kind = NormKind::RootMeanSquare;
        Self { gain, bias: None, kind, is_whole: false, eps: 1e-6 }
    }

    /// `a root mean square with eps 1e-6, before the rotation`.
    pub(crate) fn words(&self) -> String {
        let kind = match self.kind {
            NormKind::RootMeanSquare | NormKind::Unsaid => "a root mean square",
            NormKind::Layer => "a layer norm",
        };
        let eps = self.eps;
        format!(
            "norms of queries and keys, {kind} with eps {eps:e}, before they are rotated"
        )
    }
}

/// Masks that came with the input. **True means "may attend".**
#[derive(Debug, Clone, PartialEq, Default)]
pub struct Masks {
    /// Which keys are no padding, a list of `n_kv` a sequence.
    pub padding: Option<Vec<Vec<bool>>>,
    /// Which query may attend to which key, `[n_q, n_kv]`: one for all, one a sequence, or
    /// one a head, the heads of a sequence together.
    pub pairs: Option<Vec<Matrix<bool>>>,
    /// What is added to the scores, in as many matrices.
    pub added: Option<Vec<Matrix>>,
}

impl Masks {
    /// Whether there is none.
    pub fn is_empty(&self) -> bool {
        self.padding.is_none() && self.pairs.is_none() && self.added.is_none()
    }

    /// Whether a mask of queries and keys leaves neighbours in each row, and not the first key
    /// in the last: a window.
    pub(crate) fn has_bands(&self) -> bool {
        let is_band = |m: &Matrix<bool>| {
            let starts = m.row_iter().map(|row| {
                let open: Vec<usize> = (0..row.len()).filter(|&c| row[c]).collect();
                let is_one = open.windows(2).all(|two| two[1] == two[0] + 1);
                open.first().copied().filter(|_| is_one)
            });
            let starts: Option<Vec<usize>> = starts.collect();
            starts.is_some_and(|it| it.is_sorted() && it.last() > Some(&0))
        };
        self.pairs.as_ref().is_some_and(|all| all.iter().all(is_band))
    }
}

/// The numbers of a layer: what went in, and what its code gave.
#[derive(Debug, Clone, PartialEq)]
pub struct Record {
    /// Its parameters.
    pub weights: Weights,
    /// The inputs for queries, keys and values: a matrix a sequence, rows are tokens.
    pub inputs: [Vec<Matrix>; 3],
    /// Masks that came with them.
    pub masks: Masks,
    /// What its code gave: the output, and tensors on the way to it. Where there is a matrix
    /// a head, those of a sequence lie together.
    pub tensors: BTreeMap<State, Vec<Matrix>>,
    /// The kind of numbers it was stored in.
    pub precision: Precision,
}

impl Record {
    /// Parameters and inputs alone, in f64.
    pub fn new(weights: Weights, inputs: [Vec<Matrix>; 3]) -> Self {
        let (masks, tensors) = Default::default();
        Self { weights, inputs, masks, tensors, precision: Precision::F64 }
    }

    /// A layer of this workspace on its own inputs, self-attention, in f64 and without a
    /// tensor of its computing.
    pub fn of_layer(layer: &PackedParameters, sequences: Vec<Matrix>) -> Self {
        let [q, k, v, o] = layer.projections().map(Clone::clone);
        let inputs = [sequences.clone(), sequences.clone(), sequences];
        Self::new(Weights::new([q, k, v], Some(o)), inputs)
    }

    /// How many sequences there are.
    pub fn batch(&self) -> usize {
        self.inputs[0].len()
    }

    /// How many queries a sequence has, and how many keys.
    pub fn lengths(&self) -> (usize, usize) {
        (self.inputs[0][0].nrows(), self.inputs[1][0].nrows())
    }

    /// These sequences alone.
    pub(crate) fn of_sequences(&self, list: &[usize]) -> Self {
        let batch = self.batch();
        let mut record = self.clone();
        let Masks { padding, pairs, added } = &mut record.masks;
        let matrices = record.inputs.iter_mut().chain(record.tensors.values_mut());
        matrices.chain(added).for_each(|all| choose(all, batch, list));
        pairs.iter_mut().for_each(|all| choose(all, batch, list));
        padding.iter_mut().for_each(|all| choose(all, batch, list));
        record
    }

    /// The same with numbers that differ by less than half a step of its precision, or of the
    /// last digit that they show: what was rounded when it was written.
    pub(crate) fn jittered(&self, seed: u64) -> Self {
        let stored = self.precision;
        let mut jitter = Jitter { state: seed, step: stored.step() };
        let mut record = self.clone();
        let Weights { projections, packed, output, norms, sinks } = &mut record.weights;
        let linears = projections.iter_mut().chain(packed).chain(output);
        for linear in linears {
            let digits = Digits::of_input(slice::from_ref(&linear.weight), stored);
            jitter.apply(linear.weight.as_mut_slice(), digits);
            if let Some(bias) = &mut linear.bias {
                // A bias of few numbers shows nothing, and was printed as its weight was.
                let own = Digits::of_numbers(bias.iter().copied(), stored);
                let digits = own.filter(|it| it.decimals > 1).or(digits);
                jitter.apply(bias.as_mut_slice(), digits);
            }
        }
        for norm in norms.iter_mut().flatten() {
            let rows = [&mut norm.gain].into_iter().chain(&mut norm.bias);
            rows.for_each(|row| jitter.apply(row.as_mut_slice(), None));
        }
        sinks.iter_mut().for_each(|sinks| jitter.apply(sinks, None));
        // Inputs that are the same stay the same.
        for role in [0, 1, 2] {
            if role > 0 && self.inputs[role] == self.inputs[role - 1] {
                record.inputs[role] = record.inputs[role - 1].clone();
            } else {
                jitter.apply_all(&mut record.inputs[role], stored);
            }
        }
        record.masks.added.iter_mut().for_each(|added| jitter.apply_all(added, stored));
        let tensors = record.tensors.range_mut(..State::Output);
        tensors.for_each(|(_, tensor)| jitter.apply_all(tensor, stored));
        record
    }

    /// Whether numbers that its code reads show fewer digits than their kind has.
    pub(crate) fn has_few_digits(&self) -> bool {
        let weights = &self.weights;
        let linears = weights.projections.iter().chain(&weights.output);
        let parameters = linears.map(|linear| slice::from_ref(&linear.weight));
        let read = self.inputs.iter().chain(&self.masks.added).map(Vec::as_slice);
        let between = self.tensors.range(..State::Output).map(|(_, it)| it.as_slice());
        let mut tensors = parameters.chain(read).chain(between);
        tensors.any(|it| Digits::of_input(it, self.precision).is_some())
    }

    /// Compares shapes with each other and with the intent.
    ///
    /// # Errors
    /// [`Error`](crate::Error) for the first that does not fit.
    pub fn check(&self, intent: &Intent) -> Result<()> {
        self.check_layer(intent)?;
        self.check_finite()?;
        match self.tensors.get(&State::Output) {
            Some(output) if !output.is_empty() => Ok(()),
            _ => Err(Error::NoOutput),
        }
    }

    /// The same of parameters and inputs alone.
    pub(crate) fn check_layer(&self, intent: &Intent) -> Result<()> {
        let Intent { n_heads, n_kv_heads, .. } = *intent;
        expect(n_heads > 0 && n_kv_heads > 0, Error::NoHeads)?;
        let uneven = Error::KeyHeads { heads: n_heads, kv_heads: n_kv_heads };
        expect(n_heads.is_multiple_of(n_kv_heads), uneven)?;
        let roles = [('Q', n_heads), ('K', n_kv_heads), ('V', n_kv_heads)];
        for (role, (projection, heads)) in roles.into_iter().enumerate() {
            let linear = &self.weights.projections[role];
            let width = linear.d_out();
            let uneven = Error::Heads { projection, width, heads };
            expect(width.is_multiple_of(heads), uneven)?;
            let x = self.inputs[role].first().filter(|x| !x.is_empty());
            let (found, expected) = (x.ok_or(Error::NoTokens)?.ncols(), linear.d_in());
            expect(found == expected, Error::Input { projection, found, expected })?;
        }
        self.check_widths(intent)?;
        self.check_kinds(intent)
    }

    fn check_widths(&self, intent: &Intent) -> Result<()> {
        let Intent { n_heads: heads, n_kv_heads, rotary, .. } = *intent;
        let [q, k, v] = [0, 1, 2].map(|role| self.weights.projections[role].d_out());
        let (d_k, found) = (q / heads, k / n_kv_heads);
        expect(d_k == found, Error::KeyWidth { d_k, found })?;
        expect(rotary.is_none() || d_k % 2 == 0, Error::OddWidth { d_k })?;
        let expected = v / n_kv_heads * heads;
        let found = self.weights.output.as_ref().map_or(expected, Linear::d_in);
        expect(found == expected, Error::OutputInput { found, heads, expected })
    }

    /// Norms, sinks and slopes are of as many numbers as heads have, or as there are heads.
    fn check_kinds(&self, intent: &Intent) -> Result<()> {
        let heads = intent.n_heads;
        for (role, norm) in self.weights.norms.iter().flatten().enumerate() {
            let width = self.weights.projections[role].d_out();
            let of_head = width / if role == 0 { heads } else { intent.n_kv_heads };
            let found = norm.gain.len();
            let is_one = !norm.is_whole && found == of_head;
            let is_biased = norm.bias.as_ref().is_none_or(|bias| bias.len() == found);
            let other =
                Error::Norm { projection: ['Q', 'K'][role], found, of_head, width };
            expect((is_one || found == width) && is_biased, other)?;
        }
        let of_heads = [("sinks", &self.weights.sinks), ("slopes", &intent.slopes)];
        for (name, numbers) in of_heads {
            let found = numbers.as_ref().map_or(heads, Vec::len);
            expect(found == heads, Error::PerHead { name, found, heads })?;
        }
        expect(intent.window != Some(0), Error::NoWindow)
    }

    fn check_finite(&self) -> Result<()> {
        let Weights { projections, output, norms, sinks, .. } = &self.weights;
        let names = ["the query's input", "the key's input", "the value's input"];
        for (inputs, name) in self.inputs.iter().zip(names) {
            expect_finite(inputs.iter().flatten(), name)?;
        }
        let linears = projections.iter().chain(output);
        for (linear, name) in linears.zip(["W^Q", "W^K", "W^V", "W^O"]) {
            let bias = linear.bias.iter().flatten();
            expect_finite(linear.weight.iter().chain(bias), name)?;
        }
        let norms = norms.iter().flatten();
        let rows = norms.flat_map(|norm| [&norm.gain].into_iter().chain(&norm.bias));
        expect_finite(rows.flatten().chain(sinks.iter().flatten()), "a norm or a sink")
    }

    /// The output that its code gave.
    pub fn output(&self) -> &[Matrix] {
        self.tensors.get(&State::Output).map_or(&[], Vec::as_slice)
    }
}

fn expect_finite<'n>(
    mut numbers: impl Iterator<Item = &'n f64>,
    name: &'static str,
) -> Result<()> {
    expect(numbers.all(|x| x.is_finite()), Error::NotFinite(name))
}

fn expect(is_so: bool, otherwise: Error) -> Result<()> {
    if is_so { Ok(()) } else { Err(otherwise) }
}

/// Leaves what is of these sequences, where those of a sequence lie together; or what is one
/// for all.
fn choose<M: Clone>(all: &mut Vec<M>, batch: usize, list: &[usize]) {
    if all.len().is_multiple_of(batch) {
        let each = all.len() / batch;
        *all = list.iter().flat_map(|s| all[s * each..][..each].to_vec()).collect();
    }
}

/// A small generator, so that the same record has the same tolerance.
struct Jitter {
    state: u64,
    /// Relative to a number.
    step: f64,
}

impl Jitter {
    fn apply_all(&mut self, tensor: &mut [Matrix], stored: Precision) {
        let digits = Digits::of_input(tensor, stored);
        tensor.iter_mut().for_each(|m| self.apply(m.as_mut_slice(), digits));
    }

    fn apply(&mut self, numbers: &mut [f64], digits: Option<Digits>) {
        for x in numbers {
            self.state =
                self.state.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1);
            let unit = (self.state >> 11) as f64 / (1u64 << 53) as f64;
            let of_digits = digits.map_or(0.0, |digits| digits.step(*x));
            *x += (unit - 0.5) * of_digits.max(x.abs() * self.step);
        }
    }
}
