//! On paper, with the links of today.

use lessons::many_machines::paper::{CASES, GPUS};

/// One box loses nothing on a large layer; across boxes the best plan is a grid.
#[test]
fn a_box_is_enough_for_a_large_layer_and_a_grid_is_best_across_boxes() {
    for case in CASES {
        let (_, efficiency) = GPUS.best(case, 8).unwrap();
        assert!(efficiency > 0.99, "{case:?}: {efficiency}");
        let (plan, _) = GPUS.best(case, 64).unwrap();
        let n_ways = [plan.by_sequences, plan.by_heads, plan.by_tokens];
        assert!(n_ways.iter().filter(|n| **n > 1).count() >= 2, "{case:?}: {plan}");
    }
}
