//! Whether the head that attends most is the one that is needed: in a layer, and between
//! layers of two seeds, which agree by chance alone.

use ablation::odds::Count;
use lessons::heads_that_specialise::{lookups, windows};
use serde_json::Value;

/// The targets of windows whose answer stands at one reading.
pub const AT_ONE_READING: [usize; 4] = [1, 2, 5, 6];

/// Of these targets in all runs, how often the head that attends to one most is the one
/// that it needs most, `further` runs on in the list.
pub fn agreement(runs: &[Value], targets: &[usize], further: usize) -> Count {
    let next = runs.iter().cycle().skip(further);
    let agree = |(run, next): (&Value, &Value)| {
        let (heads, needed) = (&run["attending"], &next["removed"]["mean"]["needed"]);
        targets.iter().map(|&r| heads[r] == needed[r]).collect::<Vec<_>>()
    };
    Count::of(runs.iter().zip(next).flat_map(agree))
}

#[test]
fn heads_agree_in_a_layer_and_by_chance_between_seeds() {
    for (runs, targets, chance) in [
        (lookups(3).unwrap(), [0, 1, 2].as_slice(), 1.0 / 3.0),
        (windows(8).unwrap(), AT_ONE_READING.as_slice(), 1.0 / 8.0),
    ] {
        let own = agreement(&runs, targets, 0);
        let others = (1..runs.len()).map(|further| agreement(&runs, targets, further));
        let hits = others.map(Count::hits).sum();
        let others = Count::new(hits, own.n() * (runs.len() - 1)).unwrap();
        println!("{own}, and {others} between seeds");
        assert!(own.interval()[0] > chance, "{own}");
        let [least, most] = others.interval();
        assert!(least < chance && chance < most, "{others}");
    }
}
