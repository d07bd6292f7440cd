use attention::{SeedableRng, max_abs_diff};

use super::*;
use crate::{Lookups, Task};

fn fresh(n_examples: usize) -> (Model, Examples) {
    let (task, rng) = (Lookups::default(), &mut Rng::seed_from_u64(4));
    let model = Model::random(&task, 3, rng).unwrap();
    (model, task.draw(n_examples, rng).unwrap())
}

/// The two ways to write the same removal: zero rows of W^O, a zero block of the
/// concatenation.
#[test]
fn zeroing_a_head_is_the_model_without_it() {
    let (model, examples) = fresh(20);
    let concat = model.concat(&examples).unwrap();
    let rng = &mut Rng::seed_from_u64(0);
    for head in 0..3 {
        let taken = taken(&concat, &axes(48, 16 * head, 16), Removal::Zero, rng);
        let found = model.read(&(&concat - taken)).unwrap();
        let expected = model.without(head).unwrap().say(&examples).unwrap().answers;
        assert!(max_abs_diff(&found, &expected).unwrap() < 1e-5, "head {head}");
    }
}

#[test]
fn one_head_is_removed_as_all_of_them_in_turn() {
    let (model, examples) = fresh(20);
    for how in [Removal::Zero, Removal::Mean] {
        let rng = &mut Rng::seed_from_u64(0);
        let ablation = Ablation::of(&model, &examples, how, rng).unwrap();
        for head in 0..3 {
            let scores = model.scores_without(head, &examples, how, rng).unwrap();
            let expected: Vec<f64> = ablation.without.row(head).iter().copied().collect();
            assert_eq!(scores, expected, "head {head}, {how:?}");
        }
    }
    let rng = &mut Rng::seed_from_u64(0);
    let refused = model.scores_without(3, &examples, Removal::Mean, rng).unwrap_err();
    insta::assert_snapshot!(refused, @"there is no head 3 in a layer of 3: they count from 0");
}

#[test]
fn what_is_taken_lies_in_the_directions_and_nothing_else_is() {
    let (model, examples) = fresh(20);
    let concat = model.concat(&examples).unwrap();
    let rng = &mut Rng::seed_from_u64(0);
    let directions = orthonormal(48, 16, rng);
    for how in Removal::ALL {
        let taken = taken(&concat, &directions, how, rng);
        let outside = &taken - &taken * &directions * directions.transpose();
        assert!(outside.amax() < 1e-5, "{how:?}: {}", outside.amax());
        let left = (&concat - &taken) * &directions; // [20, 16]
        let part = &concat * &directions;
        match how {
            Removal::Zero => assert!(left.amax() < 1e-5),
            Removal::Mean => {
                for row in left.row_iter() {
                    assert!((row - part.row_mean()).amax() < 1e-5);
                }
            }
            // The same rows, each in another example.
            Removal::Resample => {
                let near = |s: usize, t: usize| (left.row(s) - part.row(t)).amax() < 1e-5;
                for s in 0..20 {
                    assert!(!near(s, s), "example {s} kept its own");
                    assert_eq!((0..20).filter(|&t| near(s, t)).count(), 1);
                }
            }
        }
    }
}

/// The control takes as much from the layer's output as a head does, and it is no head:
/// it can do harm.
#[test]
fn the_control_is_matched_and_can_do_harm() {
    let (model, examples) = fresh(200);
    let concat = model.concat(&examples).unwrap();
    for how in Removal::ALL {
        let rng = &mut Rng::seed_from_u64(1);
        let found = Ablation::of(&model, &examples, how, rng).unwrap();
        assert_eq!(found.controls.len(), Ablation::N_DRAWS);
        // The same draws again, in the order in which `of` makes them.
        let rng = &mut Rng::seed_from_u64(1);
        let heads =
            [0, 16, 32].map(|first| taken(&concat, &axes(48, first, 16), how, rng));
        let of_heads = heads.map(|taken| model.length_at_output(&taken));
        let mean = of_heads.iter().sum::<f64>() / 3.0;
        for control in &found.controls {
            let taken = taken(&concat, &orthonormal(48, 16, rng), how, rng);
            let matched = model.length_at_output(&(taken * control.scale as f32));
            assert!((matched - mean).abs() < 1e-4 * mean, "{how:?}: {matched} {mean}");
            assert!((0.5..2.0).contains(&control.scale), "{}", control.scale);
        }
    }
}
