//! What holds of the task, the model and the measurements.

mod circuits;
mod planted;

use ::ablation::Replacement;
use attention::{Matrix, Result, Rng, SeedableRng, max_abs_diff};
use gradients::Entries;

use super::*;
use crate::tests::rng;
use crate::{Schedule, Trainer, Training};

fn trainer(
    built: Architecture,
    schedule: Schedule,
) -> Result<Trainer<Predictor, Repeats>> {
    Trainer::new(Repeats::default(), schedule, |task, rng| {
        Predictor::random(built, task, rng)
    })
}

/// A training of a few steps, small enough for a test.
fn few_steps(built: Architecture) -> Training<Predictor> {
    let schedule =
        Schedule { n_steps: 4, batch: 4, n_test: 6, n_looks: 2, ..Schedule::usual(3) };
    trainer(built, schedule).unwrap().finish().unwrap()
}

#[test]
fn what_comes_next_stood_one_period_before() {
    let read = Repeats::default().draw(50, &mut rng()).unwrap();
    let n = read.n_tokens;
    assert!(read.periods.iter().all(|period| (6..=12).contains(period)));
    assert!((6..=12).all(|period| read.periods.contains(&period)));
    for row in read.known() {
        let (s, t) = (row / n, row % n);
        let period = read.periods[s];
        assert_eq!(read.ids[row], read.ids[row - period]);
        assert_eq!(read.next[row], read.ids[row - period + 1]);
        let since = &read.ids[s * n + t - period + 1..row];
        assert!(!since.contains(&read.ids[row]), "a token stands once in a period");
    }
}

#[test]
fn an_oracle_is_right_and_what_repeats_the_token_never_is() {
    let read = Repeats::default().draw(20, &mut rng()).unwrap();
    assert_eq!(read.score(&read.next), 1.0);
    assert_eq!(read.score(&read.ids), 0.0);
}

/// A guess is what models of any parts score that have learned nothing.
#[test]
fn fresh_models_guess() {
    let task = Repeats::default();
    let read = task.draw(50, &mut rng()).unwrap();
    let guess = 1.0 / task.n_vocabulary as f64;
    let two = Architecture::TWO_LAYERS;
    for built in [
        two,
        Architecture::ONE_WIDE_LAYER,
        Architecture { positions: false, ..two },
        Architecture { residual: false, ..two },
    ] {
        let score = |seed| {
            let rng = &mut Rng::seed_from_u64(seed);
            Predictor::random(built, &task, rng).unwrap().score(&read).unwrap()
        };
        let mean = (0..20).map(score).sum::<f64>() / 20.0;
        assert!((0.5..1.5).contains(&(mean / guess)), "{built:?}: {mean}");
    }
}

#[test]
fn one_wide_layer_has_as_many_parameters_as_two() {
    let of = |built| {
        Predictor::random(built, &Repeats::default(), &mut rng()).unwrap().n_parameters()
    };
    let two = [32 * 64 + 24 * 64, 2 * 4 * (64 * 64 + 64), 64 * 32 + 32];
    assert_eq!(of(Architecture::TWO_LAYERS), two);
    assert_eq!(of(Architecture::ONE_WIDE_LAYER), [two[0], two[1] - 64, two[2]]);
}

#[test]
fn what_comes_later_changes_no_answer() {
    let task = Repeats::default();
    let model = Predictor::random(Architecture::TWO_LAYERS, &task, &mut rng()).unwrap();
    let mut read = task.draw(1, &mut rng()).unwrap();
    let before = model.logits(&read).unwrap();
    read.ids[20] = (read.ids[20] + 1) % task.n_vocabulary;
    let after = model.logits(&read).unwrap();
    assert_eq!(before.rows(0, 20), after.rows(0, 20));
    assert_ne!(before.rows(20, 4), after.rows(20, 4));
}

#[test]
fn logits_with_nothing_changed_are_the_logits() {
    for built in [
        Architecture::TWO_LAYERS,
        Architecture { residual: false, ..Architecture::TWO_LAYERS },
    ] {
        let model = few_steps(built).model;
        let read = Repeats::default().draw(3, &mut rng()).unwrap();
        let same = model.logits_with(&read, |_, concat| concat).unwrap();
        let diff = max_abs_diff(&same, &model.logits(&read).unwrap()).unwrap();
        assert!(diff < 1e-5, "{diff:e}");
        let none = |_, concat: Matrix<f32>| concat * 0.0;
        assert_ne!(model.logits_with(&read, none).unwrap(), same);
    }
}

#[test]
fn a_seed_gives_the_same_bits_and_another_seed_others() {
    let [a, b] = [Architecture::TWO_LAYERS; 2].map(few_steps);
    assert_eq!((a.model, a.losses), (b.model, b.losses));
    assert_eq!(a.looks, b.looks);
    let steps: Vec<usize> = a.looks.iter().map(|look| look.step).collect();
    assert_eq!(steps, [0, 2, 4]);
    let schedule = Schedule { n_steps: 1, batch: 4, n_test: 6, ..Schedule::usual(4) };
    assert_ne!(
        trainer(Architecture::TWO_LAYERS, schedule).unwrap().so_far().before,
        a.before
    );
}

#[test]
fn the_four_shares_of_a_head_are_of_one_row() {
    let trained = few_steps(Architecture::TWO_LAYERS);
    let HeadShares { previous, same_place, last_same, after_last_same, .. } =
        &trained.last().shares;
    let sum = previous + same_place + last_same + after_last_same;
    assert!(sum.iter().all(|&sum| 0.0 < sum && sum < 1.0 + 1e-6), "{sum}");
}

#[test]
fn a_head_that_the_output_never_reads_is_missed_by_nobody() {
    let mut model = few_steps(Architecture::TWO_LAYERS).model;
    let layer = &mut model.stack.blocks[1].attention.function;
    let w_o = layer.parameters_mut().entries_mut().into_iter().nth(6).unwrap();
    assert_eq!(w_o.len(), 64 * 64);
    w_o.chunks_mut(64).for_each(|column| column[..16].fill(0.0)); // head 0's rows
    let read = Repeats::default().draw(10, &mut rng()).unwrap();
    for how in Replacement::ALL {
        let found = StackAblation::of(&model, &read, how, &mut rng()).unwrap();
        assert_eq!(found.ablated[(1, 0)], found.whole, "{}", how.name());
        assert_eq!(found.ablated.shape(), (2, 4));
        assert_eq!(found.controls.shape(), (2, StackAblation::N_DRAWS));
    }
}

#[test]
fn a_head_or_positions_that_are_not_there_carry_nothing() {
    let model = few_steps(Architecture::TWO_LAYERS).model;
    let read = Repeats::default().draw(10, &mut rng()).unwrap();
    insta::assert_snapshot!(Carried::by(&model, 4, &read).unwrap_err(), @"there are 4 heads, 0 to 3: head 4 does not exist");
    let built = Architecture { positions: false, ..Architecture::TWO_LAYERS };
    let refused = Carried::by(&few_steps(built).model, 0, &read).unwrap_err();
    insta::assert_snapshot!(refused, @"the number of positions is 0, and must be at least 1");
}

#[test]
fn a_half_that_is_constant_is_not_missed() {
    let mut model = few_steps(Architecture::TWO_LAYERS).model;
    let read = Repeats::default().draw(30, &mut rng()).unwrap();
    model.embedding.entries_mut()[1].fill(0.0);
    assert_eq!(Carried::by(&model, 0, &read).unwrap().which, model.score(&read).unwrap());
}

#[test]
fn what_does_not_fit_is_refused_with_its_numbers() {
    let drawn = |periods, n_vocabulary| {
        let task = Repeats { periods, n_vocabulary, ..Repeats::default() };
        task.draw(1, &mut rng()).unwrap_err().to_string()
    };
    insta::assert_snapshot!(drawn(6..=12, 10), @"periods of 6 to 12 cannot be drawn: each is 1 to 10 tokens, all different");
    insta::assert_snapshot!(drawn(0..=3, 10), @"periods of 0 to 3 cannot be drawn: each is 1 to 10 tokens, all different");
    let model = few_steps(Architecture::TWO_LAYERS).model;
    let long =
        Repeats { n_tokens: 25, ..Repeats::default() }.draw(1, &mut rng()).unwrap();
    insta::assert_snapshot!(model.logits(&long).unwrap_err(), @"the text has 25 tokens, and the model has 24 positions");
}
