//! Seeds trained again and compared with what was kept.

use std::ops::ControlFlow;

use ablation::Replacement;
use attention::{Rng, SeedableRng};
use lessons::heads_that_specialise;
use training::lookups::{Code, EqualShares, Lookups, Over};
use training::one_layer::{Ablation, Task, strongest, train};
use training::{Schedule, Training};

use super::{ROLES, numbers};

/// Rounding differs between machines, and a training carries it on.
const CLOSE: f64 = 0.02;

fn trained(task: &impl Task, n_heads: usize, schedule: &Schedule) -> Training {
    train(task, n_heads, schedule, |_| ControlFlow::Continue(())).unwrap()
}

#[test]
fn three_heads_and_the_ablation_of_each() {
    let trained = trained(&Lookups::default(), 3, &Lookups::schedule(0));
    let kept = &heads_that_specialise::lookups(3).unwrap()[0];
    for (now, then) in trained.last().scores.iter().zip(numbers(&kept["scores"])) {
        assert!((now - then).abs() < CLOSE, "{now} and {then}");
    }
    for how in Replacement::ALL {
        let rng = &mut Rng::seed_from_u64(0);
        let ablation = Ablation::of(&trained.model, &trained.test, how, rng).unwrap();
        assert_eq!(ablation.needed(), strongest(&trained.last().focus));
        // Which head takes which word may differ where products are rounded otherwise.
        let mut heads = ablation.needed();
        heads.sort_unstable();
        assert_eq!(heads, [0, 1, 2], "one head per word");
        for head in 0..3 {
            for (r, &own) in ablation.needed().iter().enumerate() {
                let lost = ablation.losses()[(head, r)];
                let as_kept = if own == head { lost > 0.9 } else { lost < 0.05 };
                assert!(as_kept, "{how:?}: {} loses {lost} without {head}", ROLES[r]);
            }
        }
    }
}

#[test]
fn one_head_with_equal_shares_in_the_bound_code() {
    let task = Lookups::coded(Code::Bound, Lookups::LOUDNESS, 0);
    let task = EqualShares { task, over: Over::Three };
    let trained = trained(&task, 1, &Schedule { n_looks: 1, ..Lookups::schedule(0) });
    let all = heads_that_specialise::codes().unwrap();
    let is = |run: &&serde_json::Value| {
        run["code"] == "bound" && run["shares"] == "three" && run["seed"] == 0
    };
    let kept = all.iter().find(is).unwrap();
    for (now, then) in trained.last().scores.iter().zip(numbers(&kept["scores"])) {
        assert!((now - then).abs() < CLOSE, "{now} and {then}");
    }
}
