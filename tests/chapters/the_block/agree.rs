//! Both or neither: four sentences, and layers behind two heads.

use attention::{Linear, Matrix};
use block::{Activation, FeedForward};
use lessons::the_block::agree::{
    KINDS, N_SENTENCES, N_STEPS, WIDTHS, answered, asking, kept_answered, numbers,
};

use crate::quote::{assert_quote, short, values};

#[test]
fn the_heads_hand_over_both_numbers() {
    let x = asking().unwrap();
    for (s, [noun, verb]) in numbers().into_iter().enumerate() {
        assert!((x[(s, 4)] - noun).abs() < 0.1 && (x[(s, 5)] - verb).abs() < 0.1);
    }
}

#[test]
fn a_feed_forward_layer_answers_all_four() {
    let answered = answered().unwrap();
    assert_eq!(kept_answered().unwrap(), answered);
    let all = |kind: usize, width: usize| {
        answered[kind][width].iter().filter(|&&right| right == N_SENTENCES).count()
    };
    let most = answered[0].iter().flatten().copied().max().unwrap();
    assert!(most <= 3, "a linear layer answers {most}");
    // One unit of ReLU cannot; two can, and not with each start.
    assert!(all(1, 0) == 0 && (1..10).contains(&all(1, 1)));
    for (kind, (name, _)) in KINDS.iter().enumerate().skip(2) {
        assert!((0..WIDTHS.len()).all(|width| all(kind, width) == 10), "{name}");
    }
    let quoted =
        [("agree_steps", N_STEPS.to_string()), ("linear_most", most.to_string())];
    assert_quote!("the_block_agree_values", values(&quoted));
}

/// Where a readout sees the token beside what the layer writes, one unit of ReLU is enough:
/// `2 ReLU(a + b) − (a + b) − 1`, its weights set by hand. The layers that are trained here
/// answer in entries that the token leaves empty, and get no such help.
#[test]
fn one_unit_of_relu_answers_beside_the_token() {
    let x = asking().unwrap();
    let [noun, verb, yes] = [4, 5, 7];
    assert!(x.columns(6, 2).iter().all(|&entry| entry == 0.0));
    let (mut w_1, mut w_2) = (Matrix::zeros(8, 1), Matrix::zeros(1, 8));
    (w_1[noun], w_1[verb], w_2[yes]) = (1.0, 1.0, 2.0);
    let linear = |weight: Matrix| Linear::new(weight, None).unwrap();
    let unit = FeedForward::new(linear(w_1), Activation::Relu, linear(w_2)).unwrap();
    let written = unit.forward(&x).unwrap();
    for (s, [a, b]) in numbers().into_iter().enumerate() {
        let z = written[(s, yes)] - x[(s, noun)] - x[(s, verb)] - 1.0;
        assert_eq!(z > 0.0, a == b, "{a} {b}: {z}");
    }
}

/// No trained layer: any linear readout of what the heads hand over, a thousand of them, and
/// the argument itself, that the two sums of opposite corners are equal.
#[test]
fn no_linear_readout_answers_more_than_three() {
    use attention::{Rng, SeedableRng, random_matrix};
    let (x, rng) = (asking().unwrap(), &mut Rng::seed_from_u64(1));
    let classes = numbers().map(|[noun, verb]| noun == verb);
    let mut best = 0;
    for _ in 0..1000 {
        let readout = Linear::new(
            random_matrix(8, 1, 1.0, rng),
            Some(random_matrix::<f64>(1, 1, 1.0, rng).row(0).into_owned()),
        )
        .unwrap();
        let z: Matrix = readout.forward(&x).unwrap();
        let corners = (z[0] + z[3]) - (z[1] + z[2]);
        assert!(corners.abs() < 1e-12, "{}", short(corners));
        let right = z.iter().zip(classes).filter(|(z, class)| (**z > 0.0) == *class);
        best = best.max(right.count());
    }
    assert_eq!(best, 3);
}
