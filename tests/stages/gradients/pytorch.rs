//! The gradients in PyTorch's reference vectors.

use attention::{Batch, LayerParameters, Linear, Matrix};
use fused_heads::FusedAttention;
use gradients::{Gradients, LayerPass};
use tensors::TensorFile;

use super::{Named, as_matrix, difference};
use crate::torch::{FILES, mask, open, read_layer};

/// The one file that was made without gradients.
const WITHOUT: &str = "self_d256_h8_t30_bias";

#[test]
fn every_gradient_of_the_reference_vectors_is_met() {
    for name in FILES {
        let file = open(name);
        assert_eq!(file.contains("f64/grad.query"), name != WITHOUT, "{name}");
        if name == WITHOUT {
            continue;
        }
        let (parameters, [query, key, value]) = (parameters(&file), inputs(&file));
        let layer = FusedAttention::new(&parameters);
        let masks: Vec<_> = (0..query.n_sequences())
            .map(|s| mask(&file, s, query.n_tokens(), key.n_tokens()))
            .collect();
        let pass =
            LayerPass::forward_batch(&layer, &query, &key, &value, &masks).unwrap();
        let d = pass.backward(batch(&file, "cotangent").tokens()).unwrap();

        let largest = difference(&ours(&file, &d), &theirs(&file));
        println!("{name}: max |Δ| = {largest:.1e}");
        stages::cases::assert_close(name, largest, 1e-10);
    }
}

fn parameters(file: &TensorFile) -> LayerParameters {
    read_layer(file, "")
}

fn batch(file: &TensorFile, name: &str) -> Batch {
    Batch::stack(&file.matrices(name).unwrap()).unwrap()
}

/// Query, key and value; in self-attention there is a query alone.
fn inputs(file: &TensorFile) -> [Batch; 3] {
    ["query", "key", "value"]
        .map(|name| batch(file, if file.contains(name) { name } else { "query" }))
}

/// Our gradients under PyTorch's names.
fn ours(file: &TensorFile, d: &Gradients) -> Named {
    let bias = |linear: &Linear| as_matrix(linear.bias.as_ref().unwrap().as_slice());
    let mut all = Vec::new();
    for (name, linear) in ["q", "k", "v", "out_proj"].iter().zip(d.projections()) {
        all.push((format!("{name}.weight"), linear.weight.clone()));
        all.push((format!("{name}.bias"), bias(linear)));
    }
    if file.contains("key") {
        let [d_query, d_key, d_value] = d.d_query_key_value().unwrap();
        let inputs = [("query", d_query), ("key", d_key), ("value", d_value)];
        all.extend(inputs.map(|(name, d)| (name.into(), d.clone())));
    } else {
        all.push(("query".into(), d.d_x().unwrap()));
    }
    all
}

/// Theirs, turned to `[in, out]`; `in_proj` is Q above K above V.
fn theirs(file: &TensorFile) -> Named {
    let matrix = |name: &str| file.matrix(name).unwrap().transpose(); // [in, out]
    let bias = |name: &str| file.tensor(name).unwrap().numbers().unwrap();
    let (weights, biases) =
        (matrix("f64/grad.in_proj_weight"), bias("f64/grad.in_proj_bias"));
    let d_model = weights.nrows();
    let mut all = Vec::new();
    for (i, name) in ["q", "k", "v"].iter().enumerate() {
        let weight = weights.columns(i * d_model, d_model).into_owned();
        all.push((format!("{name}.weight"), weight));
        all.push((format!("{name}.bias"), as_matrix(&biases[i * d_model..][..d_model])));
    }
    all.push(("out_proj.weight".into(), matrix("f64/grad.out_proj.weight")));
    all.push(("out_proj.bias".into(), as_matrix(&bias("f64/grad.out_proj.bias"))));
    for name in ["query", "key", "value"] {
        let gradient = format!("f64/grad.{name}");
        if file.contains(&gradient) {
            all.push((name.into(), batch(file, &gradient).tokens().clone()));
        }
    }
    all
}

#[test]
fn the_same_layer_packs_to_the_weights_of_the_file() {
    // So that the names above are the names of the parameters too.
    let file = open("cross_d16_h4_packed");
    let packed = parameters(&file).pack();
    let stored: Matrix = file.matrix("in_proj_weight").unwrap().transpose();
    assert_eq!(packed.w_k().weight, stored.columns(16, 16));
}
