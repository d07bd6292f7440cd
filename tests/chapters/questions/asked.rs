//! Numbers of the pages that answer what no chapter computes.

use attention::Mask;
use lessons::asked::{
    CARRIERS, Named, P_DROPPED, STRETCH, apart_without_the_mask, cache_slips,
    moved_by_the_last, norm_and_rotation, padded_left, steps_until_seen,
    sums_of_dropped_rows, yarn_factors,
};
use variants::yarn_amplitude;

use crate::quote::{assert_quote, bound, values};

fn to_2(number: f64) -> String {
    format!("{number:.2}")
}

#[test]
fn by_attention_every_token_is_one_step_away() {
    let steps = |n| CARRIERS.map(|(_, reach)| steps_until_seen(n, reach));
    for n in [2, 9, 1_000] {
        assert_eq!(steps(n), [n - 1, (n - 1).div_ceil(4), 1], "{n}");
    }
    let [recurrence, convolution, attention] = steps(1_000);
    let quoted = [
        ("recurrence", recurrence.to_string()),
        ("convolution", convolution.to_string()),
        ("attention", attention.to_string()),
    ];
    assert_quote!("questions_paths", values(&quoted));
}

#[test]
fn projections_and_pairs_cost_the_same_at_twice_the_width() {
    let (d_model, n) = (512, 1024);
    let work = |n_heads| {
        lessons::counting::work(d_model, n_heads, d_model / n_heads, n).unwrap().total()
    };
    let (d, n) = (d_model as u64, n as u64);
    assert_eq!(4 * n * d * d, 2 * n * n * d);
    for n_heads in [1, 8, 64] {
        assert_eq!(work(n_heads), 4 * n * d * d + 2 * n * n * d, "{n_heads} heads");
    }
}

#[test]
fn rows_sum_to_one_on_average_under_dropout() {
    let sums = sums_of_dropped_rows().unwrap();
    let least = sums.iter().copied().fold(f64::INFINITY, f64::min);
    let most = sums.iter().copied().fold(0.0, f64::max);
    let all_kept = 1.0 / (1.0 - P_DROPPED);
    assert!(sums.iter().all(|sum| *sum <= all_kept + 1e-9), "{sums:?}");
    assert!(least < 0.95 && most > 1.0, "{sums:?}");
    let quoted =
        [("least", to_2(least)), ("most", to_2(most)), ("all_kept", to_2(all_kept))];
    assert_quote!("questions_dropout", values(&quoted));
}

#[test]
fn a_causal_mask_keeps_the_last_token_from_all_before_it() {
    let causal = moved_by_the_last(&Mask::Causal).unwrap();
    let none = moved_by_the_last(&Mask::None).unwrap();
    let (last, before) = causal.split_last().unwrap();
    assert!(before.iter().all(|moved| *moved == 0.0), "{before:?}");
    assert!(*last > 0.1 && none.iter().all(|moved| *moved > 1e-3), "{none:?}");
    let most = none[..before.len()].iter().copied().fold(0.0, f64::max);
    let quoted = [("most", to_2(most)), ("last", to_2(*last))];
    assert_quote!("questions_future", values(&quoted));
}

#[test]
fn without_the_causal_mask_the_last_row_alone_is_right() {
    let apart = apart_without_the_mask().unwrap();
    let (last, before) = apart.split_last().unwrap();
    bound(*last, 1e-12);
    assert!(before.iter().all(|apart| *apart > 0.01), "{before:?}");
    let n = apart.len();
    let part = format!("{:.1} %", 100.0 / n as f64);
    let quoted = [("n", n.to_string()), ("part", part)];
    assert_quote!("questions_same_rows", values(&quoted));
}

/// The first and the last of three are what they should be, or the first alone.
fn quoted([first, second, third]: [Named; 3]) -> [(&'static str, String); 3] {
    [("first", first), ("second", second), ("third", third)]
        .map(|(name, (_, number))| (name, to_2(number)))
}

#[test]
fn padding_on_the_left_moves_positions_that_count_it() {
    let all = padded_left().unwrap();
    let [(_, counted), (_, from_text), (_, rotary)] = all;
    bound(from_text, 1e-12);
    bound(rotary, 1e-12);
    assert!(counted > 0.01, "{counted}");
    assert_quote!("questions_left_padding", values(&quoted(all)));
}

#[test]
fn slips_with_a_cache_move_the_next_token() {
    let all = cache_slips().unwrap();
    let [(_, right), (_, restarted), (_, from_the_top)] = all;
    bound(right, 1e-12);
    assert!(restarted > 0.01 && from_the_top > 0.01, "{all:?}");
    assert_quote!("questions_cache", values(&quoted(all)));
}

#[test]
fn a_norm_and_a_rotation_commute_if_pairs_share_a_gain() {
    let all = norm_and_rotation().unwrap();
    let [(_, plain), (_, paired), (_, own)] = all;
    bound(plain, 1e-12);
    bound(paired, 1e-12);
    assert!(own > 0.01, "{own}");
    assert_quote!("questions_norm", values(&quoted(all)));
}

#[test]
fn the_factor_of_yarn_in_queries_and_keys_is_squared_in_scores() {
    let all = yarn_factors().unwrap();
    let factor = yarn_amplitude(STRETCH, 1.0);
    let numbers = [
        ("stretch", STRETCH.to_string()),
        ("factor", to_2(factor)),
        ("squared", to_2(factor.powi(2))),
        ("fourth", to_2(factor.powi(4))),
    ];
    let numbers = numbers.into_iter().chain(quoted(all));
    assert_quote!("questions_yarn", values(&numbers.collect::<Vec<_>>()));
}
