//! Texts as they are printed, and texts that are not read.

use super::*;

fn numbers(value: &Value) -> Vec<f64> {
    match value {
        Value::Number(x) => vec![*x],
        Value::Nothing => Vec::new(),
        Value::List(all) => all.iter().flat_map(numbers).collect(),
    }
}

#[test]
fn every_library_prints_the_same_matrix() {
    let expected = Value::of_array(&[2, 2], &[0.25, -1.5, 3.0, 0.125]);
    for text in [
        "[[0.25, -1.5], [3.0, 0.125]]",
        "((0.25, -1.5), (3.0, 0.125))",
        "[[ 0.25  -1.5  ]\n [ 3.     0.125]]",
        "tensor([[ 0.2500, -1.5000],\n        [ 3.0000,  0.1250]], dtype=torch.float64)",
        "tensor([[0.2500, -1.5000], [3.0000, 0.1250]], device='cuda:0', grad_fn=<SoftmaxBackward0>)",
        "Array([[ 0.25 , -1.5  ],\n       [ 3.   ,  0.125]], dtype=float32)",
        "array([[2.5e-01, -1.5e+00], [3.0e+00, 1.25e-01]])",
        "{\"out\": [[0.25, -1.5], [3, 0.125]]}",
        "[[np.float64(0.25), np.float64(−1.5)], [3, 0.125]]",
    ] {
        let value = printed(text).unwrap_or_else(|error| panic!("{text}: {error}")).value;
        let inner = match &value {
            Value::List(all) if all.len() == 1 => all[0].clone(),
            value => value.clone(),
        };
        assert_eq!(inner, expected, "{text}");
    }
}

#[test]
fn digits_and_dtypes_say_how_exact_it_is() {
    let rounding = |text: &str| printed(text).unwrap().precision.rounding;
    let near = |a: f64, b: f64| assert!((a - b).abs() < 1e-12, "{a} {b}");
    near(rounding("tensor([0.2500, 0.7500])"), 0.5e-4);
    near(rounding("tensor([250.0001, 0.7500])"), 0.5e-4 / 250.0001);
    near(rounding("tensor([1.2346e+03, 5.0000e-01])"), 0.05 / 1234.6);
    near(rounding("[3, 263168]"), 0.0);
    near(rounding("tensor([0., 1.])"), 0.0);
    let bf16 = printed("tensor([0.5], dtype=torch.bfloat16)").unwrap().precision;
    assert_eq!(bf16.arithmetic, Precision::BF16.arithmetic);
    // Each array has the digits of its own: one is coarse.
    near(rounding("[tensor([0.12345678]), tensor([0.1235])]"), 0.5e-4);
}

#[test]
fn what_json_cannot_write_is_a_word() {
    let value = printed("[nan, -inf, \"inf\", NaN, True, false, 2]").unwrap().value;
    let found = numbers(&value);
    assert!(found[0].is_nan() && found[3].is_nan());
    assert_eq!(found[1..3], [f64::NEG_INFINITY, f64::INFINITY]);
    assert_eq!(found[4..], [1.0, 0.0, 2.0]);
}

#[test]
fn what_is_no_number_is_refused_with_its_line() {
    const STOPPED: &str =
        "the program that printed this stopped with an error: NameError: q";
    for (text, says) in [
        ("", "there are no numbers in it"),
        ("[1, 2", "line 1: a bracket '[' is never closed"),
        ("[1,\n  two]", "line 2: \"two\" is no number, bracket or known word"),
        ("[[1, ..., 2]]", "line 1: \"...\" stands for numbers that were not printed"),
        ("[1]\n]", "line 2: \"]\" is no number"),
        ("1.2.3", "line 1: \"1.2.3\" is no number"),
        ("Traceback (most recent call last):\n  …\nNameError: q", STOPPED),
    ] {
        let error = printed(text).unwrap_err().to_string();
        assert!(error.starts_with(says), "{text:?}: {error}");
    }
}

#[test]
fn brackets_without_end_are_refused_and_not_followed() {
    let refused = printed(&"[".repeat(1_000_000)).unwrap_err().to_string();
    assert!(refused.contains("more than 64 brackets in each other"), "{refused}");
    assert!(printed(&format!("{}1{}", "[".repeat(64), "]".repeat(64))).is_ok());
}
