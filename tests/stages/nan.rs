//! Numbers that are not finite stay with the queries that attend to them.

use attention::{Mask, Matrix, max_abs_diff};

use stages::cases::{assert_close, every_stage_and_batched, layer, tokens};

const BROKEN: usize = 2;

fn tokens_with(broken: f64) -> Matrix {
    let mut x = tokens(5, 12, 8);
    x[(BROKEN, 7)] = broken;
    x
}

#[test]
fn a_masked_nan_reaches_no_other_query() {
    let others: Vec<bool> = (0..5).map(|key| key != BROKEN).collect();
    let mask = Mask::Keys(others);
    for broken in [f64::NAN, f64::INFINITY, 1e300] {
        for stage in every_stage_and_batched(&layer(12, 3, 7)) {
            let clean = stage.self_attend(&tokens_with(0.0), &mask).unwrap();
            let seen = stage.self_attend(&tokens_with(broken), &mask).unwrap();
            let rest = |out: &Matrix| out.clone().remove_row(BROKEN);
            let diff = max_abs_diff(&rest(&clean.out), &rest(&seen.out)).unwrap();
            assert_close(format!("{} with {broken}", stage.name()), diff, 1e-12);
        }
    }
}

#[test]
fn a_nan_reaches_every_query_that_attends_to_it() {
    for stage in every_stage_and_batched(&layer(12, 3, 7)) {
        let seen = stage.self_attend(&tokens_with(f64::NAN), &Mask::Causal).unwrap();
        for (i, row) in seen.out.row_iter().enumerate() {
            let expected = i >= BROKEN;
            let all = row.iter().all(|x| x.is_nan() == expected);
            assert!(all, "{}: row {i} is {row}", stage.name());
        }
    }
}
