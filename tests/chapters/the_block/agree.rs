//! Both or neither: four sentences, and layers behind two heads.

use attention::{Linear, Matrix};
use block::{Activation, FeedForward};
use lessons::the_block::agree::{N_STEPS, asking, gated, numbers, plain, train};

use crate::quote::{Table, assert_quote, short, values};

const SEEDS: u64 = 10;
const WIDTHS: [usize; 5] = [1, 2, 4, 8, 16];

#[test]
fn what_the_heads_hand_over() {
    let (x, mut table) =
        (asking().unwrap(), Table::new(["sentence", "head 0", "head 1", "agree?"]));
    let sentences =
        ["the pilot flies", "the pilot fly", "the pilots flies", "the pilots fly"];
    for (s, ([noun, verb], sentence)) in numbers().into_iter().zip(sentences).enumerate()
    {
        let heads = [x[(s, 4)], x[(s, 5)]].map(|it| format!("{it:.3}").replace('-', "−"));
        assert!((x[(s, 4)] - noun).abs() < 0.1 && (x[(s, 5)] - verb).abs() < 0.1);
        let [a, b] = heads;
        let answer = if noun == verb { "yes" } else { "no" };
        table.row([sentence.to_owned(), a, b, answer.to_owned()]);
    }
    assert_quote!("the_block_heads", table.text());
}

/// A layer of this width from this seed.
type Fresh = fn(usize, u64) -> FeedForward;

#[test]
fn a_feed_forward_layer_answers_all_four() {
    let kinds: [(&str, Fresh); 5] = [
        ("no activation", |d_ff, seed| plain(Activation::None, d_ff, seed)),
        ("ReLU", |d_ff, seed| plain(Activation::Relu, d_ff, seed)),
        ("GELU", |d_ff, seed| plain(Activation::Gelu, d_ff, seed)),
        ("gated, none", |d_ff, seed| gated(Activation::None, d_ff, seed)),
        ("gated, SiLU", |d_ff, seed| gated(Activation::Silu, d_ff, seed)),
    ];
    let mut table = Table::new(["d_ff", "1", "2", "4", "8", "16"]);
    let mut quoted = vec![
        ("seeds".to_owned(), SEEDS.to_string()),
        ("agree_steps".to_owned(), N_STEPS.to_string()),
    ];
    for (name, fresh) in kinds {
        let mut cells = vec![name.to_owned()];
        let mut most = 0;
        for d_ff in WIDTHS {
            let right = |seed| train(&mut fresh(d_ff, seed)).unwrap();
            let right: Vec<usize> = (0..SEEDS).map(right).collect();
            most = most.max(right.iter().copied().max().unwrap());
            cells.push(right.iter().filter(|&&right| right == 4).count().to_string());
        }
        if name == "no activation" {
            assert!(most <= 3, "a linear layer answers {most}");
            quoted.push(("linear_most".to_owned(), most.to_string()));
        }
        table.row(<[String; 6]>::try_from(cells).unwrap());
    }
    assert_quote!("the_block_agree", table.text());
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
