//! PyTorch's `nn.TransformerEncoderLayer` and `nn.TransformerDecoderLayer`: the same output and
//! the same gradients.

use attention::{Batch, Gradients, LayerParameters, Linear, Mask, Matrix, RowVector};
use block::{
    Activation, Block, BlockPass, FeedForward, LayerNorm, Norm, Norms, Sublayer,
};
use fused_heads::FusedAttention;
use tensors::TensorFile;
use workshop::paths;

use stages::cases::assert_close;

use crate::torch::read_layer;

const FILES: [&str; 4] = ["after_relu", "after_gelu", "before_gelu", "before_gelu_tanh"];
const DECODERS: [&str; 2] = ["decoder_after_relu", "decoder_before_gelu"];

/// What a block has, or the gradients of it: one attention or two, the two projections
/// between, the gains and biases of all norms.
struct Parts {
    attention: Vec<LayerParameters>,
    linears: [Linear; 2],
    norms: Vec<[RowVector; 2]>,
}

fn row(file: &TensorFile, name: &str) -> RowVector {
    RowVector::from_vec(file.tensor(name).unwrap().numbers().unwrap())
}

impl Parts {
    /// `of` is nothing, or `grad.`.
    fn read(file: &TensorFile, of: &str) -> Self {
        let linear = |name: &str| {
            let weight = file.matrix(&format!("{of}{name}.weight")).unwrap().transpose();
            Linear::new(weight, Some(row(file, &format!("{of}{name}.bias")))).unwrap()
        };
        let norm = |name: &str| {
            ["weight", "bias"].map(|part| row(file, &format!("{of}{name}.{part}")))
        };
        let attention = ["self_attn", "multihead_attn"].into_iter();
        let attention = attention
            .map(|name| format!("{of}{name}."))
            .filter(|name| file.contains(&format!("{name}in_proj_weight")))
            .map(|name| read_layer(file, &name));
        let norms = ["norm1", "norm2", "norm3"].into_iter();
        let norms = norms.filter(|name| file.contains(&format!("{of}{name}.weight")));
        Self {
            attention: attention.collect(),
            linears: ["linear1", "linear2"].map(linear),
            norms: norms.map(norm).collect(),
        }
    }

    /// The attentions and the feed-forward layer, each with its norm.
    fn sublayers(
        &self,
        file: &TensorFile,
    ) -> (Vec<Sublayer<FusedAttention>>, Sublayer<FeedForward>) {
        let before = file.text("norm_first") == Some("True");
        let activation = match file.text("activation").unwrap() {
            "relu" => Activation::Relu,
            "gelu" => Activation::Gelu,
            _ => Activation::GeluTanh,
        };
        let norms = self.norms.clone().into_iter().map(|[gain, bias]| {
            let norm = LayerNorm::new(gain, bias, 1e-5).unwrap();
            if before { Norms::before(norm) } else { Norms::after(norm) }
        });
        let mut norms: Vec<Norms> = norms.collect();
        let [w_1, w_2] = self.linears.clone();
        let ffn = FeedForward::new(w_1, activation, w_2).unwrap();
        let ffn = Sublayer::new(ffn, norms.pop().unwrap());
        let attention = self.attention.iter().zip(norms);
        let attention = attention
            .map(|(layer, norm)| Sublayer::new(FusedAttention::new(layer), norm));
        (attention.collect(), ffn)
    }

    fn named(&self) -> Vec<(&'static str, Matrix)> {
        let packed: Vec<_> = self.attention.iter().map(LayerParameters::pack).collect();
        let projections = packed.iter().flat_map(|layer| layer.projections());
        let names = ["W^Q", "W^K", "W^V", "W^O"].into_iter().cycle();
        let attention = names.zip(projections);
        let linears = ["W_1", "W_2"].into_iter().zip(&self.linears);
        let mut all = Vec::new();
        for (name, linear) in attention.chain(linears) {
            all.push((name, linear.weight.clone()));
            all.extend(linear.bias.as_ref().map(|bias| ("a bias", as_matrix(bias))));
        }
        let norms = self.norms.iter().flatten();
        all.extend(norms.map(|it| ("a gain or bias of a norm", as_matrix(it))));
        all
    }
}

fn as_matrix(row: &RowVector) -> Matrix {
    Matrix::from_row_slice(1, row.len(), row.as_slice())
}

/// Ours, in the same order.
fn gradients(d: &Block<Gradients>) -> Vec<Matrix> {
    let attention = [Some(&d.attention), d.cross.as_ref()];
    let attention: Vec<_> = attention.into_iter().flatten().collect();
    let ffn = d.feed_forward.as_ref().unwrap();
    let of_attention = attention.iter().flat_map(|d| d.function.projections());
    let mut all = Vec::new();
    for linear in of_attention.chain(ffn.function.projections()) {
        all.push(linear.weight.clone());
        all.extend(linear.bias.as_ref().map(as_matrix));
    }
    let norms = attention.iter().map(|d| &d.norms).chain([&ffn.norms]);
    for norm in norms.flat_map(Norms::iter) {
        let Norm::Layer(LayerNorm { gain, bias, .. }) = norm else { panic!() };
        all.extend([as_matrix(gain), as_matrix(bias)]);
    }
    all
}

/// The largest difference so far; each is asserted.
#[derive(Default)]
struct Largest(f64);

impl Largest {
    fn compare(&mut self, what: String, found: &Matrix, expected: &Matrix) {
        let apart = attention::max_abs_diff(found, expected).unwrap();
        assert_close(what, apart, 1e-12);
        self.0 = self.0.max(apart);
    }

    fn compare_all(&mut self, name: &str, found: &[Matrix], file: &TensorFile) {
        let expected = Parts::read(file, "grad.").named();
        assert_eq!(found.len(), expected.len());
        for (found, (part, expected)) in found.iter().zip(&expected) {
            self.compare(format!("{name}: the gradient of {part}"), found, expected);
        }
    }
}

fn opened(name: &str) -> TensorFile {
    let folder = paths::workspace().join("tests/data/torch-vectors/block");
    TensorFile::open(folder.join(name).with_extension("safetensors")).unwrap()
}

/// A mask per sequence: what is no padding, true in the file, may be seen.
fn masks(file: &TensorFile, name: &str, n_tokens: usize) -> Vec<Mask> {
    let padding = file.tensor(name).unwrap().flags().unwrap();
    let of_keys = |it: &[bool]| Mask::Keys(it.iter().map(|padding| !padding).collect());
    padding.chunks(n_tokens).map(of_keys).collect()
}

fn stacked(file: &TensorFile, name: &str) -> Batch {
    Batch::stack(&file.matrices(name).unwrap()).unwrap()
}

#[test]
fn outputs_and_gradients_are_pytorchs() {
    let mut largest = Largest::default();
    for name in FILES {
        let file = opened(name);
        let (mut attention, ffn) = Parts::read(&file, "").sublayers(&file);
        let block = Block::new(attention.remove(0), Some(ffn));
        let x = stacked(&file, "x");
        let masks = masks(&file, "padding", x.n_tokens());
        let pass = BlockPass::forward(&block, x, &masks, None).unwrap();
        let out = stacked(&file, "output");
        largest.compare(format!("{name}: out"), pass.out(), out.tokens());

        let d = pass.backward(stacked(&file, "cotangent").tokens()).unwrap();
        let d_x = stacked(&file, "grad.x");
        largest.compare(format!("{name}: d_x"), &d.d_x, d_x.tokens());
        let found = gradients(&d.d_block);
        largest.compare_all(name, &found, &file);
    }
    let largest = largest.0;
    println!("max |Δ| = {largest:.1e}");
    // A chapter quotes the bound.
    assert!(largest <= 1e-12);
    insta::assert_snapshot!("the_block_checked", "torch_bound: 10⁻¹²");
}

#[test]
fn a_decoders_outputs_and_gradients_are_pytorchs() {
    let mut largest = Largest::default();
    for name in DECODERS {
        let file = opened(name);
        let (attention, ffn) = Parts::read(&file, "").sublayers(&file);
        let [attention, cross] = attention.try_into().unwrap();
        let block = Block::new(attention, Some(ffn));
        let block = Block { cross: Some(cross), ..block };
        let [y, memory] = ["x", "memory"].map(|name| stacked(&file, name));
        let own = masks(&file, "padding", y.n_tokens()).into_iter();
        let own: Vec<_> = own.map(|it| Mask::All(vec![Mask::Causal, it])).collect();
        let of_memory = masks(&file, "memory_padding", memory.n_tokens());
        let from = Some((&memory, &of_memory[..]));
        let pass = BlockPass::forward(&block, y, &own, from).unwrap();
        let out = stacked(&file, "output");
        largest.compare(format!("{name}: out"), pass.out(), out.tokens());

        let d = pass.backward(stacked(&file, "cotangent").tokens()).unwrap();
        let [d_y, d_memory] = ["grad.x", "grad.memory"].map(|name| stacked(&file, name));
        largest.compare(format!("{name}: d_y"), &d.d_x, d_y.tokens());
        largest.compare(
            format!("{name}: d_memory"),
            &d.d_memory.unwrap(),
            d_memory.tokens(),
        );
        let found = gradients(&d.d_block);
        largest.compare_all(name, &found, &file);
    }
    println!("max |Δ| = {:.1e}", largest.0);
}

#[test]
fn every_file_is_compared() {
    let folder = paths::workspace().join("tests/data/torch-vectors/block");
    let files = std::fs::read_dir(folder).unwrap().map(|entry| entry.unwrap().path());
    let mut found: Vec<String> = files
        .filter(|path| path.extension().is_some_and(|e| e == "safetensors"))
        .map(|path| path.file_stem().unwrap().to_string_lossy().into_owned())
        .collect();
    found.sort();
    let mut compared: Vec<String> =
        FILES.iter().chain(&DECODERS).map(|&name| name.to_owned()).collect();
    compared.sort();
    assert_eq!(found, compared);
}
