//! That both learners learn.

use attention::{Error, Rng};
use variants::{Pairing, Rotary};

use super::*;
use crate::lookups::Lookups;
use crate::repeats::Repeats;
use crate::tests::rng;
use crate::{Schedule, Trainer};

#[test]
fn both_learn() {
    let schedule = |n_steps, seed| Schedule { n_steps, ..Schedule::small(seed) };
    let reader =
        |task: &Lookups, rng: &mut Rng| Reader::random(task, [4, 2], [12, 10], rng);
    let learned = Trainer::new(Lookups::default(), schedule(60, 1), reader).unwrap();
    let learned = learned.finish().unwrap();
    assert!(learned.losses[59] < 0.9 * learned.losses[0], "{:?}", learned.losses);
    assert_eq!(learned.last().len(), 3);

    for place in Place::ALL {
        let plan =
            FollowerPlan { n_heads: 2, d_head: 8, d_model: 32, place, n_positions: 64 };
        let follower = |task: &Repeats, rng: &mut Rng| {
            Follower::random(plan, task.n_vocabulary, rng)
        };
        let learned = Trainer::new(Repeats::small(), schedule(60, 1), follower).unwrap();
        let learned = learned.finish().unwrap();
        let [first, last] = [learned.losses[0], learned.losses[59]];
        assert!(last < 0.95 * first, "{}: {first} to {last}", place.name());
        let long = Repeats { n_tokens: 64, ..Repeats::small() };
        let long = long.draw(3, &mut rng()).unwrap();
        assert!(learned.model.score(&long).is_ok());
    }
}

#[test]
fn heads_that_cannot_be_shared_out_are_refused() {
    let refused =
        Reader::random(&Lookups::default(), [4, 3], [12, 12], &mut rng()).unwrap_err();
    assert!(matches!(refused, Error::Groups { n_heads: 4, n_kv_heads: 3 }), "{refused}");
}

/// A stretched model is the same model at a factor of 1, and another at 4.
#[test]
fn positions_are_stretched_in_every_layer() {
    let plan = FollowerPlan { place: Place::Rotary, ..FollowerPlan::TWO_LAYERS };
    let task = Repeats::default();
    let plain = Follower::random(plan, task.n_vocabulary, &mut rng()).unwrap();
    for stretch in Stretch::ALL {
        let at = |factor| plain.with_rotary(stretch.rotary(16, 24, factor).unwrap());
        assert_eq!(at(1.0).unwrap(), plain, "{}", stretch.name());
        let changed = at(4.0).unwrap() != plain;
        assert_eq!(changed, stretch != Stretch::None, "{}", stretch.name());
    }
    let refused = plain.with_rotary(Rotary::new(Pairing::Halves, 18, 1e4).unwrap());
    assert!(
        matches!(refused, Err(Error::Rotated { n_rotated: 18, d_k: 16 })),
        "{refused:?}"
    );
}
