//! PyTorch gives the same numbers.

use attention::{
    Attended, Dims, LayerParameters, Linear, Mask, Matrix, PackedParameters, RowVector,
};
use tensors::TensorFile;
use workshop::paths;

use stages::cases::{assert_close, difference, every_stage_and_batched};

/// Every file of reference vectors.
pub const FILES: [&str; 9] = [
    "self_d16_h1",
    "self_d16_h4",
    "self_d16_h16_headdim1",
    "self_d32_h4_batch4",
    "self_d256_h8_t30_bias",
    "cross_d16_h4_packed",
    "causal",
    "kpm_d16_h4_batch3",
    "big_logits_1e4",
];

#[test]
fn every_reference_vector_is_met_by_every_stage() {
    for name in FILES {
        let file = open(name);
        let heads: usize = file.text("num_heads").unwrap().parse().unwrap();
        let parameters = read_layer(&file, "");
        let query = file.matrices("query").unwrap();
        let source =
            |of| if file.contains(of) { file.matrices(of) } else { Ok(query.clone()) };
        let (key, value) = (source("key").unwrap(), source("value").unwrap());
        let output = file.matrices("f64/output").unwrap();
        let maps = file.matrices("f64/attn_heads").unwrap();

        let mut largest = 0f64;
        for (s, expected_out) in output.iter().enumerate() {
            let attn = maps[s * heads..(s + 1) * heads].to_vec();
            let expected = Attended { out: expected_out.clone(), attn };
            let mask = mask(&file, s, query[s].nrows(), key[s].nrows());
            for stage in every_stage_and_batched(&parameters) {
                let seen = stage.forward(&query[s], &key[s], &value[s], &mask).unwrap();
                let diff = difference(&expected, &seen);
                assert_close(
                    format!("{name}, sequence {s}, {}", stage.name()),
                    diff,
                    1e-10,
                );
                largest = largest.max(diff);
            }
        }
        println!("{name}: max |Δ| = {largest:.1e}");
    }
}

#[test]
fn every_reference_vector_is_tested() {
    let folder = paths::workspace().join("tests/data/torch-vectors");
    let names = std::fs::read_dir(folder).unwrap().map(|entry| entry.unwrap().path());
    let mut found: Vec<String> = names
        .filter(|path| path.extension().is_some_and(|e| e == "safetensors"))
        .map(|path| path.file_stem().unwrap().to_string_lossy().into_owned())
        .collect();
    let mut tested = FILES.map(String::from).to_vec();
    found.sort();
    tested.sort();
    assert_eq!(found, tested);
}

/// The layer whose tensors have this prefix, as `nn.MultiheadAttention` keeps them: `[out, in]`,
/// and W^Q, W^K and W^V as one.
pub fn read_layer(file: &TensorFile, prefix: &str) -> LayerParameters {
    let weight = |name| file.matrix(&format!("{prefix}{name}")).unwrap().transpose();
    let bias = |name| {
        let numbers = file.tensor(&format!("{prefix}{name}")).unwrap().numbers().unwrap();
        RowVector::from_vec(numbers)
    };
    let (packed, biases) = (weight("in_proj_weight"), bias("in_proj_bias"));
    let w_o =
        Linear::new(weight("out_proj.weight"), Some(bias("out_proj.bias"))).unwrap();
    let d = w_o.d_out();
    let third = |i: usize| {
        let bias = biases.columns(i * d, d).into_owned();
        Linear::new(packed.columns(i * d, d).into_owned(), Some(bias)).unwrap()
    };
    let dims = Dims::new(d, file.text("num_heads").unwrap().parse().unwrap()).unwrap();
    let projections = [third(0), third(1), third(2), w_o];
    PackedParameters::new(dims, projections).unwrap().unpack()
}

pub fn open(name: &str) -> TensorFile {
    let folder = paths::workspace().join("tests/data/torch-vectors");
    TensorFile::open(folder.join(name).with_extension("safetensors")).unwrap()
}

/// PyTorch's masks say what is blocked; ours say what is allowed.
pub fn mask(file: &TensorFile, sequence: usize, n_q: usize, n_kv: usize) -> Mask {
    let allowed = |name| -> Vec<bool> {
        file.tensor(name)
            .unwrap()
            .flags()
            .unwrap()
            .into_iter()
            .map(|blocked| !blocked)
            .collect()
    };
    let mut masks = Vec::new();
    if file.contains("attn_mask") {
        masks.push(Mask::Allowed(Matrix::from_row_slice(
            n_q,
            n_kv,
            &allowed("attn_mask"),
        )));
    }
    if file.contains("key_padding_mask") {
        let keys = &allowed("key_padding_mask")[sequence * n_kv..][..n_kv];
        masks.push(Mask::Keys(keys.to_vec()));
    }
    Mask::All(masks)
}
