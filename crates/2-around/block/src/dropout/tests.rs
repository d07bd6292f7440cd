//! The masks, and passes through them.

use attention::SeedableRng;

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
