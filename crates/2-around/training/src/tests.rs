use std::ops::ControlFlow;

use attention::{Error, Matrix, Rng, SeedableRng};
use serde_json::Value;

use super::*;
use crate::lookups::{Lookups, Sizes};
use crate::one_layer::{Answers, Model, train};

/// The same random numbers each time.
pub(crate) fn rng() -> Rng {
    Rng::seed_from_u64(1)
}

/// The runs of a file of many seeds.
pub(crate) fn runs(data: &str) -> Vec<Value> {
    serde_json::from_str(data).unwrap()
}

pub(crate) const ON: fn(Step) -> ControlFlow<()> = |_| ControlFlow::Continue(());

/// A training short enough to repeat.
fn short() -> Schedule {
    Schedule { n_steps: 12, n_test: 16, n_looks: 3, ..Lookups::schedule(1) }
}

#[test]
fn one_head_is_far_above_a_guess_and_far_below_three() {
    for seed in [0, 2] {
        let schedule = Lookups::schedule(seed);
        let trained = train(&Lookups::default(), 1, &schedule, ON).unwrap();
        let score = trained.last().score();
        assert!((0.55..0.9).contains(&score), "seed {seed}: {score}");

        let sizes = Sizes::of(&trained.model, &trained.test).unwrap();
        assert!((sizes.as_is - score).abs() < 1e-2, "{sizes:?}");
        assert!(sizes.by_identity > 0.6 && sizes.by_role < 0.05, "{sizes:?}");
        assert!((0.2..0.45).contains(&sizes.equal), "{sizes:?}");
        assert!(sizes.exchanged > 0.4 && sizes.other_role > 0.8, "{sizes:?}");
    }
}

#[test]
fn before_training_heads_find_nothing() {
    let schedule = Schedule { n_steps: 1, ..Lookups::schedule(0) };
    let trained = train(&Lookups::default(), 3, &schedule, ON).unwrap();
    let first = &trained.looks[0];
    assert!(first.score() < 0.06, "1 of 64 is a guess: {:?}", first.scores);
    assert!(first.focus.max() < 0.25, "a tenth is even: {}", first.focus);
}

#[test]
fn a_seed_gives_the_same_numbers_to_the_last_bit_and_another_seed_others() {
    let task = Lookups::default();
    let [a, b] =
        [1, 1].map(|seed| train(&task, 3, &Schedule { seed, ..short() }, ON).unwrap());
    assert_eq!((&a.model, &a.losses, &a.looks), (&b.model, &b.losses, &b.looks));
    let other = train(&task, 3, &Schedule { seed: 2, ..short() }, ON).unwrap();
    assert_ne!(a.before, other.before);
    assert_ne!(a.test.tokens, other.test.tokens);
    assert_ne!(a.losses, other.losses);
}

#[test]
fn the_test_set_stays_where_steps_and_batches_change() {
    let task = Lookups::default();
    let a = train(&task, 3, &short(), ON).unwrap();
    let schedule = Schedule { n_steps: 5, batch: 7, ..short() };
    let b = train(&task, 3, &schedule, ON).unwrap();
    assert_eq!((a.test.tokens, a.before), (b.test.tokens, b.before));
}

#[test]
fn looks_are_spread_evenly_and_the_last_is_at_the_end() {
    let trained = train(&Lookups::default(), 3, &short(), ON).unwrap();
    let steps: Vec<usize> = trained.looks.iter().map(|look| look.step).collect();
    assert_eq!(steps, [0, 4, 8, 12]);
    let mean = trained.losses[4..8].iter().sum::<f64>() / 4.0;
    assert!((trained.looks[2].loss - mean).abs() < 1e-12);
}

#[test]
fn told_to_stop_it_keeps_what_is_there() {
    let stop_at = |step: Step| match step.step {
        5 => ControlFlow::Break(()),
        _ => ControlFlow::Continue(()),
    };
    let trained = train(&Lookups::default(), 3, &short(), stop_at).unwrap();
    assert_eq!(trained.losses.len(), 6);
    assert_eq!(trained.last().step, 6);
    assert_eq!(trained.last().scores, trained.model.scores(&trained.test).unwrap());
}

#[test]
fn step_by_step_it_is_the_same_training_and_looking_changes_nothing() {
    let whole = train(&Lookups::default(), 3, &short(), ON).unwrap();
    let begin = |task: &Lookups, rng: &mut Rng| Model::random(task, 3, rng);
    let mut trainer = Trainer::new(Lookups::default(), short(), begin).unwrap();
    while let Some(Step { step, loss, .. }) = trainer.step().unwrap() {
        assert_eq!(loss, whole.losses[step]);
        let (now, so_far) = (trainer.look().unwrap(), trainer.so_far());
        assert_eq!(now.step, step + 1);
        assert_eq!(now.scores, so_far.model.scores(&so_far.test).unwrap());
    }
    assert_eq!(trainer.step().unwrap(), None);
    let trained = trainer.finish().unwrap();
    assert_eq!((trained.model, trained.looks), (whole.model, whole.looks));
}

#[test]
fn a_loss_that_explodes_or_is_no_number_ends_the_training_at_its_step() {
    let diverged = |rate| {
        let schedule = Schedule { rate, ..short() };
        match train(&Lookups::default(), 3, &schedule, ON).unwrap_err() {
            Error::Diverged { step, loss, first, .. } => (step, loss, first),
            refused => panic!("{refused}"),
        }
    };
    let (step, loss, first) = diverged(1e3);
    assert!(step > 0 && loss > 100.0 * first && first < 10.0, "{step}: {loss}");
    let (step, loss, _) = diverged(1e38);
    assert!(step == 1 && loss.is_nan(), "{step}: {loss}");
}

#[test]
fn settings_that_do_not_work_are_refused_with_their_numbers() {
    let with_heads =
        |n_heads| train(&Lookups::default(), n_heads, &short(), ON).unwrap_err();
    insta::assert_snapshot!(with_heads(0), @"n_heads is 0, and must be at least 1");
    insta::assert_snapshot!(with_heads(5), @"d_model 48 cannot be divided among 5 heads: 48 = 5 × 9 + 3");
    let refused = |change: &dyn Fn(&mut Schedule)| {
        let mut schedule = short();
        change(&mut schedule);
        train(&Lookups::default(), 3, &schedule, ON).unwrap_err().to_string()
    };
    insta::assert_snapshot!(refused(&|s| s.n_steps = 0), @"the number of steps is 0, and must be at least 1");
    insta::assert_snapshot!(refused(&|s| s.batch = 0), @"the number of examples a step is 0, and must be at least 1");
    insta::assert_snapshot!(refused(&|s| s.n_test = 0), @"the number of test examples is 0, and must be at least 1");
    insta::assert_snapshot!(refused(&|s| s.rate = f64::NAN), @"the rate is NaN, and must be a number above 0");
}

#[test]
fn all_numbers_of_heads_have_the_same_number_of_parameters() {
    let of = |n_heads| {
        let rng = &mut Rng::seed_from_u64(0);
        Model::random(&Lookups::default(), n_heads, rng).unwrap().n_parameters()
    };
    assert_eq!([1, 2, 3, 4, 6, 8].map(of), [4 * (48 * 48 + 48) + 49 * 192; 6]);
}

#[test]
fn numbers_are_scored_by_the_variance_that_is_explained() {
    let right = Matrix::from_column_slice(4, 1, &[1.0, 2.0, 3.0, 4.0]);
    let answers = Answers::Numbers(right.clone());
    assert_eq!(answers.scores(&right), [1.0]);
    assert_eq!(answers.scores(&Matrix::from_element(4, 1, 2.5)), [0.0]);
    assert!(answers.scores(&Matrix::from_element(4, 1, 9.0))[0] < 0.0);
}

#[test]
fn classes_are_scored_and_lost_target_by_target() {
    let answers =
        Answers::Classes { n_classes: 2, of_targets: vec![vec![0, 1], vec![1, 1]] };
    let said = Matrix::from_row_slice(2, 4, &[9.0, 0.0, 0.0, 9.0, 9.0, 0.0, 0.0, 9.0]);
    assert_eq!(answers.scores(&said), [0.5, 1.0]);
    let loss = answers.loss(&said).unwrap();
    assert!((loss.value - 9.0 / 4.0).abs() < 1e-3, "one of four is wrong by 9");
    assert_eq!(loss.gradient.shape(), (2, 4));
}
