//! Layers, batches and masks at random, and what the definition says of them.

use attention::{
    Dims, LayerParameters, Mask, Matrix, MultiHeadAttention, Rng, SeedableRng,
    random_matrix,
};
use kernels::{Inputs, Packed, Rung, ladder};
use per_head::PerHeadAttention;
use proptest::prelude::*;
use tiles::Instructions;

use stages::cases::any_mask;

/// A layer, a batch and its masks.
#[derive(Debug, Clone)]
pub struct BatchCase {
    pub dims: Dims,
    pub n_sequences: usize,
    pub n_q: usize,
    pub n_kv: usize,
    pub self_attention: bool,
    /// Which of W^Q, W^K, W^V and W^O have a bias.
    pub biases: [bool; 4],
    pub masks: Vec<Mask>,
    pub seed: u64,
}

impl BatchCase {
    pub fn parameters(&self) -> LayerParameters<f32> {
        let rng = &mut Rng::seed_from_u64(self.seed);
        let all = LayerParameters::random(self.dims, true, rng);
        let (mut heads, mut w_o) = (all.heads().to_vec(), all.w_o().clone());
        for head in &mut heads {
            let linears = [&mut head.w_q, &mut head.w_k, &mut head.w_v];
            for (linear, bias) in linears.into_iter().zip(self.biases) {
                linear.bias = linear.bias.take().filter(|_| bias);
            }
        }
        w_o.bias = w_o.bias.filter(|_| self.biases[3]);
        LayerParameters::new(heads, w_o).unwrap()
    }

    /// Query, key and value of all sequences.
    pub fn tokens(&self) -> [Matrix<f32>; 3] {
        let rng = &mut Rng::seed_from_u64(!self.seed);
        let mut random = |n, width| random_matrix(self.n_sequences * n, width, 1.0, rng);
        let dims = self.dims;
        [
            random(self.n_q, dims.d_model()),
            random(self.n_kv, dims.key_width()),
            random(self.n_kv, dims.value_width()),
        ]
    }

    pub fn inputs<'a>(&'a self, [query, key, value]: &'a [Matrix<f32>; 3]) -> Inputs<'a> {
        let n_sequences = self.n_sequences;
        if self.self_attention {
            return Inputs::self_attention(n_sequences, query, &self.masks);
        }
        Inputs::cross_attention(n_sequences, query, key, value, &self.masks)
    }
}

/// 1 to 3 sequences of 1 to 300 tokens, every size its own or all alike, and one mask or
/// one a sequence.
pub fn any_batch() -> impl Strategy<Value = BatchCase> {
    let sizes = (1..=40usize, 1..=6usize, 1..=20usize, 1..=20usize);
    any_batch_of(sizes.boxed(), any_length().boxed())
}

/// So many heads and tokens that one thread has several groups of queries in a run.
pub fn any_large_batch() -> impl Strategy<Value = BatchCase> {
    let sizes = (1..=8usize, 20..=24usize, 1..=4usize, 1..=4usize);
    any_batch_of(sizes.boxed(), (200..=400usize).boxed())
}

/// 1 to 3 sequences with these sizes (d_model, heads, d_k, d_v) and lengths.
fn any_batch_of(
    sizes: BoxedStrategy<(usize, usize, usize, usize)>,
    length: BoxedStrategy<usize>,
) -> impl Strategy<Value = BatchCase> {
    let widths = prop_oneof![Just(None), (1..=16usize, 1..=16usize).prop_map(Some)];
    let n_kv = prop_oneof![Just(None), length.clone().prop_map(Some)];
    let lengths = (1..=3usize, length, n_kv);
    let flags = (any::<bool>(), any::<[bool; 4]>(), any::<bool>());
    (sizes, widths, lengths, flags, any::<u64>()).prop_flat_map(
        |(sizes, widths, (n_sequences, n_q, n_kv), flags, seed)| {
            let (self_attention, biases, one_mask) = flags;
            let (d_model, n_heads, d_k, d_v) = sizes;
            let mut dims = Dims::with_head_sizes(d_model, n_heads, d_k, d_v).unwrap();
            if let Some((key, value)) = widths.filter(|_| !self_attention) {
                dims = dims.with_source_widths(key, value).unwrap();
            }
            let n_kv = n_kv.filter(|_| !self_attention).unwrap_or(n_q);
            let n_masks = if one_mask { 1 } else { n_sequences };
            let masks = proptest::collection::vec(any_mask(n_heads, n_q, n_kv), n_masks);
            masks.prop_map(move |masks| BatchCase {
                dims,
                n_sequences,
                n_q,
                n_kv,
                self_attention,
                biases,
                masks,
                seed,
            })
        },
    )
}

/// Few tokens, and enough for several tiles.
fn any_length() -> impl Strategy<Value = usize> {
    prop_oneof![
        3 => 1..=3usize,
        6 => 1..=40usize,
        4 => 100..=150usize,
        1 => 255..=300usize,
    ]
}

/// What the definition gives in f64, for the same f32 numbers.
pub fn exact(parameters: &LayerParameters<f32>, inputs: &Inputs<'_>) -> Matrix {
    let stage = PerHeadAttention::new(parameters.cast::<f64>());
    let of_sequence = |x: &Matrix<f32>, s: usize| {
        let n = x.nrows() / inputs.n_sequences();
        x.rows(s * n, n).map(f64::from)
    };
    let outs = (0..inputs.n_sequences()).map(|s| {
        let [query, key, value] =
            [inputs.query(), inputs.key(), inputs.value()].map(|x| of_sequence(x, s));
        stage.forward(&query, &key, &value, inputs.mask(s)).unwrap().out
    });
    stack(&outs.collect::<Vec<_>>())
}

/// Rungs with the names that tests print.
pub type Rungs = Vec<(String, Box<dyn Rung>)>;

/// The ladder, and its last rung once more for every set of instructions, with names.
pub fn every_rung(parameters: &LayerParameters<f32>) -> Rungs {
    let mut all: Vec<_> =
        ladder(parameters).into_iter().map(|rung| (rung.name().into(), rung)).collect();
    all.extend(every_packed(parameters).into_iter().skip(1));
    all
}

/// The last rung for every set of instructions, with names.
pub fn every_packed(parameters: &LayerParameters<f32>) -> Rungs {
    let all = Instructions::available().into_iter().map(|instructions| {
        let rung = Packed::with_instructions(parameters, instructions);
        (format!("{} by {instructions}", rung.name()), Box::new(rung) as Box<dyn Rung>)
    });
    all.collect()
}

/// What a rung makes of a batch, written over numbers that it must not read.
pub fn on_batch(rung: &mut dyn Rung, inputs: &Inputs<'_>) -> Matrix {
    let (n_rows, d_model) = inputs.query().shape();
    let mut out = Matrix::from_element(n_rows, d_model, f32::NAN);
    rung.forward(inputs, &mut out).unwrap();
    out.map(f64::from)
}

/// Matrices of one width, stacked.
pub fn stack(all: &[Matrix]) -> Matrix {
    let rows: Vec<_> = all.iter().flat_map(|matrix| matrix.row_iter()).collect();
    Matrix::from_rows(&rows)
}
