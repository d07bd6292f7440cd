//! Ten seeds of each way to share keys and values.

use attention::{Rng, SeedableRng, thousands};
use lessons::numbers::ends;
use lessons::variants::shared::{KV_HEADS, TASKS, shared};
use training::{Follower, FollowerPlan, Lookups, Reader, Repeats, Task};

use super::share;
use crate::quote::{Table, assert_quote, values};

#[test]
fn shared_heads_on_both_tasks() {
    let mut table = Table::new([
        ("", -9),
        ("K, V heads", 12),
        ("width", 7),
        ("weights", 9),
        ("least", 9),
        ("median", 9),
        ("most", 9),
    ]);
    let mut quoted = Vec::new();
    let widths = [15, 20, 24];
    for task in TASKS {
        for (n_kv_heads, width) in KV_HEADS.into_iter().zip(widths) {
            let [least, median, most] =
                ends(shared(task, n_kv_heads).unwrap()).map(share);
            let weights = thousands(weights(task, n_kv_heads, width));
            table.row([
                task,
                &n_kv_heads.to_string(),
                &width.to_string(),
                &weights,
                &least,
                &median,
                &most,
            ]);
            for (name, value) in [("least", least), ("median", median), ("most", most)] {
                quoted.push((format!("{task}_{n_kv_heads}_{name}"), value));
            }
        }
    }
    let all = TASKS.iter().flat_map(|task| KV_HEADS.map(|heads| shared(task, heads)));
    let worst = all.flat_map(|scores| scores.unwrap()).fold(1.0, f64::min);
    quoted.push(("shared_worst".to_owned(), share(worst)));
    assert_quote!("variants_shared", table.text());
    assert_quote!("variants_shared_values", values(&quoted));
}

/// The entries of the matrices of the attention layers, biases left out.
fn weights(task: &str, n_kv_heads: usize, d_head: usize) -> usize {
    let rng = &mut Rng::seed_from_u64(0);
    let of = |d_model: usize| 2 * d_model * d_head * (4 + n_kv_heads);
    match task {
        "lookups" => {
            let task = Lookups::default();
            let reader = Reader::random(&task, [4, n_kv_heads, d_head], rng).unwrap();
            let found = reader.layer.projections().iter().map(|it| it.weight.len()).sum();
            assert_eq!(found, of(task.d_model()));
            found
        }
        _ => {
            let task = Repeats::default();
            let plan = FollowerPlan { n_kv_heads, d_head, ..FollowerPlan::TWO_LAYERS };
            let follower = Follower::random(plan, task.n_vocabulary, rng).unwrap();
            let biases = 2 * (d_head * (4 + 2 * n_kv_heads) + 64);
            assert_eq!(follower.n_layer_parameters(), 2 * of(64) + biases);
            2 * of(64)
        }
    }
}
