mod model;

use std::path::Path;

use attention::{Matrix, Rng, SeedableRng, max_abs_diff};
use gradients::{Adam, Optimiser};
use tensors::TensorFile;

use crate::{
    Architecture, Gradients, Model, NAMES, RUNGS, Rung, Schedule, Split, Training, gpt2,
    scalars,
};

const SMALL: Architecture = Architecture::SMALL;

/// Two blocks of two heads, and fewer positions.
const OTHER: Architecture =
    Architecture { d_model: 8, n_heads: 2, n_blocks: 2, n_positions: 12 };

/// The rungs in f64, which agree to its last digits.
fn exact() -> impl Iterator<Item = Rung> {
    RUNGS.into_iter().filter(|rung| rung.name != "tiles")
}

fn names() -> Vec<Vec<usize>> {
    NAMES.lines().map(scalars::ids).collect()
}

/// Steps as the scalars take them, on names that are drawn with a seed: the loss before each,
/// and the parameters behind all.
fn train(rung: Rung, start: &[f64], n_steps: usize, seed: u64) -> [Vec<f64>; 2] {
    let schedule = Schedule::small(n_steps);
    let mut training = Training::from(rung, SMALL, schedule, start).unwrap();
    let losses = training.run(&names(), &mut Rng::seed_from_u64(seed)).unwrap();
    [losses, training.parameters().to_vec()]
}

/// Parameters of which none is 0 or 1 before any training.
fn uneven(sizes: Architecture, rng: &mut Rng) -> Vec<f64> {
    let uneven = |(i, p)| p + 0.1 * (i as f64).sin();
    sizes.parameters(rng).into_iter().enumerate().map(uneven).collect()
}

/// What PyTorch or transformers wrote.
fn vectors(name: &str) -> TensorFile {
    let folder = "../../../tests/data/torch-vectors/gpt";
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join(folder);
    TensorFile::open(folder.join(name)).unwrap()
}

/// Along the gradient of each part by itself, the loss rises by the gradient's length.
fn expect_slopes(
    sizes: Architecture,
    parameters: &[f64],
    gradients: impl Fn(&[f64]) -> Gradients,
) {
    let (_, gradient) = gradients(parameters);
    for (nth, (part, d)) in
        sizes.parts().into_iter().zip(sizes.cut(&gradient)).enumerate()
    {
        let length = d.iter().map(|d| d * d).sum::<f64>().sqrt();
        if part.name == "b_k" {
            // A query's scores all rise by as much, which no softmax sees.
            assert!(length < 1e-15, "{length:e}");
            continue;
        }
        let loss = |by: f64| {
            let mut moved = parameters.to_vec();
            let own = sizes.cut_mut(&mut moved).swap_remove(nth);
            own.iter_mut().zip(d).for_each(|(p, d)| *p += by * d / length);
            gradients(&moved).0
        };
        let slope = (loss(1e-5) - loss(-1e-5)) / 2e-5;
        assert!((slope / length - 1.0).abs() < 1e-6, "{part:?}: {slope} {length}");
    }
}

/// The largest difference of two lists.
fn apart(a: &[f64], b: &[f64]) -> f64 {
    let [a, b] = [a, b].map(|list| Matrix::from_row_slice(1, list.len(), list));
    max_abs_diff(&a, &b).unwrap()
}

/// The scalars, which know no names, take the list in the order of the parts: gains are ones,
/// biases are zeros, and no random number is either.
#[test]
fn there_are_5163_names_and_4000_parameters_that_begin_as_what_they_are() {
    let names = names();
    assert_eq!(names.len(), 5163);
    assert!(names.iter().all(|name| name.len() <= scalars::N_POSITIONS));
    let parameters = scalars::parameters(&mut Rng::seed_from_u64(1));
    assert_eq!([parameters.len(), SMALL.n_parameters()], [4000; 2]);
    assert_eq!(SMALL.parameters(&mut Rng::seed_from_u64(1)), parameters);
    let count = |number| parameters.iter().filter(|&&it| it == number).count();
    assert_eq!([1.0, 0.0].map(count), [3 * 16, (3 + 4 + 1) * 16 + 64]);
}

#[test]
fn gradients_agree_with_central_differences() {
    let some = &names()[1000..1003];
    let start = scalars::parameters(&mut Rng::seed_from_u64(2));
    let [_, parameters] = train(RUNGS[1], &start, 5, 2);
    expect_slopes(SMALL, &parameters, |list| scalars::gradients(list, some));

    let some = &names()[2000..2003];
    let parameters = uneven(OTHER, &mut Rng::seed_from_u64(8));
    let loss = Model::new(OTHER, &parameters).unwrap().loss(some).unwrap();
    for rung in exact().filter(|rung| !rung.is_small) {
        let gradients = |list: &[f64]| rung.gradients(OTHER, list, some).unwrap();
        expect_slopes(OTHER, &parameters, gradients);
        assert!((gradients(&parameters).0 - loss).abs() < 1e-12, "{}", rung.name);
    }
}

/// Fifty steps of each rung by itself, from the same parameters on the same names: every loss,
/// the gradient of every parameter at every step, every parameter at the end, and the names
/// that it then writes.
#[test]
fn every_rung_has_the_same_losses_gradients_and_names() {
    let start = scalars::parameters(&mut Rng::seed_from_u64(3));
    let mut of_scalars = start.clone();
    let rng = &mut Rng::seed_from_u64(4);
    let losses = scalars::train(&mut of_scalars, &names(), 50, rng);
    assert!(losses[49] < losses[0] - 0.5, "{losses:?}");
    let written = |parameters: &[f64]| -> Vec<String> {
        let rng = &mut Rng::seed_from_u64(5);
        (0..10).map(|_| scalars::write(parameters, 0.8, rng)).collect()
    };
    for rung in exact() {
        let [of_rung, parameters] = train(rung, &start, 50, 4);
        let found = [apart(&of_rung, &losses), apart(&parameters, &of_scalars)];
        println!("{}: losses and parameters {found:?}", rung.name);
        assert!(found.iter().all(|&it| it < 1e-9), "{}: {found:?}", rung.name);
        assert_eq!(written(&parameters), written(&of_scalars), "{}", rung.name);
    }
}

#[test]
fn every_rung_has_the_same_gradients_for_names_of_any_length() {
    let names = ["a", "aaaaaaaaaaaaaaa", "bo", "christopher", "zz"].map(scalars::ids);
    let rng = &mut Rng::seed_from_u64(6);
    for step in 0..20 {
        let parameters = uneven(SMALL, rng);
        let n = 1 + step % names.len();
        let (loss, expected) = scalars::gradients(&parameters, &names[..n]);
        for rung in exact() {
            let (of_rung, found) =
                rung.gradients(SMALL, &parameters, &names[..n]).unwrap();
            let found = [(of_rung - loss).abs(), apart(&found, &expected)];
            let name = rung.name;
            assert!(found.iter().all(|&it| it < 1e-12), "{name}, {n} names: {found:?}");
        }
    }
}

/// transformers' GPT-2 of the same size, with random gains and biases too: the gradient of every
/// parameter, and the losses of 20 steps of PyTorch's Adam.
#[test]
fn every_rung_agrees_with_transformers() {
    let file = vectors("gpt2.safetensors");
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
        let found = [furthest, apart(&steps.collect::<Vec<_>>(), &losses)];
        println!("{}: gradients and losses {found:?}", rung.name);
        assert!(found.iter().all(|&it| it < 1e-9), "{}: {found:?}", rung.name);
    }
}

/// In f32 the last rung agrees with the one before it to 1e-5 of the largest gradient, for
/// sizes that fill no panel and for names that fill none or three; and so do the losses of
/// fifty steps, to 1e-4.
#[cfg(feature = "fast")]
#[test]
fn tiles_agree_with_the_batch() {
    let names = names();
    let [.., batch, tiles] = RUNGS;
    let odd = Architecture { d_model: 60, n_heads: 5, n_blocks: 2, n_positions: 13 };
    for sizes in [SMALL, OTHER, odd] {
        let rng = &mut Rng::seed_from_u64(13);
        let parameters = uneven(sizes, rng);
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
    let [[exact, _], [found, _]] = [batch, tiles].map(|rung| train(rung, &start, 50, 4));
    let of_losses = apart(&exact, &found);
    println!("fifty steps: {of_losses:.1e}");
    assert!(of_losses < 1e-4);
}
