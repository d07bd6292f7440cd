//! The two products of a head, and what they leave open.

use attention::{
    HeadParameters, LayerParameters, Mask, Matrix, MultiHeadAttention, Rng, RowVector,
    SeedableRng, max_abs_diff, random_matrix,
};
use lessons::a_lens_per_head::circuits::{ov, qk, rebased, stretched};
use lessons::a_lens_per_head::two_lenses;
use lessons::numbers::ends;
use lessons::one_head::words;
use lessons::trained::cosine;
use model_files::{TrainedLayer, minilm};
use per_head::PerHeadAttention;

use crate::quote::{assert_quote, below, values};

const N_RANDOM: usize = 200;

/// *banks* by the river, *bank* of the loan, and how each enters the trained layer.
fn two_banks(layer: &TrainedLayer) -> [Matrix; 2] {
    let token = |name: &str, at: usize| {
        layer.sentence(name).unwrap().input.rows(at, 1).into_owned()
    };
    [token("river_banks", 3), token("bank_loan", 2)]
}

/// Scores and outputs of both lenses from the two products alone.
#[test]
fn two_products_are_the_whole_head() {
    let (layer, x) = (two_lenses().unwrap(), words());
    let passes = lessons::trained::passes(&layer, &x).unwrap();
    for (i, (head, pass)) in layer.heads().iter().zip(&passes).enumerate() {
        let scores = &x * qk(head) * x.transpose() / 2f64.sqrt();
        assert!(max_abs_diff(&scores, &pass.scores).unwrap() < 1e-12, "scores of {i}");
        let written = &pass.attn * &x * ov(&layer, i);
        let expected = &pass.out * layer.w_o_of_head(i);
        assert!(max_abs_diff(&written, &expected).unwrap() < 1e-12, "output of {i}");
    }
}

/// Queries and keys of head 0 in other coordinates: the same layer, any cosine you like.
#[test]
fn the_freedom_that_leaves_a_layer_unchanged() {
    let layer = minilm().unwrap();
    let heads = layer.parameters.heads();
    let [banks, bank] = two_banks(&layer);
    let alike = |head: &HeadParameters| {
        let [a, b] = [&banks, &bank].map(|token| head.w_q.forward(token).unwrap());
        cosine(&a, &b)
    };
    let [a, b] = [&banks, &bank].map(|token| -> RowVector {
        heads[0].w_q.forward(token).unwrap().row(0).into_owned()
    });
    let (apart, together) = (stretched(&(&a - &b), 8.0), stretched(&(&a + &b), 8.0));
    let random: Matrix = random_matrix(32, 32, 1.0, &mut Rng::seed_from_u64(40));

    let x = &layer.sentence("river_banks").unwrap().input;
    let out = |parameters: LayerParameters| {
        PerHeadAttention::new(parameters).self_attend(x, &Mask::None).unwrap()
    };
    let before = out(layer.parameters.clone());
    let mut moved = 0.0f64;
    let mut said = vec![("cosine", format!("{:.2}", alike(&heads[0])))];
    for (name, m) in [
        ("cosine_apart", apart),
        ("cosine_together", together),
        ("cosine_random", random),
    ] {
        let mut changed = heads.to_vec();
        changed[0] = rebased(&heads[0], &m).unwrap();
        said.push((name, format!("{:.2}", alike(&changed[0]))));
        let w_o = layer.parameters.w_o().clone();
        let after = out(LayerParameters::new(changed, w_o).unwrap());
        moved = moved.max(before.max_abs_diff(&after).unwrap());
    }
    said.push(("moved", below(moved, 1e-12)));
    assert_quote!("a_lens_per_head_freedom", values(&said));
}

/// Two tokens behind the product of two random matrices, as narrow as a trained head's.
fn through_chance(a: &Matrix, b: &Matrix, rng: &mut Rng) -> f64 {
    let [left, right]: [Matrix; 2] =
        [(); 2].map(|()| random_matrix(a.ncols(), 32, 1.0, rng));
    let product = left * right.transpose();
    cosine(&(a * &product), &(b * product))
}

/// What random products say of two tokens can be left in both directions: by a product that
/// keeps what two tokens share, and by one that keeps where they differ. Twelve random
/// products do not leave it.
#[test]
fn planted_products_leave_what_random_ones_reach_and_twelve_of_chance_do_not() {
    let [banks, bank] = two_banks(&minilm().unwrap());
    let rng = &mut Rng::seed_from_u64(45);
    let mut random = |n: usize| ends((0..n).map(|_| through_chance(&banks, &bank, rng)));
    let [least, _, most] = random(N_RANDOM);
    for _ in 0..20 {
        let [_, median, _] = random(12);
        assert!(least < median && median < most, "{least} {median} {most}");
    }
    let along = |arrow: Matrix| {
        let product = arrow.transpose() * arrow;
        cosine(&(&banks * &product), &(&bank * product))
    };
    let (shared, differing) = (along(&banks + &bank), along(&banks - &bank));
    assert!(shared > most && differing < least, "{shared} {differing}");
}

/// How alike the two banks are in what each head looks for and writes, which no change of
/// coordinates inside the head can move, with random heads as the control.
#[test]
fn two_banks_through_each_head() {
    let layer = minilm().unwrap();
    let [banks, bank] = two_banks(&layer);
    let through = |m: &Matrix| cosine(&(&banks * m), &(&bank * m));
    let heads = layer.parameters.heads();
    let looks_for = ends(heads.iter().map(|head| through(&qk(head))));
    let found_by = ends(heads.iter().map(|head| through(&qk(head).transpose())));
    let writes = ends((0..heads.len()).map(|i| through(&ov(&layer.parameters, i))));

    let rng = &mut Rng::seed_from_u64(44);
    let random = ends((0..N_RANDOM).map(|_| through_chance(&banks, &bank, rng)));
    let mut said = vec![
        ("raw".to_owned(), format!("{:.2}", cosine(&banks, &bank))),
        ("n_random".to_owned(), N_RANDOM.to_string()),
    ];
    for (name, [least, median, most]) in [
        ("looks_for", looks_for),
        ("found_by", found_by),
        ("writes", writes),
        ("random", random),
    ] {
        for (end, number) in [("least", least), ("median", median), ("most", most)] {
            said.push((format!("{name}_{end}"), format!("{number:.2}")));
        }
    }
    assert_quote!("a_lens_per_head_two_banks", values(&said));
}
