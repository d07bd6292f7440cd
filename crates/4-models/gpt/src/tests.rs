use std::ops::ControlFlow;
use std::path::Path;

use attention::{Matrix, Result, Rng, SeedableRng};
use gradients::{Adam, Optimiser};
use tensors::TensorFile;

use crate::parts::cut;
use crate::{
    Architecture, Counts, Model, NAMES, RUNGS, Rung, Schedule, Split, Training, gpt2,
    scalars,
};

const SMALL: Architecture = Architecture::SMALL;

/// The rungs in f64, which agree to its last digits.
fn exact() -> impl Iterator<Item = Rung> {
    RUNGS.into_iter().filter(|rung| rung.name != "tiles")
}

fn names() -> Vec<Vec<usize>> {
    NAMES.lines().map(scalars::ids).collect()
}

/// Steps as the scalars take them, with the losses before each.
fn train(
    rung: Rung,
    parameters: &mut [f64],
    names: &[Vec<usize>],
    n_steps: usize,
    rng: &mut Rng,
) -> Result<Vec<f64>> {
    let mut training = Training::from(rung, SMALL, Schedule::small(n_steps), parameters)?;
    let losses = training.run(names, rng, go_on)?;
    parameters.copy_from_slice(training.parameters());
    Ok(losses)
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
    assert_eq!(SMALL.n_parameters(), 4000);
    assert_eq!(SMALL.parameters(&mut Rng::seed_from_u64(1)), parameters);
}

/// Gains are ones, biases are zeros, and no random number is either: the scalars take the list
/// in the order of the parts.
#[test]
fn parts_begin_as_what_they_are() {
    let parameters = scalars::parameters(&mut Rng::seed_from_u64(1));
    for (part, list) in SMALL.parts().into_iter().zip(cut(&parameters)) {
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
    train(RUNGS[1], &mut parameters, names, 5, rng).unwrap();
    let (_, gradients) = scalars::gradients(&parameters, names);
    let mut first = 0;
    for part in SMALL.parts() {
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
    for rung in exact() {
        let mut parameters = start.clone();
        let rng = &mut Rng::seed_from_u64(4);
        let of_rung = train(rung, &mut parameters, &names, 50, rng).unwrap();
        let rung = rung.name;
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
        for rung in exact() {
            let (of_rung, found) =
                rung.gradients(SMALL, &parameters, &names[..n]).unwrap();
            let rung = rung.name;
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
    let start = gpt2::read(SMALL, &file, "transformer.").unwrap();
    let expected = gpt2::read(SMALL, &file, "grad.transformer.").unwrap();
    let losses = file.tensor("losses").unwrap().numbers().unwrap();
    let names: Vec<_> =
        file.text("names").unwrap().split(' ').map(scalars::ids).collect();
    for rung in exact() {
        let (_, found) = rung.gradients(SMALL, &start, &names).unwrap();
        let furthest = apart(&found, &expected);
        let mut parameters = Matrix::from_row_slice(1, start.len(), &start);
        let mut adam: Adam = Adam::new(0.01);
        let steps = losses.iter().map(|_| {
            let (loss, d) = rung.gradients(SMALL, parameters.as_slice(), &names).unwrap();
            let d = Matrix::from_vec(1, d.len(), d);
            adam.step_entries(&mut parameters, &d).unwrap();
            loss
        });
        let of_losses = apart(&steps.collect::<Vec<_>>(), &losses);
        let rung = rung.name;
        println!("{rung}: gradients {furthest:.1e}, losses {of_losses:.1e}");
        assert!(furthest < 1e-9 && of_losses < 1e-9, "{rung}");
    }
}

/// What is saved is what is read, to the precision of f32.
#[test]
fn a_saved_model_is_read_again() {
    for sizes in [SMALL, OTHER] {
        let folder = tempfile::tempdir().unwrap();
        let parameters = sizes.parameters(&mut Rng::seed_from_u64(7));
        gpt2::write(folder.path(), sizes, &parameters).unwrap();
        let file = TensorFile::open(folder.path().join("model.safetensors")).unwrap();
        let read = gpt2::read(sizes, &file, "transformer.").unwrap();
        let kept: Vec<f64> = parameters.iter().map(|&p| f64::from(p as f32)).collect();
        assert_eq!(read, kept);
    }
}

/// Two blocks of two heads, and fewer positions.
const OTHER: Architecture =
    Architecture { d_model: 8, n_heads: 2, n_blocks: 2, n_positions: 12 };

/// Along the gradient of each part of two blocks, the loss rises by the gradient's length.
#[test]
fn blocks_on_blocks_agree_with_central_differences() {
    let names = &names()[2000..2003];
    let mut parameters = OTHER.parameters(&mut Rng::seed_from_u64(8));
    parameters.iter_mut().enumerate().for_each(|(i, p)| *p += 0.1 * (i as f64).sin());
    for rung in exact().filter(|rung| !rung.is_small) {
        let gradients = |list: &[f64]| rung.gradients(OTHER, list, names).unwrap();
        let (_, d) = gradients(&parameters);
        let mut first = 0;
        for part in OTHER.parts() {
            let own = first..first + part.n_entries();
            first = own.end;
            if part.name == "b_k" {
                continue;
            }
            let length = d[own.clone()].iter().map(|d| d * d).sum::<f64>().sqrt();
            let loss = |by: f64| {
                let mut moved = parameters.clone();
                let own = moved[own.clone()].iter_mut().zip(&d[own.clone()]);
                own.for_each(|(p, d)| *p += by * d / length);
                gradients(&moved).0
            };
            let slope = (loss(1e-5) - loss(-1e-5)) / 2e-5;
            assert!((slope / length - 1.0).abs() < 1e-6, "{}: {part:?}", rung.name);
        }
    }
}

/// In f32 the last rung agrees with the one before it to 1e-5 of the largest gradient, for
/// sizes that fill no panel and for names that fill none or three; and so do the losses of
/// fifty steps, to 1e-4.
#[test]
fn tiles_agree_with_the_batch() {
    let names = names();
    let [.., batch, tiles] = RUNGS;
    let uneven = Architecture { d_model: 60, n_heads: 5, n_blocks: 2, n_positions: 13 };
    for sizes in [SMALL, OTHER, uneven] {
        let rng = &mut Rng::seed_from_u64(13);
        let mut parameters = sizes.parameters(rng);
        parameters.iter_mut().enumerate().for_each(|(i, p)| *p += 0.1 * (i as f64).sin());
        for names in [&names[..1], &names[700..708], &names[1000..1100]] {
            let [exact, found] =
                [batch, tiles].map(|it| it.gradients(sizes, &parameters, names).unwrap());
            let largest = exact.1.iter().fold(0.0, |a: f64, d| a.max(d.abs()));
            let of_gradients = apart(&exact.1, &found.1) / largest;
            let of_loss = (exact.0 - found.0).abs();
            println!("{sizes:?}: loss {of_loss:.1e}, gradients {of_gradients:.1e}");
            assert!(of_loss < 1e-5 && of_gradients < 1e-5);
        }
    }
    let start = SMALL.parameters(&mut Rng::seed_from_u64(3));
    let [exact, found] = [batch, tiles].map(|rung| {
        train(rung, &mut start.clone(), &names, 50, &mut Rng::seed_from_u64(4)).unwrap()
    });
    let of_losses = apart(&exact, &found);
    println!("fifty steps: {of_losses:.1e}");
    assert!(of_losses < 1e-4);
}

/// A list of a reader's own must not bring anything down.
#[test]
fn names_and_sizes_that_do_not_fit_are_refused_with_their_numbers() {
    let parameters = SMALL.parameters(&mut Rng::seed_from_u64(1));
    for rung in RUNGS {
        let refused =
            |names: &[Vec<usize>]| rung.gradients(SMALL, &parameters, names).unwrap_err();
        insta::allow_duplicates! {
            insta::assert_snapshot!(refused(&[]), @"the number of names is 0, and must be at least 1");
            insta::assert_snapshot!(refused(&[vec![0]]), @"the number of letters and ends to be guessed is 0, and must be at least 1");
            insta::assert_snapshot!(refused(&[vec![]]), @"the number of letters and ends to be guessed is 0, and must be at least 1");
            insta::assert_snapshot!(refused(&[vec![0, 27, 0]]), @"token 1 has id 27, and the vocabulary has 27 entries, from 0");
            insta::assert_snapshot!(refused(&["bo", "maximilianalexander"].map(scalars::ids)), @"the text has 20 tokens, and the model has 16 positions");
            let refused = rung.gradients(SMALL, &parameters[1..], &[vec![0, 0]]).unwrap_err();
            insta::assert_snapshot!(refused, @"the list of parameters has 3999 entries, expected 4000");
        }
        let longest = [scalars::ids("aaaaaaaaaaaaaaa")];
        assert!(rung.gradients(SMALL, &parameters, &longest).is_ok());
        let parameters = OTHER.parameters(&mut Rng::seed_from_u64(1));
        assert_eq!(
            rung.is_small,
            rung.gradients(OTHER, &parameters, &[vec![0, 0]]).is_err()
        );
    }
    let refused = |sizes| Model::new(sizes, &parameters).unwrap_err();
    insta::assert_snapshot!(refused(OTHER), @"the list of parameters has 4000 entries, expected 2072");
    insta::assert_snapshot!(refused(Architecture { n_heads: 3, ..SMALL }), @"d_model 16 cannot be divided among 3 heads: 16 = 3 × 5 + 1");
    let other = Architecture { n_heads: 2, ..SMALL };
    let refused = RUNGS[0].gradients(other, &parameters, &[vec![0, 0]]).unwrap_err();
    insta::assert_snapshot!(refused, @"the list of a block's heads has 2 entries, expected 4");
    let schedule = Schedule { clip: Some(f64::NAN), ..Schedule::small(1) };
    let refused = Training::from(RUNGS[0], SMALL, schedule, &parameters).unwrap_err();
    insta::assert_snapshot!(refused, @"the norm to be clipped to is NaN, and must be a number above 0");
}

/// What it reads is what the loss is of, and it writes as the scalars do.
#[test]
fn a_model_reads_and_writes_as_the_scalars_do() {
    let mut parameters = SMALL.parameters(&mut Rng::seed_from_u64(9));
    train(RUNGS[4], &mut parameters, &names(), 60, &mut Rng::seed_from_u64(9)).unwrap();
    let model = Model::new(SMALL, &parameters).unwrap();
    let name = scalars::ids("christopher");
    let read = model.read(&name[..name.len() - 1]).unwrap();
    let loss = gradients::cross_entropy(&read.logits, &name[1..]).unwrap().value;
    let (expected, _) = scalars::gradients(&parameters, std::slice::from_ref(&name));
    assert!((loss - expected).abs() < 1e-12);
    for n in [1, 5, 12] {
        let apart = model.next(&name[..n]).unwrap() - read.logits.row(n - 1);
        assert!(apart.amax() < 1e-12, "{n}");
    }
    let [ours, expected] = [&mut Rng::seed_from_u64(10), &mut Rng::seed_from_u64(10)];
    for _ in 0..20 {
        let name = scalars::write(&parameters, 0.8, expected);
        assert_eq!(model.write(0.8, ours).unwrap(), name);
    }
    assert!(model.write(0.0, ours).is_err());
    assert!(model.read(&[0; 17]).is_err() && model.next(&[]).is_err());
}

/// Without a head, a model is one whose rows of W^O for this head are zeros, and nothing before
/// it has changed.
#[test]
fn a_model_without_a_head_has_zeros_for_it() {
    let parameters = OTHER.parameters(&mut Rng::seed_from_u64(11));
    let model = Model::new(OTHER, &parameters).unwrap();
    let mut zeroed = parameters;
    let of_w_o = OTHER.first_of(0) + 8;
    OTHER.cut_mut(&mut zeroed)[of_w_o][4 * 8..].fill(0.0);
    let without = model.without(0, 1).unwrap();
    assert_eq!(without, Model::new(OTHER, &zeroed).unwrap());
    let ids = &scalars::ids("maria")[..6];
    let [whole, less] = [model, without].map(|model| model.read(ids).unwrap());
    assert_eq!(less.maps[0], whole.maps[0]);
    assert_ne!(less.maps[1], whole.maps[1]);
    let model = Model::new(OTHER, &zeroed).unwrap();
    insta::assert_snapshot!(model.without(2, 0).unwrap_err(), @"there are 2 blocks, 0 to 1: block 2 does not exist");
    insta::assert_snapshot!(model.without(1, 2).unwrap_err(), @"there are 2 heads, 0 to 1: head 2 does not exist");
}

/// The rate rises, stays or falls as the schedule says, and a long gradient is cut.
#[test]
fn schedules_warm_up_decay_and_clip() {
    let schedule = Schedule { warm_up: 3, decay: true, ..Schedule::small(7) };
    let rates: Vec<f64> = (0..8).map(|step| 100.0 * schedule.rate_at(step)).collect();
    assert!(
        apart(&rates, &[0.25, 0.5, 0.75, 1.0, 0.75, 0.5, 0.25, 0.0]) < 1e-12,
        "{rates:?}"
    );
    assert!((0..8).all(|step| Schedule::small(7).rate_at(step) == 0.01));

    // Before Adam's first step a gradient's length is all that clipping changes, and Adam is
    // blind to it; the second step remembers.
    let after = |clip| {
        let mut parameters = SMALL.parameters(&mut Rng::seed_from_u64(12));
        let schedule = Schedule { clip, ..Schedule::small(2) };
        let mut training =
            Training::from(RUNGS[4], SMALL, schedule, &parameters).unwrap();
        training.run(&names(), &mut Rng::seed_from_u64(12), go_on).unwrap();
        parameters.copy_from_slice(training.parameters());
        parameters
    };
    assert_eq!(after(Some(1e3)), after(None));
    assert!(apart(&after(Some(0.5)), &after(None)) > 1e-4);
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
