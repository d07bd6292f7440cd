use std::ops::ControlFlow;
use std::path::Path;

use attention::{Matrix, Rng, SeedableRng};
use gradients::{Adam, Optimiser};
use tensors::TensorFile;

use crate::parts::{PARTS, cut};
use crate::{Counts, NAMES, RUNGS, Split, gpt2, scalars, train};

fn names() -> Vec<Vec<usize>> {
    NAMES.lines().map(scalars::ids).collect()
}

fn go_on(_: usize, _: f64) -> ControlFlow<()> {
    ControlFlow::Continue(())
}

/// The largest difference of two lists.
fn apart(a: &[f64], b: &[f64]) -> f64 {
    assert_eq!(a.len(), b.len());
    a.iter().zip(b).map(|(a, b)| (a - b).abs()).fold(0.0, f64::max)
}

#[test]
fn there_are_5163_names_and_4000_parameters() {
    let names = names();
    assert_eq!(names.len(), 5163);
    assert!(names.iter().all(|name| name.len() <= scalars::N_POSITIONS));
    let parameters = scalars::parameters(&mut Rng::seed_from_u64(1));
    assert_eq!(parameters.len(), 4000);
    let of_parts: usize = PARTS.iter().map(|part| part.shape.0 * part.shape.1).sum();
    assert_eq!(of_parts, 4000);
}

/// Gains are ones, biases are zeros, and no random number is either: the scalars take the list
/// in the order of the parts.
#[test]
fn parts_begin_as_what_they_are() {
    let parameters = scalars::parameters(&mut Rng::seed_from_u64(1));
    for (part, list) in PARTS.iter().zip(cut(&parameters)) {
        let is_gain = part.name.ends_with("gain");
        let is_bias = part.name.starts_with("b_") || part.name.ends_with("bias");
        let expected = |x: &f64| match (is_gain, is_bias) {
            (true, _) => *x == 1.0,
            (_, true) => *x == 0.0,
            _ => *x != 0.0 && *x != 1.0,
        };
        assert!(list.iter().all(expected), "{}", part.name);
    }
}

/// Along the gradient of each part by itself, the loss rises by the gradient's length.
#[test]
fn the_tape_agrees_with_central_differences() {
    let names = &names()[1000..1003];
    let rng = &mut Rng::seed_from_u64(2);
    let mut parameters = scalars::parameters(rng);
    train(RUNGS[1].1, &mut parameters, names, 5, rng, go_on).unwrap();
    let (_, gradients) = scalars::gradients(&parameters, names);
    let mut first = 0;
    for part in PARTS {
        let own = first..first + part.shape.0 * part.shape.1;
        first = own.end;
        let d = &gradients[own.clone()];
        let length = d.iter().map(|d| d * d).sum::<f64>().sqrt();
        if part.name == "b_k" {
            // A query's scores all rise by as much, which no softmax sees.
            assert!(length < 1e-15, "{length:e}");
            continue;
        }
        let loss = |by: f64| {
            let mut moved = parameters.clone();
            moved[own.clone()].iter_mut().zip(d).for_each(|(p, d)| *p += by * d / length);
            scalars::gradients(&moved, names).0
        };
        let slope = (loss(1e-5) - loss(-1e-5)) / 2e-5;
        assert!((slope / length - 1.0).abs() < 1e-6, "{}: {slope} {length}", part.name);
    }
}

/// Fifty steps of each rung by itself, from the same parameters on the same names: every loss,
/// the gradient of every parameter at every step, every parameter at the end, and the names
/// that it then writes.
#[test]
fn every_rung_has_the_same_losses_gradients_and_names() {
    let names = names();
    let start = scalars::parameters(&mut Rng::seed_from_u64(3));
    let mut of_scalars = start.clone();
    let rng = &mut Rng::seed_from_u64(4);
    let losses = scalars::train(&mut of_scalars, &names, 50, rng);
    assert!(losses[49] < losses[0] - 0.5, "{losses:?}");
    let written = |parameters: &[f64]| -> Vec<String> {
        let rng = &mut Rng::seed_from_u64(5);
        (0..10).map(|_| scalars::write(parameters, 0.8, rng)).collect()
    };
    for (rung, gradients) in RUNGS {
        let mut parameters = start.clone();
        let rng = &mut Rng::seed_from_u64(4);
        let of_rung = train(gradients, &mut parameters, &names, 50, rng, go_on).unwrap();
        let of_losses = apart(&of_rung, &losses);
        let of_parameters = apart(&parameters, &of_scalars);
        println!("{rung}: losses {of_losses:.1e}, parameters {of_parameters:.1e}");
        assert!(of_losses < 1e-9 && of_parameters < 1e-9, "{rung}");
        assert_eq!(written(&parameters), written(&of_scalars), "{rung}");
    }
}

#[test]
fn every_rung_has_the_same_gradients_for_names_of_any_length() {
    let names = ["a", "aaaaaaaaaaaaaaa", "bo", "christopher", "zz"].map(scalars::ids);
    let rng = &mut Rng::seed_from_u64(6);
    for step in 0..20 {
        let mut parameters = scalars::parameters(rng);
        parameters.iter_mut().enumerate().for_each(|(i, p)| *p += 0.1 * (i as f64).sin());
        let n = 1 + step % names.len();
        let (loss, expected) = scalars::gradients(&parameters, &names[..n]);
        for (rung, gradients) in RUNGS {
            let (of_rung, found) = gradients(&parameters, &names[..n]).unwrap();
            assert!((of_rung - loss).abs() < 1e-12, "{rung}, {n} names");
            let furthest = apart(&found, &expected);
            assert!(furthest < 1e-12, "{rung}, {n} names: {furthest:e}");
        }
    }
}

/// transformers' GPT-2 of the same size, with random gains and biases too: the gradient of every
/// parameter, and the losses of 20 steps of PyTorch's Adam.
#[test]
fn every_rung_agrees_with_transformers() {
    let path =
        concat!(env!("CARGO_MANIFEST_DIR"), "/../../../tests/data/torch-vectors/gpt");
    let file = TensorFile::open(Path::new(path).join("gpt2.safetensors")).unwrap();
    let start = gpt2::read(&file, "transformer.").unwrap();
    let expected = gpt2::read(&file, "grad.transformer.").unwrap();
    let losses = file.tensor("losses").unwrap().numbers().unwrap();
    let names: Vec<_> =
        file.text("names").unwrap().split(' ').map(scalars::ids).collect();
    for (rung, gradients) in RUNGS {
        let (_, found) = gradients(&start, &names).unwrap();
        let furthest = apart(&found, &expected);
        let mut parameters = Matrix::from_row_slice(1, start.len(), &start);
        let mut adam: Adam = Adam::new(0.01);
        let steps = losses.iter().map(|_| {
            let (loss, d) = gradients(parameters.as_slice(), &names).unwrap();
            let d = Matrix::from_vec(1, d.len(), d);
            adam.step_entries(&mut parameters, &d).unwrap();
            loss
        });
        let of_losses = apart(&steps.collect::<Vec<_>>(), &losses);
        println!("{rung}: gradients {furthest:.1e}, losses {of_losses:.1e}");
        assert!(furthest < 1e-9 && of_losses < 1e-9, "{rung}");
    }
}

/// What is saved is what is read, to the precision of f32.
#[test]
fn a_saved_model_is_read_again() {
    let folder = tempfile::tempdir().unwrap();
    let parameters = scalars::parameters(&mut Rng::seed_from_u64(7));
    gpt2::write(folder.path(), &parameters).unwrap();
    let file = TensorFile::open(folder.path().join("model.safetensors")).unwrap();
    let read = gpt2::read(&file, "transformer.").unwrap();
    let kept: Vec<f64> = parameters.iter().map(|&p| f64::from(p as f32)).collect();
    assert_eq!(read, kept);
}

/// Counts of what was learned from, on names of which all is known.
#[test]
fn counts_give_the_chances_that_they_should() {
    let names = ["ab", "ab", "b"].map(scalars::ids);
    let pairs = Counts::of(&names, 1);
    // After an a came two b; after the start two a and a b; after b three ends.
    let chance = |count: f64, of: f64| -((count + 0.1) / (of + 2.7)).ln();
    let expected = 2.0 * (chance(2.0, 3.0) + chance(2.0, 2.0) + chance(3.0, 3.0))
        + chance(1.0, 3.0)
        + chance(3.0, 3.0);
    assert!((pairs.loss(&names) - expected / 8.0).abs() < 1e-12);
    let split = Split::of(NAMES.lines());
    assert_eq!([split.learned.len(), split.test.len()], [4647, 516]);
    let losses = [0, 1, 2].map(|n| Counts::of(&split.learned, n).loss(&split.test));
    insta::assert_snapshot!(losses.map(|loss| format!("{loss:.3}")).join(" "), @"2.816 2.336 2.074");
    let written = ["aaron", "abram", "zzz"].map(str::to_owned);
    assert_eq!(split.count(&written), [1, 1, 1]);
}
