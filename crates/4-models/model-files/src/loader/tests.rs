use attention::Matrix;
use tensors::{NewTensor, to_bytes};

use super::*;

/// The numbers 0.01, 0.02, … row after row, so that every entry says where it was.
fn counting(rows: usize, cols: usize, from: usize) -> Matrix {
    Matrix::from_fn(rows, cols, |i, j| (from + i * cols + j) as f64 / 100.0)
}

/// A file with these tensors, filled with the numbers from 1 on through all of them.
fn file(tensors: &[(&str, &[usize])]) -> TensorFile {
    let mut from = 1;
    let new = |&(name, shape): &(&str, &[usize])| {
        let n = shape.iter().product();
        let numbers = counting(1, n, from);
        from += n;
        NewTensor::new(name, shape, [&numbers]).unwrap()
    };
    let tensors: Vec<_> = tensors.iter().map(new).collect();
    TensorFile::from_bytes("some.file", to_bytes(&tensors).unwrap()).unwrap()
}

const PACKED: [(&str, &[usize]); 4] = [
    ("in_proj_weight", &[12, 4]),
    ("in_proj_bias", &[12]),
    ("out_proj.weight", &[4, 4]),
    ("out_proj.bias", &[4]),
];

const SEPARATE: [(&str, &[usize]); 6] = [
    ("q_proj_weight", &[4, 4]),
    ("k_proj_weight", &[4, 3]),
    ("v_proj_weight", &[4, 5]),
    ("in_proj_bias", &[12]),
    ("out_proj.weight", &[4, 4]),
    ("out_proj.bias", &[4]),
];

#[test]
fn a_packed_layer_is_turned_and_cut_into_heads() {
    let layer = read_layer(&file(&PACKED), 2, None).unwrap();
    let stored = counting(12, 4, 1); // [out, in], Q above K above V
    for (i, head) in layer.heads().iter().enumerate() {
        for (block, (name, linear)) in head.projections().into_iter().enumerate() {
            let first = block * 4 + i * 2;
            let expected = stored.rows(first, 2).transpose(); // [in, out]
            assert_eq!(linear.weight, expected, "{name} of head {i}");
            let bias = linear.bias.as_ref().unwrap();
            assert_eq!(bias[1], (49 + first + 1) as f64 / 100.0, "{name} of head {i}");
        }
    }
    assert_eq!(layer.w_o().weight, counting(4, 4, 61).transpose());
    assert_eq!(layer.w_o().bias.as_ref().unwrap()[0], 0.77);
}

#[test]
fn a_square_weight_does_not_hide_which_way_it_lies() {
    // y = x · Wᵀ, as PyTorch computes it: feature 0 of the query is row 0 of the file.
    let layer = read_layer(&file(&PACKED), 1, None).unwrap();
    let x = Matrix::from_row_slice(1, 4, &[1.0, 10.0, 100.0, 1000.0]);
    let q = layer.heads()[0].w_q.forward(&x).unwrap();
    assert!((q[(0, 0)] - (0.01 + 0.2 + 3.0 + 40.0 + 0.49)).abs() < 1e-12, "{q}");
}

#[test]
fn keys_and_values_may_have_widths_of_their_own() {
    let layer = read_layer(&file(&SEPARATE), 2, None).unwrap();
    let dims = layer.dims();
    assert_eq!((dims.d_model(), dims.key_width(), dims.value_width()), (4, 3, 5));
    let (w_k, w_v) = (counting(4, 3, 17), counting(4, 5, 29));
    assert_eq!(layer.heads()[1].w_k.weight, w_k.rows(2, 2).transpose());
    assert_eq!(layer.heads()[1].w_v.weight, w_v.rows(2, 2).transpose());
}

#[test]
fn biases_may_be_left_out_all_of_them() {
    let layer = read_layer(&file(&[PACKED[0], PACKED[2]]), 2, None).unwrap();
    assert!(layer.heads()[0].w_v.bias.is_none() && layer.w_o().bias.is_none());
    let damaged = file(&[PACKED[0], PACKED[1], PACKED[2]]);
    insta::assert_snapshot!(read_layer(&damaged, 2, None).unwrap_err(), @"some.file: no tensor out_proj.bias; there is in_proj_bias, in_proj_weight, out_proj.weight");
}

#[test]
fn bert_says_the_same_in_other_words() {
    let parts = ["self.query", "self.key", "self.value", "output.dense"];
    let names: Vec<(String, &[usize])> =
        ["bert.encoder.layer.2.", "bert.encoder.layer.10."]
            .iter()
            .flat_map(|layer| parts.map(|part| format!("{layer}attention.{part}")))
            .flat_map(|name| {
                [(format!("{name}.weight"), &[4, 4][..]), (format!("{name}.bias"), &[4])]
            })
            .collect();
    let tensors: Vec<_> = names.iter().map(|(n, shape)| (n.as_str(), *shape)).collect();
    let file = file(&tensors);
    let layer = read_layer(&file, 2, Some("bert.encoder.layer.10.")).unwrap();
    let start = 1 + 80; // after the 4 · (16 + 4) numbers of layer 2
    let w_k = counting(4, 4, start + 20);
    assert_eq!(layer.heads()[1].w_k.weight, w_k.rows(2, 2).transpose());
    assert_eq!(layer.w_o().weight, counting(4, 4, start + 60).transpose());
    assert_eq!(read_layer(&file, 2, Some("bert.encoder.layer.10")).unwrap(), layer);

    insta::assert_snapshot!(read_layer(&file, 2, None).unwrap_err(), @"some.file: 2 layers: say which by its prefix, one of bert.encoder.layer.2., bert.encoder.layer.10.");
    insta::assert_snapshot!(read_layer(&file, 2, Some("layer.10")).unwrap_err(), @r#"some.file: no layer has the prefix "layer.10"; there is bert.encoder.layer.2., bert.encoder.layer.10."#);
}

#[test]
fn a_layer_inside_a_model_is_found_by_its_names() {
    let names = PACKED.map(|(name, shape)| (format!("layers.0.self_attn.{name}"), shape));
    let tensors: Vec<_> = names.iter().map(|(n, shape)| (n.as_str(), *shape)).collect();
    let found =
        FoundLayer { prefix: "layers.0.self_attn.".to_string(), naming: Naming::PyTorch };
    assert_eq!(layers_in(&file(&tensors)), [found]);
    assert!(read_layer(&file(&tensors), 4, None).is_ok());
}

#[test]
fn without_a_prefix_the_names_without_one_are_meant() {
    let of = |prefix: &str| PACKED.map(|(name, s)| (format!("{prefix}{name}"), s));
    let names = [of("grad."), of("")].concat();
    let tensors: Vec<_> = names.iter().map(|(n, shape)| (n.as_str(), *shape)).collect();
    let file = file(&tensors);
    let layer = read_layer(&file, 2, None).unwrap();
    assert_eq!(layer, read_layer(&file, 2, Some("")).unwrap());
    assert_ne!(layer, read_layer(&file, 2, Some("grad")).unwrap());
    insta::assert_snapshot!(read_layer(&file, 2, Some("grads")).unwrap_err(), @r#"some.file: no layer has the prefix "grads"; there is "" (none), grad."#);
}

#[test]
fn what_a_wrapper_put_in_front_may_be_left_out() {
    let of = |prefix: &str| PACKED.map(|(name, s)| (format!("{prefix}{name}"), s));
    let names =
        [of("_orig_mod.module.layers.0."), of("_orig_mod.module.layers.1.")].concat();
    let tensors: Vec<_> = names.iter().map(|(n, shape)| (n.as_str(), *shape)).collect();
    let file = file(&tensors);
    let layer = read_layer(&file, 2, Some("layers.1")).unwrap();
    assert_eq!(layer, read_layer(&file, 2, Some("_orig_mod.module.layers.1.")).unwrap());
    assert!(read_layer(&file, 2, Some("1")).is_err());
}

#[test]
fn what_makes_another_layer_of_it_is_refused() {
    let told = |prefix: &str, name: &'static str| {
        let mut names = PACKED.map(|(name, s)| (format!("{prefix}{name}"), s)).to_vec();
        names.push((name.to_string(), &[1, 1]));
        let tensors: Vec<_> =
            names.iter().map(|(n, shape)| (n.as_str(), *shape)).collect();
        let unused = beside_layer(&file(&tensors), None, |name| match name {
            "query" => Some(Use::Used),
            "attn_mask" => Some(Use::Refused("a mask in the wrong file")),
            _ => None,
        });
        unused.map_or_else(
            |error| error.to_string(),
            |unused| unused.iter().map(|it| format!("{}: {}", it.name, it.why)).collect(),
        )
    };
    insta::assert_snapshot!(told("self_attn.", "norm1.weight"), @"norm1.weight: no part of this layer's attention");
    insta::assert_snapshot!(told("self_attn.", "self_attn.q_norm.weight"), @"some.file: self_attn.q_norm.weight: queries or keys have a norm of their own in this layer, which is not computed here");
    insta::assert_snapshot!(told("self_attn.", "encoder.relative_attention_bias.weight"), @"some.file: encoder.relative_attention_bias.weight: a table of relative positions: this layer adds to its scores by distance, which is not computed here");
    insta::assert_snapshot!(told("self_attn.", "self_attn.in_proj_weight.lora_A"), @"some.file: self_attn.in_proj_weight.lora_A: an adapter (LoRA) is not merged: it is added to a weight, so merge it into the weight before saving");
    insta::assert_snapshot!(told("self_attn.", "self_attn.gate.weight"), @"some.file: self_attn.gate.weight: gates or scales of heads or of what attention puts out, which is not computed here");
    insta::assert_snapshot!(told("", "surprise"), @"some.file: surprise is not known to a layer's file, and may change the result: take it out of the file if it does not");
    insta::assert_snapshot!(told("", "query"), @"query: no part of this layer's attention");
    insta::assert_snapshot!(told("self_attn.", "attn_mask"), @"some.file: attn_mask: a mask in the wrong file");
    insta::assert_snapshot!(told("self_attn.", "base_model.model.self_attn.in_proj_weight.lora_A"), @"some.file: base_model.model.self_attn.in_proj_weight.lora_A: an adapter (LoRA) is not merged: it is added to a weight, so merge it into the weight before saving");
    insta::assert_snapshot!(told("layers.1.self_attn.", "base_model.model.layers.1.self_attn.out_proj.lora_A.weight"), @"some.file: base_model.model.layers.1.self_attn.out_proj.lora_A.weight: an adapter (LoRA) is not merged: it is added to a weight, so merge it into the weight before saving");
    insta::assert_snapshot!(told("layers.1.self_attn.", "base_model.model.layers.2.self_attn.out_proj.lora_A.weight"), @"base_model.model.layers.2.self_attn.out_proj.lora_A.weight: no part of this layer's attention");
    insta::assert_snapshot!(told("layers.1.self_attn.", "lora_layers_1_self_attn_out_proj.up.weight"), @"some.file: lora_layers_1_self_attn_out_proj.up.weight: an adapter (LoRA) is not merged: it is added to a weight, so merge it into the weight before saving");
    insta::assert_snapshot!(told("layers.1.self_attn.", "layers.1.mlp.gate_proj.weight"), @"layers.1.mlp.gate_proj.weight: no part of this layer's attention");
    insta::assert_snapshot!(told("layers.1.self_attn.", "layers.1.self_attn_gate.weight"), @"some.file: layers.1.self_attn_gate.weight: gates or scales of heads or of what attention puts out, which is not computed here");
    insta::assert_snapshot!(told("layers.1.self_attn.", "layers.1.head_gates"), @"some.file: layers.1.head_gates: gates or scales of heads or of what attention puts out, which is not computed here");
    insta::assert_snapshot!(told("", "gate.weight"), @"some.file: gate.weight: gates or scales of heads or of what attention puts out, which is not computed here");
    insta::assert_snapshot!(told("", "inputs.attn_mask"), @"some.file: inputs.attn_mask is not known to a layer's file, and may change the result: take it out of the file if it does not");
    insta::assert_snapshot!(told("", "q_proj_weight"), @"some.file: q_proj_weight: in_proj_weight is there too, and nn.MultiheadAttention has only one of the two: leave that of this layer");
    insta::assert_snapshot!(told("module.", "module.head.weight"), @"module.head.weight: no part of this layer's attention");
}

#[test]
fn a_layer_that_does_not_fit_is_refused_with_its_numbers() {
    let refused = |tensors: &[(&str, &[usize])], n_heads| {
        let error = read_layer(&file(tensors), n_heads, None).unwrap_err();
        let source = std::error::Error::source(&error);
        source.map_or(error.to_string(), |source| format!("{error}: {source}"))
    };
    let change = |i: usize, tensor: (&'static str, &'static [usize])| {
        let mut tensors = PACKED;
        tensors[i] = tensor;
        tensors
    };
    insta::assert_snapshot!(refused(&PACKED, 3), @"some.file: no layer can be made of it: d_model 4 cannot be divided among 3 heads: 4 = 3 × 1 + 1");
    insta::assert_snapshot!(refused(&PACKED, 0), @"some.file: no layer can be made of it: n_heads is 0, and must be at least 1");
    insta::assert_snapshot!(refused(&PACKED[1..], 2), @"some.file: no attention layer: no name ends in in_proj_weight or q_proj_weight (PyTorch) or attention.self.query.weight (BERT); there is in_proj_bias, out_proj.bias, out_proj.weight");
    insta::assert_snapshot!(refused(&PACKED[..2], 2), @"some.file: no tensor out_proj.weight; there is in_proj_bias, in_proj_weight");
    insta::assert_snapshot!(refused(&change(0, ("in_proj_weight", &[12, 5])), 2), @"some.file: in_proj_weight has shape (12, 5), expected (12, 4)");
    insta::assert_snapshot!(refused(&change(0, ("in_proj_weight", &[48])), 2), @"some.file: in_proj_weight has shape (48), expected (12, 4)");
    insta::assert_snapshot!(refused(&change(0, ("in_proj_weight", &[0, 4])), 2), @"some.file: in_proj_weight has shape (0, 4), expected (12, 4)");
    insta::assert_snapshot!(refused(&change(1, ("in_proj_bias", &[4])), 2), @"some.file: in_proj_bias has shape (4), expected (12)");
    insta::assert_snapshot!(refused(&change(2, ("out_proj.weight", &[4, 5])), 2), @"some.file: out_proj.weight has shape (4, 5), expected as many rows as columns");
    insta::assert_snapshot!(refused(&change(3, ("out_proj.bias", &[1, 4])), 2), @"some.file: out_proj.bias has shape (1, 4), expected (4)");
    insta::assert_snapshot!(refused(&SEPARATE[1..], 2), @"some.file: no tensor q_proj_weight; there is in_proj_bias, k_proj_weight, out_proj.bias, out_proj.weight, v_proj_weight");
    let mut separate = SEPARATE;
    separate[1] = ("k_proj_weight", &[5, 3]);
    insta::assert_snapshot!(refused(&separate, 2), @"some.file: k_proj_weight has shape (5, 3), expected (4, 3)");
    let with_bias_k = [&PACKED[..], &[("bias_k", &[1, 1, 4])]].concat();
    insta::assert_snapshot!(refused(&with_bias_k, 2), @"some.file: bias_k: made with add_bias_kv=True, this layer appends a learned key and value to every sequence, which is not computed here");
}

#[test]
fn a_layer_in_another_form_is_refused_by_its_cause() {
    let bert = ["self.query", "self.key", "self.value", "output.dense"];
    let told = |prefix: &str, of: &dyn Fn(&str) -> Vec<String>| {
        let names: Vec<String> = bert
            .iter()
            .flat_map(|part| of(&format!("{prefix}attention.{part}.weight")))
            .collect();
        let tensors: Vec<(&str, &[usize])> =
            names.iter().map(|name| (name.as_str(), &[4, 4][..])).collect();
        read_layer(&file(&tensors), 2, None)
            .map_or_else(|it| it.to_string(), |_| String::new())
    };
    let all = |from: &'static str, to: &'static [&'static str]| {
        told("layer.0.", &|name| match name.contains("query") || to[0].contains("qw") {
            true => to.iter().map(|to| name.replace(from, to)).collect(),
            false => vec![name.to_string()],
        })
    };
    insta::assert_snapshot!(all("weight", &["qweight", "qzeros"]), @"some.file: layer.0.attention.output.dense.qweight: the weights beside it are quantised (by GPTQ, AWQ or the like): save the layer in floats");
    insta::assert_snapshot!(all("weight", &["base_layer.weight", "lora_A.weight"]), @"some.file: layer.0.attention.self.query.base_layer.weight: an adapter (LoRA) is not merged: it is added to a weight, so merge it into the weight before saving");
    insta::assert_snapshot!(all("weight", &["weights", "SCB"]), @"some.file: layer.0.attention.self.query.SCB: the weights beside it are quantised by bitsandbytes: save the layer in floats");
    insta::assert_snapshot!(all("weight", &["weights"]), @"some.file: no tensor layer.0.attention.self.query.weight; there is layer.0.attention.output.dense.weight, layer.0.attention.self.key.weight, layer.0.attention.self.query.weights, layer.0.attention.self.value.weight");
}

#[test]
fn metadata_says_what_the_layer_is_or_is_refused() {
    let told = |is_causal, key: &str, text: &str| {
        let file = crate::testing::tensor_file(&PACKED, &[(key, text)]);
        let (found, dims) = (find_layer(&file, None).unwrap(), Dims::new(4, 2).unwrap());
        beside_metadata(&file, &found, dims, is_causal).map_or_else(
            |error| error.to_string(),
            |notes| notes.iter().map(|it| format!("{}: {}", it.name, it.why)).collect(),
        )
    };
    for (key, text) in [
        ("nhead", "2"),
        ("num_kv_heads", "2"),
        ("batch_first", "True"),
        ("is_causal", "false"),
        ("head_dim", "2"),
        ("embed_dim", "4"),
        ("softmax_scale", "0.70710678"),
        ("add_zero_attn", "False"),
        ("class", "torch.nn.MultiheadAttention"),
        ("mask_polarity", "True = blocked"),
    ] {
        assert_eq!(told(false, key, text), "", "{key}");
    }
    assert_eq!(told(true, "is_causal", "True"), "");
    insta::assert_snapshot!(told(false, "nhead", "4"), @"some.file: its metadata has nhead: 4, and the number of heads here is another");
    insta::assert_snapshot!(told(false, "batch_first", "False"), @"some.file: its metadata has batch_first: False, and the batch is read as the first dimension here");
    insta::assert_snapshot!(told(false, "is_causal", "True"), @"some.file: its metadata has is_causal: True, and whether a token sees later ones is said otherwise here");
    insta::assert_snapshot!(told(false, "softmax_scale", "1.0"), @"some.file: its metadata has softmax_scale: 1.0, and scores are scaled by another number here");
    insta::assert_snapshot!(told(false, "window_size", "2"), @"some.file: its metadata has window_size: 2, and there is no such window here");
    insta::assert_snapshot!(told(false, "position_embedding_type", "relative_key"), @"some.file: its metadata has position_embedding_type: relative_key, and such positions are not computed here");
    insta::assert_snapshot!(told(false, "model_type", "esm"), @"some.file: its metadata has model_type: esm, and another one is computed here");
    insta::assert_snapshot!(told(false, "attention_mask", "1 = real"), @"some.file: its metadata has attention_mask: 1 = real, and a mask is read in another way here");
    insta::assert_snapshot!(told(false, "config", r#"{"num_heads": 4}"#), @"some.file: its metadata has config.num_heads: 4, and the number of heads here is another");
    insta::assert_snapshot!(told(false, "dropout", "0.1"), @"dropout: a note in the file's metadata");
}

/// As many as no model has; it took half a minute.
#[test]
fn sixty_thousand_layers_are_found_in_a_moment() {
    let one = Matrix::from_element(1, 1, 0.0);
    let names = (0..60_000).map(|i| format!("layer.{i}.in_proj_weight"));
    let tensors = names.map(|name| NewTensor::new(name, &[1, 1], [&one]).unwrap());
    let bytes = to_bytes(&tensors.collect::<Vec<_>>()).unwrap();
    let file = TensorFile::from_bytes("some.file", bytes).unwrap();
    let start = std::time::Instant::now();
    let layers = layers_in(&file);
    assert!(start.elapsed().as_secs_f64() < 5.0, "{:?}", start.elapsed());
    assert_eq!(layers.len(), 60_000);
    assert_eq!(
        (&layers[2].prefix[..], &layers[10].prefix[..]),
        ("layer.2.", "layer.10.")
    );
}
