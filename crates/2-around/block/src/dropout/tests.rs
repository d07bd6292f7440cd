//! The masks, their mean, and gradients through them.

use attention::{Linear, SeedableRng, random_matrix, softmax_rows};

use super::*;
use crate::tests::{D_MODEL, MASKS, N_TOKENS, ORDERS, stack, tokens};
use crate::{Activation, StackPass};

fn dropout(p: f64, seed: u64) -> Dropout {
    Dropout::new(p, Rng::seed_from_u64(seed)).unwrap()
}

#[test]
fn entries_are_dropped_as_often_as_asked_and_the_rest_is_scaled() {
    for (p, scale) in [(0.0, 1.0), (0.2, 1.25), (0.5, 2.0)] {
        let mask: Matrix = dropout(p, 1).mask((100, 100));
        assert!(mask.iter().all(|&entry| entry == 0.0 || entry == scale));
        let share = mask.iter().filter(|entry| **entry == 0.0).count() as f64 / 1e4;
        // Four times the standard deviation of 10,000 draws.
        assert!((share - p).abs() <= 4.0 * (p * (1.0 - p) / 1e4).sqrt(), "{p}: {share}");
    }
}

#[test]
fn rows_of_a_map_add_up_to_what_is_kept_of_them() {
    let rng = &mut Rng::seed_from_u64(1);
    let map: Matrix = softmax_rows(random_matrix(200, 5, 1.0, rng));
    let mask: Matrix = dropout(0.2, 2).mask(map.shape());
    let after = map.component_mul(&mask);
    let mut n_whole = 0;
    for ((map, mask), after) in map.row_iter().zip(mask.row_iter()).zip(after.row_iter())
    {
        let kept = map.iter().zip(&mask).filter(|(_, mask)| **mask > 0.0);
        let kept: f64 = kept.map(|(weight, _)| weight).sum();
        assert!((after.sum() - 1.25 * kept).abs() < 1e-12);
        if mask.iter().all(|&mask| mask > 0.0) {
            assert!((after.sum() - 1.25).abs() < 1e-12);
            n_whole += 1;
        }
    }
    // 0.8⁵ of 200 rows are 66.
    assert!((40..95).contains(&n_whole), "{n_whole}");
}

/// The largest distance between a linear layer's output and its mean over masks of its input.
fn distance_of_mean(mut mask: impl FnMut() -> Matrix) -> f64 {
    let rng = &mut Rng::seed_from_u64(3);
    let layer = Linear::<f64>::random(6, 4, true, rng);
    let x = random_matrix(3, 6, 1.0, rng);
    const N: usize = 20_000;
    let mut mean = Matrix::zeros(3, 4);
    for _ in 0..N {
        mean += layer.forward(&x.component_mul(&mask())).unwrap() / N as f64;
    }
    (mean - layer.forward(&x).unwrap()).amax()
}

#[test]
fn the_mean_over_masks_is_the_output_in_evaluation_and_not_without_the_scale() {
    let mut right = dropout(0.2, 4);
    let distance = distance_of_mean(|| right.mask((3, 6)));
    let mut wrong = dropout(0.2, 4);
    let without_scale = distance_of_mean(|| wrong.mask::<f64>((3, 6)) / 1.25);
    println!("{distance:e} from the mean; without the scale {without_scale:e}");
    assert!(distance < 0.02 && without_scale > 0.1, "{distance} {without_scale}");
}

#[test]
fn without_a_chance_nothing_changes_and_with_one_each_step_differs() {
    for order in ORDERS {
        let (stack, _) = stack(order, Activation::Gelu);
        let x = tokens();
        let plain = StackPass::forward(&stack, &x, &MASKS).unwrap();
        let train = |dropout: &mut Dropout| {
            StackPass::forward_in_training(&stack, &x, &MASKS, dropout).unwrap()
        };
        let none = train(&mut dropout(0.0, 1));
        assert_eq!(plain.out(), none.out());
        let d_out = Matrix::from_element(2 * N_TOKENS, D_MODEL, 1.0);
        assert_eq!(plain.backward(&d_out).unwrap(), none.backward(&d_out).unwrap());
        let some = &mut dropout(0.1, 1);
        let [first, second] = [train(some), train(some)];
        assert_ne!(first.out(), second.out());
        assert_eq!(first.out(), train(&mut dropout(0.1, 1)).out());
    }
}

#[test]
fn what_cannot_be_is_refused_with_its_numbers() {
    for (p, expected) in [(1.0, "1"), (-0.1, "-0.1"), (f64::NAN, "NaN")] {
        let refused = Dropout::new(p, Rng::seed_from_u64(1)).unwrap_err().to_string();
        let expected = format!(
            "the chance of dropout is {expected}, and must be at least 0 and below 1"
        );
        assert_eq!(refused, expected);
    }
}
