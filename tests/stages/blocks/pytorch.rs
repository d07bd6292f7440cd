//! PyTorch's `nn.TransformerEncoderLayer`: the same output and the same gradients.

use attention::{Batch, LayerParameters, Linear, Mask, Matrix, RowVector};
use block::{
    Activation, Block, BlockGradients, BlockPass, FeedForward, LayerNorm, Norm, Sublayer,
};
use fused_heads::FusedAttention;
use model_files::TensorFile;
use workshop::paths;

use crate::cases::assert_close;
use crate::quote::{assert_quote, bound, values};

const FILES: [&str; 4] = ["after_relu", "after_gelu", "before_gelu", "before_gelu_tanh"];

/// What a block has, or the gradients of it: attention, the two projections between, the
/// gains and biases of both norms.
struct Parts {
    attention: LayerParameters,
    linears: [Linear; 2],
    norms: [[RowVector; 2]; 2],
}

fn row(file: &TensorFile, name: &str) -> RowVector {
    RowVector::from_vec(file.tensor(name).unwrap().numbers().unwrap())
}

impl Parts {
    /// `of` is nothing, or `grad.`.
    fn read(file: &TensorFile, of: &str) -> Self {
        let heads = file.text("num_heads").unwrap().parse().unwrap();
        let linear = |name: &str| {
            let weight = file.matrix(&format!("{of}{name}.weight")).unwrap().transpose();
            Linear::new(weight, Some(row(file, &format!("{of}{name}.bias")))).unwrap()
        };
        let norm = |name: &str| {
            ["weight", "bias"].map(|part| row(file, &format!("{of}{name}.{part}")))
        };
        Self {
            attention: file.layer(heads, Some(&format!("{of}self_attn"))).unwrap(),
            linears: ["linear1", "linear2"].map(linear),
            norms: ["norm1", "norm2"].map(norm),
        }
    }

    fn block(&self, file: &TensorFile) -> Block<FusedAttention> {
        let before = file.text("norm_first") == Some("True");
        let activation = match file.text("activation").unwrap() {
            "relu" => Activation::Relu,
            "gelu" => Activation::Gelu,
            _ => Activation::GeluTanh,
        };
        let [attention_norm, ffn_norm] = self.norms.clone().map(|[gain, bias]| {
            let norm = LayerNorm::new(gain, bias, 1e-5).unwrap();
            if before { Norm::Before(norm) } else { Norm::After(norm) }
        });
        let [w_1, w_2] = self.linears.clone();
        let ffn = FeedForward::new(w_1, activation, w_2).unwrap();
        Block {
            attention: Sublayer::new(
                FusedAttention::new(&self.attention),
                attention_norm,
            ),
            feed_forward: Some(Sublayer::new(ffn, ffn_norm)),
        }
    }

    fn named(&self) -> Vec<(&'static str, Matrix)> {
        let packed = self.attention.pack();
        let [q, k, v, o] = packed.projections();
        let [w_1, w_2] = &self.linears;
        let names = ["W^Q", "W^K", "W^V", "W^O", "W_1", "W_2"];
        let mut all = Vec::new();
        for (name, linear) in names.into_iter().zip([q, k, v, o, w_1, w_2]) {
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
fn gradients(d: &BlockGradients) -> Vec<Matrix> {
    let ffn = d.feed_forward.as_ref().unwrap();
    let of_attention = d.attention.d_function.projections();
    let of_ffn = [&ffn.d_function.d_w_1, &ffn.d_function.d_w_2];
    let mut all = Vec::new();
    for linear in of_attention.into_iter().chain(of_ffn) {
        all.push(linear.weight.clone());
        all.extend(linear.bias.as_ref().map(as_matrix));
    }
    for d_norm in [&d.attention.d_norm, &ffn.d_norm] {
        let d_norm = d_norm.as_ref().unwrap();
        all.extend([as_matrix(&d_norm.d_gain), as_matrix(&d_norm.d_bias)]);
    }
    all
}

fn stacked(file: &TensorFile, name: &str) -> Batch {
    Batch::stack(&file.matrices(name).unwrap()).unwrap()
}

#[test]
fn outputs_and_gradients_are_pytorchs() {
    let mut largest: f64 = 0.0;
    let mut compare = |what: String, found: &Matrix, expected: &Matrix| {
        let apart = attention::max_abs_diff(found, expected).unwrap();
        assert_close(what, apart, 1e-12);
        largest = largest.max(apart);
    };
    for name in FILES {
        let folder = paths::workspace().join("tests/torch-vectors/block");
        let path = folder.join(name).with_extension("safetensors");
        let file = TensorFile::open(path).unwrap();
        let block = Parts::read(&file, "").block(&file);
        let masks = file.tensor("padding").unwrap().flags().unwrap();
        let x = stacked(&file, "x");
        let masks = masks.chunks(x.n_tokens());
        let masks =
            masks.map(|it| Mask::Keys(it.iter().map(|padding| !padding).collect()));
        let pass = BlockPass::forward(&block, x, &masks.collect::<Vec<_>>()).unwrap();
        compare(format!("{name}: out"), pass.out(), stacked(&file, "output").tokens());

        let d = pass.backward(stacked(&file, "cotangent").tokens()).unwrap();
        compare(format!("{name}: d_x"), d.d_x(), stacked(&file, "grad.x").tokens());
        let expected = Parts::read(&file, "grad.").named();
        let found = gradients(&d);
        assert_eq!(found.len(), expected.len());
        for (found, (part, expected)) in found.iter().zip(&expected) {
            compare(format!("{name}: the gradient of {part}"), found, expected);
        }
    }
    println!("max |Δ| = {largest:.1e}");
    assert_quote!("the_block_checked", values(&[("torch_bound", bound(largest, 1e-12))]));
}

#[test]
fn every_file_is_compared() {
    let folder = paths::workspace().join("tests/torch-vectors/block");
    let files = std::fs::read_dir(folder).unwrap().map(|entry| entry.unwrap().path());
    let mut found: Vec<String> = files
        .filter(|path| path.extension().is_some_and(|e| e == "safetensors"))
        .map(|path| path.file_stem().unwrap().to_string_lossy().into_owned())
        .collect();
    found.sort();
    let mut compared = FILES.map(String::from);
    compared.sort();
    assert_eq!(found, compared);
}
