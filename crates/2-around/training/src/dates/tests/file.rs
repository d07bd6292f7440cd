//! That a file holds the model, and that what comes with the crate is what was measured.

use attention::Matrix;
use tensors::{NewTensor, TensorFile, to_bytes_with};

use super::*;
use crate::dates::criteria::MOST_WHOLE_MOVED;

fn model() -> DateConverter {
    DateConverter::random(TINY, &mut rng()).unwrap()
}

#[test]
fn what_is_written_is_read_again_to_the_last_bit() {
    let model = few_steps(3).model;
    let bytes = model.to_safetensors("a test").unwrap();
    assert_eq!(DateConverter::from_safetensors(bytes.clone()).unwrap(), model);
    let file = TensorFile::from_bytes("the file", bytes).unwrap();
    let says = |key| file.text(key).unwrap();
    assert_eq!(["what", "n_heads", "d_ff"].map(says), ["a test", "2", "16"]);
}

/// The layout of PyTorch, entry by entry: a projection is `[d_out, d_in]`, and those of
/// queries, keys and values are stacked.
#[test]
fn the_file_has_the_layout_of_pytorch() {
    let model = model();
    let bytes = model.to_safetensors("a test").unwrap();
    let file = TensorFile::from_bytes("the file", bytes).unwrap();
    let entry =
        |name: &str, row, column| file.matrix(name).unwrap()[(row, column)] as f32;
    let block = &model.model.decoder.blocks[0];
    let cross = block.cross.as_ref().unwrap().function.parameters();
    let [_, w_k, w_v, w_o] = cross.projections();
    let name = "transformer.decoder.layers.0.multihead_attn.";
    assert_eq!(entry(&format!("{name}in_proj_weight"), 16 + 3, 5), w_k.weight[(5, 3)]);
    assert_eq!(entry(&format!("{name}in_proj_weight"), 32 + 1, 2), w_v.weight[(2, 1)]);
    assert_eq!(entry(&format!("{name}out_proj.weight"), 7, 4), w_o.weight[(4, 7)]);
    let linear1 = &block.feed_forward.as_ref().unwrap().function.w_1.weight;
    let name = "transformer.decoder.layers.0.linear1.weight";
    assert_eq!(entry(name, 9, 2), linear1[(2, 9)]);
    assert_eq!(entry("source_embedding.weight", 30, 6), model.source.tokens[(30, 6)]);
    let positions = model.target.positions.table().unwrap();
    assert_eq!(entry("target_positions.weight", 8, 1), positions[(8, 1)]);
    assert_eq!(entry("generator.weight", 10, 3), model.unembedding.weight[(3, 10)]);
}

/// Its name, shape and numbers.
type List = (String, Vec<usize>, Vec<f64>);

/// The file of a model with one thing in it changed.
fn changed(
    change: impl FnOnce(&mut Vec<List>, &mut Vec<(String, String)>),
) -> tensors::Error {
    let bytes = model().to_safetensors("a test").unwrap();
    let file = TensorFile::from_bytes("the file", bytes).unwrap();
    let owned = |(key, text): (&str, &str)| (key.to_owned(), text.to_owned());
    let mut header: Vec<_> = file.texts().map(owned).collect();
    let list = |name: String| {
        let tensor = file.tensor(&name).unwrap();
        let (shape, numbers) = (tensor.shape().to_vec(), tensor.numbers().unwrap());
        (name, shape, numbers)
    };
    let mut lists: Vec<List> = file.names().into_iter().map(list).collect();
    change(&mut lists, &mut header);
    let new = |(name, shape, numbers): &List| {
        let row: Matrix = Matrix::from_row_slice(1, numbers.len(), numbers);
        match name.strip_suffix(" in F64") {
            Some(name) => NewTensor::new(name, shape, [&row]).unwrap(),
            None => {
                NewTensor::new(name.as_str(), shape, [&row.map(|x| x as f32)]).unwrap()
            }
        }
    };
    let tensors: Vec<_> = lists.iter().map(new).collect();
    let texts: Vec<_> =
        header.iter().map(|(key, text)| (key.as_str(), text.as_str())).collect();
    let bytes = to_bytes_with(&tensors, &texts).unwrap();
    DateConverter::from_safetensors(bytes).unwrap_err()
}

#[test]
fn a_file_that_holds_no_converter_is_refused() {
    let find = |tensors: &mut Vec<List>, name: &str| {
        tensors.iter().position(|(other, ..)| other == name).unwrap()
    };
    let missing = changed(|tensors, _| {
        let at = find(tensors, "transformer.encoder.norm.bias");
        tensors.remove(at);
    });
    insta::assert_snapshot!(missing, @"the file: no tensor transformer.encoder.norm.bias; there is generator.bias, generator.weight, source_embedding.weight, source_positions.weight, target_embedding.weight, target_positions.weight, transformer.decoder.layers.0.linear1.bias, transformer.decoder.layers.0.linear1.weight, transformer.decoder.layers.0.linear2.bias, transformer.decoder.layers.0.linear2.weight, transformer.decoder.layers.0.multihead_attn.in_proj_bias, transformer.decoder.layers.0.multihead_attn.in_proj_weight, and 27 more");
    let unknown =
        changed(|tensors, _| tensors.push(("more".to_owned(), vec![1], vec![0.0])));
    insta::assert_snapshot!(unknown, @"the file: it has a tensor more, which nothing here reads");
    let shape = changed(|tensors, _| {
        let at = find(tensors, "generator.weight");
        tensors[at].1.reverse();
    });
    insta::assert_snapshot!(shape, @"the file: generator.weight has shape (16, 11), expected (11, 16)");
    let numbers = changed(|tensors, _| {
        let at = find(tensors, "generator.bias");
        tensors[at].0 += " in F64";
    });
    insta::assert_snapshot!(numbers, @"the file: generator.bias holds F64, expected F32");
    let no_size = changed(|_, header| header.retain(|(key, _)| key != "n_heads"));
    insta::assert_snapshot!(no_size, @"the file: its metadata has no n_heads");
    let set = |key: &'static str, text: &'static str| {
        changed(move |_, header| {
            let of_key = header.iter_mut().find(|(other, _)| other == key).unwrap();
            of_key.1 = text.to_owned();
        })
    };
    insta::assert_snapshot!(set("d_model", "sixteen"), @r#"the file: its metadata says d_model: "sixteen", which is no size"#);
    insta::assert_snapshot!(set("d_ff", "17"), @"the file: transformer.encoder.layers.0.linear1.weight has shape (16, 16), expected (17, 16)");
    insta::assert_snapshot!(set("n_heads", "3"), @"the file: d_model 16 cannot be divided among 3 heads: 16 = 3 × 5 + 1");
    insta::assert_snapshot!(DateConverter::from_safetensors(b"{}").unwrap_err(), @"the file: no safetensors file: it has 2 bytes, and one begins with 8 that give the length of its header");
}

/// On the 1,000 unseen dates of its seed it does what the file of ten seeds says.
#[test]
fn the_trained_model_is_the_one_that_was_measured() {
    let model = DateConverter::trained().unwrap();
    assert_eq!(model.architecture(), DateArchitecture::default());
    let begin = |_: &Dates, _: &mut Rng| Ok(model.clone());
    let trainer = Trainer::new(Dates::default(), Dates::schedule(1), begin).unwrap();
    let (test, look) = (&trainer.so_far().test, trainer.so_far().last());
    assert_eq!(test.n_dates(), 1000);
    let run = &crate::tests::runs(crate::dates::DATES)[1];
    assert_eq!(run["seed"], 1);
    let close = |found: f64, key: &str| {
        let expected = run[key].as_f64().unwrap();
        assert!((found - expected).abs() <= 0.002, "{key}: {found}, measured {expected}");
    };
    close(look.whole, "whole");
    let aligned = look.shares.aligned(&Truth::planted());
    assert_eq!(serde_json::json!(aligned), run["aligned"]);
    assert!(aligned.iter().any(|&n_letters| n_letters >= ALIGNED_LETTERS));
    close(model.whole_moved(test, None).unwrap(), "whole_given");
    let moved = model.whole_moved(test, Some(&mut Rng::seed_from_u64(8))).unwrap();
    assert!(moved <= MOST_WHOLE_MOVED, "{moved}");
}
