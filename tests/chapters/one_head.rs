//! What “One head” quotes.

use attention::{HeadParameters, Matrix, max_abs_diff};
use lessons::one_head::words;
use lessons::plain;
use single_head::HeadPass;

use crate::quote::{assert_quote, below, values};

fn head(verb_asks: f64) -> HeadParameters {
    lessons::one_head::head(verb_asks).unwrap()
}

/// In loops, and in matrices.
fn both(head: &HeadParameters, x: &Matrix) -> [HeadPass; 2] {
    lessons::one_head::both(head, x).unwrap()
}

/// The head in plain rows, on the three words and on a trained head without its biases.
#[test]
fn plain_rows_are_the_same_head() {
    let rows = |of: &Matrix| -> Vec<plain::Row> {
        of.row_iter().map(|row| row.iter().copied().collect()).collect()
    };
    let plain = |head: &HeadParameters, x: &Matrix| {
        let [w_q, w_k, w_v] = head.projections().map(|(_, linear)| rows(&linear.weight));
        let out = plain::head(&rows(x), &w_q, &w_k, &w_v);
        Matrix::from_fn(x.nrows(), out[0].len(), |i, c| out[i][c])
    };
    let by_hand = head(2.0);
    let [pass, _] = both(&by_hand, &words());
    assert!(max_abs_diff(&plain(&by_hand, &words()), &pass.out).unwrap() < 1e-15);

    let layer = model_files::minilm().unwrap();
    let x = &layer.sentence("river_banks").unwrap().input;
    let mut trained = layer.parameters.heads()[9].clone();
    for linear in [&mut trained.w_q, &mut trained.w_k, &mut trained.w_v] {
        linear.bias = None;
    }
    let [pass, _] = both(&trained, x);
    assert!(max_abs_diff(&plain(&trained, x), &pass.out).unwrap() < 1e-12);
}

#[test]
fn loops_and_matrices_draw_the_same_map() {
    let [loops, matrices] = both(&head(2.0), &words());
    assert_eq!(loops, matrices, "three words, to the last digit");

    let layer = model_files::minilm().unwrap();
    let sentence = layer.sentence("river_banks").unwrap();
    let mut largest = [0.0; 6];
    for head in layer.parameters.heads() {
        let [loops, matrices] = both(head, &sentence.input);
        for (nth, ((_, a), (_, b))) in
            loops.steps().into_iter().zip(matrices.steps()).enumerate()
        {
            largest[nth] = f64::max(largest[nth], max_abs_diff(a, b).unwrap());
        }
    }
    for ((name, _), largest) in loops.steps().into_iter().zip(largest) {
        println!("{name}: {largest:.1e}");
        assert!(largest <= 1e-12, "{name}");
    }
}

#[test]
fn what_the_chapter_says_of_the_words() {
    let x = words();
    let [pass, _] = both(&head(2.0), &x);
    let [deaf, _] = both(&head(0.0), &x);
    let swapped = Matrix::from_fn(3, 4, |i, j| x[([1, 0, 2][i], j)]);
    let [other, _] = both(&head(2.0), &swapped);
    let moved = max_abs_diff(
        &pass.out.rows(2, 1).into_owned(),
        &other.out.rows(2, 1).into_owned(),
    )
    .unwrap();
    let tolerance = below(moved, 1e-12);

    let layer = model_files::minilm().unwrap();
    let sentence = layer.sentence("river_banks").unwrap();
    let said = [
        ("overflowed_banks", pass.attn[(2, 1)]),
        ("overflowed_river", pass.attn[(2, 0)]),
        ("overflowed_itself", pass.attn[(2, 2)]),
        ("banks_river", pass.attn[(1, 0)]),
        ("river_banks", pass.attn[(0, 1)]),
        ("out_water", pass.out[(2, 0)]),
        ("out_money", pass.out[(2, 1)]),
        ("sqrt_2", 2f64.sqrt()),
        ("deaf_banks", deaf.attn[(2, 1)]),
        ("deaf_river", deaf.attn[(2, 0)]),
    ];
    let dims = layer.parameters.dims();
    let mut said: Vec<_> =
        said.iter().map(|(name, value)| (*name, format!("{value:.3}"))).collect();
    said.extend([
        ("d_model", dims.d_model().to_string()),
        ("d_k", dims.d_k().to_string()),
        ("n_heads", dims.n_heads().to_string()),
        ("n_tokens", sentence.tokens.len().to_string()),
        ("tolerance", tolerance),
    ]);
    assert_quote!("one_head_values", values(&said));
}

#[test]
fn the_order_of_a_sum_is_seen_in_its_last_digit() {
    let trained = model_files::minilm().unwrap();
    let x = &trained.sentence("bank_loan").unwrap().input;
    let products = |i: usize| x[(2, i)] as f32 * x[(5, i)] as f32;
    let forwards = (0..384).fold(0f32, |sum, i| sum + products(i));
    let backwards = (0..384).rev().fold(0f32, |sum, i| sum + products(i));
    assert_ne!(forwards, backwards);
    let said = [
        ("left_first", format!("{}", (0.1 + 0.2) + 0.3)),
        ("right_first", format!("{}", 0.1 + (0.2 + 0.3))),
        ("forwards", forwards.to_string()),
        ("backwards", backwards.to_string()),
        ("step_f32", format!("{:.0e}", f32::EPSILON)),
        ("step_f64", format!("{:.0e}", f64::EPSILON)),
    ];
    assert_quote!("one_head_digits", values(&said));
}
