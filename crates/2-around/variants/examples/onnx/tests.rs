//! ONNX's own cases, and what is refused.

use std::collections::BTreeMap;
use std::fs;
use std::path::{Path, PathBuf};

use safetensors::Dtype;

use crate::file::{self, Case};
use crate::operator;
use crate::tensor::Tensor;

fn cases() -> Vec<PathBuf> {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("examples/onnx/cases");
    let entries = fs::read_dir(folder).unwrap().map(|entry| entry.unwrap().path());
    let is_case = |path: &PathBuf| path.extension().is_some_and(|it| it == "safetensors");
    entries.filter(is_case).collect()
}

/// How far a number of this kind may be off: relative to what it should be, and at least.
fn tolerance(dtype: Dtype) -> [f64; 2] {
    match dtype {
        Dtype::F16 => [2e-3, 1e-3],
        Dtype::BF16 => [1.6e-2, 8e-3],
        _ => [1e-5, 1e-6],
    }
}

/// The largest difference, as a part of what is allowed.
fn apart(found: &Tensor, expected: &Tensor) -> f64 {
    let [rtol, atol] = tolerance(expected.dtype);
    let numbers = found.numbers.iter().zip(&expected.numbers);
    let parts = numbers.map(|(&found, &expected)| match found == expected {
        true => 0.0,
        false => (found - expected).abs() / (atol + rtol * expected.abs()),
    });
    parts.fold(
        0.0,
        |largest: f64, part| if part.is_nan() { part } else { largest.max(part) },
    )
}

#[test]
fn all_of_onnxs_cases_hold_with_every_output() {
    let (mut n_outputs, mut largest) = (0, 0.0f64);
    let cases = cases();
    for path in &cases {
        let case = file::read(path).unwrap();
        let name = path.file_stem().unwrap().display();
        // Through a file, so that numbers are rounded to their kind.
        let written = tempfile::NamedTempFile::new().unwrap();
        file::write(written.path(), operator::run(&case).unwrap()).unwrap();
        let found = file::read(written.path()).unwrap().tensors;
        for output in ["Y", "present_key", "present_value", "qk_matmul_output"] {
            let Some(expected) = case.tensors.get(output) else { continue };
            let found = &found[output];
            let of = |it: &Tensor| (it.dtype, it.shape.clone());
            assert_eq!(of(found), of(expected), "{name}, {output}");
            let part = apart(found, expected);
            assert!(part <= 1.0, "{name}, {output}: {part} of what is allowed");
            (n_outputs, largest) = (n_outputs + 1, largest.max(part));
        }
    }
    println!(
        "{} cases, {n_outputs} outputs: at most {largest:.2} of what is allowed",
        cases.len()
    );
    assert_eq!((cases.len(), n_outputs), (93, 153));
}

/// Two sequences of two heads: three queries, four keys.
fn small() -> Case {
    let tensor = |n, width| Tensor {
        numbers: (0..4 * n * width).map(|i| f64::from(i as u8) / 64.0).collect(),
        ..Tensor::zeros(Dtype::F32, &[2, 2, n, width])
    };
    let tensors = [("Q", tensor(3, 4)), ("K", tensor(4, 4)), ("V", tensor(4, 5))];
    Case {
        attributes: Default::default(),
        tensors: BTreeMap::from(tensors.map(|(name, it)| (name.to_owned(), it))),
    }
}

#[test]
fn what_does_not_fit_is_refused_with_its_numbers() {
    let refused = |change: &dyn Fn(&mut Case)| {
        let mut case = small();
        change(&mut case);
        operator::run(&case).unwrap_err()
    };
    let given = |name: &'static str, dtype, shape: &'static [usize]| {
        move |case: &mut Case| {
            case.tensors.insert(name.to_owned(), Tensor::zeros(dtype, shape));
        }
    };
    let of = |shape| given("attn_mask", Dtype::F32, shape);
    assert!(operator::run(&small()).is_ok());
    insta::assert_snapshot!(refused(&|case| { case.tensors.remove("K"); }), @"the case has no input K");
    insta::assert_snapshot!(refused(&of(&[2, 5])), @"attn_mask has shape [2, 5], which does not broadcast to [2, 2, 3, 4]");
    insta::assert_snapshot!(refused(&given("K", Dtype::F32, &[2, 3, 4, 4])), @"K has 3 heads, and V 2");
    insta::assert_snapshot!(refused(&given("K", Dtype::F32, &[2, 2, 4, 3])), @"k has shape (4, 6), expected (4, 8)");
    insta::assert_snapshot!(refused(&given("Q", Dtype::F32, &[2, 3, 8])), @"Q has three axes: say the number of heads in its attribute");
    insta::assert_snapshot!(refused(&given("Q", Dtype::F32, &[1, 2, 3, 4])), @"Q has 1 sequences, K 2 and V 2");
    insta::assert_snapshot!(refused(&given("Q", Dtype::F32, &[2, 3, 3, 4])), @"3 query heads cannot be shared out among 2 heads of keys and values: 3 = 2 × 1 + 1");
    insta::assert_snapshot!(refused(&given("past_key", Dtype::F32, &[2, 2, 7, 4])), @"past_key and past_value come together, and one is missing");
    insta::assert_snapshot!(refused(&given("nonpad_kv_seqlen", Dtype::I64, &[3])), @"nonpad_kv_seqlen has 3 entries for 2 sequences");
    insta::assert_snapshot!(refused(&|case| case.attributes.q_num_heads = Some(2)), @"Q has four axes, and the number of heads is given too: 2");
    insta::assert_snapshot!(refused(&|case| case.attributes.soft_cap = Some(-1.0)), @"the soft cap is -1, and must be a number above 0");
    let long = |case: &mut Case| {
        let lengths =
            Tensor { numbers: vec![4.0, 5.0], ..Tensor::zeros(Dtype::I64, &[2]) };
        case.tensors.insert("nonpad_kv_seqlen".into(), lengths);
    };
    insta::assert_snapshot!(refused(&long), @"the mask lets the first 5 keys be seen and there are only 4");
}

#[test]
fn a_tensor_that_the_operator_does_not_know_is_refused() {
    let mut tensors = small().tensors;
    assert!(file::expect_known(&tensors).is_ok());
    tensors.insert("key_padding_mask".into(), Tensor::zeros(Dtype::BOOL, &[2, 4]));
    insta::assert_snapshot!(file::expect_known(&tensors).unwrap_err(), @r#""key_padding_mask" is no input or output of the operator and may change the result: its inputs are Q, K, V, attn_mask, past_key, past_value, nonpad_kv_seqlen"#);
}

#[test]
fn a_file_that_is_no_case_is_refused() {
    let file = tempfile::NamedTempFile::new().unwrap();
    fs::write(file.path(), b"Q, K, V").unwrap();
    let refused = file::read(file.path()).unwrap_err().to_string();
    assert!(refused.ends_with(" is no safetensors file"), "{refused}");
    assert!(file::read(Path::new("no/such/case")).is_err());
}
